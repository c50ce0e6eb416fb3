//! ConsumerGroupDescribe: groups of the new protocol (KIP-848) with their members. Asked of each group's coordinator.
//!
//! | version | adds |
//! |---|---|
//! | 0 | flexible from the start |
//! | 1 | whether a member speaks the classic protocol |

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::ConsumerGroupDescribeRequest as Message;

use super::{text, throttle};
use crate::types::{MemberId, Partitions};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks for groups of one coordinator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ConsumerGroupDescribeRequest {
    pub(crate) group_ids: Vec<String>,
}

/// Each of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ConsumerGroupDescribeResponse {
    pub(crate) throttle: Duration,
    pub(crate) groups: Vec<DescribedConsumerGroup>,
}

/// A group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DescribedConsumerGroup {
    /// `GroupIdNotFound` also for a group of another type.
    pub(crate) error: ErrorCode,
    pub(crate) group_id: String,
    /// `Stable`, `Assigning`, `Reconciling`, `Empty`, `Dead`.
    pub(crate) state: String,
    /// Raised by the broker whenever it plans anew.
    pub(crate) epoch: i32,
    /// The broker's assignor.
    pub(crate) assignor: String,
    pub(crate) members: Vec<DescribedConsumer>,
}

/// A member of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DescribedConsumer {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<String>,
    pub(crate) rack: Option<Arc<str>>,
    /// The epoch of the group that it has caught up with.
    pub(crate) epoch: i32,
    pub(crate) client_id: String,
    /// As the broker writes it: with a slash in front.
    pub(crate) client_host: String,
    pub(crate) topics: Vec<Arc<str>>,
    pub(crate) topic_pattern: Option<String>,
    /// What it has.
    pub(crate) assignment: Partitions,
}

impl Request for ConsumerGroupDescribeRequest {
    const API: ApiKey = ApiKey::ConsumerGroupDescribe;
    type Response = ConsumerGroupDescribeResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let groups = self.group_ids.iter().map(|id| text(id).into()).collect();
        append(Self::API, version, &Message::default().with_group_ids(groups), body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<ConsumerGroupDescribeResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, true)?;
        let groups = body.array(layout, 20, |body| group(layout, version, body))?;
        Ok(ConsumerGroupDescribeResponse { throttle, groups })
    }
}

fn group(
    layout: Layout,
    version: i16,
    body: &mut Reader,
) -> Result<DescribedConsumerGroup, ReadError> {
    let error = body.i16()?.into();
    body.skip_string(layout)?;
    let group_id = body.string(layout)?;
    let state = body.string_or_empty(layout)?;
    let epoch = body.i32()?;
    let _assignment_epoch = body.i32()?;
    let assignor = body.string_or_empty(layout)?;
    let members = body.array(layout, 15, |body| member(layout, version, body))?;
    let _authorized_operations = body.i32()?;
    body.skip_tags(layout)?;
    Ok(DescribedConsumerGroup { error, group_id, state, epoch, assignor, members })
}

fn member(layout: Layout, version: i16, body: &mut Reader) -> Result<DescribedConsumer, ReadError> {
    let member = DescribedConsumer {
        member_id: MemberId::new(body.string::<Arc<str>>(layout)?),
        group_instance_id: body.nullable_string(layout)?,
        rack: body.nullable_string(layout)?,
        epoch: body.i32()?,
        client_id: body.string_or_empty(layout)?,
        client_host: body.string_or_empty(layout)?,
        topics: body.array(layout, 1, |body| body.string(layout))?,
        topic_pattern: body.nullable_string(layout)?,
        assignment: assignment(layout, body)?,
    };
    let _planned = assignment(layout, body)?;
    if version >= 1 {
        let _member_type = body.u8()?;
    }
    body.skip_tags(layout)?;
    Ok(member)
}

fn assignment(layout: Layout, body: &mut Reader) -> Result<Partitions, ReadError> {
    const TOPIC_ID: usize = 16;
    let mut partitions = Partitions::new();
    for _ in 0..body.count(layout, TOPIC_ID + 3)?.unwrap_or(0) {
        body.skip(TOPIC_ID)?;
        let topic: Arc<str> = body.string(layout)?;
        partitions.insert_all(&topic, body.array(layout, 4, Reader::i32)?);
        body.skip_tags(layout)?;
    }
    body.skip_tags(layout)?;
    Ok(partitions)
}
