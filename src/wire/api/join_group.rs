//! JoinGroup: be part of the group's next generation.
//!
//! | version | adds |
//! |---|---|
//! | 0 | one timeout for both purposes: we never speak it |
//! | 1 | the rebalance timeout (KIP-62) |
//! | 2 | the answer's throttle time |
//! | 4 | a first join without an id is answered with one, and nothing else (KIP-394) |
//! | 5 | instance ids (KIP-345): below, a static member is an [`EncodeError`] |
//! | 6 | flexible |
//! | 7 | the answer's protocol type (KIP-559) |
//! | 8 | the reason (KIP-800): below, it is not sent |
//! | 9 | the answer's skip_assignment (KIP-814) |

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::join_group_request::{
    JoinGroupRequest as Message, JoinGroupRequestProtocol,
};

use super::{id, instance_id, millis, or_only_the_error, reason, text, throttle};
use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

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

impl Request for JoinGroupRequest {
    const API: ApiKey = ApiKey::JoinGroup;
    type Response = JoinGroupResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        if version < 1 {
            return Err(EncodeError::new(Self::API, version, "version 0 has no rebalance timeout"));
        }
        let protocol = |(name, metadata): &(String, Bytes)| {
            JoinGroupRequestProtocol::default()
                .with_name(text(name))
                .with_metadata(metadata.clone())
        };
        let message = Message::default()
            .with_group_id(text(&self.group_id).into())
            .with_session_timeout_ms(millis(self.session_timeout))
            .with_rebalance_timeout_ms(millis(self.rebalance_timeout))
            .with_member_id(id(&self.member_id))
            .with_group_instance_id(instance_id(self.group_instance_id.as_ref()))
            .with_protocol_type(text(&self.protocol_type))
            .with_protocols(self.protocols.iter().map(protocol).collect())
            .with_reason(reason(self.reason.as_deref()));
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<JoinGroupResponse, ReadError> {
        let throttle = throttle(body, version >= 2)?;
        let error = ErrorCode::from(body.i16()?);
        let only_the_error = JoinGroupResponse { throttle, error, ..JoinGroupResponse::default() };
        let read =
            joined(version, body).map(|joined| JoinGroupResponse { throttle, error, ..joined });
        or_only_the_error(error, read, only_the_error)
    }
}

/// What follows the error code. On errors librdkafka's mock writes null for the protocol, the leader and the member.
fn joined(version: i16, body: &mut Reader) -> Result<JoinGroupResponse, ReadError> {
    let layout = JoinGroupRequest::API.layout(version);
    Ok(JoinGroupResponse {
        generation: Generation(body.i32()?),
        protocol_type: if version >= 7 { body.nullable_string(layout)? } else { None },
        protocol: body.nullable_string(layout)?,
        leader: MemberId::new(body.string_or_empty::<Arc<str>>(layout)?),
        skip_assignment: if version >= 9 { body.bool()? } else { false },
        member_id: MemberId::new(body.string_or_empty::<Arc<str>>(layout)?),
        members: body.array(layout, 3, |body| member(layout, version, body))?,
        ..JoinGroupResponse::default()
    })
}

fn member(layout: Layout, version: i16, body: &mut Reader) -> Result<JoinedMember, ReadError> {
    let member = JoinedMember {
        member_id: MemberId::new(body.string::<Arc<str>>(layout)?),
        group_instance_id: if version >= 5 { body.nullable_string(layout)? } else { None },
        metadata: body.nullable_bytes(layout)?.unwrap_or_default(),
    };
    body.skip_tags(layout)?;
    Ok(member)
}
