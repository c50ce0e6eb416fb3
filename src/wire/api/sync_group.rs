//! SyncGroup.

use std::time::Duration;

use bytes::Bytes;

use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::ErrorCode;

/// Brings the leader's plan, and asks for our part of it. Parked until the leader's has come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SyncGroupRequest {
    pub(crate) group_id: String,
    pub(crate) generation: Generation,
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    /// Mandatory from v5 on.
    pub(crate) protocol_type: String,
    /// Mandatory from v5 on: what JoinGroup chose.
    pub(crate) protocol: String,
    /// The leader's plan; empty from everyone else, and from a leader that was told to skip.
    pub(crate) assignments: Vec<(MemberId, Bytes)>,
}

/// Our part of the plan.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct SyncGroupResponse {
    pub(crate) throttle: Duration,
    pub(crate) error: ErrorCode,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    /// Zero bytes where the leader left us out: an empty assignment.
    pub(crate) assignment: Bytes,
}
