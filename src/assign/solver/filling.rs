//! Where everybody can keep all that it has: only what nobody has is divided.
//!
//! ```text
//! source ─ class, what nobody has ─ queue of equals ─ member ─┬─ up to its floor ─────────── sink
//!                                                             └─ one more ─ block's extras ─┘
//! ```
//!
//! No plan moves less than one that moves nothing, so what members have need not be in the flow. Then it is as large as
//! what is to be divided, and not as all that there is. That is so when members have come to rest, have gone, or have
//! given up what somebody waits for.

use super::exchange::{Exchange, Terms};
use super::flow::{ANY, Network, NewArc};
use super::holdings::Row;
use super::parts::{Nodes, Part};
use super::problem::Priority;

impl Exchange {
    /// Finds a part's plan if there is a balanced one without a move; says so. Where racks go first, only one without a
    /// miss beside: nothing can be better.
    pub(super) fn fill(&mut self, terms: Terms<'_>, part: &Part, nodes: Nodes<'_>) -> bool {
        let Some(filling) = Filling::of(terms, part, nodes) else { return false };
        let supply = filling.left.iter().map(|left| u64::from(*left)).sum();
        if supply > 0 {
            let lay_arcs = |lay: &mut dyn FnMut(NewArc)| filling.lay_arcs(nodes, lay);
            let mut network = Network::lay(nodes.count(), lay_arcs);
            if network.send(nodes.source(), nodes.sink()) < supply {
                return false;
            }
            self.take_over(terms, part, nodes, &network);
        }
        for member in &part.members {
            for (row, place) in terms.rows.of_member(*member).iter().zip(terms.rows.range(*member))
            {
                self.kept[place] = row.count;
            }
        }
        true
    }

    fn take_over(&mut self, terms: Terms<'_>, part: &Part, nodes: Nodes<'_>, network: &Network) {
        for class in &part.classes {
            self.shares[*class as usize].extend(nodes.shares(part, network, *class));
        }
        for member in &part.members {
            let queue = nodes.queue(terms.queues.of_member(*member));
            let mut incoming = network.flows_into(nodes.member(*member));
            let got = incoming.find(|(from, _)| *from == queue).map_or(0, |(_, flow)| flow);
            self.feed(terms, *member, got);
        }
    }
}

/// What is to be divided, and who has room for how much.
struct Filling<'a> {
    terms: Terms<'a>,
    part: &'a Part,
    /// Whether no item may be far from its member.
    all_near: bool,
    /// Per class of the part how many items nobody has.
    left: Vec<u32>,
    /// Per member of the part what is missing to its floor, and whether it may have one more.
    missing: Vec<(u32, bool)>,
    /// How many members may still have one more.
    extras: u32,
}

impl<'a> Filling<'a> {
    /// None if somebody has more than balance leaves it, or what balance gives to others.
    fn of(terms: Terms<'a>, part: &'a Part, nodes: Nodes<'_>) -> Option<Self> {
        if terms.wishes.slack > 0 {
            return None;
        }
        let mut filling = Self {
            terms,
            part,
            all_near: terms.wishes.priority == Priority::RacksThenMoves,
            left: part.classes.iter().map(|class| terms.classes.supply[*class as usize]).collect(),
            missing: Vec::with_capacity(part.members.len()),
            extras: terms.levels.extras(part.block),
        };
        for member in part.members.iter().copied() {
            let rows = terms.rows.of_member(member);
            if !rows.iter().all(|row| filling.stays(member, row)) {
                return None;
            }
            // Classes are the first of the nodes, in the order of the part.
            rows.iter().for_each(|row| filling.left[nodes.class(row.class) as usize] -= row.count);
            filling.add(member, rows.iter().map(|row| row.count).sum())?;
        }
        Some(filling)
    }

    fn stays(&self, member: u32, row: &Row) -> bool {
        let is_near = !self.all_near || self.terms.miss(row.class, member) == 0;
        is_near && self.terms.may_keep(member, row.class)
    }

    /// A member that keeps so much; none if that is too much.
    fn add(&mut self, member: u32, kept: u32) -> Option<()> {
        let level = self.terms.levels.level(self.terms.problem, member);
        let has_more = kept > level.floor;
        if has_more {
            let fits = kept == level.floor + 1 && level.may_have_more;
            self.extras = self.extras.checked_sub(1).filter(|_| fits)?;
        }
        self.missing.push((level.floor.saturating_sub(kept), level.may_have_more && !has_more));
        Some(())
    }

    fn lay_arcs(&self, nodes: Nodes<'_>, lay: &mut dyn FnMut(NewArc)) {
        let classes = self.part.classes.iter().zip(&self.left).filter(|(_, left)| **left > 0);
        for (class, left) in classes {
            lay(NewArc::free(nodes.source(), nodes.class(*class), *left));
            self.terms.each_way(*class, |queue, misses| {
                if misses == 0 || !self.all_near {
                    let (from, to) = (nodes.class(*class), nodes.queue(queue));
                    lay(NewArc { cost: self.terms.cost(0, misses), ..NewArc::free(from, to, ANY) });
                }
            });
        }
        for (member, (missing, may_have_more)) in self.part.members.iter().zip(&self.missing) {
            if *missing == 0 && !may_have_more {
                continue;
            }
            let node = nodes.member(*member);
            lay(NewArc::free(nodes.queue(self.terms.queues.of_member(*member)), node, ANY));
            lay(NewArc::free(node, nodes.sink(), *missing));
            if *may_have_more {
                lay(NewArc::free(node, nodes.block(), 1));
            }
        }
        lay(NewArc::free(nodes.block(), nodes.sink(), self.extras));
    }
}
