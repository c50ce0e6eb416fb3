//! The cheapest of the largest flows: shortest distances, then as much as goes at that distance, in turn.
//!
//! Each round serves one price of a path, so there are few: units travel in bulk, and the number of rounds does not
//! depend on them.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Sub};

use super::problem::NONE;

/// Room for more than there are items, or copies of them.
pub(super) const ANY: u32 = u32::MAX / 2;

/// A network under a flow, as arcs there and back.
#[derive(Debug)]
pub(super) struct Network<C: ArcCost = Cost> {
    /// Per node where its arcs begin, and the end of all.
    starts: Vec<u32>,
    arcs: Vec<Arc<C>>,
    /// Per node; with them no arc with room has a negative price.
    potentials: Vec<C::Price>,
}

#[derive(Clone, Copy, Debug)]
struct Arc<C> {
    to: u32,
    /// The arc back.
    back: u32,
    room: u32,
    cost: C,
}

/// What one unit costs on an arc: never less than nothing when the arc is laid.
pub(super) trait ArcCost: Copy + Default {
    /// What a path costs: a number large enough for the sum over any path.
    type Price: Copy
        + Default
        + Ord
        + Add<Output = Self::Price>
        + AddAssign
        + Sub<Output = Self::Price>;

    /// Out of reach, and yet far from an overflow.
    const FAR: Self::Price;

    fn price(self) -> Self::Price;

    /// On the arc back.
    fn back(self) -> Self;
}

/// What one unit costs on an arc. Any amount of the second is less than one of the first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Cost {
    pub(super) first: i8,
    pub(super) second: i8,
}

/// An arc to be laid, with the flow that it begins with. Where that is any, the arc is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewArc<C = Cost> {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) room: u32,
    pub(super) cost: C,
    pub(super) flow: u32,
}

impl<C: ArcCost> NewArc<C> {
    pub(super) fn free(from: u32, to: u32, room: u32) -> Self {
        Self { from, to, room, cost: C::default(), flow: 0 }
    }
}

impl ArcCost for Cost {
    type Price = i64;

    const FAR: i64 = i64::MAX / 4;

    /// No path has so many arcs that the second could add up to the first.
    fn price(self) -> i64 {
        (i64::from(self.first) << 32) + i64::from(self.second)
    }

    fn back(self) -> Self {
        Self { first: -self.first, second: -self.second }
    }
}

impl<C: ArcCost> Network<C> {
    /// Lays arcs. They are asked for twice, in one order: to count and to place them.
    pub(super) fn lay(nodes: usize, each_arc: impl Fn(&mut dyn FnMut(NewArc<C>))) -> Self {
        let mut starts = vec![0_u32; nodes + 2];
        each_arc(&mut |arc| {
            starts[arc.from as usize + 2] += 1;
            starts[arc.to as usize + 2] += 1;
        });
        (2..starts.len()).for_each(|node| starts[node] += starts[node - 1]);
        let nothing = Arc { to: 0, back: 0, room: 0, cost: C::default() };
        let mut arcs = vec![nothing; starts[nodes + 1] as usize];
        each_arc(&mut |NewArc { from, to, room, cost, flow }| {
            let there = starts[from as usize + 1];
            starts[from as usize + 1] += 1;
            let back = starts[to as usize + 1];
            starts[to as usize + 1] += 1;
            arcs[there as usize] = Arc { to, back, room: room - flow, cost };
            arcs[back as usize] = Arc { to: from, back: there, room: flow, cost: cost.back() };
        });
        starts.pop();
        Self { starts, arcs, potentials: vec![C::Price::default(); nodes] }
    }

    /// Sends from the source to the sink as much as goes, at the least price; returns how much that is.
    pub(super) fn send(&mut self, source: u32, sink: u32) -> u64 {
        let mut search = Search::<C>::new(self.potentials.len(), source, sink);
        let mut sent = 0;
        while search.find_distances(self) {
            search.find_tight(self);
            while search.find_levels(self) {
                sent += search.send_along_levels(self);
            }
        }
        sent
    }

    /// What flows out of a node, by arc in the order of laying: where to and how much.
    pub(super) fn flows_from(&self, node: u32) -> impl Iterator<Item = (u32, u32)> {
        let arcs = self.arcs[self.range(node)].iter();
        arcs.map(|arc| (arc.to, self.arcs[arc.back as usize].room))
    }

