//! OffsetCommit, OffsetFetch and OffsetDelete.

use bytes::Bytes;
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
use kafka_protocol::messages::{self, GroupId, TopicName};

use super::membership::group;
use super::{Decoded, Malformed, instance_id, member_id, read, text, write};
use crate::testing::coordinator::{RequestBody, ResponseBody};
use crate::types::{Generation, OffsetAndMetadata, Offsets, Partitions, TopicPartition};
use crate::wire::api::{
    FetchedOffset, OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest,
    OffsetDeleteResponse, OffsetFetchRequest, OffsetFetchResponse,
};

pub(super) fn commit(version: i16, body: &mut Bytes) -> Result<Decoded, Malformed> {
    let message: messages::OffsetCommitRequest = read(version, body)?;
    let mut offsets = Offsets::new();
    for topic in &message.topics {
        for partition in &topic.partitions {
            let epoch = partition.committed_leader_epoch;
            let offset = OffsetAndMetadata {
                offset: partition.committed_offset,
                leader_epoch: (epoch >= 0).then_some(epoch),
                metadata: partition
                    .committed_metadata
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            };
            offsets.insert(
                TopicPartition::new(topic.name.as_str(), partition.partition_index),
                offset,
            );
        }
    }
    let instance = instance_id(message.group_instance_id.as_ref());
    let request = RequestBody::OffsetCommit(OffsetCommitRequest {
        group_id: group(&message.group_id),
        generation: Generation(message.generation_id_or_member_epoch),
        member_id: member_id(&message.member_id),
        group_instance_id: instance.clone().unwrap_or_default(),
        offsets,
    });
    Ok(match instance.err() {
        Some(error) => Decoded::Refused(request, error),
        None => Decoded::Coordinator(vec![request]),
    })
}

pub(super) fn committed(
    version: i16,
    committed: &OffsetCommitResponse,
) -> Result<Bytes, Malformed> {
    let mut topics: Vec<OffsetCommitResponseTopic> = Vec::new();
    for (partition, error) in &committed.partitions {
        if topics.last().is_none_or(|topic| topic.name.as_str() != partition.topic()) {
            topics.push(OffsetCommitResponseTopic::default().with_name(name(partition)));
        }
        if let Some(topic) = topics.last_mut() {
            topic.partitions.push(
                OffsetCommitResponsePartition::default()
                    .with_partition_index(partition.partition())
                    .with_error_code(error.number()),
            );
        }
    }
    write(version, &messages::OffsetCommitResponse::default().with_topics(topics))
}

pub(super) fn delete(version: i16, body: &mut Bytes) -> Result<RequestBody, Malformed> {
    let message: messages::OffsetDeleteRequest = read(version, body)?;
    let partitions = message.topics.iter().flat_map(|topic| {
        let numbers = topic.partitions.iter();
        numbers.map(|one| TopicPartition::new(topic.name.as_str(), one.partition_index))
    });
    let (group_id, partitions) = (group(&message.group_id), partitions.collect());
    Ok(RequestBody::OffsetDelete(OffsetDeleteRequest { group_id, partitions }))
}

pub(super) fn deleted(version: i16, deleted: &OffsetDeleteResponse) -> Result<Bytes, Malformed> {
    let mut topics: Vec<OffsetDeleteResponseTopic> = Vec::new();
    for (partition, error) in &deleted.partitions {
        if topics.last().is_none_or(|topic| topic.name.as_str() != partition.topic()) {
            topics.push(OffsetDeleteResponseTopic::default().with_name(name(partition)));
        }
        if let Some(topic) = topics.last_mut() {
            topic.partitions.push(
                OffsetDeleteResponsePartition::default()
                    .with_partition_index(partition.partition())
                    .with_error_code(error.number()),
            );
        }
    }
    let message = messages::OffsetDeleteResponse::default();
    write(version, &message.with_error_code(deleted.error.number()).with_topics(topics))
}

