//! FindCoordinator: which broker coordinates a group.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 1 | the kind of key; the answer's throttle time and error message |
//! | 3 | flexible |
//! | 4 | many keys at once, with an answer and an error each (KIP-699): we ask for one |
//! | 5, 6 | nothing for consumer groups |

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::FindCoordinatorRequest as Message;

use super::{or_only_the_error, text, throttle};
use crate::types::{Node, NodeId};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks for the coordinator of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FindCoordinatorRequest {
    pub(crate) group_id: String,
}

/// Which broker it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct FindCoordinatorResponse {
    pub(crate) throttle: Duration,
    pub(crate) error: ErrorCode,
    /// Rarely more than the code says.
    pub(crate) error_message: Option<String>,
    /// Without its rack. None on an error, or where the broker named nobody.
    pub(crate) coordinator: Option<Node>,
}

/// What kind of key is looked up.
const GROUP: i8 = 0;

impl Request for FindCoordinatorRequest {
    const API: ApiKey = ApiKey::FindCoordinator;
    type Response = FindCoordinatorResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let message = Message::default().with_key_type(GROUP);
        let key = text(&self.group_id);
        let message = if version >= 4 {
            message.with_coordinator_keys(vec![key])
        } else {
            message.with_key(key)
        };
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<FindCoordinatorResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 1)?;
        let found = if version >= 4 {
            let found = body.array(layout, 14, |body| one_of_many(layout, body))?;
            found.into_iter().next().ok_or(ReadError::Null)?
        } else {
            the_only_one(layout, version, body)?
        };
        Ok(FindCoordinatorResponse { throttle, ..found })
    }
}

fn one_of_many(layout: Layout, body: &mut Reader) -> Result<FindCoordinatorResponse, ReadError> {
    body.skip_string(layout)?;
    let coordinator = node(layout, body)?;
    let error = ErrorCode::from(body.i16()?);
    let error_message = body.nullable_string(layout)?;
    body.skip_tags(layout)?;
    Ok(FindCoordinatorResponse { throttle: Duration::ZERO, error, error_message, coordinator })
}

fn the_only_one(
    layout: Layout,
    version: i16,
    body: &mut Reader,
) -> Result<FindCoordinatorResponse, ReadError> {
    let error = ErrorCode::from(body.i16()?);
    let mut rest = || {
        let error_message = if version >= 1 { body.nullable_string(layout)? } else { None };
        let coordinator = node(layout, body)?;
        Ok(FindCoordinatorResponse { throttle: Duration::ZERO, error, error_message, coordinator })
    };
    or_only_the_error(error, rest(), FindCoordinatorResponse { error, ..Default::default() })
}

/// None for the id -1 and a host that is empty, or null as librdkafka's mock writes it.
fn node(layout: Layout, body: &mut Reader) -> Result<Option<Node>, ReadError> {
    let id = NodeId(body.i32()?);
    let host: Arc<str> = body.string_or_empty(layout)?;
    let port = body.i32()?;
    if id.0 < 0 || host.is_empty() {
        return Ok(None);
    }
    let port = u16::try_from(port).map_err(|_| ReadError::Port(port))?;
    Ok(Some(Node { id, host, port, rack: None }))
}
