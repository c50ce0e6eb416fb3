//! LeaveGroup.

use std::time::Duration;

use crate::types::{GroupInstanceId, MemberId};
use crate::wire::ErrorCode;

/// Takes members out of the group: ourselves, or others by an administrator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct LeaveGroupRequest {
    pub(crate) group_id: String,
    /// One, on brokers below v3.
    pub(crate) members: Vec<LeavingMember>,
}

/// One to be taken out: by member id, by instance id (then the member id is empty), or by both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct LeavingMember {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    /// KIP-800, v5; cut at 255 characters when it is encoded.
    pub(crate) reason: Option<String>,
}

/// What became of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LeaveGroupResponse {
    pub(crate) throttle: Duration,
    pub(crate) error: ErrorCode,
    /// Empty below v3, where the one member's error is the error of the whole.
    pub(crate) members: Vec<MemberLeft>,
}

/// What became of one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct MemberLeft {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<String>,
    pub(crate) error: ErrorCode,
}
