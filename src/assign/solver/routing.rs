//! The largest flow from sets of takers to groups under a limit for each group: Dinic's algorithm on two sides.
//!
//! Here a class is a set of takers, whatever the racks: balance asks for nothing else.

use super::problem::NONE;

/// Which groups may take which classes.
#[derive(Debug)]
pub(super) struct Graph {
    class_starts: Vec<u32>,
    /// By class, then by group.
    edges: Vec<Edge>,
    group_starts: Vec<u32>,
    /// By group the edges that lead to it, with the classes that they come from.
    of_group: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) class: u32,
    pub(super) group: u32,
}

impl Graph {
    pub(super) fn new(takers: &[Vec<u32>], groups: usize) -> Self {
        let mut class_starts = vec![0];
        let mut edges = Vec::with_capacity(takers.iter().map(Vec::len).sum());
        for (takers, class) in takers.iter().zip(0..) {
            edges.extend(takers.iter().map(|group| Edge { class, group: *group }));
            class_starts.push(edges.len() as u32);
        }
        let mut group_starts = vec![0; groups + 1];
        edges.iter().for_each(|edge| group_starts[edge.group as usize + 1] += 1);
        (0..groups).for_each(|group| group_starts[group + 1] += group_starts[group]);
        let mut next = group_starts.clone();
        let mut of_group = vec![(0, 0); edges.len()];
        for (edge, place) in edges.iter().zip(0..) {
            let next = &mut next[edge.group as usize];
            of_group[*next as usize] = (place, edge.class);
            *next += 1;
        }
        Self { class_starts, edges, group_starts, of_group }
    }

    pub(super) fn class_count(&self) -> usize {
        self.class_starts.len() - 1
    }

    pub(super) fn group_count(&self) -> usize {
        self.group_starts.len() - 1
    }

    /// The edges to a group with their classes, ascending.
    pub(super) fn edges_to(&self, group: u32) -> &[(u32, u32)] {
        let range = self.of_group(group);
        &self.of_group[range.start as usize..range.end as usize]
    }

    fn of_class(&self, class: u32) -> std::ops::Range<u32> {
        self.class_starts[class as usize]..self.class_starts[class as usize + 1]
    }

    fn of_group(&self, group: u32) -> std::ops::Range<u32> {
        self.group_starts[group as usize]..self.group_starts[group as usize + 1]
    }
}

/// Classes and groups that are routed by themselves: no flow crosses from or to others.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub(super) id: u32,
    pub(super) classes: Vec<u32>,
    pub(super) groups: Vec<u32>,
}

/// A flow that is kept from one limit to the next.
#[derive(Debug)]
pub(super) struct Routing<'a> {
    graph: &'a Graph,
    /// Per edge.
    flow: Vec<u32>,
    /// Per class what is not routed.
    left: Vec<u32>,
    /// Per group what is routed to it.
    load: Vec<u64>,
    /// Per group how much it takes at most.
    limit: Vec<u64>,
    /// To which part a class or group belongs.
    part_of_class: Vec<u32>,
    part_of_group: Vec<u32>,
    /// How many edges they are from what is not routed; `NONE` if out of reach.
    class_level: Vec<u32>,
    group_level: Vec<u32>,
    /// Where the search goes on: at an edge, and at a place in the groups' lists of edges.
    class_next: Vec<u32>,
    group_next: Vec<u32>,
    /// The edges of the path at hand, there and back in turn.
    path: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Node {
    Class(u32),
    Group(u32),
}

impl<'a> Routing<'a> {
    pub(super) fn new(graph: &'a Graph, supply: Vec<u32>) -> Self {
        let (classes, groups) = (graph.class_count(), graph.group_count());
        Self {
            graph,
            flow: vec![0; graph.edges.len()],
            left: supply,
            load: vec![0; groups],
            limit: vec![0; groups],
            part_of_class: vec![0; classes],
            part_of_group: vec![0; groups],
            class_level: vec![NONE; classes],
            group_level: vec![NONE; groups],
            class_next: vec![0; classes],
            group_next: vec![0; groups],
            path: Vec::new(),
        }
    }

    /// Begins with some flow on an edge; there must be as much supply.
    pub(super) fn start_with(&mut self, edge: u32, flow: u32) {
        let Edge { class, group } = self.graph.edges[edge as usize];
        self.flow[edge as usize] += flow;
        self.left[class as usize] -= flow;
        self.load[group as usize] += u64::from(flow);
    }

