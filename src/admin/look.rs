//! What a group is now.

use tokio::time::Instant;

use super::ask::{Answered, Coordinator};
use super::consumers::describe_consumers;
use super::describe::describe;
use super::{AdminError, GroupDescription, GroupType};
use crate::assign::ErasedAssigner;
use crate::client::{Client, ClientError, Lane, Target};
use crate::types::Node;
use crate::wire::ErrorCode;
use crate::wire::api::{
    ConsumerGroupDescribeRequest, DescribeGroupsRequest, DescribedGroup, ListGroupsRequest,
};

/// Asks a group's coordinator for it. A group of another protocol, and one that does not exist, are errors.
pub(super) async fn look(
    client: &Client,
    group: &str,
    deadline: Instant,
) -> Result<(Node, DescribedGroup), AdminError> {
    let coordinator = Coordinator { client, group, deadline };
    let request = DescribeGroupsRequest { group_ids: vec![group.to_owned()] };
    let asked = coordinator.ask(Lane::Metadata, &request, |answer| {
        answer.groups.first().map_or(ErrorCode::None, |described| described.error)
    });
    let failed = |error| AdminError::of(group, "DESCRIBE", error);
    let answered = asked.await.map_err(failed)?;
    let described = answered.answer.groups.into_iter().find(|found| found.group_id == group);
    match described {
        // Below version 6 a group that does not exist is dead without an error.
        Some(described) if described.error.is_none() && described.state != "Dead" => {
            Ok((answered.by, described))
        }
        Some(DescribedGroup { error, .. })
            if !error.is_none() && error != ErrorCode::GroupIdNotFound =>
        {
            Err(failed(coordinator.refused::<DescribeGroupsRequest>(error)))
        }
        _ => Err(not_classic(client, group, &answered.by, deadline).await.map_err(failed)?),
    }
}

/// As `look`, and describes it; also a group of the new protocol, if the broker describes those.
pub(super) async fn look_at_any(
    client: &Client,
    group: &str,
    assigners: &[ErasedAssigner],
    deadline: Instant,
) -> Result<GroupDescription, AdminError> {
    let not_classic = match look(client, group, deadline).await {
        Ok((coordinator, described)) => return Ok(describe(coordinator, described, assigners)),
        Err(error @ AdminError::NotClassic { group_type: GroupType::Consumer, .. }) => error,
        Err(error) => return Err(error),
    };
    let coordinator = Coordinator { client, group, deadline };
    let request = ConsumerGroupDescribeRequest { group_ids: vec![group.to_owned()] };
    let asked = coordinator.ask(Lane::Metadata, &request, |answer| {
        answer.groups.first().map_or(ErrorCode::GroupIdNotFound, |described| described.error)
    });
    let failed = |error| AdminError::of(group, "DESCRIBE", error);
    match asked.await {
        Ok(Answered { by, answer, error: ErrorCode::None, .. }) => {
            let described = answer.groups.into_iter().find(|found| found.group_id == group);
            described.map(|described| describe_consumers(by, described)).ok_or(not_classic)
        }
        // Not of that type any more, or its broker only lists it.
        Ok(Answered {
            error: ErrorCode::GroupIdNotFound | ErrorCode::UnsupportedVersion, ..
        })
        | Err(ClientError::UnsupportedVersion { .. }) => Err(not_classic),
        Ok(Answered { error, .. }) => {
            Err(failed(coordinator.refused::<ConsumerGroupDescribeRequest>(error)))
        }
        Err(error) => Err(failed(error)),
    }
}

/// What a group is that is not found as a classic one: the list says whether it is of another type.
async fn not_classic(
    client: &Client,
    group: &str,
    coordinator: &Node,
    deadline: Instant,
) -> Result<AdminError, ClientError> {
    let deadline = deadline.min(client.request_deadline());
    let to = Target::Node(coordinator.id);
    let listed = client.send(to, Lane::Metadata, ListGroupsRequest, deadline).await?;
    let found = listed.groups.into_iter().find(|listed| listed.group_id == group);
    let group_type = found.and_then(|listed| Some(GroupType::from(listed.group_type?.as_str())));
    let group = group.to_owned();
    Ok(match group_type {
        Some(group_type) if group_type != GroupType::Classic => {
            AdminError::NotClassic { group, group_type }
        }
        _ => AdminError::NoSuchGroup(group),
    })
}
