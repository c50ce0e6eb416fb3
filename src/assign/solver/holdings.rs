//! What members have, item by item and as numbers per class.

use super::classes::Classes;
use super::families::Families;
use super::problem::NONE;

/// The items of each member, ascending.
#[derive(Debug)]
pub(super) struct Holdings {
    /// Per member where its items begin, and the end of all.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Holdings {
    /// Of a plan of so many members; items of nobody are left out.
    pub(super) fn of(owners: &[u32], members: usize) -> Self {
        let mut starts = vec![0_u32; members + 2];
        for owner in owners.iter().filter(|owner| **owner != NONE) {
            starts[*owner as usize + 2] += 1;
        }
        for place in 2..starts.len() {
            starts[place] += starts[place - 1];
        }
        // One place further than in the end: each start moves to its end while it is filled.
        let mut items = vec![0; starts[members + 1] as usize];
        for (owner, item) in owners.iter().zip(0..) {
            if *owner != NONE {
                let next = &mut starts[*owner as usize + 1];
                items[*next as usize] = item;
                *next += 1;
            }
        }
        starts.pop();
        Self { starts, items }
    }

    pub(super) fn of_member(&self, member: u32) -> &[u32] {
        let member = member as usize;
        &self.items[self.starts[member] as usize..self.starts[member + 1] as usize]
    }
}

/// How many items of each class each member has, where that is any.
#[derive(Debug, Default)]
pub(super) struct Rows {
    starts: Vec<u32>,
    rows: Vec<Row>,
}

/// So many items of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) class: u32,
    pub(super) count: u32,
}

impl Rows {
    pub(super) fn of(holdings: &Holdings, families: &Families<'_>, classes: &Classes) -> Self {
        let members = holdings.starts.len() - 1;
        let mut rows = Self { starts: Vec::with_capacity(members + 1), rows: Vec::new() };
        rows.starts.push(0);
        // Per class where its row is, if that is one of the member at hand.
        let mut place_of = vec![NONE; classes.count()];
        for member in 0..members as u32 {
            let first = rows.rows.len();
            let mut cursor = families.cursor();
            let mut items = holdings.of_member(member);
            while let Some(item) = items.first() {
                let family = cursor.family_of(*item);
                let class = classes.class_of(family, *item);
                // Where a family's items are all alike, all that the member has of it at once.
                let count = match classes.follow_families() {
                    true => {
                        let end = families.end_of(family);
                        items.iter().take_while(|item| **item < end).count()
                    }
                    false => 1,
                };
                items = &items[count..];
                let place = &mut place_of[class as usize];
                if *place == NONE || (*place as usize) < first {
                    *place = rows.rows.len() as u32;
                    rows.rows.push(Row { class, count: 0 });
                }
                rows.rows[*place as usize].count += count as u32;
            }
            rows.starts.push(rows.rows.len() as u32);
        }
        rows
    }

    pub(super) fn of_member(&self, member: u32) -> &[Row] {
        &self.rows[self.range(member)]
    }

    /// Where a member's rows are among all.
    pub(super) fn range(&self, member: u32) -> std::ops::Range<usize> {
        let member = member as usize;
        self.starts[member] as usize..self.starts[member + 1] as usize
    }

    pub(super) fn member_count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }
}
