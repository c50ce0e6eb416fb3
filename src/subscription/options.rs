//! What a member of type "consumer" is started with.

use std::sync::Arc;
use std::time::Duration;

use super::selection::Selection;
use crate::assign::{ErasedAssigner, RECORD_LIMIT};
use crate::types::GroupInstanceId;

/// What a member is and wants. Checked by the builder, not here.
#[derive(Clone, Debug)]
pub(crate) struct ConsumerOptions {
    /// Kafka: `group.id`.
    pub(crate) group_id: Arc<str>,
    /// Kafka: `client.id`.
    pub(crate) client_id: Arc<str>,
    /// Kafka: `group.instance.id`.
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    /// Kafka: `client.rack`.
    pub(crate) rack: Option<Arc<str>>,
    /// The name of this machine.
    pub(crate) host_name: Arc<str>,
    /// How many CPUs this process may use.
    pub(crate) cpus: usize,
    /// Host and process: the same for all members of one process, and for no others.
    pub(crate) process: Arc<str>,
    /// Kafka: `session.timeout.ms`.
    pub(crate) session_timeout: Duration,
    /// Kafka: `max.poll.interval.ms`.
    pub(crate) rebalance_timeout: Duration,
    /// What to subscribe to.
    pub(crate) selection: Selection,
    /// In order of preference; no two of one name.
    pub(crate) assigners: Vec<ErasedAssigner>,
    /// What this member does when it leads and has no plan.
    pub(crate) on_assign_error: OnAssignError,
    /// Whether a consumer of the new protocol (KIP-848) may take the group over: then nothing is put into user data
    /// that would prevent it.
    pub(crate) allow_migration: bool,
    /// Whether there is a `Gather`.
    pub(crate) gathers: bool,
    /// The largest record that the broker takes for a group. Kafka: `max.message.bytes` of the offsets topic.
    pub(crate) record_limit: usize,
}

impl ConsumerOptions {
    /// A member of this group with the defaults of everything else.
    pub(crate) fn new(
        group_id: impl Into<Arc<str>>,
        selection: Selection,
        assigners: Vec<ErasedAssigner>,
    ) -> Self {
        Self {
            group_id: group_id.into(),
            client_id: "".into(),
            group_instance_id: None,
            rack: None,
            host_name: "".into(),
            cpus: 1,
            process: "".into(),
            session_timeout: Duration::from_secs(45),
            rebalance_timeout: Duration::from_secs(300),
            selection,
            assigners,
            on_assign_error: OnAssignError::default(),
            allow_migration: false,
            gathers: false,
            record_limit: RECORD_LIMIT,
        }
    }
}

/// What a leader does when its assigner makes no plan: an error ([`AssignError::KeepCurrent`](crate::assign::AssignError)
/// included), a panic, a hang, a plan that cannot be.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum OnAssignError {
    /// Every member keeps what it validly claims and is told of the error; the leader tries again after a second, then
    /// two, up to a minute. Use it unless a plan that does not come is worse than a member that ends.
    #[default]
    Keep,
    /// The same once; the next failure in a row ends this member with the error, so that another member plans. Use it
    /// where the fault is likely to be this process's own (its memory, its configuration). The trap: where it is the
    /// input's, one leader after the other ends.
    Fail,
}
