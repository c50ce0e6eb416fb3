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
use super::flow::{Network, NewArc};
use super::holdings::Row;
use super::problem::Priority;

/// More than there are items.
const ANY: u32 = u32::MAX / 2;

/// The plan in numbers, if there is a balanced one without a move. Where racks go first, if there is one without a miss
/// beside: nothing can be better.
pub(super) fn without_moves(terms: Terms<'_>) -> Option<Exchange> {
    if terms.wishes.slack > 0 {
        return None;
    }
    let filling = Filling::of(terms)?;
    let mut network = Network::lay(filling.nodes() as usize, |lay| filling.lay_arcs(lay));
    let sent = network.send(filling.source(), filling.sink());
    (sent == filling.left).then(|| filling.read(&network))
}

/// What is to be divided, and who has room for how much.
struct Filling<'a> {
    terms: Terms<'a>,
    /// Whether no item may be far from its member.
    all_near: bool,
    /// The classes of which nobody has all, with how many items nobody has.
    classes: Vec<(u32, u32)>,
    /// All of these together.
    left: u64,
    /// Per member what is missing to its floor.
    missing: Vec<u32>,
    /// Per member whether it may have one more still.
    may_have_more: Vec<bool>,
    /// Per block how many members may still have one more.
    extras: Vec<u32>,
}

impl<'a> Filling<'a> {
    /// None if somebody has more than balance leaves it, or what balance gives to others.
    fn of(terms: Terms<'a>) -> Option<Self> {
        let members = terms.problem.members.len();
        let extras = (0..terms.levels.block_count() as u32).map(|block| terms.levels.extras(block));
        let mut filling = Self {
            terms,
            all_near: terms.wishes.priority == Priority::RacksThenMoves,
            classes: Vec::new(),
            left: 0,
            missing: Vec::with_capacity(members),
            may_have_more: Vec::with_capacity(members),
            extras: extras.collect(),
        };
        let mut left = terms.classes.supply.clone();
        for member in 0..members as u32 {
            let rows = terms.rows.of_member(member);
            let stays = |row: &Row| {
                let is_near = !filling.all_near || terms.miss(row.class, member) == 0;
                is_near && terms.may_keep(member, row.class)
            };
            if !rows.iter().all(stays) {
                return None;
            }
            rows.iter().for_each(|row| left[row.class as usize] -= row.count);
            filling.add(member, rows.iter().map(|row| row.count).sum())?;
        }
        let classes = (0..).zip(left).filter(|(_, left)| *left > 0);
        filling.classes = classes.collect();
        filling.left = filling.classes.iter().map(|(_, left)| u64::from(*left)).sum();
        Some(filling)
    }

    /// A member that keeps so much; none if that is too much.
    fn add(&mut self, member: u32, kept: u32) -> Option<()> {
        let level = self.terms.levels.level(self.terms.problem, member);
        let extras = &mut self.extras[level.block as usize];
        let has_more = kept > level.floor;
        if has_more {
            let fits = kept == level.floor + 1 && level.may_have_more;
            *extras = extras.checked_sub(1).filter(|_| fits)?;
        }
        self.missing.push(level.floor.saturating_sub(kept));
        self.may_have_more.push(level.may_have_more && !has_more);
        Some(())
    }

    fn queue(&self, queue: u32) -> u32 {
        self.classes.len() as u32 + queue
    }

    fn member(&self, member: u32) -> u32 {
        self.queue(self.terms.queues.count() as u32) + member
    }

    fn block(&self, block: u32) -> u32 {
        self.member(self.missing.len() as u32) + block
    }

    fn source(&self) -> u32 {
        self.block(self.extras.len() as u32)
    }

    fn sink(&self) -> u32 {
        self.source() + 1
    }

    fn nodes(&self) -> u32 {
        self.sink() + 1
    }

    fn lay_arcs(&self, lay: &mut dyn FnMut(NewArc)) {
        for ((class, left), node) in self.classes.iter().zip(0..) {
            lay(NewArc::free(self.source(), node, *left));
            self.terms.each_way(*class, |queue, misses| {
                if misses == 0 || !self.all_near {
                    let cost = self.terms.cost(0, misses);
                    lay(NewArc { cost, ..NewArc::free(node, self.queue(queue), ANY) });
                }
            });
        }
        for member in 0..self.missing.len() as u32 {
            let missing = self.missing[member as usize];
            let may_have_more = self.may_have_more[member as usize];
            if missing == 0 && !may_have_more {
                continue;
            }
            let node = self.member(member);
            lay(NewArc::free(self.queue(self.terms.queues.of_member(member)), node, ANY));
            lay(NewArc::free(node, self.sink(), missing));
            if may_have_more {
                let level = self.terms.levels.level(self.terms.problem, member);
                lay(NewArc::free(node, self.block(level.block), 1));
            }
        }
        for (extras, block) in self.extras.iter().zip(0..) {
            lay(NewArc::free(self.block(block), self.sink(), *extras));
        }
    }

    fn read(&self, network: &Network) -> Exchange {
        let rows = self.terms.rows;
        let members = 0..self.missing.len() as u32;
        let all = members.clone().flat_map(|member| rows.of_member(member));
        let mut exchange = Exchange {
            kept: all.map(|row| row.count).collect(),
            shares: vec![Vec::new(); self.terms.classes.count()],
            hungry: vec![Vec::new(); self.terms.queues.count()],
        };
        let queues = self.queue(0)..self.member(0);
        for ((class, _), node) in self.classes.iter().zip(0..) {
            let flows = network.flows_from(node);
            let shares = flows.filter(|(to, flow)| queues.contains(to) && *flow > 0);
            let shares = shares.map(|(to, flow)| (to - queues.start, flow));
            exchange.shares[*class as usize].extend(shares);
        }
        for member in members {
            let queue = self.terms.queues.of_member(member);
            let mut incoming = network.flows_into(self.member(member));
            let from_queue = incoming.find(|(from, _)| *from == self.queue(queue));
            let got = from_queue.map_or(0, |(_, flow)| flow);
            if got > 0 {
                exchange.hungry[queue as usize].push((member, got));
            }
        }
        exchange
    }
}
