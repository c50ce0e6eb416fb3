//! Who claims which partition, and whose claims count.
//!
//! Claims are as good as their generations (KIP-792): a member that missed rounds still claims what others have by now.

use super::model::{Model, slice_of};
use crate::types::Generation;

/// Who claims which partition, the claims turned round.
pub(super) struct Claimants<'g> {
    model: &'g Model,
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl<'g> Claimants<'g> {
    pub(super) fn of(model: &'g Model) -> Self {
        let mut next = vec![0_u32; model.partition_count() + 1];
        let members = 0..model.members().len() as u32;
        for partition in members.clone().flat_map(|member| model.claims(member)) {
            next[*partition as usize + 1] += 1;
        }
        for place in 1..next.len() {
            next[place] += next[place - 1];
        }
        let mut claimants = vec![0; next.last().copied().unwrap_or(0) as usize];
        for member in members {
            for partition in model.claims(member) {
                let place = &mut next[*partition as usize];
                claimants[*place as usize] = member;
                *place += 1;
            }
        }
        // Each start has moved to its end.
        next.pop();
        Self { model, ends: next, members: claimants }
    }

    pub(super) fn of_partition(&self, partition: u32) -> &[u32] {
        slice_of(&self.ends, &self.members, partition)
    }

    /// A partition's claims, newest first, into `claims`.
    pub(super) fn sorted(&self, partition: u32, claims: &mut Vec<(Generation, u32)>) {
        claims.clear();
        let generation = |member: u32| {
            self.model.members().get(member as usize).map_or(Generation::NONE, |m| m.generation)
        };
        claims.extend(
            self.of_partition(partition).iter().map(|member| (generation(*member), *member)),
        );
        claims.sort_by_key(|(generation, _)| std::cmp::Reverse(*generation));
    }
}

/// The claims of one partition, sorted out. Beaten ones are in neither part.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    pub(super) valid: &'a [(Generation, u32)],
    /// They claim with one generation, and are too many to be all right.
    pub(super) doubtful: &'a [(Generation, u32)],
}

impl<'a> Standing<'a> {
    /// Of claims sorted newest first, as many count as there may be holders, unless that would split equals.
    pub(super) fn of(claims: &'a [(Generation, u32)], most: usize) -> Self {
        let Some((boundary, _)) = claims.get(most) else {
            return Self { valid: claims, doubtful: &[] };
        };
        let newer = claims.partition_point(|(generation, _)| generation > boundary);
        if newer == most {
            let (valid, _beaten) = claims.split_at(newer);
            return Self { valid, doubtful: &[] };
        }
        let equal = claims.partition_point(|(generation, _)| generation >= boundary);
        let (claims, _beaten) = claims.split_at(equal);
        let (valid, doubtful) = claims.split_at(newer);
        Self { valid, doubtful }
    }

    /// All whose claims are not beaten, the valid ones first.
    pub(super) fn members(self) -> impl Iterator<Item = u32> {
        self.valid.iter().chain(self.doubtful).map(|(_, member)| *member)
    }
}
