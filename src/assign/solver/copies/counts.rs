//! How many copies of the item at hand the domains have.

use super::tree::Tree;

/// Per level and node how many copies of one item.
#[derive(Debug)]
pub(super) struct Counts {
    /// A number counts if it stands beside this round.
    of: Vec<Vec<(u32, u32)>>,
    round: u32,
}

impl Counts {
    pub(super) fn new(tree: &Tree) -> Self {
        let levels = 0..tree.depth();
        Self { of: levels.map(|at| vec![(0, 0); tree.level(at).node_count()]).collect(), round: 0 }
    }

    /// Begins with the item that these hold.
    pub(super) fn begin(&mut self, tree: &Tree, leaves: &[u32]) {
        // Rounds are as many as there are copies of items, times those looked at for each: more than fit.
        if self.round == u32::MAX {
            *self = Self::new(tree);
        }
        self.round += 1;
        leaves.iter().for_each(|leaf| self.add(tree, *leaf));
    }

    pub(super) fn add(&mut self, tree: &Tree, leaf: u32) {
        for level in 0..tree.depth() {
            let node = tree.level(level).node_of(leaf);
            self.of[level][node as usize] = (self.round, self.of(level, node) + 1);
        }
    }

    pub(super) fn of(&self, level: usize, node: u32) -> u32 {
        let (round, count) = self.of[level][node as usize];
        if round == self.round { count } else { 0 }
    }
}
