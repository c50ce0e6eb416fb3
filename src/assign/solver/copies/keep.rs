//! Which copies stay where they are.

use std::cmp::Reverse;

use super::classes::Class;
use super::counts::Counts;
use super::table::Table;
use super::tree::Tree;

/// Fills a table with copies that stay: of what each member had no more than it is due, and of each item no more than
/// there are to be.
pub(super) fn keep(tree: &Tree, class: &Class, table: &mut Table) {
    let mut keeping = Keeping::all(tree, class, table);
    keeping.release_from_the_richest();
    for leaf in 0..tree.leaf_count() as u32 {
        keeping.release_surplus(leaf);
    }
    keeping.release_too_many();
    for had in keeping.had {
        if had.stays {
            table.give(had.item, had.leaf);
        }
    }
}

/// What members had, and whether it stays.
struct Keeping<'a> {
    class: &'a Class,
    /// How many copies of an item stay at the most.
    copies: u32,
    /// By item.
    had: Vec<Had>,
    /// Per leaf the places of what it had, and how many more of these stay than it is due.
    of_leaf: Vec<Vec<u32>>,
    surplus: Vec<i64>,
    /// Per item how many copies stay.
    staying: Vec<u32>,
    /// Per family of the class's items how many copies were released.
    released: Vec<u32>,
}

/// A copy that was there.
struct Had {
    item: u32,
    leaf: u32,
    stays: bool,
    /// In how many domains there were more copies of the item than there should be.
    crowding: u32,
}

impl<'a> Keeping<'a> {
    fn all(tree: &Tree, class: &'a Class, table: &Table) -> Self {
        let families = class.families.last().map_or(0, |last| *last as usize + 1);
        let mut keeping = Self {
            class,
            copies: table.copies as u32,
            had: Vec::new(),
            of_leaf: vec![Vec::new(); tree.leaf_count()],
            surplus: (0..tree.leaf_count() as u32).map(|leaf| -i64::from(tree.due(leaf))).collect(),
            staying: Vec::with_capacity(class.items.len()),
            released: vec![0; families],
        };
        let mut counts = Counts::new(tree);
        for item in 0..table.items {
            let leaves = table.before.of(item);
            counts.begin(tree, leaves);
            for leaf in leaves {
                let is_crowded = |level: &usize| {
                    let node = tree.level(*level).node_of(*leaf);
                    counts.of(*level, node) > tree.bounds(*level, node).1
                };
                let crowding = (0..tree.depth()).filter(is_crowded).count() as u32;
                keeping.of_leaf[*leaf as usize].push(keeping.had.len() as u32);
                keeping.surplus[*leaf as usize] += 1;
                keeping.had.push(Had { item, leaf: *leaf, stays: true, crowding });
            }
            keeping.staying.push(leaves.len() as u32);
        }
        keeping
    }

    /// Takes of each item what are too many copies from members that have too many items: from those whose copies are
    /// not apart, and then from those that have most.
    fn release_from_the_richest(&mut self) {
        let mut first = 0;
        for item in 0..self.staying.len() {
            let places = first..first + self.staying[item] as usize;
            first = places.end;
            while self.staying[item] > self.copies {
                let surplus = |place: &usize| self.surplus[self.had[*place].leaf as usize];
                let can_give = |place: &usize| self.had[*place].stays && surplus(place) > 0;
                let worst = |place: &usize| (self.had[*place].crowding, surplus(place));
                let Some(place) = places.clone().filter(can_give).max_by_key(worst) else { break };
                self.release(place as u32);
            }
        }
    }

    /// Takes from a member what it has too many: what is not apart from another copy, and of families that it has most
    /// of.
    fn release_surplus(&mut self, leaf: u32) {
        let places = std::mem::take(&mut self.of_leaf[leaf as usize]);
        let surplus = usize::try_from(self.surplus[leaf as usize]).unwrap_or(0);
        if surplus == 0 {
            return;
        }
        let places = places.into_iter().filter(|place| self.had[*place as usize].stays);
        let (mut last, mut rank) = (None, 0);
        let mut candidates = Vec::new();
        for place in places {
            let had = &self.had[place as usize];
            let family = self.class.families[had.item as usize];
            rank = if last == Some(family) { rank + 1 } else { 0 };
            last = Some(family);
            let touched = self.released[family as usize];
            candidates.push((had.crowding, rank, Reverse(touched), place));
        }
        candidates.sort_unstable_by_key(|candidate| Reverse(*candidate));
        candidates.iter().take(surplus).for_each(|(.., place)| self.release(*place));
    }

    /// Takes of each item what are too many copies, those first that are not apart.
    fn release_too_many(&mut self) {
        let mut places: Vec<u32> = (0..self.had.len() as u32)
            .filter(|place| {
                let had = &self.had[*place as usize];
                had.stays && self.staying[had.item as usize] > self.copies
            })
            .collect();
        places.sort_by_key(|place| Reverse(self.had[*place as usize].crowding));
        for place in places {
            if self.staying[self.had[place as usize].item as usize] > self.copies {
                self.release(place);
            }
        }
    }

    fn release(&mut self, place: u32) {
        let had = &mut self.had[place as usize];
        had.stays = false;
        self.surplus[had.leaf as usize] -= 1;
        self.staying[had.item as usize] -= 1;
        self.released[self.class.families[had.item as usize] as usize] += 1;
    }
}
