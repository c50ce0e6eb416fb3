//! Partitions near their members, before anything but balance.

use std::fmt;
use std::sync::Arc;

use super::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, Racks,
    StickyPlanner,
};
use crate::types::Node;

/// Balanced, then as few partitions as can be far from their members, then few moves: exact, in this order.
///
/// When to use it: where traffic between racks or zones is paid for, or slow, and members fetch from the nearest
/// replica (KIP-392). Where it is merely nice, [`StickyAssigner`](super::StickyAssigner) looks at racks as far as they
/// cost no move.
///
/// A member is in the rack that its `client.rack` names, or in what [`member_rack`](Self::member_rack) derives; a broker
/// in its `broker.rack`, or in what [`broker_rack`](Self::broker_rack) derives. To whom no rack is known, nothing is far.
///
/// ```
/// use kafka_group::assign::RackAwareAssigner;
///
/// // Brokers are called kafka-3.zone-b.example, members run on hosts called zone-b-17.
/// let assigner = RackAwareAssigner::new()
///     .member_rack(|local| Some(local.host_name.get(..6)?.to_owned()))
///     .broker_rack(|node| Some(node.host.split('.').nth(1)?.to_owned()));
/// # let _ = assigner;
/// ```
///
/// The traps: balance comes first, so in a rack with more members than replicas some partitions are far all the same;
/// and where members or brokers change their racks, much moves. What members tell is typed, which needs the feature
/// `bincode` or `json`.
#[derive(Clone, Default)]
pub struct RackAwareAssigner {
    leaders_only: bool,
    slack: u32,
    member_rack: Option<Arc<MemberRack>>,
    broker_rack: Option<Arc<BrokerRack>>,
}

