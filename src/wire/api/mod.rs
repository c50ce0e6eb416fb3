//! One file an API, with what each version added at its head.

mod api_versions;
mod consumer_group_describe;
mod delete_groups;
mod describe_cluster;
mod describe_groups;
mod find_coordinator;
mod heartbeat;
mod join_group;
mod leave_group;
mod list_groups;
mod list_offsets;
mod metadata;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
#[cfg(any(test, feature = "sasl", feature = "test-util"))]
mod sasl_authenticate;
mod sasl_handshake;
mod sync_group;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kafka_protocol::protocol::StrBytes;

use super::{ErrorCode, Layout, ReadError, Reader};
use crate::types::{GroupInstanceId, MemberId, TopicPartition};

pub(crate) use api_versions::{ApiRange, ApiVersionsRequest, ApiVersionsResponse};
pub(crate) use consumer_group_describe::{
    ConsumerGroupDescribeRequest, DescribedConsumer, DescribedConsumerGroup,
};
pub(crate) use delete_groups::DeleteGroupsRequest;
pub(crate) use describe_cluster::{DescribeClusterRequest, Operations};
pub(crate) use describe_groups::{DescribeGroupsRequest, DescribedGroup, DescribedMember};
pub(crate) use find_coordinator::FindCoordinatorRequest;
pub(crate) use heartbeat::{HeartbeatRequest, HeartbeatResponse};
pub(crate) use join_group::{JoinGroupRequest, JoinGroupResponse, JoinedMember};
pub(crate) use leave_group::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember};
pub(crate) use list_groups::{ListGroupsRequest, ListedGroup};
pub(crate) use list_offsets::{ListOffsetsRequest, ListedOffset, OffsetAt};
pub(crate) use metadata::{MetadataRequest, MetadataResponse, PartitionMetadata, TopicMetadata};
pub(crate) use offset_commit::{OffsetCommitRequest, OffsetCommitResponse};
pub(crate) use offset_delete::OffsetDeleteRequest;
pub(crate) use offset_fetch::OffsetFetchRequest;
#[cfg(any(test, feature = "sasl", feature = "test-util"))]
pub(crate) use sasl_authenticate::SaslAuthenticateRequest;
pub(crate) use sasl_handshake::SaslHandshakeRequest;
pub(crate) use sync_group::{SyncGroupRequest, SyncGroupResponse};
// What only the other side of a connection makes: the fakes, and tests.
#[cfg(test)]
pub(crate) use {
    consumer_group_describe::ConsumerGroupDescribeResponse, delete_groups::DeleteGroupsResponse,
    describe_cluster::DescribeClusterResponse, describe_groups::DescribeGroupsResponse,
    find_coordinator::FindCoordinatorResponse, list_offsets::ListOffsetsResponse,
    metadata::TopicId, sasl_authenticate::SaslAuthenticateResponse,
    sasl_handshake::SaslHandshakeResponse,
};
#[cfg(any(test, feature = "test-util"))]
pub(crate) use {
    leave_group::MemberLeft,
    list_groups::ListGroupsResponse,
    offset_delete::OffsetDeleteResponse,
    offset_fetch::{FetchedOffset, OffsetFetchResponse},
};

/// Text as the encoder wants it.
fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn id(id: &MemberId) -> StrBytes {
    text(id.as_str())
}

/// On a version without instance ids, the encoder refuses one: a static member never turns dynamic unnoticed.
fn instance_id(id: Option<&GroupInstanceId>) -> Option<StrBytes> {
    id.map(|id| text(id.as_str()))
}

/// KIP-800: at most 255 characters, for the broker's log.
fn reason(reason: Option<&str>) -> Option<StrBytes> {
    reason.map(|reason| reason.chars().take(255).collect::<String>().into())
}

/// A timeout as Kafka writes it.
fn millis(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX)
}

/// `throttle_time_ms`, in a version that has it: for how long the broker wants to be left alone.
fn throttle(body: &mut Reader, present: bool) -> Result<Duration, ReadError> {
    if !present {
        return Ok(Duration::ZERO);
    }
    let millis = body.i32()?;
    Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// What was read; or, where an error's answer has a remainder that makes no sense, the error alone: it says enough.
fn or_only_the_error<T>(
    error: ErrorCode,
    read: Result<T, ReadError>,
    only_the_error: T,
) -> Result<T, ReadError> {
    match read {
        Err(_) if !error.is_none() => Ok(only_the_error),
        read => read,
    }
}

/// What is asked of partitions, as requests want it: topic by topic, each once.
fn by_topic<'a, T>(
    partitions: impl Iterator<Item = (&'a TopicPartition, &'a T)>,
) -> BTreeMap<&'a str, Vec<(i32, &'a T)>> {
    let mut topics: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (partition, asked) in partitions {
        topics.entry(partition.topic()).or_default().push((partition.partition(), asked));
    }
    topics
}

/// What is answered of partitions, topic by topic; each takes at least `smallest` bytes. Null, which librdkafka's mock
/// writes for no topics, is none.
fn partitions_by_topic<T>(
    layout: Layout,
    smallest: usize,
    body: &mut Reader,
    mut partition: impl FnMut(&Arc<str>, &mut Reader) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let mut all = Vec::new();
    for _ in 0..body.count(layout, 3)?.unwrap_or(0) {
        let topic = body.string(layout)?;
        for _ in 0..body.count(layout, smallest)?.unwrap_or(0) {
            all.push(partition(&topic, body)?);
            body.skip_tags(layout)?;
        }
        body.skip_tags(layout)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
