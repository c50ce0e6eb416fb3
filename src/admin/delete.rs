//! Groups are deleted.

use super::AdminError;
use super::ask::{Answered, Coordinator};
use super::present::not_empty;
use crate::client::{ClientError, Lane};
use crate::wire::ErrorCode;
use crate::wire::api::DeleteGroupsRequest;

/// Deletes one group, which nobody may be in.
pub(super) async fn delete(coordinator: Coordinator<'_>) -> Result<(), AdminError> {
    let Coordinator { client, group, deadline } = coordinator;
    let request = DeleteGroupsRequest { group_ids: vec![group.to_owned()] };
    let asked = coordinator.ask(Lane::Metadata, &request, |answer| {
        let told = answer.groups.iter().find(|(id, _)| id == group);
        told.map_or(ErrorCode::UnknownServerError, |(_, error)| *error)
    });
    let failed = |error| match error {
        ClientError::UnsupportedVersion { .. } => {
            AdminError::TooOld("deleting groups needs Kafka 1.1")
        }
        error => AdminError::of(group, "DELETE", error),
    };
    let Answered { error, again, .. } = asked.await.map_err(failed)?;
    match error {
        ErrorCode::None => Ok(()),
        // By an earlier try, whose answer was lost.
        ErrorCode::GroupIdNotFound if again => Ok(()),
        ErrorCode::GroupIdNotFound => Err(AdminError::NoSuchGroup(group.to_owned())),
        ErrorCode::NonEmptyGroup => Err(not_empty(client, group, deadline).await),
        code => Err(failed(coordinator.refused::<DeleteGroupsRequest>(code))),
    }
}
