//! How many items of which band each member keeps, gives and gets: for each set of takers one cheapest flow.
//!
//! ```text
//! source ─ class ─┬─ keeps ───────────────────────────────┬─ band 0 of member ─────────────────┐
//!                 └─ moves: its stake ─ queue by band and rack                                  │
//!                                                         ├─ band 1 of member ─ bands 0 and 1 ─┤
//!                                                         └─ band 2 of member ─ all bands ─────┴─ sink
//! ```
//!
//! Where bands of a member come together, and behind each band, there is room for what the member is due at least, and
//! beside it for one item more at the price of one unevenness. All of a band's items find a place, so a plan has the
//! fewest unevennesses exactly if everybody gets what it is due at least, of everything.

use super::classes::{Band, BandClasses};
use super::shares::Shares;
use crate::assign::solver::exchange::Exchange;
use crate::assign::solver::flow::{ANY, ArcCost, Network, NewArc};
use crate::assign::solver::holdings::Rows;
use crate::assign::solver::problem::{NONE, Priority, Problem};
use crate::assign::solver::racks::Nearness;

/// Members that take the same, what they are due and of what.
#[derive(Debug)]
pub(super) struct Crew<'a> {
    pub(super) members: Vec<u32>,
    pub(super) shares: Shares,
    /// The widest first.
    pub(super) bands: &'a [Band],
}

/// The numbers found so far, set of takers by set of takers.
#[derive(Debug)]
pub(super) struct BandFlow<'a> {
    problem: &'a Problem<'a>,
    priority: Priority,
    nearness: Option<&'a Nearness<'a>>,
    classes: &'a BandClasses,
    rows: &'a Rows,
    pub(super) exchange: Exchange,
}

/// What one item costs: any amount of what stands first is more than all of the rest.
#[derive(Clone, Copy, Debug, Default)]
struct BandCost {
    uneven: i32,
    first: i32,
    second: i32,
}

impl ArcCost for BandCost {
    type Price = i128;

    const FAR: i128 = i128::MAX / 4;

    /// No path has so many arcs that one could add up to the one before it.
    fn price(self) -> i128 {
        (i128::from(self.uneven) << 80) + (i128::from(self.first) << 40) + i128::from(self.second)
    }

    fn back(self) -> Self {
        Self { uneven: -self.uneven, first: -self.first, second: -self.second }
    }
}

impl<'a> BandFlow<'a> {
    pub(super) fn new(
        problem: &'a Problem<'a>,
        priority: Priority,
        nearness: Option<&'a Nearness<'a>>,
        classes: &'a BandClasses,
        rows: &'a Rows,
    ) -> Self {
        let exchange = Exchange {
            kept: vec![0; rows.count()],
            shares: vec![Vec::new(); classes.stakes.len()],
            hungry: Vec::new(),
        };
        Self { problem, priority, nearness, classes, rows, exchange }
    }

    /// Finds the numbers of one crew, and adds to `loads` what its members carry of it.
    pub(super) fn run(&mut self, crew: &Crew<'_>, loads: &mut [u64]) {
        let nodes = Nodes::of(self, crew);
        let mut network = Network::lay(nodes.count(), |lay| self.lay_arcs(crew, &nodes, lay));
        network.send(nodes.source(), nodes.sink());
        self.read(crew, &nodes, &network, loads);
    }

    fn lay_arcs(&self, crew: &Crew<'_>, nodes: &Nodes, lay: &mut dyn FnMut(NewArc<BandCost>)) {
        for (class, node) in nodes.classes.iter().zip(0..) {
            let supply = self.classes.classes.supply[*class as usize];
            lay(NewArc::free(nodes.source(), node, supply));
        }
        for (band, at) in crew.bands.iter().zip(0..) {
            for class in &band.classes {
                self.lay_moves(nodes, *class, at, lay);
            }
        }
        for place in 0..crew.members.len() as u32 {
            self.lay_member(crew, nodes, place, lay);
        }
    }

    /// From a class to the queues of its band.
    fn lay_moves(
        &self,
        nodes: &Nodes,
        class: u32,
        band: u32,
        lay: &mut dyn FnMut(NewArc<BandCost>),
    ) {
        for (rack, queue) in nodes.racks.iter().zip(0..) {
            let stake = self.classes.stakes[class as usize] as i32;
            let cost = self.cost(stake, self.miss(class, *rack));
            lay(NewArc { cost, ..NewArc::free(nodes.class(class), nodes.queue(band, queue), ANY) });
        }
    }

    /// From classes and queues through a member's bands to the sink.
    fn lay_member(
        &self,
        crew: &Crew<'_>,
        nodes: &Nodes,
        place: u32,
        lay: &mut dyn FnMut(NewArc<BandCost>),
    ) {
        let member = crew.members[place as usize];
        let rack = self.problem.members[member as usize].rack;
        let due = |items| crew.shares.bounds(items, place as usize);
        let mut together = 0;
        for (band, at) in crew.bands.iter().zip(0..) {
            let leaf = nodes.leaf(at, place);
            for row in self.rows.of_member(member) {
                if band.classes.binary_search(&row.class).is_ok() {
                    let cost = self.cost(0, self.miss(row.class, rack));
                    lay(NewArc { cost, ..NewArc::free(nodes.class(row.class), leaf, row.count) });
                }
            }
            lay(NewArc::free(nodes.queue(at, nodes.queue_of[place as usize]), leaf, ANY));
            if at > 0 {
                lay_due(leaf, nodes.step(at, place), due(band.supply), lay);
            }
            together += band.supply;
            lay_due(nodes.step(at, place), nodes.after(at, place), due(together), lay);
        }
    }

