//! How many items each of several members has in a balanced plan, if all may take all.
//!
//! The balanced plan has the least sum of load² / capacity. With equal capacities that is the mean, rounded down or
//! up; else it is the apportionment of Webster and Sainte-Laguë.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What members of some capacities get.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    /// By capacity, ascending.
    shares: Vec<Share>,
    /// How many members get one item more than their floor, of those that may.
    pub(super) extras: u32,
}

/// What members of one capacity get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    capacity: u64,
    members: u32,
    /// Everybody has this many.
    pub(super) floor: u32,
    /// Whether some may have one more.
    pub(super) may_have_more: bool,
}

impl Quota {
    /// Divides `items` among members, given as capacities, ascending and none zero, and how many have each.
    pub(super) fn of(items: u64, capacities: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let members = capacities.into_iter().map(|(capacity, members)| Share {
            capacity,
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

    /// What members of this capacity get.
    pub(super) fn of_capacity(&self, capacity: u64) -> Share {
        let nothing = Share { capacity, members: 0, floor: 0, may_have_more: false };
        match &self.shares[..] {
            [all] => *all,
            shares => shares
                .binary_search_by_key(&capacity, |share| share.capacity)
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
        let members: u128 = self.shares.iter().map(|share| u128::from(share.members)).sum();
        let capacity: u128 = self
            .shares
            .iter()
            .map(|share| u128::from(share.members) * u128::from(share.capacity))
            .sum();
        let reach = (2 * u128::from(items)).saturating_sub(members);
        let mut sum = 0;
        for share in &mut self.shares {
            // The most items of which the last one costs (2 x - 1) / capacity <= reach / sum of capacities.
            if reach > 0 {
                let most = (reach * u128::from(share.capacity) + capacity) / (2 * capacity);
                share.floor = most as u32;
            }
            sum += u64::from(share.floor) * u64::from(share.members);
        }
        sum
    }

    fn next_item(&self, place: usize) -> Reverse<NextItem> {
        let share = &self.shares[place];
        Reverse(NextItem { cost: 2 * u64::from(share.floor) + 1, capacity: share.capacity, place })
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
        let quota = Quota::of(items, capacities.iter().copied());
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
}
