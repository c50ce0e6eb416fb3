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
use super::flow::{ANY, Cost, Network, NewArc};
use super::holdings::{Row, Rows};
use super::levels::Levels;
use super::parts::{Nodes, Part, Parts};
use super::problem::{Priority, Problem, Wishes};
use super::queues::Queues;
use super::racks::Nearness;

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
        let parts = Parts::of(terms);
        let mut start = Start::new(terms);
        let mut exchange = Self {
            kept: vec![0; terms.rows.count()],
            shares: vec![Vec::new(); terms.classes.count()],
            hungry: vec![Vec::new(); terms.queues.count()],
        };
        for part in parts.iter() {
            let nodes = parts.nodes(part);
            if !exchange.fill(terms, part, nodes) {
                start.keep_all(terms, part);
                exchange.trade(terms, part, nodes, &start);
            }
        }
        exchange
    }

    /// Finds what a part's members give to each other.
    fn trade(&mut self, terms: Terms<'_>, part: &Part, nodes: Nodes<'_>, start: &Start) {
        let lay_arcs = |lay: &mut dyn FnMut(NewArc)| terms.lay_arcs(part, nodes, start, lay);
        let mut network = Network::lay(nodes.count(), lay_arcs);
        network.send(nodes.source(), nodes.sink());
        if terms.wishes.slack > 0 {
            network.send(nodes.source(), nodes.second_sink());
        }
        for class in &part.classes {
            self.shares[*class as usize].extend(nodes.shares(part, &network, *class));
        }
        for member in part.members.iter().copied() {
            let mut incoming = network.flows_into(nodes.member(member));
            let rows = terms.rows.of_member(member).iter().zip(terms.rows.range(member));
            for (_, place) in rows.filter(|(row, _)| terms.may_keep(member, row.class)) {
                self.kept[place] = incoming.next().map_or(0, |(_, flow)| flow);
            }
            let got = incoming.next().map_or(0, |(_, flow)| flow);
            self.feed(terms, member, got);
        }
    }

    /// A member gets so many.
    pub(super) fn feed(&mut self, terms: Terms<'_>, member: u32, got: u32) {
        if got > 0 {
            self.hungry[terms.queues.of_member(member) as usize].push((member, got));
        }
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
    order: Vec<usize>,
}

impl Start {
    fn new(terms: Terms<'_>) -> Self {
        let members = terms.problem.members.len();
        Self {
            kept: vec![0; terms.rows.count()],
            kept_of_class: vec![0; terms.classes.count()],
            within_floor: vec![0; members],
            more: vec![0; members],
            extras: vec![0; terms.levels.block_count()],
            order: Vec::new(),
        }
    }

    fn keep_all(&mut self, terms: Terms<'_>, part: &Part) {
        let mut order = std::mem::take(&mut self.order);
        part.members.iter().for_each(|member| self.keep(terms, *member, &mut order));
        self.order = order;
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
    fn lay_arcs(self, part: &Part, nodes: Nodes<'_>, start: &Start, lay: &mut dyn FnMut(NewArc)) {
        for class in &part.classes {
            let supply = self.classes.supply[*class as usize];
            let flow = start.kept_of_class[*class as usize];
            lay(NewArc { flow, ..NewArc::free(nodes.source(), nodes.class(*class), supply) });
        }
        for member in part.members.iter().copied() {
            for (row, place) in self.rows.of_member(member).iter().zip(self.rows.range(member)) {
                if self.may_keep(member, row.class) {
                    lay(NewArc {
                        from: nodes.class(row.class),
                        to: nodes.member(member),
                        room: row.count,
                        cost: self.cost(0, self.miss(row.class, member)),
                        flow: start.kept[place],
                    });
                }
            }
        }
        for class in &part.classes {
            self.each_way(*class, |queue, misses| {
                let (from, to) = (nodes.class(*class), nodes.queue(queue));
                lay(NewArc { cost: self.cost(1, misses), ..NewArc::free(from, to, ANY) });
            });
        }
        for member in &part.members {
            self.lay_member(nodes, start, *member, lay);
        }
        if self.wishes.slack == 0 {
            let (extras, flow) =
                (self.levels.extras(part.block), start.extras[part.block as usize]);
            lay(NewArc { flow, ..NewArc::free(nodes.block(), nodes.sink(), extras) });
        }
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

    fn lay_member(self, nodes: Nodes<'_>, start: &Start, member: u32, lay: &mut dyn FnMut(NewArc)) {
        let node = nodes.member(member);
        lay(NewArc::free(nodes.queue(self.queues.of_member(member)), node, ANY));
        let (least, most) = self.bounds(member);
        let flow = start.within_floor[member as usize];
        lay(NewArc { flow, ..NewArc::free(node, nodes.sink(), least) });
        if self.wishes.slack > 0 {
            lay(NewArc::free(node, nodes.second_sink(), most - least));
        } else if self.levels.level(self.problem, member).may_have_more {
            let flow = start.more[member as usize];
            lay(NewArc { flow, ..NewArc::free(node, nodes.block(), 1) });
        }
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
