//! DescribeGroups: groups with their members. Asked of each group's coordinator.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 1 | the answer's throttle time |
//! | 3 | authorized operations: we do not ask for them |
//! | 4 | instance ids |
//! | 5 | flexible |
//! | 6 | an unknown group is `GroupIdNotFound` (below: no error, state `Dead`, no members); error messages |

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::DescribeGroupsRequest as Message;

use super::{text, throttle};
use crate::types::MemberId;
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks for groups of one coordinator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DescribeGroupsRequest {
    pub(crate) group_ids: Vec<String>,
}

/// Each of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct DescribeGroupsResponse {
    pub(crate) throttle: Duration,
    pub(crate) groups: Vec<DescribedGroup>,
}

/// A group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DescribedGroup {
    /// `GroupIdNotFound` also for a group of the new protocol (KIP-848).
    pub(crate) error: ErrorCode,
    pub(crate) error_message: Option<String>,
    pub(crate) group_id: String,
    /// `Stable`, `PreparingRebalance`, `CompletingRebalance`, `Empty`, `Dead`.
    pub(crate) state: String,
    pub(crate) protocol_type: String,
    /// Empty while the group rebalances.
    pub(crate) protocol: String,
    pub(crate) members: Vec<DescribedMember>,
}

/// A member of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DescribedMember {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<String>,
    pub(crate) client_id: String,
    /// As the broker writes it: with a slash in front.
    pub(crate) client_host: String,
    /// Empty while the group rebalances.
    pub(crate) metadata: Bytes,
    /// While the group rebalances: of the last generation.
    pub(crate) assignment: Bytes,
}

impl Request for DescribeGroupsRequest {
    const API: ApiKey = ApiKey::DescribeGroups;
    type Response = DescribeGroupsResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let groups = self.group_ids.iter().map(|id| text(id).into()).collect();
        append(Self::API, version, &Message::default().with_groups(groups), body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<DescribeGroupsResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 1)?;
        let groups = body.array(layout, 12, |body| group(layout, version, body))?;
        Ok(DescribeGroupsResponse { throttle, groups })
    }
}

fn group(layout: Layout, version: i16, body: &mut Reader) -> Result<DescribedGroup, ReadError> {
    let group = DescribedGroup {
        error: body.i16()?.into(),
        error_message: if version >= 6 { body.nullable_string(layout)? } else { None },
        group_id: body.string(layout)?,
        state: body.string_or_empty(layout)?,
        protocol_type: body.string_or_empty(layout)?,
        protocol: body.string_or_empty(layout)?,
        members: body.array(layout, 7, |body| member(layout, version, body))?,
    };
    if version >= 3 {
        let _authorized_operations = body.i32()?;
    }
    body.skip_tags(layout)?;
    Ok(group)
}

fn member(layout: Layout, version: i16, body: &mut Reader) -> Result<DescribedMember, ReadError> {
    let member = DescribedMember {
        member_id: MemberId::new(body.string::<Arc<str>>(layout)?),
        group_instance_id: if version >= 4 { body.nullable_string(layout)? } else { None },
        client_id: body.string_or_empty(layout)?,
        client_host: body.string_or_empty(layout)?,
        metadata: body.nullable_bytes(layout)?.unwrap_or_default(),
        assignment: body.nullable_bytes(layout)?.unwrap_or_default(),
    };
    body.skip_tags(layout)?;
    Ok(member)
}
