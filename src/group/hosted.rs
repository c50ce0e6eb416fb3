//! A group's protocol, as the task that drives a member needs it.

use std::sync::Arc;

use crate::assign::RebalanceProtocol;
use crate::client::Topics;
use crate::protocol::{Facts, GroupProtocol, JobError, Led, Plan, Rejoin};
use crate::subscription::{self, ConsumerNotice, ConsumerProtocol, PlanSeen};
use crate::types::{Cluster, InstanceHolder, Offsets, Partitions};

/// What a driver asks of a protocol beyond the rounds themselves. Everything has a default, for groups without topics.
pub(crate) trait Hosted: GroupProtocol {
    /// Whose changes matter.
    fn interest(&self) -> Topics {
        Topics::none()
    }

    /// The cluster is another now. `jitter`, from 0 to 1, spreads members that see the same change.
    fn cluster_changed(&mut self, cluster: &Arc<Cluster>, jitter: f64) -> Reaction<Self::Notice> {
        let _ = (cluster, jitter);
        Reaction { rejoin: None, notices: Vec::new() }
    }

    /// What happens to what is held when a round begins.
    fn rebalance_protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Eager
    }

    /// Whether describing runs no code of the application's, and need not leave the driver's thread.
    fn describes_alone(&self) -> bool {
        false
    }

    /// The plan without the assigner, which hangs or was not reached: everyone keeps what they validly have.
    fn keep_plan(&mut self, led: Led, facts: Facts, error: JobError) -> Result<Plan, JobError> {
        let _ = (led, facts);
        Err(error)
    }

    /// What these offsets are offsets of.
    fn committed_items(offsets: &Offsets) -> Self::Held {
        let _ = offsets;
        Self::Held::default()
    }

    /// Those of the offsets that belong to `items`.
    fn offsets_of(items: &Self::Held, offsets: &Offsets) -> Offsets {
        let _ = (items, offsets);
        Offsets::new()
    }

    /// What a hook of the application did wrong, to be told.
    fn hook_failed(message: String) -> Option<Self::Notice> {
        let _ = message;
        None
    }

    /// Why this member, as the leader, could publish nothing and has left, to be told.
    fn stepped_down(leader: Arc<str>, message: &str) -> Option<Self::Notice> {
        let _ = (leader, message);
        None
    }

    /// From whom this member has its instance id, to be told.
    fn took_over(holder: InstanceHolder) -> Option<Self::Notice> {
        let _ = holder;
        None
    }

    /// The plan that was joined last, where its leader described it.
    fn plan_seen(&self) -> Option<&PlanSeen> {
        None
    }
}

impl Hosted for ConsumerProtocol {
    fn interest(&self) -> Topics {
        let watched = self.watched();
        if watched.all { Topics::All } else { Topics::Named(watched.topics) }
    }

    fn cluster_changed(&mut self, cluster: &Arc<Cluster>, jitter: f64) -> Reaction<ConsumerNotice> {
        let subscription::Reaction { rejoin, notices } = self.cluster_changed(cluster, jitter);
        Reaction { rejoin, notices }
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        match self.is_cooperative() {
            true => RebalanceProtocol::Cooperative,
            false => RebalanceProtocol::Eager,
        }
    }

    fn describes_alone(&self) -> bool {
        self.describes_alone()
    }

    fn keep_plan(&mut self, led: Led, facts: Facts, error: JobError) -> Result<Plan, JobError> {
        self.keep_plan(led, &facts, error)
    }

    fn committed_items(offsets: &Offsets) -> Partitions {
        offsets.keys().cloned().collect()
    }

    fn offsets_of(items: &Partitions, offsets: &Offsets) -> Offsets {
        let of_items = offsets.iter().filter(|(at, _)| items.contains(at.topic(), at.partition()));
        of_items.map(|(at, offset)| (at.clone(), offset.clone())).collect()
    }

    fn hook_failed(message: String) -> Option<ConsumerNotice> {
        Some(ConsumerNotice::GatherFailed(message.into()))
    }

    fn stepped_down(leader: Arc<str>, message: &str) -> Option<ConsumerNotice> {
        Some(ConsumerNotice::AssignFailed { by: leader, message: message.into() })
    }

    fn took_over(holder: InstanceHolder) -> Option<ConsumerNotice> {
        Some(ConsumerNotice::TookOver(holder))
    }

    fn plan_seen(&self) -> Option<&PlanSeen> {
        self.last_plan()
    }
}

/// What a change of the cluster asks for.
#[derive(Debug)]
pub(crate) struct Reaction<N> {
    pub(crate) rejoin: Option<Rejoin>,
    pub(crate) notices: Vec<N>,
}
