//! What a member is told before it starts.

use std::time::Duration;

use crate::types::GroupInstanceId;

/// A member's identity and its times. Checked by the builder, not here.
#[derive(Clone, Debug)]
pub(crate) struct MembershipConfig {
    /// Kafka: `group.id`.
    pub(crate) group_id: String,
    /// Kafka: `group.instance.id`.
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    /// Kafka: `protocol_type` of the group.
    pub(crate) protocol_type: String,
    /// Kafka: `session.timeout.ms`.
    pub(crate) session_timeout: Duration,
    /// The rebalance timeout. Kafka: `max.poll.interval.ms`.
    pub(crate) rebalance_timeout: Duration,
    /// Kafka: `heartbeat.interval.ms`; unset, the interval follows the group's size.
    pub(crate) heartbeat_interval: Option<Duration>,
    /// Kafka: `request.timeout.ms`.
    pub(crate) request_timeout: Duration,
    /// Kafka: `retry.backoff.ms`.
    pub(crate) retry_backoff: Duration,
    /// Kafka: `retry.backoff.max.ms`.
    pub(crate) retry_backoff_max: Duration,
    /// Kafka: `default.api.timeout.ms`: how long a group without a common protocol is tried.
    pub(crate) api_timeout: Duration,
    /// How long a leader waits for more joiners before it plans for some who came.
    pub(crate) settle_delay: Duration,
    /// Whether offsets of what this member does not hold may be committed: the broker would accept them.
    pub(crate) allow_foreign_commits: bool,
    /// Whether closing leaves.
    pub(crate) leave_policy: LeavePolicy,
    /// What becomes of a static member whose id another process has taken.
    pub(crate) on_fenced: OnFenced,
}

/// Whether a member that closes also leaves its group (KIP-1092).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LeavePolicy {
    /// A dynamic member leaves, a static one stays.
    #[default]
    Auto,
    /// Leaves.
    Leave,
    /// Stays until its session ends.
    Remain,
}

/// What a static member does when another process has joined with its `group.instance.id`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum OnFenced {
    /// Ends with [`Error::FencedInstanceId`](crate::Error::FencedInstanceId). Whatever restarts processes may start it
    /// again, and then it is the newer one.
    #[default]
    Fail,
    /// Loses everything, and joins anew after this time.
    ///
    /// The trap: two living processes with one id and this policy throw each other out for ever, once in each such time,
    /// and neither gets far. It is for an overlap that ends by itself (a deployment's surge), and the time is to be
    /// longer than the overlap; a session is a good choice. Coming back throws the other one out, whatever
    /// [`TakeOver`](crate::TakeOver) said at the start.
    RetryAfter(Duration),
}
