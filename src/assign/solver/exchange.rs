//! How many items of which class each member keeps, gives and gets: one cheapest flow.
//!
//! ```text
//! source ─ class ─┬─ keeps: as many as it has, free ──────────── member ─┬─ up to its floor ─────────── sink
//!                 └─ moves: one move each ─ queue of its equals ─ member ─┴─ one more ─ block's extras ─┘
//! ```
//!
//! Units are items. Where a class and a member are far apart, the arc costs a miss beside. With slack, loads are
//! bounded for each member by itself, from a second sink on that is open when all have their least.

use super::classes::Classes;
use super::filling::without_moves;
use super::flow::{Cost, Network, NewArc};
use super::holdings::{Row, Rows};
use super::levels::Levels;
use super::problem::{Priority, Problem, Wishes};
use super::queues::Queues;
use super::racks::Nearness;

/// More than there are items.
const ANY: u32 = u32::MAX / 2;

/// A plan in numbers.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Per row of what members have, how many of that they keep.
    pub(super) kept: Vec<u32>,
    /// Per class the queues that its moving items go to, and how many.
    pub(super) shares: Vec<Vec<(u32, u32)>>,
    /// Per queue its members that get items, and how many.
    pub(super) hungry: Vec<Vec<(u32, u32)>>,
}

/// All that the exchange depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) wishes: &'a Wishes,
    pub(super) nearness: Option<&'a Nearness<'a>>,
    pub(super) classes: &'a Classes,
    pub(super) rows: &'a Rows,
    pub(super) levels: &'a Levels,
    pub(super) queues: &'a Queues,
}

impl Exchange {
    /// The plan with the fewest moves and misses.
    pub(super) fn of(terms: Terms<'_>) -> Self {
        if let Some(exchange) = without_moves(terms) {
            return exchange;
        }
        let nodes = Nodes::of(terms);
        let start = Start::of(terms);
        let mut network = Network::lay(nodes.count(), |lay| terms.lay_arcs(&nodes, &start, lay));
        network.send(nodes.source, nodes.sink);
        if terms.wishes.slack > 0 {
            network.send(nodes.source, nodes.second_sink);
        }
        terms.read(&nodes, &network)
    }
}

/// The numbers of the nodes.
struct Nodes {
    /// Classes come first, from 0.
    queues: u32,
    members: u32,
    blocks: u32,
    source: u32,
    sink: u32,
    second_sink: u32,
}

impl Nodes {
    fn of(terms: Terms<'_>) -> Self {
        let queues = terms.classes.count() as u32;
        let members = queues + terms.queues.count() as u32;
        let blocks = members + terms.problem.members.len() as u32;
        let source = blocks + terms.levels.block_count() as u32;
        Self { queues, members, blocks, source, sink: source + 1, second_sink: source + 2 }
    }

    fn count(&self) -> usize {
        self.second_sink as usize + 1
    }
}

/// What surely costs nothing: members keep what is near, up to their floor and then one more while there are extras.
/// A begin, not a decision.
struct Start {
    /// Per row.
    kept: Vec<u32>,
    /// Per class.
    kept_of_class: Vec<u32>,
    /// Per member, of what it keeps, what is within its floor and what is one more.
    within_floor: Vec<u32>,
    more: Vec<u32>,
    /// Per block.
    extras: Vec<u32>,
}

impl Start {
    fn of(terms: Terms<'_>) -> Self {
        let members = terms.problem.members.len();
        let mut start = Self {
            kept: vec![0; terms.rows.count()],
            kept_of_class: vec![0; terms.classes.count()],
            within_floor: vec![0; members],
            more: vec![0; members],
            extras: vec![0; terms.levels.block_count()],
        };
        let mut order = Vec::new();
        for member in 0..members as u32 {
            start.keep(terms, member, &mut order);
        }
        start
    }

    fn keep(&mut self, terms: Terms<'_>, member: u32, order: &mut Vec<usize>) {
        let level = terms.levels.level(terms.problem, member);
        let (rows, first) = (terms.rows.of_member(member), terms.rows.range(member).start);
        order.clear();
        let is_free =
            |row: &Row| terms.may_keep(member, row.class) && terms.miss(row.class, member) == 0;
        order.extend((0..rows.len()).filter(|place| is_free(&rows[*place])));
        // What few others may take is better kept.
        let takers = |row: &Row| {
            terms.problem.takers[terms.classes.takers[row.class as usize] as usize].len()
        };
        order.sort_by_key(|place| takers(&rows[*place]));

        let mut room = terms.bounds(member).0;
        for place in order.iter() {
            let kept = rows[*place].count.min(room);
            room -= kept;
            self.add(first + place, rows[*place].class, kept);
            self.within_floor[member as usize] += kept;
        }
        let extras = &mut self.extras[level.block as usize];
        let has_extra = terms.wishes.slack == 0
            && level.may_have_more
            && *extras < terms.levels.extras(level.block);
        let further = order.iter().find(|place| self.kept[first + **place] < rows[**place].count);
        if let (0, true, Some(place)) = (room, has_extra, further) {
            *extras += 1;
            self.more[member as usize] = 1;
            self.add(first + place, rows[*place].class, 1);
        }
    }

    fn add(&mut self, row: usize, class: u32, count: u32) {
        self.kept[row] += count;
        self.kept_of_class[class as usize] += count;
    }
}

