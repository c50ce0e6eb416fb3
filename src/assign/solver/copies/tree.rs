//! The domains of a class's members, one within the other.

use std::cmp::Ordering;

use super::classes::Class;
use crate::assign::solver::problem::NONE;

/// Domains by level, the outermost first, and the members as leaves in the last one.
///
/// Nodes of one level are numbered through, and so that those with a common parent follow each other.
#[derive(Debug)]
pub(super) struct Tree {
    levels: Vec<Level>,
    /// Per leaf its member.
    members: Vec<u32>,
    /// Per member its leaf, sorted by member.
    leaves: Vec<(u32, u32)>,
    pub(super) items: u32,
}

/// The domains of one kind.
#[derive(Debug)]
pub(super) struct Level {
    /// Per leaf.
    node_of: Vec<u32>,
    /// Per node how many copies its members have together.
    pub(super) due: Vec<u32>,
    /// Per node where its nodes in the next level begin, and the end of all.
    children: Vec<u32>,
}

impl Tree {
    /// Of the members that have something to hold. `due` says how many items, by the class's members.
    pub(super) fn of(domains: &[Vec<u32>], class: &Class, due: &[u32]) -> Self {
        let mut order: Vec<(u32, u32)> = class
            .members
            .iter()
            .copied()
            .zip(due.iter().copied())
            .filter(|(_, due)| *due > 0)
            .collect();
        order.sort_by(|(one, _), (other, _)| by_domains(domains, *one, *other));
        let members: Vec<u32> = order.iter().map(|(member, _)| *member).collect();
        let mut leaves: Vec<(u32, u32)> = members.iter().copied().zip(0..).collect();
        leaves.sort_unstable();

        let mut tree = Self { levels: Vec::new(), members, leaves, items: class.item_count() };
        for level in domains {
            let node = |place: usize| domain_of(level, order[place].0);
            tree.add_level(&order, |place| node(place) != node(place - 1));
        }
        if tree.levels.last().is_none_or(|last| last.node_count() < order.len()) {
            tree.add_level(&order, |_| true);
        }
        tree.link();
        tree
    }

    /// The levels below the whole, the members' own being the last.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn level(&self, level: usize) -> &Level {
        &self.levels[level]
    }

    pub(super) fn leaf_count(&self) -> usize {
        self.members.len()
    }

    /// How many items a leaf is to hold.
    pub(super) fn due(&self, leaf: u32) -> u32 {
        let innermost = self.levels.last();
        innermost.and_then(|level| level.due.get(leaf as usize)).copied().unwrap_or(0)
    }

    pub(super) fn member(&self, leaf: u32) -> u32 {
        self.members.get(leaf as usize).copied().unwrap_or(NONE)
    }

    pub(super) fn leaf_of(&self, member: u32) -> Option<u32> {
        let found = self.leaves.binary_search_by_key(&member, |(member, _)| *member);
        found.ok().map(|place| self.leaves[place].1)
    }

    /// The fewest and the most copies of one item that a domain should have.
    pub(super) fn bounds(&self, level: usize, node: u32) -> (u32, u32) {
        let due = self.levels[level].due[node as usize];
        (due / self.items, due.div_ceil(self.items))
    }

    /// Adds the level whose nodes begin where `begins` says, unless the one before says as much.
    fn add_level(&mut self, order: &[(u32, u32)], begins: impl Fn(usize) -> bool) {
        let mut level = Level { node_of: Vec::new(), due: Vec::new(), children: Vec::new() };
        let before = self.levels.last();
        for (place, (_, due)) in order.iter().enumerate() {
            let inherited = before
                .is_some_and(|outer| place > 0 && outer.node_of[place] != outer.node_of[place - 1]);
            if place == 0 || inherited || begins(place) {
                level.due.push(0);
            }
            let node = level.due.len() - 1;
            level.due[node] += due;
            level.node_of.push(node as u32);
        }
        if before.is_none_or(|outer| outer.node_count() < level.node_count()) {
            self.levels.push(level);
        }
    }

    fn link(&mut self) {
        for place in 1..self.levels.len() {
            let (outer, inner) = self.levels.split_at_mut(place);
            let (outer, inner) = (&mut outer[place - 1], &inner[0]);
            let mut children = vec![0; outer.due.len() + 1];
            for (parent, child) in outer.node_of.iter().zip(&inner.node_of) {
                children[*parent as usize + 1] = child + 1;
            }
            outer.children = children;
        }
    }
}

/// The order in which members with a common domain follow each other, level by level.
pub(super) fn by_domains(domains: &[Vec<u32>], one: u32, other: u32) -> Ordering {
    let mut levels =
        domains.iter().map(|level| domain_of(level, one).cmp(&domain_of(level, other)));
    levels.find(|order| order.is_ne()).unwrap_or_else(|| one.cmp(&other))
}

/// The domain that a member is in, by the domains of one level.
pub(super) fn domain_of(level: &[u32], member: u32) -> Option<u32> {
    level.get(member as usize).copied()
}

impl Level {
    pub(super) fn node_count(&self) -> usize {
        self.due.len()
    }

    /// The node that a leaf is in.
    pub(super) fn node_of(&self, leaf: u32) -> u32 {
        self.node_of[leaf as usize]
    }

    /// A node's nodes in the next level.
    pub(super) fn children(&self, node: u32) -> std::ops::Range<u32> {
        let node = node as usize;
        match self.children.get(node..node + 2) {
            Some([start, end]) => *start..*end,
            _ => 0..0,
        }
    }
}
