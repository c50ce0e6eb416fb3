//! The assigners that cases name.

use std::collections::BTreeMap;

use kafka_group::assign::{
    AssignError, CoPartitionAssigner, EagerStickyAssigner, GroupAssignment, GroupSubscription,
    LocalMember, PartitionAssigner, RackAwareAssigner, RangeAssigner, RebalanceProtocol,
    RedundantAssigner, RoundRobinAssigner, StickyAssigner, StickyPlanner,
};

use crate::file::Case;

impl Case {
    /// Runs the case for an assigner, by protocol name; false if there is none.
    pub(crate) fn run(&self, name: &str) -> bool {
        let weighted = |rounds| Weighted { weights: self.weights.clone(), rounds };
        let has_weights = !self.weights.is_empty();
        match name {
            "range" => self.check(name, &self.range()),
            "roundrobin" => self.check(name, &RoundRobinAssigner::default()),
            "sticky" if has_weights => self.check(name, &weighted(RebalanceProtocol::Eager)),
            "sticky" => self.check(name, &EagerStickyAssigner::default()),
            "cooperative-sticky" | "weighted" if has_weights => {
                self.check(name, &weighted(RebalanceProtocol::Cooperative))
            }
            "cooperative-sticky" | "weighted" => self.check(name, &StickyAssigner::default()),
            "co-partition" => self.check(name, &CoPartitionAssigner::default()),
            "redundant" => self.check(name, &RedundantAssigner::new(self.params.n.unwrap_or(2))),
            "rack-aware" => self.check(name, &RackAwareAssigner::new()),
            _ => return false,
        }
        true
    }

    /// Java's range looks at racks by itself where there are some.
    fn range(&self) -> RangeAssigner {
        let has_racks = self.group.topics.values().any(|topic| !topic.racks.is_empty());
        let range = RangeAssigner::default();
        if has_racks { range.rack_aware() } else { range }
    }
}

/// The sticky assigner with weights of partitions.
struct Weighted {
    weights: BTreeMap<String, Vec<f64>>,
    rounds: RebalanceProtocol,
}

impl PartitionAssigner for Weighted {
    fn name(&self) -> &str {
        "weighted"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let planner = StickyPlanner::new().weight(|partition| {
            let weights = self.weights.get(partition.topic());
            weights.and_then(|w| w.get(partition.number() as usize)).copied().unwrap_or(0.0)
        });
        Ok(planner.plan(group))
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        std::slice::from_ref(&self.rounds)
    }
}
