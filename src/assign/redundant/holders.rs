//! Who had which partition before a round, or has it after another.

use crate::assign::GroupAssignment;
use crate::assign::claimants::{Claimants, Standing};
use crate::assign::model::{Model, NONE};
use crate::assign::solver::Holders;

/// The holders of each partition, and which of them had the first copy.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Had {
    /// Those that still subscribe.
    holders: Holders,
    /// Per partition who had the first copy and still subscribes; `NONE` if that is nobody, or not clear.
    first: Vec<u32>,
}

impl Had {
    /// By what members claim. That more claim a partition than there are to be copies is no contradiction: there were
    /// to be more before.
    pub(super) fn claimed(model: &Model, copies: u16) -> Self {
        let claimants = Claimants::of(model);
        let mut had = Self { holders: Holders::default(), first: Vec::new() };
        let (mut claims, mut members) = (Vec::new(), Vec::new());
        for (topic, place) in model.topics().iter().zip(0..) {
            for partition in topic.first..topic.first + topic.count {
                claimants.sorted(partition, &mut claims);
                let standing = Standing::of(&claims, usize::from(copies));
                members.clear();
                members
                    .extend(standing.members().filter(|member| model.subscribes(*member, place)));
                members.sort_unstable();
                let mut firsts =
                    members.iter().filter(|member| !model.stands_by(**member, partition));
                let first = firsts.next().copied().filter(|_| firsts.next().is_none());
                had.first.push(first.unwrap_or(NONE));
                had.holders.push(members.iter().copied());
            }
        }
        had
    }

    /// By a plan.
    pub(super) fn published(plan: &GroupAssignment) -> Self {
        let mut had = Self { holders: Holders::default(), first: Vec::new() };
        for partition in 0..plan.model().partition_count() as u32 {
            let mut members: Vec<u32> = plan.holder_places(partition).collect();
            members.sort_unstable();
            had.holders.push(members);
            had.first.push(plan.first_place(partition).unwrap_or(NONE));
        }
        had
    }

    pub(super) fn holders(&self) -> &Holders {
        &self.holders
    }

    pub(super) fn first(&self, partition: u32) -> u32 {
        self.first.get(partition as usize).copied().unwrap_or(NONE)
    }

    pub(super) fn had(&self, partition: u32, member: u32) -> bool {
        self.holders.of(partition).binary_search(&member).is_ok()
    }
}
