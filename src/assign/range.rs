//! Kafka's `range`.

use super::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
    RebalanceProtocol,
};

/// Kafka's `range`: of each topic, each subscriber gets one run of partitions, the first ones a partition more.
///
/// When to use it: partitions of one number of several topics with equal counts and subscribers go to one member,
/// so topics can be joined by partition. Any Java, Go or C client may lead or follow. The trap: every topic favours
/// the same first members; with many small topics the last ones idle.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RangeAssigner;

impl PartitionAssigner for RangeAssigner {
    fn name(&self) -> &str {
        "range"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        for topic in group.topics() {
            let subscribers = group.subscribers(topic.name());
            let (count, members) = (topic.partition_count(), subscribers.len().max(1));
            let mut partitions = topic.partitions();
            for (place, member) in subscribers.enumerate() {
                let share = count / members + usize::from(place < count % members);
                for partition in partitions.by_ref().take(share) {
                    plan.give(member, partition);
                }
            }
        }
        Ok(plan)
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        &[RebalanceProtocol::Eager]
    }
}
