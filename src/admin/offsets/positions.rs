//! Where partitions start, end, or have a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::admin::AdminError;
use crate::client::{Client, Topics};
use crate::types::{Cluster, Partitions, TopicError, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::OffsetAt;

/// How long a leader that has just moved is looked for; then the position is told as unknown.
const LEADERS: Duration = Duration::from_secs(5);

/// An offset for each partition, none where no record has the time, or why that is not known.
pub(in crate::admin) type Positions = BTreeMap<TopicPartition, Result<Option<i64>, ErrorCode>>;

/// Asks the partitions' leaders. Those of topics that do not exist any more are not waited for.
pub(in crate::admin) async fn positions(
    client: &Client,
    partitions: &Partitions,
    at: OffsetAt,
    deadline: Instant,
) -> Result<Positions, AdminError> {
    if partitions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let topics: Topics = partitions.by_topic().map(|(topic, _)| Arc::clone(topic)).collect();
    let cluster = client.refresh_metadata(topics, deadline).await?;
    let (mut led, mut found) = (Partitions::new(), Positions::new());
    for partition in partitions.iter() {
        match cluster.leader(partition.topic(), partition.partition()) {
            Some(_) => drop(led.insert(&partition.shared_topic(), partition.partition())),
            None => {
                let why = unled(&cluster, &partition);
                found.insert(partition, Err(why));
            }
        }
    }
    let patience = deadline.min(Instant::now() + LEADERS);
    found.extend(client.list_offsets(&led, at, patience).await?);
    Ok(found)
}

/// Why nobody can be asked about a partition.
fn unled(cluster: &Cluster, partition: &TopicPartition) -> ErrorCode {
    let Some(topic) = cluster.topic(partition.topic()) else {
        return ErrorCode::UnknownTopicOrPartition;
    };
    match topic.error() {
        Some(TopicError::Missing) => ErrorCode::UnknownTopicOrPartition,
        Some(TopicError::NotAuthorized) => ErrorCode::TopicAuthorizationFailed,
        Some(TopicError::InvalidName) => ErrorCode::InvalidTopic,
        Some(TopicError::Unavailable(code)) => code.into(),
        None if topic.partition(partition.partition()).is_none() => {
            ErrorCode::UnknownTopicOrPartition
        }
        None => ErrorCode::LeaderNotAvailable,
    }
}