impl Terms<'_> {
    fn lay_arcs(self, nodes: &Nodes, start: &Start, lay: &mut dyn FnMut(NewArc)) {
        for (supply, class) in self.classes.supply.iter().zip(0..) {
            let flow = start.kept_of_class[class as usize];
            lay(NewArc { flow, ..NewArc::free(nodes.source, class, *supply) });
        }
        for member in 0..self.problem.members.len() as u32 {
            for (row, place) in self.rows.of_member(member).iter().zip(self.rows.range(member)) {
                if self.may_keep(member, row.class) {
                    let cost = self.cost(0, self.miss(row.class, member));
                    let to = nodes.members + member;
                    lay(NewArc {
                        from: row.class,
                        to,
                        room: row.count,
                        cost,
                        flow: start.kept[place],
                    });
                }
            }
        }
        for class in 0..self.classes.count() as u32 {
            self.lay_moves(nodes, class, lay);
        }
        for member in 0..self.problem.members.len() as u32 {
            self.lay_member(nodes, start, member, lay);
        }
        for block in 0..self.levels.block_count() as u32 {
            let (extras, flow) = (self.levels.extras(block), start.extras[block as usize]);
            if self.wishes.slack == 0 {
                lay(NewArc { flow, ..NewArc::free(nodes.blocks + block, nodes.sink, extras) });
            }
        }
    }

    fn lay_moves(self, nodes: &Nodes, class: u32, lay: &mut dyn FnMut(NewArc)) {
        self.each_way(class, |queue, misses| {
            let cost = self.cost(1, misses);
            lay(NewArc { cost, ..NewArc::free(class, nodes.queues + queue, ANY) });
        });
    }

    /// The queues that items of a class may go to, and how many misses that is an item.
    pub(super) fn each_way(self, class: u32, mut way: impl FnMut(u32, i8)) {
        let takers = self.classes.takers[class as usize];
        for group in &self.problem.takers[takers as usize] {
            if self.is_open(takers, *group) {
                let queues = self.queues.of_group(*group);
                queues.for_each(|(queue, rack)| way(queue, self.miss_in(class, rack)));
            }
        }
    }

    fn lay_member(self, nodes: &Nodes, start: &Start, member: u32, lay: &mut dyn FnMut(NewArc)) {
        let node = nodes.members + member;
        lay(NewArc::free(nodes.queues + self.queues.of_member(member), node, ANY));
        let (least, most) = self.bounds(member);
        let flow = start.within_floor[member as usize];
        lay(NewArc { flow, ..NewArc::free(node, nodes.sink, least) });
        let level = self.levels.level(self.problem, member);
        if self.wishes.slack > 0 {
            lay(NewArc::free(node, nodes.second_sink, most - least));
        } else if level.may_have_more {
            let flow = start.more[member as usize];
            lay(NewArc { flow, ..NewArc::free(node, nodes.blocks + level.block, 1) });
        }
    }

    fn read(self, nodes: &Nodes, network: &Network) -> Exchange {
        let mut exchange = Exchange {
            kept: vec![0; self.rows.count()],
            shares: vec![Vec::new(); self.classes.count()],
            hungry: vec![Vec::new(); self.queues.count()],
        };
        for (shares, class) in exchange.shares.iter_mut().zip(0..) {
            let to_queues =
                |(to, flow): &(u32, u32)| (nodes.queues..nodes.members).contains(to) && *flow > 0;
            let flows = network.flows_from(class).filter(to_queues);
            shares.extend(flows.map(|(to, flow)| (to - nodes.queues, flow)));
        }
        for member in 0..self.problem.members.len() as u32 {
            let queue = self.queues.of_member(member);
            let mut incoming = network.flows_into(nodes.members + member);
            for (row, place) in self.rows.of_member(member).iter().zip(self.rows.range(member)) {
                if self.may_keep(member, row.class) {
                    exchange.kept[place] = incoming.next().map_or(0, |(_, flow)| flow);
                }
            }
            let got = incoming.next().map_or(0, |(_, flow)| flow);
            if got > 0 {
                exchange.hungry[queue as usize].push((member, got));
            }
        }
        exchange
    }

    /// The least and the most that a member may have; without slack, extras are counted apart.
    fn bounds(self, member: u32) -> (u32, u32) {
        match self.wishes.slack {
            0 => {
                let floor = self.levels.level(self.problem, member).floor;
                (floor, floor)
            }
            slack => {
                let (least, most) = self.levels.range(self.problem, member);
                (least.saturating_sub(slack), most.saturating_add(slack).min(ANY))
            }
        }
    }

    /// Whether items of these takers may be with this group: balance keeps the blocks apart, slack need not.
    fn is_open(self, takers: u32, group: u32) -> bool {
        self.wishes.slack > 0
            || self.levels.block_of_takers(takers) == self.levels.block_of_group(group)
    }

    pub(super) fn may_keep(self, member: u32, class: u32) -> bool {
        let group = self.problem.members[member as usize].group;
        self.is_open(self.classes.takers[class as usize], group)
    }

    pub(super) fn miss(self, class: u32, member: u32) -> i8 {
        self.miss_in(class, self.problem.members[member as usize].rack)
    }

    fn miss_in(self, class: u32, rack: u32) -> i8 {
        let set = self.classes.racks[class as usize];
        i8::from(self.nearness.is_some_and(|nearness| nearness.is_far(set, rack)))
    }

    pub(super) fn cost(self, moves: i8, misses: i8) -> Cost {
        match self.wishes.priority {
            Priority::MovesThenRacks => Cost { first: moves, second: misses },
            Priority::RacksThenMoves => Cost { first: misses, second: moves },
        }
    }
}
