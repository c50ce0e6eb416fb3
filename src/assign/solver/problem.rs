//! What the solver is asked: items, who may take them, who had them, and what matters most.

use std::borrow::Cow;

use super::racks::ItemRacks;

/// No member, no class, no rack.
pub(crate) const NONE: u32 = u32::MAX;

/// Items to be divided among members, as numbers without names.
///
/// Items stand in families (a topic's partitions are one), and a family's items may be taken by the same members.
/// Members that may take the same families form a group. So nothing here is as large as members times items.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    /// In the order of their items, without gaps from item 0 on.
    pub(crate) families: Vec<Family>,
    /// The distinct sets of groups that may take a family, each ascending.
    pub(crate) takers: Vec<Vec<u32>>,
    /// Their order decides between equals.
    pub(crate) members: Vec<Member>,
    /// How many groups there are.
    pub(crate) groups: usize,
    /// Per item who had it and may still take it. Whatever is no member counts as nobody; a missing end, too.
    pub(crate) owners: Cow<'a, [u32]>,
    /// Where items are near; none if that is unknown or of no interest.
    pub(crate) racks: Option<ItemRacks>,
    /// Per item; empty where all weigh the same.
    pub(crate) weights: Vec<u64>,
}

/// Consecutive items that the same members may take, and that should lie with many of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Which of the sets of takers; `NONE` where nobody takes it, and its items stay with nobody.
    pub(crate) takers: u32,
}

/// Somebody who takes items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) group: u32,
    /// `NONE` where unknown: nothing is far from it.
    pub(crate) rack: u32,
    /// Its share among the others; who has none takes only what nobody else may.
    pub(crate) capacity: u32,
}

/// What matters among the balanced plans.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) priority: Priority,
    /// How far a load may lie from what balance gives a member, if that saves moves.
    pub(crate) slack: u32,
}

/// Which of two wishes goes first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Priority {
    /// As few moves as can be, and among those plans as many items near their members.
    #[default]
    MovesThenRacks,
    /// As many items near their members as can be, and among those plans as few moves.
    RacksThenMoves,
}

impl Family {
    pub(crate) fn items(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }
}

impl Problem<'_> {
    pub(super) fn item_count(&self) -> usize {
        self.families.last().map_or(0, |family| family.items().end)
    }

    /// The families that somebody takes, with their numbers.
    pub(super) fn wanted_families(&self) -> impl Iterator<Item = (u32, &Family)> {
        (0..).zip(&self.families).filter(|(_, family)| family.takers != NONE)
    }

    /// A plan in which everybody keeps all that it had and may have; `before` says who had what.
    pub(super) fn everything_kept(&self, before: &[u32]) -> Vec<u32> {
        let members = self.members.len() as u32;
        let mut owners = vec![NONE; self.item_count()];
        for (_, family) in self.wanted_families() {
            let before = before.get(family.items()).unwrap_or(&[]);
            for (owner, before) in owners[family.items()].iter_mut().zip(before) {
                if *before < members {
                    *owner = *before;
                }
            }
        }
        owners
    }

    /// Leaves an item to this member alone: it becomes a family of its own, and the member a group of its own.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn forced(mut self, member: u32, item: u32) -> Self {
        let found =
            self.families.iter().position(|family| family.items().contains(&(item as usize)));
        let (Some(place), Some(forced)) = (found, self.members.get_mut(member as usize)) else {
            return self;
        };
        let (old, new) = (forced.group, self.groups as u32);
        forced.group = new;
        self.groups += 1;
        for takers in self.takers.iter_mut().filter(|takers| takers.binary_search(&old).is_ok()) {
            takers.push(new);
        }
        self.takers.push(vec![new]);

        let family = self.families[place];
        let before = item - family.first;
        let behind =
            Family { first: item + 1, count: family.count - before - 1, takers: family.takers };
        let alone = Family { first: item, count: 1, takers: self.takers.len() as u32 - 1 };
        self.families[place].count = before;
        self.families.splice(place + 1..place + 1, [alone, behind]);
        if let Some(owner) = self.owners.get(item as usize).filter(|owner| **owner != member) {
            if *owner != NONE {
                self.owners.to_mut()[item as usize] = NONE;
            }
        }
        self
    }

    /// Whether a member may take a family with these takers.
    pub(super) fn may_take(&self, member: u32, takers: u32) -> bool {
        let group = self.members[member as usize].group;
        self.takers.get(takers as usize).is_some_and(|groups| groups.binary_search(&group).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forced_item_is_left_to_one_member_and_all_others_to_whom_they_were() {
        let member = |group| Member { group, rack: NONE, capacity: 1 };
        let family = |first, count, takers| Family { first, count, takers };
        let problem = Problem {
            families: vec![family(0, 3, 0), family(3, 2, 1), family(5, 1, NONE)],
            takers: vec![vec![0], vec![0, 1]],
            members: vec![member(0), member(0), member(1)],
            groups: 2,
            owners: Cow::Borrowed(&[0, 0, 1, 2, 2]),
            racks: None,
            weights: Vec::new(),
        };
        let may_take = |problem: &Problem<'_>, item: usize| -> Vec<bool> {
            let family = problem.families.iter().find(|family| family.items().contains(&item));
            (0..3).map(|member| problem.may_take(member, family.unwrap().takers)).collect()
        };
        let before: Vec<_> = (0..6).map(|item| may_take(&problem, item)).collect();
        let problem = problem.forced(1, 1);
        for (item, before) in before.iter().enumerate().filter(|(item, _)| *item != 1) {
            assert_eq!(may_take(&problem, item), *before, "item {item}");
        }
        assert_eq!(may_take(&problem, 1), [false, true, false]);
        assert_eq!((&*problem.owners, problem.item_count()), (&[0, NONE, 1, 2, 2][..], 6));
        assert_eq!(crate::assign::solver::solve(&problem, &Wishes::default())[1], 1);
    }
}