    pub(super) fn load(&self, group: u32) -> u64 {
        self.load[group as usize]
    }

    pub(super) fn is_reached(&self, node_of_class: u32) -> bool {
        self.class_level[node_of_class as usize] != NONE
    }

    pub(super) fn is_group_reached(&self, group: u32) -> bool {
        self.group_level[group as usize] != NONE
    }

    /// Makes a part of its own of these classes and groups.
    pub(super) fn separate(&mut self, part: &Part) {
        part.classes.iter().for_each(|class| self.part_of_class[*class as usize] = part.id);
        part.groups.iter().for_each(|group| self.part_of_group[*group as usize] = part.id);
    }

    /// Routes as much of a part as its groups' limits allow; returns what is left. What is reachable from that has
    /// a level afterwards.
    pub(super) fn route(&mut self, part: &Part, limit: impl Fn(u32) -> u64) -> u64 {
        for group in &part.groups {
            self.limit[*group as usize] = limit(*group);
            self.cut_back(part.id, *group);
        }
        while self.find_levels(part) {
            for class in &part.classes {
                self.class_next[*class as usize] = self.graph.class_starts[*class as usize];
            }
            for group in &part.groups {
                self.group_next[*group as usize] = self.graph.group_starts[*group as usize];
            }
            for class in &part.classes {
                if self.class_level[*class as usize] == 0 {
                    self.push_from(*class);
                }
            }
        }
        part.classes.iter().map(|class| u64::from(self.left[*class as usize])).sum()
    }

    /// The groups of a part that could give an item on to each other, beginning at `from`, or the other way round.
    pub(super) fn connected(
        &self,
        part: &Part,
        from: impl Fn(u32) -> bool,
        backwards: bool,
    ) -> Vec<bool> {
        let graph = self.graph;
        let mut reached = vec![false; graph.group_count()];
        let mut class_reached = vec![false; graph.class_count()];
        let mut queue: Vec<u32> =
            part.groups.iter().copied().filter(|group| from(*group)).collect();
        queue.iter().for_each(|group| reached[*group as usize] = true);
        while let Some(group) = queue.pop() {
            for (edge, class) in graph.edges_to(group).iter().copied() {
                let gives = backwards || self.flow[edge as usize] > 0;
                if !gives
                    || self.part_of_class[class as usize] != part.id
                    || class_reached[class as usize]
                {
                    continue;
                }
                class_reached[class as usize] = true;
                for edge in graph.of_class(class) {
                    let other = graph.edges[edge as usize].group;
                    let takes = !backwards || self.flow[edge as usize] > 0;
                    if takes
                        && self.part_of_group[other as usize] == part.id
                        && !reached[other as usize]
                    {
                        reached[other as usize] = true;
                        queue.push(other);
                    }
                }
            }
        }
        reached
    }

    /// Takes from a group what is above its limit.
    fn cut_back(&mut self, part: u32, group: u32) {
        let mut over = self.load[group as usize].saturating_sub(self.limit[group as usize]);
        self.load[group as usize] -= over;
        for (edge, class) in self.graph.edges_to(group) {
            if over == 0 {
                return;
            }
            let (edge, class) = (*edge as usize, *class as usize);
            if self.part_of_class[class] == part {
                let taken = over.min(u64::from(self.flow[edge])) as u32;
                self.flow[edge] -= taken;
                self.left[class] += taken;
                over -= u64::from(taken);
            }
        }
    }

    fn room(&self, group: u32) -> u64 {
        self.limit[group as usize].saturating_sub(self.load[group as usize])
    }

    /// Breadth first from all that is left; true if a group with room is reached.
    fn find_levels(&mut self, part: &Part) -> bool {
        part.classes.iter().for_each(|class| self.class_level[*class as usize] = NONE);
        part.groups.iter().for_each(|group| self.group_level[*group as usize] = NONE);
        let mut queue: Vec<Node> = Vec::new();
        for class in part.classes.iter().filter(|class| self.left[**class as usize] > 0) {
            self.class_level[*class as usize] = 0;
            queue.push(Node::Class(*class));
        }
        let (mut next, mut nearest) = (0, NONE);
        while let Some(node) = queue.get(next).copied() {
            next += 1;
            match node {
                Node::Class(class) if self.class_level[class as usize] < nearest => {
                    self.look_from_class(part.id, class, &mut nearest, &mut queue);
                }
                Node::Group(group) if self.group_level[group as usize] < nearest => {
                    self.look_from_group(part.id, group, &mut queue);
                }
                _ => {}
            }
        }
        nearest != NONE
    }

