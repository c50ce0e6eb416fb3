//! Who holds which item: of all items as they go in and out, and of one class as it is worked on.

use super::classes::Class;
use super::tree::Tree;
use crate::assign::solver::problem::NONE;

/// Members per item.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Holders {
    /// Per item where its members end.
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Holders {
    /// Adds the next item's members.
    pub(crate) fn push(&mut self, members: impl IntoIterator<Item = u32>) {
        self.members.extend(members);
        self.ends.push(self.members.len() as u32);
    }

    /// The members of an item; none of an unknown one.
    pub(crate) fn of(&self, item: u32) -> &[u32] {
        let item = item as usize;
        let end = self.ends.get(item).copied().unwrap_or(0) as usize;
        let start = item.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.members.get(start.unwrap_or(0) as usize..end).unwrap_or(&[])
    }
}

/// The copies of a class's items, items and members being numbered within the class: members as leaves of the tree.
#[derive(Debug)]
pub(super) struct Table {
    /// How many copies there are to be of each item.
    pub(super) copies: usize,
    /// Per item and copy its leaf; `NONE` where one is missing. The missing ones of an item come last.
    slots: Vec<u32>,
    /// Per item who had it before, ascending.
    pub(super) before: Holders,
    pub(super) items: u32,
}

impl Table {
    /// A table without a copy.
    pub(super) fn new(holders: &Holders, class: &Class, tree: &Tree) -> Self {
        let mut before = Holders::default();
        let mut leaves = Vec::new();
        for item in &class.items {
            leaves.clear();
            leaves.extend(holders.of(*item).iter().filter_map(|member| tree.leaf_of(*member)));
            leaves.sort_unstable();
            leaves.dedup();
            before.push(leaves.iter().copied());
        }
        let copies = class.copies as usize;
        Self {
            copies,
            slots: vec![NONE; copies * class.items.len()],
            before,
            items: class.item_count(),
        }
    }

    /// The leaves that hold an item.
    pub(super) fn holders(&self, item: u32) -> &[u32] {
        let slots = self.slots(item);
        let filled = slots.iter().position(|leaf| *leaf == NONE).unwrap_or(slots.len());
        &slots[..filled]
    }

    /// Whether a leaf had an item before.
    pub(super) fn had(&self, item: u32, leaf: u32) -> bool {
        self.before.of(item).binary_search(&leaf).is_ok()
    }

    /// Gives an item of which a copy is missing.
    pub(super) fn give(&mut self, item: u32, leaf: u32) {
        let place = item as usize * self.copies + self.holders(item).len();
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = leaf;
        }
    }

    /// Lets another hold a copy.
    pub(super) fn replace(&mut self, item: u32, copy: usize, leaf: u32) {
        self.slots[item as usize * self.copies + copy] = leaf;
    }

    /// Per item and copy its member, those that had the item first; a copy too many with one member is left out.
    pub(super) fn into_members(mut self, tree: &Tree) -> Vec<u32> {
        for item in 0..self.items {
            let mut leaves: Vec<u32> = self.holders(item).to_vec();
            leaves.sort_unstable();
            leaves.dedup();
            leaves.sort_by_key(|leaf| !self.had(item, *leaf));
            let members = leaves.into_iter().map(|leaf| tree.member(leaf));
            let start = item as usize * self.copies;
            let slots = &mut self.slots[start..start + self.copies];
            slots.fill(NONE);
            slots.iter_mut().zip(members).for_each(|(slot, member)| *slot = member);
        }
        self.slots
    }

    fn slots(&self, item: u32) -> &[u32] {
        let start = item as usize * self.copies;
        &self.slots[start..start + self.copies]
    }
}
