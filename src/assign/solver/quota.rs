//! How many items each of several members has in a balanced plan, if all may take all.
//!
//! The balanced plan has the least sum of load² / capacity. With equal capacities that is the mean, rounded down or
//! up; else it is the apportionment of Webster and Sainte-Laguë. Members that carry something already count with it
//! from the first item on.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What members of some kinds get.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    /// By kind, ascending.
    shares: Vec<Share>,
    /// How many members get one item more than their floor, of those that may.
    pub(super) extras: u32,
}

/// What a member is to balance.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Kind {
    /// Never zero; see [`positive`].
    pub(super) capacity: u64,
    /// What it carries beside the items.
    pub(super) load: u32,
}

/// What members of one kind get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    kind: Kind,
    members: u32,
    /// Everybody has this many.
    pub(super) floor: u32,
    /// Whether some may have one more.
    pub(super) may_have_more: bool,
}

impl Quota {
    /// Divides `items` among members, given as kinds, ascending, and how many there are of each.
    pub(super) fn of(items: u64, kinds: impl IntoIterator<Item = (Kind, u32)>) -> Self {
        let members = kinds.into_iter().map(|(kind, members)| Share {
            kind,
            members,
            floor: 0,
            may_have_more: false,
        });
        let mut quota = Self { shares: members.collect(), extras: 0 };
        match &mut quota.shares[..] {
            [] => {}
            [all] => {
                let members = u64::from(all.members).max(1);
                all.floor = (items / members) as u32;
                quota.extras = (items % members) as u32;
                all.may_have_more = quota.extras > 0;
            }
            _ => quota.apportion(items),
        }
        quota
    }

    /// What members of this kind get.
    pub(super) fn of_kind(&self, kind: Kind) -> Share {
        let nothing = Share { kind, members: 0, floor: 0, may_have_more: false };
        match &self.shares[..] {
            [all] => *all,
            shares => shares
                .binary_search_by_key(&kind, |share| share.kind)
                .map_or(nothing, |place| shares[place]),
        }
    }

    /// Raises the members in the order of what the next item costs them, those of one cost at once.
    fn apportion(&mut self, items: u64) {
        let mut left = items - self.lowest_floors(items);
        let mut next: BinaryHeap<Reverse<NextItem>> =
            (0..self.shares.len()).map(|place| self.next_item(place)).collect();
        while left > 0 {
            let Some(Reverse(cheapest)) = next.pop() else { return };
            let mut equals = vec![cheapest.place];
            while let Some(Reverse(other)) = next.peek().filter(|other| other.0 == cheapest) {
                equals.push(other.place);
                next.pop();
            }
            let members: u64 =
                equals.iter().map(|place| u64::from(self.shares[*place].members)).sum();
            if left < members {
                self.extras = left as u32;
                equals.into_iter().for_each(|place| self.shares[place].may_have_more = true);
                return;
            }
            left -= members;
            for place in equals {
                self.shares[place].floor += 1;
                next.push(self.next_item(place));
            }
        }
    }

    /// Floors that are surely not too high, so that little is left to be raised; returns their sum.
    fn lowest_floors(&mut self, items: u64) -> u64 {
        let members: u64 = self.shares.iter().map(|share| u64::from(share.members)).sum();
        let carried: u64 = self.shares.iter().map(|share| share.of_all(share.kind.load)).sum();
        if carried == 0 {
            return self.floors_within((2 * items).saturating_sub(members));
        }
        // Who carries more than the rest will have gets nothing, so the reach is less than if all were to share. At
        // `too_far` more items have a place than there are.
        let (mut reach, mut too_far) = (0, 2 * (items + carried + members) + 1);
        while reach + 1 < too_far {
            let middle = reach + (too_far - reach) / 2;
            match self.floors_within(middle) <= items {
                true => reach = middle,
                false => too_far = middle,
            }
        }
        self.floors_within(reach)
    }

    /// Gives each the most items of which the last one costs no more than `reach` / sum of capacities.
    fn floors_within(&mut self, reach: u64) -> u64 {
        let capacity: u128 = self
            .shares
            .iter()
            .map(|share| u128::from(share.members) * u128::from(share.kind.capacity))
            .sum();
        let mut sum = 0;
        for share in &mut self.shares {
            share.floor = 0;
            if reach > 0 {
                let most = (u128::from(reach) * u128::from(share.kind.capacity) + capacity)
                    / (2 * capacity);
                let most = u32::try_from(most).unwrap_or(u32::MAX);
                share.floor = most.saturating_sub(share.kind.load);
            }
            sum += share.of_all(share.floor);
        }
        sum
    }

