//! Which family an item is of.

use super::problem::{Family, Problem};

/// The families, with an index that does not grow with the items.
#[derive(Debug)]
pub(super) struct Families<'a> {
    families: &'a [Family],
    /// Blocks have two to the power of this many items, on average about as many as a family.
    shift: u32,
    /// Per block the family of its first item, and the last one at the end.
    of_block: Vec<u32>,
}

/// Looks for items that mostly ascend.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    families: &'a Families<'a>,
    place: usize,
}

impl<'a> Families<'a> {
    pub(super) fn of(problem: &'a Problem<'_>) -> Self {
        let (items, families) = (problem.item_count(), &problem.families);
        let shift = (items / families.len().max(1)).max(1).ilog2();
        let mut of_block = Vec::with_capacity((items >> shift) + 2);
        let mut place = 0;
        for block in 0..=items >> shift {
            while families.get(place + 1).is_some_and(|next| next.first as usize <= block << shift)
            {
                place += 1;
            }
            of_block.push(place as u32);
        }
        of_block.push(families.len().saturating_sub(1) as u32);
        Self { families, shift, of_block }
    }

    pub(super) fn count(&self) -> usize {
        self.families.len()
    }

    /// The number behind a family's last item.
    pub(super) fn end_of(&self, family: u32) -> u32 {
        self.families.get(family as usize).map_or(0, |family| family.first + family.count)
    }

    pub(super) fn cursor(&'a self) -> Cursor<'a> {
        Cursor { families: self, place: 0 }
    }

    /// The family of an item, which there must be.
    fn find(&self, item: u32) -> usize {
        let block = (item >> self.shift) as usize;
        let (first, last) = (self.of_block[block] as usize, self.of_block[block + 1] as usize);
        first + self.families[first..=last].partition_point(|family| family.first <= item) - 1
    }

    fn holds(&self, place: usize, item: u32) -> bool {
        let family = self.families.get(place);
        family.is_some_and(|family| family.items().contains(&(item as usize)))
    }
}

impl Cursor<'_> {
    /// The family of an item, which there must be.
    pub(super) fn family_of(&mut self, item: u32) -> u32 {
        if !self.families.holds(self.place, item) {
            self.place = match self.families.holds(self.place + 1, item) {
                true => self.place + 1,
                false => self.families.find(item),
            };
        }
        self.place as u32
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn items_are_found_in_large_small_and_empty_families() {
        let sizes = [0, 300, 0, 0, 1, 1, 7, 0, 64, 0];
        let mut problem = Problem {
            families: Vec::new(),
            takers: Vec::new(),
            members: Vec::new(),
            groups: 0,
            owners: Cow::Borrowed(&[]),
            racks: None,
            weights: Vec::new(),
        };
        let mut expected = Vec::new();
        for (count, place) in sizes.into_iter().zip(0..) {
            let first = expected.len() as u32;
            problem.families.push(Family { first, count, takers: 0 });
            expected.extend(vec![place; count as usize]);
        }
        let families = Families::of(&problem);
        let mut cursor = families.cursor();
        for step in [1, 5, 371] {
            for at in 0..expected.len() {
                let item = at * step % expected.len();
                assert_eq!(cursor.family_of(item as u32), expected[item], "item {item}");
            }
        }
    }
}
