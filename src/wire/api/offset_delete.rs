//! OffsetDelete: what a group has committed for partitions, forgotten (KIP-496). There is version 0 alone.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::offset_delete_request::{
    OffsetDeleteRequest as Message, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};

use super::{or_only_the_error, partitions_by_topic, text, throttle};
use crate::types::{Partitions, TopicPartition};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

/// Deletes offsets of the group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct OffsetDeleteRequest {
    pub(crate) group_id: String,
    pub(crate) partitions: Partitions,
}

/// What became of each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct OffsetDeleteResponse {
    pub(crate) throttle: Duration,
    /// Of the whole: then no partition is told.
    pub(crate) error: ErrorCode,
    /// `GroupSubscribedToTopic`: members subscribe to it, and it is left as it is.
    pub(crate) partitions: Vec<(TopicPartition, ErrorCode)>,
}

impl Request for OffsetDeleteRequest {
    const API: ApiKey = ApiKey::OffsetDelete;
    type Response = OffsetDeleteResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let topics = self.partitions.by_topic().map(|(name, numbers)| topic(name, numbers));
        let message = Message::default()
            .with_group_id(text(&self.group_id).into())
            .with_topics(topics.collect());
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<OffsetDeleteResponse, ReadError> {
        let layout = Self::API.layout(version);
        let error = ErrorCode::from(body.i16()?);
        let throttle = throttle(body, true)?;
        let partitions = partitions_by_topic(layout, 6, body, |topic: &Arc<str>, body| {
            let partition = TopicPartition::new(Arc::clone(topic), body.i32()?);
            Ok((partition, body.i16()?.into()))
        });
        let partitions = or_only_the_error(error, partitions, Vec::new())?;
        Ok(OffsetDeleteResponse { throttle, error, partitions })
    }
}

fn topic(name: &str, numbers: &[i32]) -> OffsetDeleteRequestTopic {
    let partition =
        |number: &i32| OffsetDeleteRequestPartition::default().with_partition_index(*number);
    OffsetDeleteRequestTopic::default()
        .with_name(text(name).into())
        .with_partitions(numbers.iter().map(partition).collect())
}
