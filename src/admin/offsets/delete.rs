//! Offsets are forgotten.

use std::collections::BTreeMap;

use crate::admin::AdminError;
use crate::admin::ask::{Answered, Coordinator};
use crate::admin::present::not_empty;
use crate::client::{Client, ClientError, Lane};
use crate::types::{Partitions, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::OffsetDeleteRequest;

/// Deletes a group's offsets for these partitions.
pub(super) async fn delete(
    client: &Client,
    group: &str,
    partitions: Partitions,
) -> Result<Vec<(TopicPartition, Result<(), ErrorCode>)>, AdminError> {
    if partitions.is_empty() {
        return Err(AdminError::Invalid("no partition to forget was named".to_owned()));
    }
    let coordinator = Coordinator { client, group, deadline: client.api_deadline() };
    let request = OffsetDeleteRequest { group_id: group.to_owned(), partitions };
    let asked = coordinator.ask(Lane::Metadata, &request, |answer| answer.error).await;
    let failed = |error| match error {
        ClientError::UnsupportedVersion { .. } => {
            AdminError::TooOld("deleting offsets needs Kafka 2.4")
        }
        error => AdminError::of(group, "DELETE", error),
    };
    let Answered { answer, error, .. } = asked.map_err(failed)?;
    match error {
        ErrorCode::None => {}
        ErrorCode::GroupIdNotFound => return Err(AdminError::NoSuchGroup(group.to_owned())),
        ErrorCode::NonEmptyGroup => {
            return Err(not_empty(client, group, coordinator.deadline).await);
        }
        code => return Err(failed(coordinator.refused::<OffsetDeleteRequest>(code))),
    }
    let told: BTreeMap<TopicPartition, ErrorCode> = answer.partitions.into_iter().collect();
    let outcome = |partition| match told.get(&partition) {
        Some(ErrorCode::None) => (partition, Ok(())),
        Some(code) => (partition, Err(*code)),
        None => (partition, Err(ErrorCode::UnknownServerError)),
    };
    Ok(request.partitions.iter().map(outcome).collect())
}
