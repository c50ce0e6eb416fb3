//! How many items members have in common.
//!
//! When a member goes, its partners take over: many with a little each, if copies are mixed well. And what is mixed well
//! moves little, since a partner can take nothing that it has already.

use super::table::Table;

/// More members than this mix well enough by chance.
const MOST: usize = 1024;

/// Per pair of leaves how many items they share.
#[derive(Debug)]
pub(super) struct Partners {
    leaves: usize,
    /// Empty where there are too many.
    shared: Vec<u32>,
}

impl Partners {
    pub(super) fn of(table: &Table, leaves: usize) -> Self {
        let pairs = if leaves <= MOST { leaves * leaves } else { 0 };
        let mut partners = Self { leaves, shared: vec![0; pairs] };
        for item in 0..table.items {
            let holders = table.holders(item);
            for (place, leaf) in holders.iter().enumerate() {
                partners.add(&holders[..place], *leaf);
            }
        }
        partners
    }

    /// Counts an item that these hold for a further leaf.
    pub(super) fn add(&mut self, holders: &[u32], leaf: u32) {
        if self.shared.is_empty() {
            return;
        }
        for holder in holders {
            for (one, other) in [(*holder, leaf), (leaf, *holder)] {
                self.shared[one as usize * self.leaves + other as usize] += 1;
            }
        }
    }

    /// How many items a leaf shares with these.
    pub(super) fn shared(&self, holders: &[u32], leaf: u32) -> u32 {
        let of_leaf = self.shared.get(leaf as usize * self.leaves..).unwrap_or(&[]);
        holders.iter().filter_map(|holder| of_leaf.get(*holder as usize)).sum()
    }
}
