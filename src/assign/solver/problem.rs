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

    /// A plan in which everybody keeps all that it had and may have.
    pub(super) fn everything_kept(&self) -> Vec<u32> {
        let members = self.members.len() as u32;
        let mut owners = vec![NONE; self.item_count()];
        for (_, family) in self.wanted_families() {
            let before = self.owners.get(family.items()).unwrap_or(&[]);
            for (owner, before) in owners[family.items()].iter_mut().zip(before) {
                if *before < members {
                    *owner = *before;
                }
            }
        }
        owners
    }

    /// Whether a member may take a family with these takers.
    pub(super) fn may_take(&self, member: u32, takers: u32) -> bool {
        let group = self.members[member as usize].group;
        self.takers.get(takers as usize).is_some_and(|groups| groups.binary_search(&group).is_ok())
    }
}
