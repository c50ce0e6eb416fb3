//! OffsetCommit, OffsetFetch, ListOffsets, OffsetDelete.

use kafka_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use kafka_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use kafka_protocol::messages::offset_delete_response::{
    OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};
use kafka_protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use kafka_protocol::messages::{
    ListOffsetsResponse as TheirOffsets, OffsetCommitResponse as TheirCommit,
    OffsetDeleteResponse as TheirDelete, OffsetFetchResponse as TheirFetch, TopicName,
};
use kafka_protocol::protocol::StrBytes;

use super::groups::throttled;
use super::{Answer, Sample, made, since};
use crate::types::{OffsetAndMetadata, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::tests::random::Random;
use crate::wire::api::*;

pub(super) fn samples() -> Vec<Box<dyn Sample>> {
    vec![
        made::<OffsetCommitRequest, _, _>(offset_commit),
        made::<OffsetFetchRequest, _, _>(offset_fetch),
        made::<ListOffsetsRequest, _, _>(list_offsets),
        made::<OffsetDeleteRequest, _, _>(offset_delete),
    ]
}

impl Answer for OffsetCommitResponse {}
impl Answer for OffsetFetchResponse {}
impl Answer for ListOffsetsResponse {}

impl Answer for OffsetDeleteResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

fn partition_of(topic: &TopicName, partition: i32) -> TopicPartition {
    TopicPartition::new(topic.as_str(), partition)
}

fn offset_commit(version: i16, random: &mut Random) -> (TheirCommit, OffsetCommitResponse) {
    let theirs = TheirCommit::default().with_throttle_time_ms(random.millis()).with_topics(
        random.many(|random| {
            OffsetCommitResponseTopic::default().with_name(random.text().into()).with_partitions(
                random.many(|random| {
                    OffsetCommitResponsePartition::default()
                        .with_partition_index(random.i32())
                        .with_error_code(random.error())
                }),
            )
        }),
    );
    let partitions = theirs.topics.iter().flat_map(|topic| {
        let partition = |partition: &OffsetCommitResponsePartition| {
            (partition_of(&topic.name, partition.partition_index), partition.error_code.into())
        };
        topic.partitions.iter().map(partition)
    });
    let ours = OffsetCommitResponse {
        throttle: throttled(version >= 3, theirs.throttle_time_ms),
        partitions: partitions.collect(),
    };
    (theirs, ours)
}

/// What the two generated families of structs have in common.
struct Fetched {
    partition: i32,
    offset: i64,
    leader_epoch: i32,
    metadata: Option<StrBytes>,
    error: i16,
}

impl Fetched {
    fn new(random: &mut Random) -> Self {
        Self {
            partition: random.i32(),
            offset: random.i64_or_none(),
            leader_epoch: random.i32_or_none(),
            metadata: random.maybe_text(),
            error: random.error(),
        }
    }

    fn below_v8(&self) -> OffsetFetchResponsePartition {
        OffsetFetchResponsePartition::default()
            .with_partition_index(self.partition)
            .with_committed_offset(self.offset)
            .with_committed_leader_epoch(self.leader_epoch)
            .with_metadata(self.metadata.clone())
            .with_error_code(self.error)
    }

    fn since_v8(&self) -> OffsetFetchResponsePartitions {
        OffsetFetchResponsePartitions::default()
            .with_partition_index(self.partition)
            .with_committed_offset(self.offset)
            .with_committed_leader_epoch(self.leader_epoch)
            .with_metadata(self.metadata.clone())
            .with_error_code(self.error)
    }

    fn ours(&self, version: i16, topic: &StrBytes) -> FetchedOffset {
        let committed = OffsetAndMetadata {
            offset: self.offset,
            leader_epoch: (version >= 5 && self.leader_epoch >= 0).then_some(self.leader_epoch),
            metadata: self.metadata.as_ref().map(StrBytes::to_string).unwrap_or_default(),
        };
        FetchedOffset {
            partition: TopicPartition::new(topic.as_str(), self.partition),
            error: self.error.into(),
            committed: (self.error == 0 && self.offset >= 0).then_some(committed),
        }
    }
}

fn offset_fetch(version: i16, random: &mut Random) -> (TheirFetch, OffsetFetchResponse) {
    let topics = random.many(|random| (random.text(), random.many(Fetched::new)));
    let (throttle, error) = (random.millis(), random.error());
    let theirs = TheirFetch::default().with_throttle_time_ms(throttle);
    let theirs = if version >= 8 {
        let topic = |(name, partitions): &(StrBytes, Vec<Fetched>)| {
            OffsetFetchResponseTopics::default()
                .with_name(name.clone().into())
                .with_partitions(partitions.iter().map(Fetched::since_v8).collect())
        };
        let group = OffsetFetchResponseGroup::default()
            .with_group_id(random.text().into())
            .with_topics(topics.iter().map(topic).collect())
            .with_error_code(error);
        theirs.with_groups(vec![group])
    } else {
        let topic = |(name, partitions): &(StrBytes, Vec<Fetched>)| {
            OffsetFetchResponseTopic::default()
                .with_name(name.clone().into())
                .with_partitions(partitions.iter().map(Fetched::below_v8).collect())
        };
        theirs.with_topics(topics.iter().map(topic).collect()).with_error_code(error)
    };
    let partitions = topics.iter().flat_map(|(name, partitions)| {
        partitions.iter().map(|fetched| fetched.ours(version, name))
    });
    let ours = OffsetFetchResponse {
        throttle: throttled(version >= 3, throttle),
        error: since(version >= 2, error.into(), ErrorCode::None),
        partitions: partitions.collect(),
    };
    (theirs, ours)
}

fn list_offsets(version: i16, random: &mut Random) -> (TheirOffsets, ListOffsetsResponse) {
    let theirs = TheirOffsets::default().with_throttle_time_ms(random.millis()).with_topics(
        random.many(|random| {
            ListOffsetsTopicResponse::default().with_name(random.text().into()).with_partitions(
                random.many(|random| {
                    ListOffsetsPartitionResponse::default()
                        .with_partition_index(random.i32())
                        .with_error_code(random.error())
                        .with_timestamp(random.i64_or_none())
                        .with_offset(random.i64_or_none())
                        .with_leader_epoch(since(version >= 4, random.i32_or_none(), -1))
                }),
            )
        }),
    );
    let partitions = theirs.topics.iter().flat_map(|topic| {
        let partition = |partition: &ListOffsetsPartitionResponse| ListedOffset {
            partition: partition_of(&topic.name, partition.partition_index),
            error: partition.error_code.into(),
            offset: (partition.error_code == 0 && partition.offset >= 0)
                .then_some(partition.offset),
            leader_epoch: (partition.leader_epoch >= 0).then_some(partition.leader_epoch),
        };
        topic.partitions.iter().map(partition)
    });
    let ours = ListOffsetsResponse {
        throttle: throttled(version >= 2, theirs.throttle_time_ms),
        partitions: partitions.collect(),
    };
    (theirs, ours)
}

fn offset_delete(_version: i16, random: &mut Random) -> (TheirDelete, OffsetDeleteResponse) {
    let theirs = TheirDelete::default()
        .with_error_code(random.error())
        .with_throttle_time_ms(random.millis())
        .with_topics(random.many(|random| {
            OffsetDeleteResponseTopic::default().with_name(random.text().into()).with_partitions(
                random.many(|random| {
                    OffsetDeleteResponsePartition::default()
                        .with_partition_index(random.i32())
                        .with_error_code(random.error())
                }),
            )
        }));
    let partitions = theirs.topics.iter().flat_map(|topic| {
        let partition = |partition: &OffsetDeleteResponsePartition| {
            (partition_of(&topic.name, partition.partition_index), partition.error_code.into())
        };
        topic.partitions.iter().map(partition)
    });
    let ours = OffsetDeleteResponse {
        throttle: throttled(true, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
        partitions: partitions.collect(),
    };
    (theirs, ours)
}
