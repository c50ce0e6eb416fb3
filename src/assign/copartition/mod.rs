//! Partitions of one number of several topics go to one member, so that topics can be joined.

mod groups;
mod planning;
mod racks;
mod units;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::refs::{MemberRef, TopicRef};
use super::sticky_problem::Asked;
use super::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, Racks,
};
use groups::CoGroups;
pub use units::{CoPartitionUnit, CoPartitionUnits};

/// Gives partition 7 of each of several topics to one member, for all numbers: for topics that are joined.
///
/// When to use it: records of several topics with one key meet in one process, because their producers partition them
/// alike. Say which topics belong together with [`group`](Self::group); without any, all topics do.
///
/// What goes together is a *unit*: partition 7 of every topic of the group that has so many. Units are planned as the
/// sticky assigners plan partitions, balance before moves; other topics' partitions then level what units left uneven.
/// Where topics of a group differ in their partition counts, units differ in how many partitions they hold: of the
/// units of each such size, each member has its share, rounded down or up, and so of each size and all larger ones
/// together. In partitions that is less than the largest unit from everybody's share.
///
/// The traps: all members must declare the same groups, since the leader's count for all. Topics of a group that not
/// the same members subscribe to cannot be given to one member everywhere; the group is split by subscribers, and
/// only topics with the same ones stay together ([`units`](Self::units) shows it). Counts that differ are no error
/// unless [`strict`](Self::strict) says so, and yet producers put keys into other numbers then. While a unit moves, a
/// part of it that is free may arrive a round before the part that somebody still holds.
///
/// ```
/// use kafka_group::assign::{AssignError, CoPartitionAssigner, GroupSubscription, PartitionAssigner};
///
/// let group = GroupSubscription::builder().topic("orders", 6).topic("payments", 6)
///     .member("a", ["orders", "payments"], ())
///     .member("b", ["orders", "payments"], ())
///     .build();
/// let plan = CoPartitionAssigner::default().group(["orders", "payments"]).assign(&group)?;
/// for member in plan.by_name().values() {
///     assert!((0..6).all(|number| member.contains("orders", number) == member.contains("payments", number)));
/// }
/// # Ok::<(), AssignError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CoPartitionAssigner {
    groups: CoGroups,
    racks: Racks,
    is_strict: bool,
}

impl CoPartitionAssigner {
    /// Topics that belong together. Default: all topics, until the first call.
    ///
    /// May be called for several groups; those that share a topic are one. Topics that do not exist are no trouble.
    #[must_use]
    pub fn group<N: Into<Arc<str>>>(mut self, topics: impl IntoIterator<Item = N>) -> Self {
        self.groups.add(topics.into_iter().map(Into::into).collect());
        self
    }

    /// What racks count for. Default: [`Racks::default`], as much as they can without a further move.
    ///
    /// A unit is near the racks in which most of its partitions are.
    #[must_use]
    pub fn racks(mut self, racks: Racks) -> Self {
        self.racks = racks;
        self
    }

    /// Refuses to plan if topics of a group differ in their partition counts, with
    /// [`AssignError::CountsDiffer`]. Default: they may.
    ///
    /// The trap: counts are raised topic by topic, and no plan is made meanwhile. Members keep what they have.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// The units of a group, as far as its view shows topics: each partition that somebody subscribes to is in one.
    pub fn units<'g, T>(&self, group: &'g GroupSubscription<T>) -> CoPartitionUnits<'g> {
        CoPartitionUnits::of(group, &self.groups)
    }

    /// The plan for members of different capacity: for an assigner of one's own with metadata.
    ///
    /// Members with 0 get only what no other member may take. Units that differ in size are divided in proportion to
    /// capacities; those of one size and single partitions as in [`StickyPlanner`](super::StickyPlanner::capacity).
    pub fn plan_by_capacity<T>(
        &self,
        group: &GroupSubscription<T>,
        capacity: impl Fn(MemberRef<'_, T>) -> u32,
    ) -> Result<GroupAssignment, AssignError> {
        let asked = Asked { capacity: Some(&capacity), ..Asked::of(self.racks) };
        self.plan(group, &asked)
    }

    fn plan<T>(
        &self,
        group: &GroupSubscription<T>,
        asked: &Asked<'_, T>,
    ) -> Result<GroupAssignment, AssignError> {
        if self.is_strict {
            self.check_counts(group)?;
        }
        Ok(planning::plan(group, &self.units(group), asked))
    }

    fn check_counts<T>(&self, group: &GroupSubscription<T>) -> Result<(), AssignError> {
        let mut joined: BTreeMap<usize, Vec<TopicRef<'_>>> = BTreeMap::new();
        for topic in group.topics().filter(|topic| group.subscribers(topic.name()).len() > 0) {
            if let Some(place) = self.groups.of_topic(topic.name()) {
                joined.entry(place).or_default().push(topic);
            }
        }
        let count = |topic: &TopicRef<'_>| topic.partition_count();
        let mut unequal = joined
            .values()
            .filter(|topics| topics.windows(2).any(|pair| count(&pair[0]) != count(&pair[1])));
        let named = |topic: &TopicRef<'_>| (Arc::from(topic.name()), count(topic));
        match unequal.next() {
            Some(topics) => Err(AssignError::CountsDiffer(topics.iter().map(named).collect())),
            None => Ok(()),
        }
    }
}

impl PartitionAssigner for CoPartitionAssigner {
    fn name(&self) -> &str {
        "co-partition"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        self.plan(group, &Asked::of(self.racks))
    }
}
