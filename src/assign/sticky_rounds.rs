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
        let mut published: Option<Vec<u32>> = None;
        self.each_that_waits(owners, |partition| {
            published.get_or_insert_with(|| owners.to_vec())[partition] = NONE;
        });
        published
    }

    /// Whether this is what of a plan comes true at once.
    pub(super) fn publishes(&self, owners: &[u32], published: &[u32]) -> bool {
        let mut waiting = 0;
        let mut all_wait = true;
        self.each_that_waits(owners, |partition| {
            waiting += 1;
            all_wait &= published.get(partition) == Some(&NONE);
        });
        let differ = |(next, published): (&u32, &u32)| next != published;
        all_wait && owners.iter().zip(published).filter(|pair| differ(*pair)).count() == waiting
    }

    fn each_that_waits(&self, owners: &[u32], mut waits: impl FnMut(usize)) {
        let holds =
            |owner: u32| self.model.members().get(owner as usize).is_some_and(|owner| owner.holds);
        for (place, (next, owner)) in owners.iter().zip(&self.model.claims.owners).enumerate() {
            if next != owner && *next != NONE && holds(*owner) {
                waits(place);
            }
        }
        for contested in self.contested.chunk_by(|one, other| one.0 == other.0) {
            let Some((partition, _)) = contested.first() else { continue };
            let next = owners.get(*partition as usize).copied().unwrap_or(NONE);
            if next != NONE && contested.iter().any(|(_, holder)| *holder != next) {
                waits(*partition as usize);
            }
        }
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
