//! OffsetFetch: the offsets of a group, read. We ask for one group at a time.
//!
//! | version | adds |
//! |---|---|
//! | 1 | the oldest that is spoken; errors by partition alone |
//! | 2 | null topics = all; an error of the whole |
//! | 3 | the answer's throttle time |
//! | 5 | leader epochs (KIP-320) |
//! | 6 | flexible |
//! | 7 | `require_stable` (KIP-447): below, it is not sent, and offsets of open transactions are passed over |
//! | 8 | many groups at once, with an error each (KIP-709) |
//! | 9 | member id and epoch, for groups of the new protocol: we send none |

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::offset_fetch_request::{
    OffsetFetchRequest as Message, OffsetFetchRequestGroup, OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
};

use super::{partitions_by_topic, text, throttle};
use crate::types::{OffsetAndMetadata, Partitions, TopicPartition};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks what the group has committed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct OffsetFetchRequest {
    pub(crate) group_id: String,
    /// None: all that the group has; then a partition with nothing but an unstable offset is left out, not marked.
    pub(crate) partitions: Option<Partitions>,
    /// A partition with offsets of an open transaction is `UnstableOffsetCommit`. From version 7 on.
    pub(crate) require_stable: bool,
}

/// What it has committed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct OffsetFetchResponse {
    pub(crate) throttle: Duration,
    /// Of the whole. In version 1 there is none: every partition says it.
    pub(crate) error: ErrorCode,
    pub(crate) partitions: Vec<FetchedOffset>,
}

/// What is committed for a partition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FetchedOffset {
    pub(crate) partition: TopicPartition,
    pub(crate) error: ErrorCode,
    /// None where nothing is committed, and on errors.
    pub(crate) committed: Option<OffsetAndMetadata>,
}

impl Request for OffsetFetchRequest {
    const API: ApiKey = ApiKey::OffsetFetch;
    type Response = OffsetFetchResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        if version < 2 && self.partitions.is_none() {
            return Err(EncodeError::new(
                Self::API,
                version,
                "version 1 cannot ask for everything",
            ));
        }
        let group_id = text(&self.group_id).into();
        let message = Message::default().with_require_stable(self.require_stable && version >= 7);
        let message = if version >= 8 {
            let group = OffsetFetchRequestGroup::default()
                .with_group_id(group_id)
                .with_topics(self.topics_by_group());
            message.with_topics(Some(Vec::new())).with_groups(vec![group])
        } else {
            message.with_group_id(group_id).with_topics(self.topics())
        };
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<OffsetFetchResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 3)?;
        if version < 8 {
            let partitions = fetched_offsets(layout, version, body)?;
            let error = if version >= 2 { body.i16()?.into() } else { ErrorCode::None };
            return Ok(OffsetFetchResponse { throttle, error, partitions });
        }
        let groups = body.array(layout, 5, |body| {
            body.skip_string(layout)?;
            let partitions = fetched_offsets(layout, version, body)?;
            let error = body.i16()?.into();
            body.skip_tags(layout)?;
            Ok(OffsetFetchResponse { throttle, error, partitions })
        })?;
        groups.into_iter().next().ok_or(ReadError::Null)
    }
}

impl OffsetFetchRequest {
    fn topics(&self) -> Option<Vec<OffsetFetchRequestTopic>> {
        let topic = |(name, numbers): (&Arc<str>, &[i32])| {
            OffsetFetchRequestTopic::default()
                .with_name(text(name).into())
                .with_partition_indexes(numbers.to_vec())
        };
        self.partitions.as_ref().map(|partitions| partitions.by_topic().map(topic).collect())
    }

    fn topics_by_group(&self) -> Option<Vec<OffsetFetchRequestTopics>> {
        let topic = |(name, numbers): (&Arc<str>, &[i32])| {
            OffsetFetchRequestTopics::default()
                .with_name(text(name).into())
                .with_partition_indexes(numbers.to_vec())
        };
        self.partitions.as_ref().map(|partitions| partitions.by_topic().map(topic).collect())
    }
}

fn fetched_offsets(
    layout: Layout,
    version: i16,
    body: &mut Reader,
) -> Result<Vec<FetchedOffset>, ReadError> {
    partitions_by_topic(layout, 15, body, |topic, body| {
        let partition = TopicPartition::new(Arc::clone(topic), body.i32()?);
        let offset = body.i64()?;
        let leader_epoch = if version >= 5 { body.i32()? } else { -1 };
        let metadata = body.string_or_empty(layout)?;
        let error = ErrorCode::from(body.i16()?);
        let leader_epoch = (leader_epoch >= 0).then_some(leader_epoch);
        let committed = OffsetAndMetadata { offset, leader_epoch, metadata };
        let committed = (error.is_none() && offset >= 0).then_some(committed);
        Ok(FetchedOffset { partition, error, committed })
    })
}
