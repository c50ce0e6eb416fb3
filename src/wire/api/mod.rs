//! One file an API, with what each version added at its head.

mod api_versions;
mod find_coordinator;
mod heartbeat;
mod join_group;
mod leave_group;
mod metadata;
mod sync_group;

use std::time::Duration;

use kafka_protocol::protocol::StrBytes;

use super::{ErrorCode, ReadError, Reader};

pub(crate) use api_versions::{ApiRange, ApiVersionsRequest, ApiVersionsResponse};
pub(crate) use find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse};
pub(crate) use heartbeat::{HeartbeatRequest, HeartbeatResponse};
pub(crate) use join_group::{JoinGroupRequest, JoinGroupResponse, JoinedMember};
pub(crate) use leave_group::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember, MemberLeft};
pub(crate) use metadata::{
    MetadataRequest, MetadataResponse, PartitionMetadata, TopicId, TopicMetadata,
};
pub(crate) use sync_group::{SyncGroupRequest, SyncGroupResponse};

/// Text as the encoder wants it.
fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// `throttle_time_ms`, in a version that has it: for how long the broker wants to be left alone.
fn throttle(body: &mut Reader, present: bool) -> Result<Duration, ReadError> {
    if !present {
        return Ok(Duration::ZERO);
    }
    let millis = body.i32()?;
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// What was read; or, where an error's answer has a remainder that makes no sense, the error alone: it says enough.
fn or_only_the_error<T>(
    error: ErrorCode,
    read: Result<T, ReadError>,
    only_the_error: T,
) -> Result<T, ReadError> {
    match read {
        Err(_) if !error.is_none() => Ok(only_the_error),
        read => read,
    }
}
