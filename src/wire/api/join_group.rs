//! JoinGroup.

use std::time::Duration;

use bytes::Bytes;

use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::ErrorCode;

/// Asks to be part of the group's next generation. The broker answers when that is complete: it *parks* the request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct JoinGroupRequest {
    pub(crate) group_id: String,
    pub(crate) session_timeout: Duration,
    pub(crate) rebalance_timeout: Duration,
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    pub(crate) protocol_type: String,
    /// In order of preference; no name twice (that would brick a new group).
    pub(crate) protocols: Vec<(String, Bytes)>,
    /// KIP-800; cut at 255 characters when it is encoded.
    pub(crate) reason: Option<String>,
}

/// What the group is now.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct JoinGroupResponse {
    pub(crate) throttle: Duration,
    pub(crate) error: ErrorCode,
    pub(crate) generation: Generation,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) leader: MemberId,
    pub(crate) member_id: MemberId,
    /// KIP-814: we lead, but the plan stands.
    pub(crate) skip_assignment: bool,
    /// The leader alone is told.
    pub(crate) members: Vec<JoinedMember>,
}

/// A member, as the leader is told of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct JoinedMember {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<String>,
    /// What it said for the chosen protocol: a slice of the answer's frame.
    pub(crate) metadata: Bytes,
}
