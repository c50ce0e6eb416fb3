//! A planned reset is carried out.

use std::collections::BTreeMap;

use super::{OffsetResetPlan, Unresettable};
use crate::admin::AdminError;
use crate::admin::ask::{Answered, Coordinator};
use crate::admin::present::not_empty;
use crate::client::{Client, Lane, passes};
use crate::types::{Generation, MemberId, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::{OffsetCommitRequest, OffsetCommitResponse};

/// What became of each partition.
pub(super) type Reset = Vec<(TopicPartition, Result<i64, Unresettable>)>;

/// Commits from outside the group.
pub(super) async fn commit(client: &Client, plan: &OffsetResetPlan) -> Result<Reset, AdminError> {
    let group = plan.group_id.as_str();
    let request = OffsetCommitRequest {
        group_id: group.to_owned(),
        generation: Generation::NONE,
        member_id: MemberId::default(),
        group_instance_id: None,
        offsets: plan.offsets(),
    };
    if request.offsets.is_empty() {
        return Ok(outcomes(plan, &BTreeMap::new()));
    }
    let coordinator = Coordinator { client, group, deadline: client.api_deadline() };
    let asked = coordinator.ask(Lane::Commit, &request, error_of).await;
    let failed = |error| AdminError::of(group, "READ", error);
    let Answered { answer, error, .. } = asked.map_err(failed)?;
    match error {
        ErrorCode::None => {}
        code if has_members(code) => {
            return Err(not_empty(client, group, coordinator.deadline).await);
        }
        ErrorCode::GroupIdNotFound => return Err(AdminError::NoSuchGroup(group.to_owned())),
        code => return Err(failed(coordinator.refused::<OffsetCommitRequest>(code))),
    }
    Ok(outcomes(plan, &answer.partitions.into_iter().collect()))
}

/// The error of the whole, which comes with each partition; one that is about the partition alone is none.
fn error_of(answer: &OffsetCommitResponse) -> ErrorCode {
    let is_of_the_whole = |code: &ErrorCode| {
        let is_about_the_group = matches!(
            code,
            ErrorCode::GroupIdNotFound
                | ErrorCode::GroupAuthorizationFailed
                | ErrorCode::InvalidGroupId
        );
        is_about_the_group || has_members(*code) || passes(*code)
    };
    let mut codes = answer.partitions.iter().map(|(_, code)| *code);
    codes.find(is_of_the_whole).unwrap_or_default()
}

/// What an outsider is told by a group that has members, who alone may commit.
fn has_members(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::UnknownMemberId
            | ErrorCode::IllegalGeneration
            | ErrorCode::RebalanceInProgress
            | ErrorCode::StaleMemberEpoch
    )
}

fn outcomes(plan: &OffsetResetPlan, told: &BTreeMap<TopicPartition, ErrorCode>) -> Reset {
    let outcome = |partition: &TopicPartition, offset| match told.get(partition) {
        Some(ErrorCode::None) => Ok(offset),
        Some(code) => Err(Unresettable::of(*code, "READ")),
        None => Err(Unresettable::Refused(ErrorCode::UnknownServerError)),
    };
    let resets = plan.partitions.iter();
    resets
        .map(|reset| {
            let became = reset.to.and_then(|offset| outcome(&reset.partition, offset));
            (reset.partition.clone(), became)
        })
        .collect()
}
