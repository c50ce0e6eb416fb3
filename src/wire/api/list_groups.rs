//! ListGroups: the groups that one broker coordinates. Asked of every broker.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 1 | the answer's throttle time |
//! | 3 | flexible |
//! | 4 | states, to filter by and in the answer (KIP-518) |
//! | 5 | types, `classic` and `consumer` among them (KIP-848) |

use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::ListGroupsRequest as Message;

use super::{or_only_the_error, throttle};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks for all groups of a broker.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ListGroupsRequest;

/// The groups.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ListGroupsResponse {
    pub(crate) throttle: Duration,
    /// `CoordinatorLoadInProgress`: some are missing.
    pub(crate) error: ErrorCode,
    pub(crate) groups: Vec<ListedGroup>,
}

/// A group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ListedGroup {
    pub(crate) group_id: String,
    /// Empty for a group that has only offsets.
    pub(crate) protocol_type: String,
    /// From version 4 on.
    pub(crate) state: Option<String>,
    /// From version 5 on.
    pub(crate) group_type: Option<String>,
}

impl Request for ListGroupsRequest {
    const API: ApiKey = ApiKey::ListGroups;
    type Response = ListGroupsResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        append(Self::API, version, &Message::default(), body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<ListGroupsResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 1)?;
        let error = ErrorCode::from(body.i16()?);
        let groups = body.array(layout, 3, |body| group(layout, version, body));
        let groups = or_only_the_error(error, groups, Vec::new())?;
        Ok(ListGroupsResponse { throttle, error, groups })
    }
}

fn group(layout: Layout, version: i16, body: &mut Reader) -> Result<ListedGroup, ReadError> {
    let group = ListedGroup {
        group_id: body.string(layout)?,
        protocol_type: body.string_or_empty(layout)?,
        state: if version >= 4 { body.nullable_string(layout)? } else { None },
        group_type: if version >= 5 { body.nullable_string(layout)? } else { None },
    };
    body.skip_tags(layout)?;
    Ok(group)
}
