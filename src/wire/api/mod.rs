//! One file an API, with what each version added at its head.

mod heartbeat;
mod join_group;
mod leave_group;
mod sync_group;

pub(crate) use heartbeat::{HeartbeatRequest, HeartbeatResponse};
pub(crate) use join_group::{JoinGroupRequest, JoinGroupResponse, JoinedMember};
pub(crate) use leave_group::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember, MemberLeft};
pub(crate) use sync_group::{SyncGroupRequest, SyncGroupResponse};