type MemberRack = dyn Fn(&LocalMember<'_>) -> Option<String> + Send + Sync;
type BrokerRack = dyn Fn(&Node) -> Option<String> + Send + Sync;

impl RackAwareAssigner {
    /// An assigner that goes by `client.rack` and `broker.rack`, and looks at all replicas.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts only the leader's rack: for members that do not fetch from followers (KIP-392). Default: every
    /// replica's.
    ///
    /// The trap: each change of leaders moves partitions in the next round.
    #[must_use]
    pub fn leaders_only(mut self) -> Self {
        self.leaders_only = true;
        self
    }

    /// How far loads may be from the balanced ones, in partitions, where that brings partitions near or saves moves.
    /// Default: 0.
    #[must_use]
    pub fn slack(mut self, partitions: u32) -> Self {
        self.slack = partitions;
        self
    }

    /// Derives this member's rack, which it tells the leader once a round. Where it derives none, `client.rack` counts.
    ///
    /// The trap: a value that changes by itself makes every rejoin a rebalance of the whole group.
    #[must_use]
    pub fn member_rack(
        mut self,
        rack: impl Fn(&LocalMember<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.member_rack = Some(Arc::new(rack));
        self
    }

    /// Derives a broker's rack from its id, host and port. Where it derives none, the broker's rack is not known.
    /// Default: `broker.rack`.
    ///
    /// The leader alone asks it, so all members should be given the same.
    #[must_use]
    pub fn broker_rack(
        mut self,
        rack: impl Fn(&Node) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.broker_rack = Some(Arc::new(rack));
        self
    }
}

/// What a member tells is the rack that it derived, if it did.
impl PartitionAssigner<Option<String>> for RackAwareAssigner {
    fn name(&self) -> &str {
        "rack-aware"
    }

    fn metadata(&self, local: &LocalMember<'_>) -> Option<String> {
        self.member_rack.as_ref()?(local)
    }

    fn assign(
        &self,
        group: &GroupSubscription<Option<String>>,
    ) -> Result<GroupAssignment, AssignError> {
        let racks = match self.leaders_only {
            true => Racks::LeadersBeforeMoves,
            false => Racks::BeforeMoves,
        };
        let planner = StickyPlanner::new().racks(racks).slack(self.slack).member_rack(|member| {
            // What cannot be read says as little as what was not derived.
            let derived = member.metadata().ok().cloned().flatten();
            derived.or_else(|| member.rack().map(str::to_owned))
        });
        Ok(match self.broker_rack.clone() {
            Some(rack) => planner.broker_rack(move |node| rack(node)).plan(group),
            None => planner.plan(group),
        })
    }
}

impl fmt::Debug for RackAwareAssigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RackAwareAssigner")
            .field("leaders_only", &self.leaders_only)
            .field("slack", &self.slack)
            .field("member_rack", &self.member_rack.is_some())
            .field("broker_rack", &self.broker_rack.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::{GroupSubscriptionBuilder, MetadataError};

    type Builder = GroupSubscriptionBuilder<Option<String>>;

    /// Two partitions in each of two racks, and a member of each rack that has the other's.
    fn crossed() -> Builder {
        let racks = [["r1"], ["r1"], ["r2"], ["r2"]];
        let group = GroupSubscription::builder().topic("t", 4).racks(racks);
        let group = group.member("a", ["t"], None).owned_before([("t", 2), ("t", 3)], 1).rack("r1");
        group.member("b", ["t"], None).owned_before([("t", 0), ("t", 1)], 1).rack("r2")
    }

    fn planned(assigner: &RackAwareAssigner, group: Builder) -> String {
        format!("{:?}", assigner.assign(&group.build()).unwrap())
    }

    #[test]
    fn racks_go_before_moves() {
        let plan = planned(&RackAwareAssigner::new(), crossed());
        assert_eq!(plan, r#"{"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}"#);
    }

    #[test]
    fn balance_goes_before_racks() {
        let group = GroupSubscription::builder().topic("t", 4).racks([["r1"]; 4]);
        let group = group.member("a", ["t"], None).rack("r1").member("b", ["t"], None).rack("r2");
        let group = group.build();
        let plan = RackAwareAssigner::new().assign(&group).unwrap();
        assert!(group.members().all(|member| plan.load(member) == 2), "{plan:?}");
    }

    #[test]
    fn slack_brings_partitions_near() {
        let group = GroupSubscription::builder().topic("t", 4).racks([["r1"]; 4]);
        let group = group.member("a", ["t"], None).rack("r1").member("b", ["t"], None).rack("r2");
        let group = group.build();
        let plan = RackAwareAssigner::new().slack(1).assign(&group).unwrap();
        assert_eq!(group.members().map(|member| plan.load(member)).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn every_replicas_rack_counts_or_the_leaders_alone() {
        let group = || {
            let racks = [["r1", "r2"], ["r2", "r1"]];
            let group = GroupSubscription::builder().topic("t", 2).racks(racks);
            let group = group.member("a", ["t"], None).owned_before([("t", 1)], 1).rack("r1");
            group.member("b", ["t"], None).owned_before([("t", 0)], 1).rack("r2")
        };
        let all = planned(&RackAwareAssigner::new(), group());
        assert_eq!(all, r#"{"a": {"t": [1]}, "b": {"t": [0]}}"#, "nothing is far");
        let leaders = planned(&RackAwareAssigner::new().leaders_only(), group());
        assert_eq!(leaders, r#"{"a": {"t": [0]}, "b": {"t": [1]}}"#);
    }

    #[test]
    fn a_derived_rack_goes_before_client_rack() {
        let derived = RackAwareAssigner::new()
            .member_rack(|local| local.host_name.split_once('-').map(|(zone, _)| zone.to_owned()));
        let mut local = LocalMember::new("group");
        assert_eq!(derived.metadata(&local), None);
        local.host_name = "r2-17";
        assert_eq!(derived.metadata(&local), Some("r2".to_owned()));
        assert_eq!(RackAwareAssigner::new().metadata(&local), None);

        let racks = [["r1"], ["r2"]];
        let group = GroupSubscription::builder().topic("t", 2).racks(racks);
        let group = group.member("a", ["t"], Some("r2".to_owned())).rack("r1");
        let group = group.member("b", ["t"], None).rack("r1");
        assert_eq!(planned(&derived, group), r#"{"a": {"t": [1]}, "b": {"t": [0]}}"#);
    }

    #[test]
    fn what_cannot_be_read_leaves_client_rack() {
        let group = crossed().undecodable("a", MetadataError::TooShort);
        let plan = planned(&RackAwareAssigner::new(), group);
        assert_eq!(plan, r#"{"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}"#);
    }

    #[test]
    fn a_brokers_rack_is_in_its_id_host_and_port() {
        let group = || {
            let group = GroupSubscription::builder().topic("t", 2).replicas([[12], [21]]);
            group.member("a", ["t"], None).rack("2").member("b", ["t"], None).rack("1")
        };
        let by_id = RackAwareAssigner::new().broker_rack(|node| Some((node.id.0 / 10).to_string()));
        assert_eq!(planned(&by_id, group()), r#"{"a": {"t": [1]}, "b": {"t": [0]}}"#);
        let by_host = RackAwareAssigner::new()
            .broker_rack(|node| Some(node.host.strip_prefix("broker-")?.get(..1)?.to_owned()));
        assert_eq!(planned(&by_host, group()), r#"{"a": {"t": [1]}, "b": {"t": [0]}}"#);
        let by_port = RackAwareAssigner::new().broker_rack(|node| Some(node.port.to_string()));
        assert_eq!(planned(&by_port, group()), r#"{"a": {"t": [0]}, "b": {"t": [1]}}"#);
    }

    #[test]
    fn without_racks_of_members_or_brokers_it_is_sticky() {
        let sticky = r#"{"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}"#;
        let group = |with_members: bool, with_brokers: bool| {
            let group = GroupSubscription::builder().topic("t", 4);
            let group = if with_brokers { group.racks([["r2"]; 4]) } else { group };
            let group = group.member("a", ["t"], None).owned_before([("t", 0), ("t", 1)], 1);
            let group = if with_members { group.rack("r1") } else { group };
            group.member("b", ["t"], None).owned_before([("t", 2), ("t", 3)], 1)
        };
        for (members, brokers) in [(false, false), (false, true), (true, false)] {
            assert_eq!(planned(&RackAwareAssigner::new(), group(members, brokers)), sticky);
        }
    }
}
