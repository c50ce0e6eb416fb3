//! How many items of each class each member holds: one cheapest flow.
//!
//! ```text
//! source ─ class ─ rack ─ host ─ process ─┬─ keeps: as many as it had, free ─ member ─┬─ up to its floor ───── sink
//!                                         └─ moves: one move each ────────────┘       └─ one more ─ block ──┘
//! ```
//!
//! Units are copies. Into a domain as many flow for nothing as the class has items; each further one is not apart from
//! another copy of its item, which costs more than any number of moves. Domains of one member are left out.

use super::Copies;
use super::classes::Class;
use super::levels::{Levels, Share};
use super::tree::{by_domains, domain_of};
use crate::assign::solver::flow::{ANY, Cost, Network, NewArc};
use crate::assign::solver::problem::NONE;

/// How many copies of an item beyond the first in one domain have prices of their own.
const STEPS: u32 = 8;

/// Per class and member of it how many items it is to hold.
pub(super) fn shares(asked: &Copies<'_>, classes: &[Class], levels: &Levels) -> Vec<Vec<u32>> {
    let mut plumbing = Plumbing::new(asked, classes, levels);
    for class in 0..classes.len() {
        plumbing.lay_class(class);
    }
    plumbing.lay_members();
    plumbing.into_shares()
}

/// The network as it is laid.
struct Plumbing<'a> {
    asked: &'a Copies<'a>,
    classes: &'a [Class],
    levels: &'a Levels,
    /// Members come first, from 0; then blocks, source and sink, classes and domains.
    nodes: u32,
    source: u32,
    sink: u32,
    arcs: Vec<NewArc>,
    /// How many members share the class at hand.
    sharers: usize,
    shares: Vec<Vec<u32>>,
    /// Per member the shares that its incoming arcs are of, two arcs each: class and place in it.
    shares_of: Vec<Vec<(u32, u32)>>,
}

/// A member of a class that shares with others.
#[derive(Clone, Copy)]
struct Sharer {
    member: u32,
    /// Its place among the members of its class.
    place: u32,
    /// Whether it has all items in any case.
    filled: bool,
    had: u32,
}

impl<'a> Plumbing<'a> {
    fn new(asked: &'a Copies<'a>, classes: &'a [Class], levels: &'a Levels) -> Self {
        let members = asked.problem.members.len();
        let source = (members + levels.block_count()) as u32;
        Self {
            asked,
            classes,
            levels,
            nodes: source + 2,
            source,
            sink: source + 1,
            arcs: Vec::new(),
            sharers: 0,
            shares: classes.iter().map(|class| vec![0; class.members.len()]).collect(),
            shares_of: vec![Vec::new(); members],
        }
    }

    fn lay_class(&mut self, class: usize) {
        let Class { items, members, copies, .. } = &self.classes[class];
        let items = items.len() as u32;
        let mut sharers = Vec::new();
        let had = self.had(class);
        let mut supply = items.saturating_mul(*copies);
        for ((member, place), had) in members.iter().zip(0..).zip(had) {
            let group = self.asked.problem.members[*member as usize].group;
            let share = self.levels.share(class, group);
            let filled = share == Share::All;
            if filled {
                self.shares[class][place as usize] = items;
                supply = supply.saturating_sub(items);
            }
            if share != Share::None {
                sharers.push(Sharer { member: *member, place, filled, had: had.min(items) });
            }
        }
        if supply == 0 {
            return;
        }
        let domains = self.asked.domains;
        sharers.sort_by(|one, other| by_domains(domains, one.member, other.member));
        let node = self.node();
        self.sharers = sharers.len();
        self.arcs.push(NewArc::free(self.source, node, supply));
        self.lay_domains(class, node, &sharers, domains);
    }

    /// Per member of a class how many of its items it had.
    fn had(&self, class: usize) -> Vec<u32> {
        let Class { items, members, .. } = &self.classes[class];
        let mut had = vec![0; members.len()];
        for member in items.iter().flat_map(|item| self.asked.holders.of(*item)) {
            if let Ok(place) = members.binary_search(member) {
                had[place] += 1;
            }
        }
        had
    }

    /// Leads from a node to members, through the domains that have several of them.
    fn lay_domains(&mut self, class: usize, from: u32, sharers: &[Sharer], levels: &[Vec<u32>]) {
        let Some((level, inner)) = levels.split_first() else {
            return sharers.iter().for_each(|sharer| self.lay_sharer(class, from, *sharer));
        };
        let domain = |sharer: &Sharer| domain_of(level, sharer.member);
        for domain in sharers.chunk_by(|one, other| domain(one) == domain(other)) {
            // Where one is alone nothing comes together, and where all are, everything does.
            let is_telling = domain.len() > 1 && domain.len() < self.sharers;
            let to = if is_telling { self.lay_domain(class, from, domain) } else { from };
            self.lay_domains(class, to, domain, inner);
        }
    }

    fn lay_domain(&mut self, class: usize, from: u32, sharers: &[Sharer]) -> u32 {
        let node = self.node();
        let items = self.classes[class].items.len() as u32;
        let filled = sharers.iter().filter(|sharer| sharer.filled).count() as u32;
        let most = (sharers.len() as u32).min(filled + STEPS);
        for step in filled..most {
            let room = if step + 1 == most { ANY } else { items };
            let cost = Cost { first: step.min(STEPS) as i8, second: 0 };
            self.arcs.push(NewArc { cost, ..NewArc::free(from, node, room) });
        }
        node
    }

    /// What a member had, and the rest.
    fn lay_sharer(&mut self, class: usize, from: u32, sharer: Sharer) {
        if sharer.filled {
            return;
        }
        let items = self.classes[class].items.len() as u32;
        self.arcs.push(NewArc::free(from, sharer.member, sharer.had));
        let cost = Cost { first: 0, second: 1 };
        self.arcs.push(NewArc { cost, ..NewArc::free(from, sharer.member, items - sharer.had) });
        self.shares_of[sharer.member as usize].push((class as u32, sharer.place));
    }

    fn lay_members(&mut self) {
        let first_block = self.asked.problem.members.len() as u32;
        for (member, node) in self.asked.problem.members.iter().zip(0..) {
            let block = self.levels.block_of_group(member.group);
            if block == NONE {
                continue;
            }
            let (floor, may_have_more) = self.levels.room(member.group);
            self.arcs.push(NewArc::free(node, self.sink, floor));
            if may_have_more {
                self.arcs.push(NewArc::free(node, first_block + block, 1));
            }
        }
        for block in 0..self.levels.block_count() as u32 {
            let extras = self.levels.block(block).extras;
            self.arcs.push(NewArc::free(first_block + block, self.sink, extras));
        }
    }

    fn into_shares(mut self) -> Vec<Vec<u32>> {
        let arcs = &self.arcs;
        let mut network =
            Network::lay(self.nodes as usize, |lay| arcs.iter().for_each(|arc| lay(*arc)));
        network.send(self.source, self.sink);
        for (shares_of, member) in self.shares_of.iter().zip(0..) {
            let mut incoming = network.flows_into(member).map(|(_, flow)| flow);
            for (class, place) in shares_of {
                let (kept, moved) = (incoming.next(), incoming.next());
                let share = &mut self.shares[*class as usize][*place as usize];
                *share = kept.unwrap_or(0) + moved.unwrap_or(0);
            }
        }
        self.shares
    }

    fn node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }
}