    fn read(
        &mut self,
        crew: &Crew<'_>,
        nodes: &Nodes,
        network: &Network<BandCost>,
        loads: &mut [u64],
    ) {
        let first_queue = self.exchange.hungry.len() as u32;
        let queues = nodes.queue(0, 0)..nodes.leaf(0, 0);
        self.exchange.hungry.resize(self.exchange.hungry.len() + queues.len(), Vec::new());
        for (class, node) in nodes.classes.iter().zip(0..) {
            let flows = network.flows_from(node);
            let to_queues = flows.filter(|(to, flow)| queues.contains(to) && *flow > 0);
            self.exchange.shares[*class as usize]
                .extend(to_queues.map(|(to, flow)| (to - queues.start + first_queue, flow)));
        }
        for (member, place) in crew.members.iter().zip(0..) {
            for (band, at) in crew.bands.iter().zip(0..) {
                let mut incoming = network.flows_into(nodes.leaf(at, place));
                let mut items = 0;
                for (row, at) in self.rows.of_member(*member).iter().zip(self.rows.range(*member)) {
                    if band.classes.binary_search(&row.class).is_ok() {
                        let kept = incoming.next().map_or(0, |(_, flow)| flow);
                        self.exchange.kept[at] = kept;
                        items += kept;
                    }
                }
                let (queue, got) = incoming.next().unwrap_or((queues.start, 0));
                if got > 0 {
                    let queue = queue - queues.start + first_queue;
                    self.exchange.hungry[queue as usize].push((*member, got));
                }
                loads[*member as usize] += u64::from(items + got) * u64::from(band.width);
            }
        }
    }

    fn miss(&self, class: u32, rack: u32) -> i32 {
        let set = self.classes.classes.racks[class as usize];
        i32::from(self.nearness.is_some_and(|nearness| nearness.is_far(set, rack)))
    }

    fn cost(&self, moves: i32, misses: i32) -> BandCost {
        match self.priority {
            Priority::MovesThenRacks => BandCost { uneven: 0, first: moves, second: misses },
            Priority::RacksThenMoves => BandCost { uneven: 0, first: misses, second: moves },
        }
    }
}

/// Room for the least, and for what is above it at a price.
fn lay_due(from: u32, to: u32, (least, most): (u32, u32), lay: &mut dyn FnMut(NewArc<BandCost>)) {
    lay(NewArc::free(from, to, least));
    if most > least {
        let cost = BandCost { uneven: 1, ..BandCost::default() };
        lay(NewArc { cost, ..NewArc::free(from, to, most - least) });
    }
}

/// The numbers of the nodes.
struct Nodes {
    /// Ascending; they come first, from 0.
    classes: Vec<u32>,
    /// Where members are; one, whatever it is, if racks do not matter.
    racks: Vec<u32>,
    /// Per member the place of its rack.
    queue_of: Vec<u32>,
    bands: u32,
    members: u32,
}

impl Nodes {
    fn of(flow: &BandFlow<'_>, crew: &Crew<'_>) -> Self {
        let mut classes: Vec<u32> =
            crew.bands.iter().flat_map(|band| &band.classes).copied().collect();
        classes.sort_unstable();
        let rack = |member: &u32| match flow.nearness {
            Some(_) => flow.problem.members[*member as usize].rack,
            None => NONE,
        };
        let mut racks: Vec<u32> = crew.members.iter().map(rack).collect();
        racks.sort_unstable();
        racks.dedup();
        let place = |member: &u32| racks.partition_point(|other| *other < rack(member)) as u32;
        let queue_of = crew.members.iter().map(place).collect();
        let (bands, members) = (crew.bands.len() as u32, crew.members.len() as u32);
        Self { classes, racks, queue_of, bands, members }
    }

    fn class(&self, class: u32) -> u32 {
        self.classes.partition_point(|other| *other < class) as u32
    }

    fn queue(&self, band: u32, rack: u32) -> u32 {
        self.classes.len() as u32 + band * self.racks.len() as u32 + rack
    }

    /// What a member has of a band.
    fn leaf(&self, band: u32, member: u32) -> u32 {
        self.queue(self.bands, 0) + band * self.members + member
    }

    /// What a member has of a band and all wider ones; of the widest there is nothing else.
    fn step(&self, band: u32, member: u32) -> u32 {
        match band {
            0 => self.leaf(0, member),
            _ => self.leaf(self.bands + band - 1, member),
        }
    }

    /// Where that flows on to.
    fn after(&self, band: u32, member: u32) -> u32 {
        match band + 1 < self.bands {
            true => self.step(band + 1, member),
            false => self.sink(),
        }
    }

    fn source(&self) -> u32 {
        self.leaf(2 * self.bands - 1, 0)
    }

    fn sink(&self) -> u32 {
        self.source() + 1
    }

    fn count(&self) -> usize {
        self.sink() as usize + 1
    }
}
