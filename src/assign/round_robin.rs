//! Kafka's `roundrobin`.

use super::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
    RebalanceProtocol,
};

/// Kafka's `roundrobin`: all partitions of all topics are dealt around the circle of members, past those that do
/// not subscribe.
///
/// When to use it: loads differ by at most one where all subscriptions are equal, and any Java, Go or C client may
/// lead or follow. The trap: nearly everything moves whenever a member comes or goes.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RoundRobinAssigner;

impl PartitionAssigner for RoundRobinAssigner {
    fn name(&self) -> &str {
        "roundrobin"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        // Where the circle goes on, also from one topic to the next.
        let mut cursor = 0;
        for topic in group.topics() {
            let subscribers = group.subscribers(topic.name());
            let skipped =
                subscribers.clone().take_while(|member| member.position() < cursor).count();
            for (member, partition) in subscribers.cycle().skip(skipped).zip(topic.partitions()) {
                plan.give(member, partition);
                cursor = member.position() + 1;
            }
        }
        Ok(plan)
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        &[RebalanceProtocol::Eager]
    }
}