    /// What flows into a node, by arc in the order of laying: where from and how much.
    pub(super) fn flows_into(&self, node: u32) -> impl Iterator<Item = (u32, u32)> {
        self.arcs[self.range(node)].iter().map(|arc| (arc.to, arc.room))
    }

    /// Per node whether something more could flow there from a node.
    pub(super) fn reachable_from(&self, start: u32) -> Vec<bool> {
        let mut reached = vec![false; self.potentials.len()];
        let mut queue = vec![start];
        reached[start as usize] = true;
        while let Some(node) = queue.pop() {
            for arc in self.arcs[self.range(node)].iter().filter(|arc| arc.room > 0) {
                if !std::mem::replace(&mut reached[arc.to as usize], true) {
                    queue.push(arc.to);
                }
            }
        }
        reached
    }

    fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// What an arc costs beyond the difference of potentials; 0 on the shortest paths.
    fn reduced(&self, from: u32, arc: Arc<C>) -> C::Price {
        arc.cost.price() + self.potentials[from as usize] - self.potentials[arc.to as usize]
    }

    /// Where an arc comes from.
    fn origin(&self, arc: u32) -> u32 {
        self.arcs[self.arcs[arc as usize].back as usize].to
    }
}

/// The search for paths, with room to work in.
struct Search<C: ArcCost> {
    source: u32,
    sink: u32,
    distances: Vec<C::Price>,
    /// Per node how many arcs it is from the source along shortest paths; `NONE` if it leads nowhere.
    levels: Vec<u32>,
    /// Arcs on shortest paths, there or back, by the nodes that they come from; the same until distances change.
    tight: Vec<u32>,
    /// Per node where its tight arcs begin, and the end of all.
    tight_starts: Vec<u32>,
    /// Per node the tight arc where the search goes on.
    next: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<u32>,
}

