//! SyncGroup: the generation's plan, up from its leader and down to everyone.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 1 | the answer's throttle time |
//! | 3 | instance ids (KIP-345): below, a static member is an [`EncodeError`] |
//! | 4 | flexible |
//! | 5 | protocol type and name, both ways (KIP-559): mandatory, though the schema lets them be null |

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::sync_group_request::{
    SyncGroupRequest as Message, SyncGroupRequestAssignment,
};

use super::{id, instance_id, or_only_the_error, text, throttle};
use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

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

impl Request for SyncGroupRequest {
    const API: ApiKey = ApiKey::SyncGroup;
    type Response = SyncGroupResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let assignment = |(member, assignment): &(MemberId, Bytes)| {
            SyncGroupRequestAssignment::default()
                .with_member_id(id(member))
                .with_assignment(assignment.clone())
        };
        // At once: a plan of many members is large, and would be copied as often as it outgrows its room.
        let size = |(member, bytes): &(MemberId, Bytes)| member.as_str().len() + bytes.len() + 16;
        body.reserve(256 + self.assignments.iter().map(size).sum::<usize>());
        let message = Message::default()
            .with_group_id(text(&self.group_id).into())
            .with_generation_id(self.generation.0)
            .with_member_id(id(&self.member_id))
            .with_group_instance_id(instance_id(self.group_instance_id.as_ref()))
            .with_protocol_type(Some(text(&self.protocol_type)))
            .with_protocol_name(Some(text(&self.protocol)))
            .with_assignments(self.assignments.iter().map(assignment).collect());
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<SyncGroupResponse, ReadError> {
        let throttle = throttle(body, version >= 1)?;
        let error = ErrorCode::from(body.i16()?);
        let only_the_error = SyncGroupResponse { throttle, error, ..SyncGroupResponse::default() };
        let read =
            synced(version, body).map(|synced| SyncGroupResponse { throttle, error, ..synced });
        or_only_the_error(error, read, only_the_error)
    }
}

/// What follows the error code. On errors librdkafka's mock writes null for the assignment.
fn synced(version: i16, body: &mut Reader) -> Result<SyncGroupResponse, ReadError> {
    let layout = SyncGroupRequest::API.layout(version);
    Ok(SyncGroupResponse {
        protocol_type: if version >= 5 { body.nullable_string(layout)? } else { None },
        protocol: if version >= 5 { body.nullable_string(layout)? } else { None },
        assignment: body.nullable_bytes(layout)?.unwrap_or_default(),
        ..SyncGroupResponse::default()
    })
}