    fn look_from_class(&mut self, part: u32, class: u32, nearest: &mut u32, queue: &mut Vec<Node>) {
        let level = self.class_level[class as usize] + 1;
        for edge in self.graph.of_class(class) {
            let group = self.graph.edges[edge as usize].group;
            if self.part_of_group[group as usize] != part
                || self.group_level[group as usize] != NONE
            {
                continue;
            }
            self.group_level[group as usize] = level;
            match self.room(group) {
                0 => queue.push(Node::Group(group)),
                _ => *nearest = (*nearest).min(level),
            }
        }
    }

    fn look_from_group(&mut self, part: u32, group: u32, queue: &mut Vec<Node>) {
        let level = self.group_level[group as usize] + 1;
        for (edge, class) in self.graph.edges_to(group).iter().copied() {
            let is_new = self.class_level[class as usize] == NONE;
            if is_new && self.flow[edge as usize] > 0 && self.part_of_class[class as usize] == part
            {
                self.class_level[class as usize] = level;
                queue.push(Node::Class(class));
            }
        }
    }

    /// Depth first along the levels, until a class has nothing left or no way out.
    fn push_from(&mut self, start: u32) {
        self.path.clear();
        let mut node = Node::Class(start);
        while self.left[start as usize] > 0 {
            let next = match node {
                Node::Group(group) if self.room(group) > 0 => {
                    self.augment(start, group);
                    Some(Node::Class(start))
                }
                Node::Class(class) => {
                    self.step_from_class(class).or_else(|| self.back_from_class(class))
                }
                Node::Group(group) => {
                    self.step_from_group(group).or_else(|| self.back_from_group(group))
                }
            };
            let Some(next) = next else { return };
            node = next;
        }
    }

    fn step_from_class(&mut self, class: u32) -> Option<Node> {
        let end = self.graph.of_class(class).end;
        let level = self.class_level[class as usize] + 1;
        let part = self.part_of_class[class as usize];
        while self.class_next[class as usize] < end {
            let edge = self.class_next[class as usize];
            let group = self.graph.edges[edge as usize].group;
            if self.group_level[group as usize] == level
                && self.part_of_group[group as usize] == part
            {
                self.path.push(edge);
                return Some(Node::Group(group));
            }
            self.class_next[class as usize] += 1;
        }
        None
    }

    fn step_from_group(&mut self, group: u32) -> Option<Node> {
        let end = self.graph.of_group(group).end;
        let level = self.group_level[group as usize] + 1;
        let part = self.part_of_group[group as usize];
        while self.group_next[group as usize] < end {
            let (edge, class) = self.graph.of_group[self.group_next[group as usize] as usize];
            let is_next = self.class_level[class as usize] == level;
            let is_within = self.part_of_class[class as usize] == part;
            if is_next && is_within && self.flow[edge as usize] > 0 {
                self.path.push(edge);
                return Some(Node::Class(class));
            }
            self.group_next[group as usize] += 1;
        }
        None
    }

    /// Leaves a class that leads nowhere; none if the path began there.
    fn back_from_class(&mut self, class: u32) -> Option<Node> {
        self.class_level[class as usize] = NONE;
        let group = self.graph.edges[self.path.pop()? as usize].group;
        self.group_next[group as usize] += 1;
        Some(Node::Group(group))
    }

    /// Leaves a group that leads nowhere.
    fn back_from_group(&mut self, group: u32) -> Option<Node> {
        self.group_level[group as usize] = NONE;
        let class = self.graph.edges[self.path.pop()? as usize].class;
        self.class_next[class as usize] += 1;
        Some(Node::Class(class))
    }

    /// Sends along the path what it can carry.
    fn augment(&mut self, start: u32, group: u32) {
        let mut amount = self.room(group).min(u64::from(self.left[start as usize])) as u32;
        for edge in self.path.iter().skip(1).step_by(2) {
            amount = amount.min(self.flow[*edge as usize]);
        }
        for (edge, place) in self.path.iter().zip(0..) {
            match place % 2 {
                0 => self.flow[*edge as usize] += amount,
                _ => self.flow[*edge as usize] -= amount,
            }
        }
        self.left[start as usize] -= amount;
        self.load[group as usize] += u64::from(amount);
        self.path.clear();
    }
}