pub(super) fn fetch(version: i16, body: &mut Bytes) -> Result<Vec<RequestBody>, Malformed> {
    let message: messages::OffsetFetchRequest = read(version, body)?;
    let question = |id: &GroupId, partitions: Option<Partitions>| {
        let require_stable = message.require_stable;
        RequestBody::OffsetFetch(OffsetFetchRequest {
            group_id: group(id),
            partitions,
            require_stable,
        })
    };
    if version >= 8 {
        let groups = message.groups.iter().map(|asked| {
            let topics = asked.topics.as_ref().map(|topics| {
                let all = topics.iter().map(|topic| (&topic.name, &topic.partition_indexes));
                partitions(all)
            });
            question(&asked.group_id, topics)
        });
        return Ok(groups.collect());
    }
    let topics = message.topics.as_ref().map(|topics| {
        let all = topics.iter().map(|topic| (&topic.name, &topic.partition_indexes));
        partitions(all)
    });
    Ok(vec![question(&message.group_id, topics)])
}

pub(super) fn fetched(
    version: i16,
    answers: &[(RequestBody, ResponseBody)],
) -> Result<Bytes, Malformed> {
    let mut message = messages::OffsetFetchResponse::default();
    for (question, answer) in answers {
        let ResponseBody::OffsetFetch(fetched) = answer else { continue };
        if version < 8 {
            message.error_code = if version >= 2 { fetched.error.number() } else { 0 };
            message.topics = topics(fetched);
            continue;
        }
        let id = GroupId(text(question.group_id().unwrap_or_default()));
        let group = OffsetFetchResponseGroup::default()
            .with_group_id(id)
            .with_error_code(fetched.error.number());
        message.groups.push(group.with_topics(group_topics(fetched)));
    }
    write(version, &message)
}

fn topics(fetched: &OffsetFetchResponse) -> Vec<OffsetFetchResponseTopic> {
    let mut topics: Vec<OffsetFetchResponseTopic> = Vec::new();
    for fetched in &fetched.partitions {
        if topics.last().is_none_or(|topic| topic.name.as_str() != fetched.partition.topic()) {
            topics.push(OffsetFetchResponseTopic::default().with_name(name(&fetched.partition)));
        }
        let committed = committed_of(fetched);
        let partition = OffsetFetchResponsePartition::default()
            .with_partition_index(fetched.partition.partition())
            .with_committed_offset(committed.offset)
            .with_committed_leader_epoch(committed.leader_epoch.unwrap_or(-1))
            .with_metadata(Some(text(committed.metadata)))
            .with_error_code(fetched.error.number());
        if let Some(topic) = topics.last_mut() {
            topic.partitions.push(partition);
        }
    }
    topics
}

/// The same once more, as version 8 lays it out.
fn group_topics(fetched: &OffsetFetchResponse) -> Vec<OffsetFetchResponseTopics> {
    let same = |partition: OffsetFetchResponsePartition| {
        OffsetFetchResponsePartitions::default()
            .with_partition_index(partition.partition_index)
            .with_committed_offset(partition.committed_offset)
            .with_committed_leader_epoch(partition.committed_leader_epoch)
            .with_metadata(partition.metadata)
            .with_error_code(partition.error_code)
    };
    let topics = topics(fetched).into_iter().map(|topic| {
        let partitions = topic.partitions.into_iter().map(same).collect();
        OffsetFetchResponseTopics::default().with_name(topic.name).with_partitions(partitions)
    });
    topics.collect()
}

fn committed_of(fetched: &FetchedOffset) -> OffsetAndMetadata {
    fetched.committed.clone().unwrap_or_else(|| OffsetAndMetadata::new(-1))
}

fn partitions<'a>(topics: impl Iterator<Item = (&'a TopicName, &'a Vec<i32>)>) -> Partitions {
    let all = topics.flat_map(|(name, numbers)| {
        numbers.iter().map(|number| TopicPartition::new(name.as_str(), *number))
    });
    all.collect()
}

fn name(partition: &TopicPartition) -> TopicName {
    TopicName(text(partition.topic()))
}
