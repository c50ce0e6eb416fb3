//! Kafka's `range`.

mod deal;
mod racks;

use super::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
    RebalanceProtocol,
};
use deal::Deal;
use racks::Racks;

/// Kafka's `range`: of each topic, each subscriber gets one run of partitions, the first ones a partition more.
///
/// When to use it: partitions of one number of several topics with equal counts and subscribers go to one member,
/// so topics can be joined by partition. Any Java, Go or C client may lead or follow. The trap: every topic favours
/// the same first members; with many small topics the last ones idle.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangeAssigner {
    looks_at_racks: bool,
}

impl RangeAssigner {
    /// Gives members first what has a replica in their rack, as far as counts and joins of topics allow (KIP-881).
    /// Default: racks count for nothing.
    ///
    /// Java's consumers do so by themselves where `client.rack` and `broker.rack` are set; plans are the same then,
    /// partition for partition. The trap: members' partitions are no runs any more, and change with the replicas.
    #[must_use]
    pub fn rack_aware(mut self) -> Self {
        self.looks_at_racks = true;
        self
    }
}

impl PartitionAssigner for RangeAssigner {
    fn name(&self) -> &str {
        "range"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        let shown = (0..group.model.topics().len() as u32).filter(|topic| group.shows(*topic));
        let mut deals: Vec<Deal<'_>> = shown.map(|topic| Deal::new(&group.model, topic)).collect();
        if self.looks_at_racks {
            Racks::of(&group.model).match_all(&mut deals, &mut plan);
        }
        deals.iter_mut().for_each(|deal| deal.deal_rest(&mut plan));
        Ok(plan)
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        &[RebalanceProtocol::Eager]
    }
}
