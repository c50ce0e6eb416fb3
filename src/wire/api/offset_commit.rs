//! OffsetCommit: the offsets of a group, stored.
//!
//! | version | adds |
//! |---|---|
//! | 2 | the oldest that is spoken; with a retention time until version 4: we send -1, the broker's own |
//! | 3 | the answer's throttle time |
//! | 6 | leader epochs (KIP-320): below, they are not sent |
//! | 7 | instance ids (KIP-345): below, a static member is an [`EncodeError`] |
//! | 8 | flexible |
//! | 9 | a group that is gone is `GroupIdNotFound`, no longer `IllegalGeneration` |

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequest as Message, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};

use super::{by_topic, id, instance_id, partitions_by_topic, text, throttle};
use crate::types::{
    Generation, GroupInstanceId, MemberId, OffsetAndMetadata, Offsets, TopicPartition,
};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

/// Stores offsets for the group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct OffsetCommitRequest {
    pub(crate) group_id: String,
    /// `NONE` and an empty member id: a commit from outside, accepted while the group is empty.
    pub(crate) generation: Generation,
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    pub(crate) offsets: Offsets,
}

/// What became of each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct OffsetCommitResponse {
    pub(crate) throttle: Duration,
    /// An error of the whole comes with every partition.
    pub(crate) partitions: Vec<(TopicPartition, ErrorCode)>,
}

impl Request for OffsetCommitRequest {
    const API: ApiKey = ApiKey::OffsetCommit;
    type Response = OffsetCommitResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let topics = by_topic(self.offsets.iter());
        let message = Message::default()
            .with_group_id(text(&self.group_id).into())
            .with_generation_id_or_member_epoch(self.generation.0)
            .with_member_id(id(&self.member_id))
            .with_group_instance_id(instance_id(self.group_instance_id.as_ref()))
            .with_retention_time_ms(-1)
            .with_topics(topics.into_iter().map(|(name, offsets)| topic(name, &offsets)).collect());
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<OffsetCommitResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 3)?;
        let partitions = partitions_by_topic(layout, 6, body, |topic: &Arc<str>, body| {
            let partition = TopicPartition::new(Arc::clone(topic), body.i32()?);
            Ok((partition, body.i16()?.into()))
        })?;
        Ok(OffsetCommitResponse { throttle, partitions })
    }
}

fn topic(name: &str, offsets: &[(i32, &OffsetAndMetadata)]) -> OffsetCommitRequestTopic {
    let partition = |(partition, offset): &(i32, &OffsetAndMetadata)| {
        OffsetCommitRequestPartition::default()
            .with_partition_index(*partition)
            .with_committed_offset(offset.offset)
            .with_committed_leader_epoch(offset.leader_epoch.unwrap_or(-1))
            .with_committed_metadata(Some(text(&offset.metadata)))
    };
    OffsetCommitRequestTopic::default()
        .with_name(text(name).into())
        .with_partitions(offsets.iter().map(partition).collect())
}