impl<C: ArcCost> Search<C> {
    fn new(nodes: usize, source: u32, sink: u32) -> Self {
        Self {
            source,
            sink,
            distances: vec![C::FAR; nodes],
            levels: vec![NONE; nodes],
            tight: Vec::new(),
            tight_starts: Vec::with_capacity(nodes + 1),
            next: vec![0; nodes],
            queue: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Finds the shortest distance to the sink and raises the potentials by it; false if there is no way.
    fn find_distances(&mut self, network: &mut Network<C>) -> bool {
        let nothing = C::Price::default();
        self.distances.fill(C::FAR);
        self.distances[self.source as usize] = nothing;
        // Few distances differ, so the nodes of one distance stand together.
        let mut waiting = BTreeMap::from([(nothing, vec![self.source])]);
        while let Some((distance, mut nodes)) = waiting.pop_first() {
            while let Some(node) = nodes.pop() {
                if node == self.sink {
                    let raise = |(potential, node): (&mut C::Price, &C::Price)| {
                        *potential += distance.min(*node);
                    };
                    network.potentials.iter_mut().zip(&self.distances).for_each(raise);
                    return true;
                }
                if self.distances[node as usize] == distance {
                    self.look_on(network, node, &mut nodes, &mut waiting);
                }
            }
        }
        false
    }

    fn look_on(
        &mut self,
        network: &Network<C>,
        node: u32,
        near: &mut Vec<u32>,
        waiting: &mut BTreeMap<C::Price, Vec<u32>>,
    ) {
        let distance = self.distances[node as usize];
        for arc in &network.arcs[network.range(node)] {
            if arc.room == 0 {
                continue;
            }
            let reduced = network.reduced(node, *arc);
            if distance + reduced < self.distances[arc.to as usize] {
                self.distances[arc.to as usize] = distance + reduced;
                match reduced == C::Price::default() {
                    true => near.push(arc.to),
                    false => waiting.entry(distance + reduced).or_default().push(arc.to),
                }
            }
        }
    }

    /// Finds the arcs on shortest paths: most arcs are on none, and they are gone through often.
    fn find_tight(&mut self, network: &Network<C>) {
        self.tight.clear();
        self.tight_starts.clear();
        self.tight_starts.push(0);
        for node in 0..self.levels.len() as u32 {
            let (range, potential) = (network.range(node), network.potentials[node as usize]);
            for (arc, place) in network.arcs[range.clone()].iter().zip(range.start as u32..) {
                if arc.cost.price() + potential == network.potentials[arc.to as usize] {
                    self.tight.push(place);
                }
            }
            self.tight_starts.push(self.tight.len() as u32);
        }
    }

    /// Breadth first along shortest paths; true if the sink is reached.
    fn find_levels(&mut self, network: &Network<C>) -> bool {
        self.levels.fill(NONE);
        self.levels[self.source as usize] = 0;
        self.queue.clear();
        self.queue.push(self.source);
        let mut place = 0;
        while let Some(node) = self.queue.get(place).copied() {
            place += 1;
            let (start, end) =
                (self.tight_starts[node as usize], self.tight_starts[node as usize + 1]);
            self.next[node as usize] = start;
            let level = self.levels[node as usize] + 1;
            if level > self.levels[self.sink as usize] {
                continue;
            }
            for arc in &self.tight[start as usize..end as usize] {
                let arc = &network.arcs[*arc as usize];
                if arc.room > 0 && self.levels[arc.to as usize] == NONE {
                    self.levels[arc.to as usize] = level;
                    self.queue.push(arc.to);
                }
            }
        }
        self.levels[self.sink as usize] != NONE
    }

    /// Depth first along the levels, until no path is left; returns how much was sent.
    fn send_along_levels(&mut self, network: &mut Network<C>) -> u64 {
        let mut sent = 0;
        let mut node = self.source;
        self.path.clear();
        loop {
            if node == self.sink {
                sent += u64::from(self.send_along_path(network));
                node = self.path.last().map_or(self.source, |arc| network.arcs[*arc as usize].to);
            } else if let Some(arc) = self.step(network, node) {
                self.path.push(arc);
                node = network.arcs[arc as usize].to;
            } else {
                self.levels[node as usize] = NONE;
                let Some(arc) = self.path.pop() else { return sent };
                node = network.origin(arc);
                self.next[node as usize] += 1;
            }
        }
    }

    /// The next arc from a node one level on.
    fn step(&mut self, network: &Network<C>, node: u32) -> Option<u32> {
        let level = self.levels[node as usize] + 1;
        let end = self.tight_starts[node as usize + 1];
        let next = &mut self.next[node as usize];
        while *next < end {
            let place = self.tight[*next as usize];
            let arc = &network.arcs[place as usize];
            if arc.room > 0 && self.levels[arc.to as usize] == level {
                return Some(place);
            }
            *next += 1;
        }
        None
    }

    /// Sends what the path can carry and goes back to where it is full.
    fn send_along_path(&mut self, network: &mut Network<C>) -> u32 {
        let room = |arc: &u32| network.arcs[*arc as usize].room;
        let amount = self.path.iter().map(room).min().unwrap_or(0);
        let mut full = self.path.len();
        for (arc, place) in self.path.iter().zip(0..) {
            let Arc { back, room, .. } = &mut network.arcs[*arc as usize];
            *room -= amount;
            if *room == 0 {
                full = full.min(place);
            }
            let back = *back as usize;
            network.arcs[back].room += amount;
        }
        self.path.truncate(full);
        amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc(from: u32, to: u32, room: u32, first: i8, second: i8) -> NewArc {
        NewArc { cost: Cost { first, second }, ..NewArc::free(from, to, room) }
    }

    fn sent(arcs: &[NewArc]) -> (u64, Network) {
        let mut network = Network::lay(4, |lay| arcs.iter().for_each(|arc| lay(*arc)));
        (network.send(0, 3), network)
    }

    #[test]
    fn the_cheaper_way_is_filled_first() {
        let (amount, network) = sent(&[
            NewArc::free(0, 1, 5),
            NewArc::free(0, 2, 5),
            arc(1, 3, 5, 1, 0),
            arc(2, 3, 3, 0, 9),
            arc(1, 2, 5, 0, 0),
        ]);
        assert_eq!(amount, 8);
        assert_eq!(network.flows_into(3).collect::<Vec<_>>(), [(1, 5), (2, 3)]);
    }

    #[test]
    fn what_was_sent_the_wrong_way_is_taken_back() {
        let (amount, network) = sent(&[
            arc(0, 1, 1, 0, 0),
            arc(0, 2, 1, 1, 0),
            arc(1, 2, 1, 0, 0),
            arc(1, 3, 1, 1, 0),
            arc(2, 3, 1, 0, 0),
        ]);
        assert_eq!(amount, 2);
        assert_eq!(network.flows_from(1).filter(|(to, _)| *to == 2).collect::<Vec<_>>(), [(2, 0)]);
    }
}
