//! Heartbeat.

use std::time::Duration;

use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::ErrorCode;

/// Says that we are still here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HeartbeatRequest {
    pub(crate) group_id: String,
    pub(crate) generation: Generation,
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
}

/// Whether the generation still stands.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct HeartbeatResponse {
    pub(crate) throttle: Duration,
    pub(crate) error: ErrorCode,
}
