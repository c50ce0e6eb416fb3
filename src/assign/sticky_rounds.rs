//! What of a plan comes true in this round, and what waits until somebody has given it up.

use std::cmp::Reverse;

use super::GroupSubscription;
use super::model::{Model, NONE};
use crate::types::Generation;

/// Who holds what the plan gives to others.
#[derive(Debug)]
pub(super) struct Waiting<'g> {
    model: &'g Model,
    /// Partitions without a valid owner that somebody holds all the same, with all such members: the newest claims
    /// contradict each other, or are of members that subscribe no more.
    contested: Vec<(u32, u32)>,
}

impl<'g> Waiting<'g> {
    /// None if nobody holds anything: then all comes true at once.
    pub(super) fn of<T>(group: &'g GroupSubscription<T>) -> Option<Self> {
        let model = &*group.model;
        let anybody_holds = model.members().iter().any(|member| member.holds);
        anybody_holds.then(|| Self { model, contested: contested(model) })
    }

    /// What of a plan comes true at once; none if that is all.
    pub(super) fn published(&self, owners: &[u32]) -> Option<Vec<u32>> {
        let waits =
            |(owner, partition): (&u32, u32)| *owner != NONE && self.waits(*owner, partition);
        if !owners.iter().zip(0..).any(waits) {
            return None;
        }
        let publish = |gift: (&u32, u32)| if waits(gift) { NONE } else { *gift.0 };
        Some(owners.iter().zip(0..).map(publish).collect())
    }

    fn waits(&self, next: u32, partition: u32) -> bool {
        let owner = self.model.owner(partition);
        if owner == next {
            return false;
        }
        if let Some(owner) = self.model.members().get(owner as usize) {
            return owner.holds;
        }
        let first = self.contested.partition_point(|(contested, _)| *contested < partition);
        let holders =
            self.contested[first..].iter().take_while(|(contested, _)| *contested == partition);
        holders.map(|(_, holder)| *holder).any(|holder| holder != next)
    }
}

/// The partitions without a valid owner, each with those of its newest claimants that hold it.
fn contested(model: &Model) -> Vec<(u32, u32)> {
    let mut claims: Vec<(u32, Reverse<Generation>, u32)> = Vec::new();
    let owned =
        model.claims.owners.iter().filter(|owner| (**owner as usize) < model.members().len());
    if owned.count() == model.claims.partitions.len() {
        return Vec::new();
    }
    for (member, place) in model.members().iter().zip(0..) {
        let invalid = |partition: &&u32| model.owner(**partition) as usize >= model.members().len();
        let invalid = model.claims(place).iter().filter(invalid);
        claims.extend(invalid.map(|partition| (*partition, Reverse(member.generation), place)));
    }
    claims.sort_unstable();
    let newest = claims
        .chunk_by(|one, other| one.0 == other.0)
        .flat_map(|claims| claims.iter().take_while(|claim| claim.1 == claims[0].1));
    let holds = |place: u32| model.members().get(place as usize).is_some_and(|member| member.holds);
    newest.map(|claim| (claim.0, claim.2)).filter(|(_, place)| holds(*place)).collect()
}
