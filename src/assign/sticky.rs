//! Kafka's sticky names, with plans that cannot be better.

use super::sticky_planner::StickyPlanner;
use super::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, Racks,
    RebalanceProtocol,
};

/// Kafka's `cooperative-sticky`: balanced, with the fewest moves that balance allows, and nobody stops for what stays.
///
/// When to use it: first, and unless there is a reason for another. Any Java, Go or C client may lead or follow. The
/// plan is exact, differing subscriptions included: no other plan is better balanced, and none that is as balanced
/// moves less. Racks decide among those, so they cost nothing; [`racks`](Self::racks) says otherwise.
///
/// The trap: all members must list it and nothing eager beside it, or rounds are eager.
#[derive(Clone, Copy, Debug, Default)]
pub struct StickyAssigner {
    wishes: StickyWishes,
}

/// Kafka's `sticky`: the plans of [`StickyAssigner`] in eager rounds.
///
/// When to use it: for a group that has members which know no cooperative rounds. The trap: in each round everybody
/// stops for everything, also for what it gets back.
#[derive(Clone, Copy, Debug, Default)]
pub struct EagerStickyAssigner {
    wishes: StickyWishes,
}

/// What both have to choose.
#[derive(Clone, Copy, Debug, Default)]
struct StickyWishes {
    racks: Racks,
    slack: u32,
}

impl StickyWishes {
    fn plan(self, group: &GroupSubscription) -> GroupAssignment {
        StickyPlanner::new().racks(self.racks).slack(self.slack).plan(group)
    }
}

impl StickyAssigner {
    /// What racks count for. Default: [`Racks::default`], as much as they can without a further move.
    #[must_use]
    pub fn racks(mut self, racks: Racks) -> Self {
        self.wishes.racks = racks;
        self
    }

    /// How far loads may be from the balanced ones, in partitions, where that saves moves. Default: 0.
    #[must_use]
    pub fn slack(mut self, partitions: u32) -> Self {
        self.wishes.slack = partitions;
        self
    }
}

impl EagerStickyAssigner {
    /// What racks count for. Default: [`Racks::default`], as much as they can without a further move.
    #[must_use]
    pub fn racks(mut self, racks: Racks) -> Self {
        self.wishes.racks = racks;
        self
    }

    /// How far loads may be from the balanced ones, in partitions, where that saves moves. Default: 0.
    #[must_use]
    pub fn slack(mut self, partitions: u32) -> Self {
        self.wishes.slack = partitions;
        self
    }
}

impl PartitionAssigner for StickyAssigner {
    fn name(&self) -> &str {
        "cooperative-sticky"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        Ok(self.wishes.plan(group))
    }
}

impl PartitionAssigner for EagerStickyAssigner {
    fn name(&self) -> &str {
        "sticky"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        Ok(self.wishes.plan(group))
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        &[RebalanceProtocol::Eager]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(group: &GroupSubscription) -> String {
        format!("{:?}", StickyAssigner::default().assign(group).unwrap())
    }

    #[test]
    fn a_newcomer_takes_its_share_and_nothing_else_moves() {
        let group = GroupSubscription::builder().topic("t", 6);
        let group = group.member("a", ["t"], ()).owns([("t", 0), ("t", 1), ("t", 2)], 4);
        let group = group.member("b", ["t"], ()).owns([("t", 3), ("t", 4), ("t", 5)], 4);
        let group = group.member("c", ["t"], ()).build();
        assert_eq!(
            planned(&group),
            r#"{"a": {"t": [0, 1]}, "b": {"t": [3, 4]}, "c": {"t": [2, 5]}}"#
        );
    }

    #[test]
    fn a_chain_of_members_is_flattened_though_no_single_move_helps() {
        let group = GroupSubscription::builder().topic("x", 3).topic("y", 2).topic("z", 1);
        let group = group.member("a", ["x"], ()).owns([("x", 0), ("x", 1), ("x", 2)], 4);
        let group = group.member("b", ["x", "y"], ()).owns([("y", 0), ("y", 1)], 4);
        let group = group.member("c", ["y", "z"], ()).owns([("z", 0)], 4).build();
        let plan = StickyAssigner::default().assign(&group).unwrap();
        assert!(group.members().all(|member| plan.load(member) == 2), "{plan:?}");
    }

    #[test]
    fn slack_keeps_what_balance_alone_would_move() {
        let group = GroupSubscription::builder().topic("t", 4);
        let group = group.member("a", ["t"], ()).owns([("t", 0), ("t", 1), ("t", 2)], 4);
        let group = group.member("b", ["t"], ()).owns([("t", 3)], 4).build();
        let loads = |slack| {
            let plan = StickyAssigner::default().slack(slack).assign(&group).unwrap();
            group.members().map(|member| plan.load(member)).collect::<Vec<_>>()
        };
        assert_eq!((loads(0), loads(1)), (vec![2, 2], vec![3, 1]));
    }
}
