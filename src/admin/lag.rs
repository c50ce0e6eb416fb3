//! What a group has committed, and how far that is from the end.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::ask::Coordinator;
use super::look::look_at_any;
use super::offsets::positions;
use super::{AdminError, GroupDescription, GroupType};
use crate::client::{ApiKey, Client, ClientError, Lane};
use crate::types::{OffsetAndMetadata, Offsets, Partitions, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::{OffsetAt, OffsetFetchRequest};

/// How far a group is, partition by partition.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GroupLag {
    /// Kafka: `group.id`.
    pub group_id: String,
    /// What the group has committed or its members have, in order.
    pub partitions: Vec<PartitionLag>,
}

/// How far a group is in one partition.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PartitionLag {
    /// Which one.
    pub partition: TopicPartition,
    /// The next record to read; none if nothing is committed.
    pub committed: Option<OffsetAndMetadata>,
    /// Behind the last record, or why that is not known.
    pub end: Result<i64, ErrorCode>,
    /// Who has it now: an instance id, or else a member id. None for groups of types that cannot be
    /// described.
    pub member: Option<String>,
}

impl GroupLag {
    /// The records that are behind what is committed, in all partitions of which that is known.
    pub fn total(&self) -> i64 {
        self.partitions.iter().filter_map(PartitionLag::lag).fold(0, i64::saturating_add)
    }
}

impl PartitionLag {
    /// How many records there are behind what is committed. None if nothing is committed, since it then depends on
    /// `auto.offset.reset`, and if the end is not known. Records of transactions that were aborted, and those that
    /// compaction took out, count.
    pub fn lag(&self) -> Option<i64> {
        let (committed, end) = (self.committed.as_ref()?, self.end.ok()?);
        Some(end.saturating_sub(committed.offset).max(0))
    }
}

/// Everything that a group has committed, for as far as this user may see it.
pub(super) async fn committed(
    client: &Client,
    group: &str,
    deadline: Instant,
) -> Result<Offsets, AdminError> {
    let group_id = group.to_owned();
    let request = OffsetFetchRequest { group_id, partitions: None, require_stable: false };
    let coordinator = Coordinator { client, group, deadline };
    let asked = coordinator.ask(Lane::Metadata, &request, |answer| answer.error).await;
    let failed = |error| match error {
        ClientError::Unencodable { api: ApiKey::OffsetFetch, .. } => {
            AdminError::TooOld("reading all offsets of a group needs Kafka 0.10.2")
        }
        error => AdminError::of(group, "DESCRIBE", error),
    };
    let answer = asked.map_err(failed)?.answer;
    match answer.error {
        ErrorCode::None => {}
        ErrorCode::GroupIdNotFound => return Ok(Offsets::new()),
        code => return Err(failed(coordinator.refused::<OffsetFetchRequest>(code))),
    }
    let fetched = answer.partitions.into_iter().filter(|fetched| fetched.error.is_none());
    Ok(fetched.filter_map(|fetched| Some((fetched.partition, fetched.committed?))).collect())
}

/// Puts together what the coordinator and the partitions' leaders tell.
pub(super) async fn lag(
    client: &Client,
    group: &str,
    deadline: Instant,
) -> Result<GroupLag, AdminError> {
    let mut committed = committed(client, group, deadline).await?;
    let described = match look_at_any(client, group, &[], deadline).await {
        Ok(described) => Some(described),
        // The offsets of those are kept in the same way; who has what is not told.
        Err(AdminError::NotClassic { group_type, .. }) if group_type != GroupType::Share => None,
        Err(error) => return Err(error),
    };
    let mut members = described.map(|group| by_partition(&group)).unwrap_or_default();
    let all: Partitions = committed.keys().chain(members.keys()).cloned().collect();
    let ends = positions(client, &all, OffsetAt::Latest, deadline).await?;
    let partitions = all.iter().map(|partition| PartitionLag {
        committed: committed.remove(&partition),
        end: match ends.get(&partition) {
            Some(Ok(Some(end))) => Ok(*end),
            Some(Err(code)) => Err(*code),
            _ => Err(ErrorCode::LeaderNotAvailable),
        },
        member: members.remove(&partition),
        partition,
    });
    Ok(GroupLag { group_id: group.to_owned(), partitions: partitions.collect() })
}

fn by_partition(group: &GroupDescription) -> BTreeMap<TopicPartition, String> {
    let members = group.members.iter();
    let had = members.filter_map(|member| Some((member.name(), member.partitions()?)));
    had.flat_map(|(name, partitions)| {
        partitions.iter().map(move |partition| (partition, name.to_owned()))
    })
    .collect()
}
