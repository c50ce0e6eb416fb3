//! DeleteGroups: groups with all that they have committed. Asked of each group's coordinator.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 2 | flexible |

use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::DeleteGroupsRequest as Message;

use super::{text, throttle};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

/// Deletes groups of one coordinator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DeleteGroupsRequest {
    pub(crate) group_ids: Vec<String>,
}

/// What became of each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct DeleteGroupsResponse {
    pub(crate) throttle: Duration,
    /// `NonEmptyGroup`: it has members, and is left as it is.
    pub(crate) groups: Vec<(String, ErrorCode)>,
}

impl Request for DeleteGroupsRequest {
    const API: ApiKey = ApiKey::DeleteGroups;
    type Response = DeleteGroupsResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let groups = self.group_ids.iter().map(|id| text(id).into()).collect();
        append(Self::API, version, &Message::default().with_groups_names(groups), body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<DeleteGroupsResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, true)?;
        let groups = body.array(layout, 3, |body| {
            let group = (body.string(layout)?, body.i16()?.into());
            body.skip_tags(layout)?;
            Ok(group)
        })?;
        Ok(DeleteGroupsResponse { throttle, groups })
    }
}
