//! What a plan is worth, in numbers: those of the scenario format, and those that tell how far it is from the best.

use std::collections::BTreeMap;

use super::claimants::Claimants;
use super::model::Model;
use super::{GroupAssignment, GroupSubscription, MemberRef, PartitionRef, Racks, StickyPlanner};

/// The numbers of one plan.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Worth {
    /// Partitions whose valid prior owner does not have them.
    pub(crate) moves: u64,
    /// The largest difference of loads within a subscription.
    pub(crate) spread: u64,
    pub(crate) max: u64,
    pub(crate) min: u64,
    /// The sum of squared loads, least where loads are balanced.
    pub(crate) sumsq: u64,
    /// Partitions of topics with subscribers that nobody has.
    pub(crate) unassigned: u64,
    /// Of those below, how many are in a rack without a replica.
    pub(crate) cross_rack: u64,
    /// Partitions, once for each holder, of which the racks are known on both sides.
    pub(crate) rackable: u64,
}

impl Worth {
    pub(crate) fn of(group: &GroupSubscription, plan: &GroupAssignment) -> Self {
        let mut worth = Self::default();
        let copies = Copies::of(group, plan);
        for partition in group.partitions() {
            let holders = || plan.holders(partition).filter_map(|holder| group.member(holder));
            if let Some(copies) = &copies {
                let handover = copies.handover(plan, partition);
                worth.moves += handover.from.len().min(handover.to.len()) as u64;
            } else if let Some(owner) = group.owner(partition) {
                worth.moves += u64::from(holders().all(|holder| holder != owner));
            }
            if holders().next().is_none() {
                worth.unassigned += u64::from(group.subscribers(partition.topic()).len() > 0);
            }
            for is_near in holders().filter_map(|holder| is_near(holder, partition)) {
                worth.rackable += 1;
                worth.cross_rack += u64::from(!is_near);
            }
        }
        worth.add_loads(group, plan);
        worth
    }

    /// That of the exact plan, which is the best that a group allows.
    pub(crate) fn best(group: &GroupSubscription, racks: Racks) -> Self {
        Self::of(group, &StickyPlanner::new().racks(racks).plan(group))
    }

    fn add_loads(&mut self, group: &GroupSubscription, plan: &GroupAssignment) {
        let mut bounds: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for member in group.members() {
            let load = plan.load(member) as u64;
            self.sumsq += load * load;
            let bounds = bounds.entry(member.subscription_position()).or_insert((load, load));
            *bounds = (bounds.0.min(load), bounds.1.max(load));
        }
        self.max = bounds.values().map(|(_, most)| *most).max().unwrap_or(0);
        self.min = bounds.values().map(|(least, _)| *least).min().unwrap_or(0);
        self.spread = bounds.values().map(|(least, most)| most - least).max().unwrap_or(0);
    }
}

/// Who had copies of partitions that several members have.
pub(crate) struct Copies<'g> {
    model: &'g Model,
    claimants: Claimants<'g>,
}

/// Who gives up copies of a partition, and who gets some.
#[derive(Debug)]
pub(crate) struct Handover {
    pub(crate) from: Vec<u32>,
    pub(crate) to: Vec<u32>,
}

impl<'g> Copies<'g> {
    /// None if the plan gives no partition to several members.
    pub(crate) fn of(group: &'g GroupSubscription, plan: &GroupAssignment) -> Option<Self> {
        let model = &*group.model;
        let has_copies = |partition: u32| plan.holder_places(partition).nth(1).is_some();
        let has_copies = (0..model.partition_count() as u32).any(has_copies);
        has_copies.then(|| Self { model, claimants: Claimants::of(model) })
    }

    /// Who had a copy and still subscribes.
    #[cfg(feature = "cli")]
    pub(crate) fn of_member(&self, member: u32) -> impl Iterator<Item = u32> {
        let claims = self.model.claims(member).iter().copied();
        claims.filter(move |claim| self.model.subscribes(member, self.model.topic_of(*claim)))
    }

    pub(crate) fn handover(&self, plan: &GroupAssignment, partition: PartitionRef<'_>) -> Handover {
        let place = partition.position() as u32;
        let topic = self.model.topic_of(place);
        let had = self.claimants.of_partition(place).iter().copied();
        let had: Vec<u32> = had.filter(|member| self.model.subscribes(*member, topic)).collect();
        let to = plan.holder_places(place).filter(|holder| !had.contains(holder)).collect();
        let has = |member: &u32| plan.holder_places(place).any(|holder| holder == *member);
        Handover { from: had.into_iter().filter(|member| !has(member)).collect(), to }
    }
}

/// Whether a replica is in the member's rack, if both are known.
pub(crate) fn is_near(member: MemberRef<'_>, partition: PartitionRef<'_>) -> Option<bool> {
    let rack = member.rack()?;
    let mut racks = partition.replicas().filter_map(|node| node.rack.as_deref()).peekable();
    racks.peek()?;
    Some(racks.any(|of_replica| of_replica == rack))
}
