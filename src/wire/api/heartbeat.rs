//! Heartbeat: still here.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 1 | the answer's throttle time |
//! | 3 | instance ids (KIP-345): below, a static member is an [`EncodeError`] |
//! | 4 | flexible |

use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::HeartbeatRequest as Message;

use super::{id, instance_id, text, throttle};
use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

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

impl Request for HeartbeatRequest {
    const API: ApiKey = ApiKey::Heartbeat;
    type Response = HeartbeatResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let message = Message::default()
            .with_group_id(text(&self.group_id).into())
            .with_generation_id(self.generation.0)
            .with_member_id(id(&self.member_id))
            .with_group_instance_id(instance_id(self.group_instance_id.as_ref()));
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<HeartbeatResponse, ReadError> {
        Ok(HeartbeatResponse { throttle: throttle(body, version >= 1)?, error: body.i16()?.into() })
    }
}
