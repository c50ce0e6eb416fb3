//! Who gets the copies that are missing: the hungriest, in domains that have few of the item.

use super::counts::Counts;
use super::hungry::{Hungry, Place};
use super::partners::Partners;
use super::table::Table;
use super::tree::Tree;

/// Fills the table. Where nothing stays, the copies of each item are as far apart as they can be.
pub(super) fn fill(tree: &Tree, table: &mut Table) {
    let mut fill = Fill::new(tree, table);
    for item in 0..table.items {
        fill.left -= 1;
        fill.counts.begin(tree, table.holders(item));
        for _ in table.holders(item).len()..table.copies {
            let Some(leaf) = fill.next_leaf(table.holders(item)) else { break };
            fill.partners.add(table.holders(item), leaf);
            table.give(item, leaf);
        }
    }
}

struct Fill<'a> {
    tree: &'a Tree,
    /// Per level and node how many copies it has yet to get.
    hunger: Vec<Vec<u32>>,
    /// Per level and node of the level above, the whole being above the first one.
    hungry: Vec<Vec<Hungry>>,
    counts: Counts,
    partners: Partners,
    /// How many items come after the one at hand.
    left: u32,
    /// How many copies were given.
    turn: u32,
}

/// The node that gets the next copy.
enum Next {
    /// It gets one of each item.
    Always(u32),
    Other(Place),
}

impl<'a> Fill<'a> {
    fn new(tree: &'a Tree, table: &Table) -> Self {
        let levels = 0..tree.depth();
        let mut hunger: Vec<Vec<u32>> =
            levels.clone().map(|at| tree.level(at).due.clone()).collect();
        for leaf in (0..table.items).flat_map(|item| table.holders(item)) {
            for (hunger, level) in hunger.iter_mut().zip(0..) {
                let node = tree.level(level).node_of(*leaf) as usize;
                hunger[node] = hunger[node].saturating_sub(1);
            }
        }
        let hungry = levels.map(|level| Hungry::of_level(tree, level, &hunger[level])).collect();
        Self {
            tree,
            hunger,
            hungry,
            counts: Counts::new(tree),
            partners: Partners::of(table, tree.leaf_count()),
            left: table.items,
            turn: 0,
        }
    }

    /// The leaf for one more copy of the item that these hold.
    fn next_leaf(&mut self, holders: &[u32]) -> Option<u32> {
        self.turn = self.turn.wrapping_add(1);
        let mut parent = 0;
        for level in 0..self.tree.depth() {
            let next = self.next_node(level, parent, holders)?;
            let (Next::Always(node) | Next::Other(Place { node, .. })) = next;
            self.hunger[level][node as usize] -= 1;
            if let Next::Other(place) = next {
                let hungry = &mut self.hungry[level][parent as usize];
                hungry.take(place);
                hungry.add(node, place.hunger - 1);
            }
            parent = node;
        }
        self.counts.add(self.tree, parent);
        Some(parent)
    }

    /// The node of a parent's that gets it.
    fn next_node(&self, level: usize, parent: u32, holders: &[u32]) -> Option<Next> {
        let (tree, counts) = (self.tree, &self.counts);
        let hungry = &self.hungry[level][parent as usize];
        let hunger = |node: u32| self.hunger[level][node as usize];
        let lacks = |node: u32, most: u32| hunger(node) > 0 && counts.of(level, node) < most;
        let always = hungry.always.iter().copied();
        let below_least = |node: &u32| lacks(*node, tree.bounds(level, *node).0);
        if let Some(node) = always.clone().find(below_least) {
            return Some(Next::Always(node));
        }
        // What it is sure to get with the items to come says nothing about this one.
        let excess = |node: &u32| {
            let sure = tree.bounds(level, *node).0.saturating_mul(self.left);
            hunger(*node).saturating_sub(sure)
        };
        let below_most = |node: &u32| lacks(*node, tree.bounds(level, *node).1);
        let more = always.filter(below_most).max_by_key(excess);
        let is_leaf = level + 1 == tree.depth();
        let cost = |node| if is_leaf { self.partners.shared(holders, node) } else { 0 };
        let other = hungry.hungriest(self.turn, |node| counts.of(level, node) == 0, cost);
        match (more, other) {
            (Some(more), Some(other)) if excess(&more) > other.hunger => Some(Next::Always(more)),
            (_, Some(other)) => Some(Next::Other(other)),
            (Some(more), None) => Some(Next::Always(more)),
            (None, None) => self.least_bad(level, parent),
        }
    }

    /// Where there is no good place, one with the fewest copies of the item. Exchanges put it right.
    fn least_bad(&self, level: usize, parent: u32) -> Option<Next> {
        let nodes = match level.checked_sub(1) {
            Some(outer) => self.tree.level(outer).children(parent),
            None => 0..self.tree.level(0).node_count() as u32,
        };
        let hunger = |node: &u32| self.hunger[level][*node as usize];
        let hungry = nodes.filter(|node| hunger(node) > 0);
        let node = hungry.min_by_key(|node| self.counts.of(level, *node))?;
        let place = self.hungry[level][parent as usize].place_of(node, hunger(&node));
        Some(place.map_or(Next::Always(node), Next::Other))
    }
}