    fn next_item(&self, place: usize) -> Reverse<NextItem> {
        let Share { kind, floor, .. } = self.shares[place];
        let load = u64::from(floor) + u64::from(kind.load);
        Reverse(NextItem { cost: 2 * load + 1, capacity: kind.capacity, place })
    }
}

impl Share {
    /// What all members of the kind have together if each has so much.
    fn of_all(&self, each: u32) -> u64 {
        u64::from(each) * u64::from(self.members)
    }
}

/// What one more item adds to load² / capacity: `cost` over `capacity`.
#[derive(Clone, Copy, Debug)]
struct NextItem {
    cost: u64,
    capacity: u64,
    place: usize,
}

impl Ord for NextItem {
    fn cmp(&self, other: &Self) -> Ordering {
        let ours = u128::from(self.cost) * u128::from(other.capacity);
        ours.cmp(&(u128::from(other.cost) * u128::from(self.capacity)))
    }
}

impl PartialOrd for NextItem {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NextItem {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NextItem {}

/// A capacity that can be divided by: none at all becomes less than anybody could notice beside one item.
pub(super) fn positive(capacity: u32, some_have_none: bool) -> u64 {
    match (capacity, some_have_none) {
        (0, _) => 1,
        (capacity, true) => u64::from(capacity) << 28,
        (capacity, false) => u64::from(capacity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floor, whether more, per capacity; and the extras.
    fn shares(items: u64, capacities: &[(u64, u32)]) -> (Vec<(u32, bool)>, u32) {
        let unladen =
            |(capacity, members): &(u64, u32)| (Kind { capacity: *capacity, load: 0 }, *members);
        shares_of(items, capacities.iter().map(unladen))
    }

    /// The same for members of one capacity with these loads.
    fn beside(items: u64, loads: &[(u32, u32)]) -> (Vec<(u32, bool)>, u32) {
        shares_of(
            items,
            loads.iter().map(|(load, members)| (Kind { capacity: 1, load: *load }, *members)),
        )
    }

    fn shares_of(
        items: u64,
        kinds: impl IntoIterator<Item = (Kind, u32)>,
    ) -> (Vec<(u32, bool)>, u32) {
        let quota = Quota::of(items, kinds);
        (
            quota.shares.iter().map(|share| (share.floor, share.may_have_more)).collect(),
            quota.extras,
        )
    }

    #[test]
    fn equals_get_the_mean_rounded_down_or_up() {
        assert_eq!(shares(7, &[(1, 3)]), (vec![(2, true)], 1));
        assert_eq!(shares(6, &[(5, 3)]), (vec![(2, false)], 0));
        assert_eq!(shares(0, &[(1, 3)]), (vec![(0, false)], 0));
    }

    #[test]
    fn twice_the_capacity_gets_twice_the_items() {
        assert_eq!(
            shares(30, &[(4, 1), (8, 1), (12, 1), (16, 1), (20, 1)])
                .0
                .iter()
                .map(|share| share.0)
                .sum::<u32>(),
            30
        );
        assert_eq!(shares(12, &[(4, 1), (8, 1)]), (vec![(4, false), (8, false)], 0));
    }

    #[test]
    fn of_members_whose_next_item_costs_the_same_some_get_it() {
        // One more costs 1/1 and 3/3.
        assert_eq!(shares(2, &[(1, 1), (3, 1)]), (vec![(0, true), (1, true)], 1));
    }

    #[test]
    fn without_capacity_a_member_gets_nothing_beside_others() {
        let (none, some) = (positive(0, true), positive(1, true));
        assert_eq!(
            shares(1 << 26, &[(none, 9), (some, 1)]),
            (vec![(0, false), (1 << 26, false)], 0)
        );
    }

    #[test]
    fn who_carries_something_already_gets_less() {
        assert_eq!(beside(7, &[(0, 1), (3, 1)]), (vec![(5, false), (2, false)], 0));
        assert_eq!(beside(2, &[(0, 1), (9, 3)]), (vec![(2, false), (0, false)], 0));
        assert_eq!(beside(6, &[(1, 2), (3, 1)]), (vec![(2, true), (0, true)], 2));
    }

    #[test]
    fn a_load_that_all_carry_changes_nothing() {
        assert_eq!(beside(7, &[(5, 3)]), (vec![(2, true)], 1));
        assert_eq!(beside(0, &[(0, 1), (u32::MAX, 1)]), (vec![(0, false), (0, false)], 0));
    }
}
