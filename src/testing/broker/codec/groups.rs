//! DescribeGroups, ConsumerGroupDescribe, ListGroups and DeleteGroups.

use bytes::Bytes;
use kafka_protocol::messages::consumer_group_describe_response::DescribedGroup as ConsumerGroup;
use kafka_protocol::messages::delete_groups_response::DeletableGroupResult;
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::messages::list_groups_response::ListedGroup;
use kafka_protocol::messages::{self, GroupId};

use super::membership::group;
use super::{Malformed, read, text, write};
use crate::testing::coordinator::{RequestBody, ResponseBody};
use crate::wire::api::{self, ListGroupsResponse};

pub(super) fn describe(version: i16, body: &mut Bytes) -> Result<Vec<RequestBody>, Malformed> {
    let message: messages::DescribeGroupsRequest = read(version, body)?;
    Ok(message.groups.iter().map(|id| RequestBody::DescribeGroup(group(id))).collect())
}

pub(super) fn described(
    version: i16,
    answers: &[(RequestBody, ResponseBody)],
) -> Result<Bytes, Malformed> {
    let groups = answers.iter().filter_map(|(_, answer)| match answer {
        ResponseBody::DescribeGroup(group) => Some(described_group(version, group)),
        _ => None,
    });
    write(version, &messages::DescribeGroupsResponse::default().with_groups(groups.collect()))
}

fn described_group(version: i16, group: &api::DescribedGroup) -> DescribedGroup {
    let members = group.members.iter().map(|member| {
        DescribedGroupMember::default()
            .with_member_id(text(member.member_id.as_str()))
            .with_group_instance_id(
                member.group_instance_id.clone().filter(|_| version >= 4).map(text),
            )
            .with_client_id(text(member.client_id.as_str()))
            .with_client_host(text(member.client_host.as_str()))
            .with_member_metadata(member.metadata.clone())
            .with_member_assignment(member.assignment.clone())
    });
    DescribedGroup::default()
        .with_error_code(group.error.number())
        .with_error_message(group.error_message.clone().filter(|_| version >= 6).map(text))
        .with_group_id(GroupId(text(group.group_id.as_str())))
        .with_group_state(text(group.state.as_str()))
        .with_protocol_type(text(group.protocol_type.as_str()))
        .with_protocol_data(text(group.protocol.as_str()))
        .with_members(members.collect())
}

pub(super) fn describe_consumers(
    version: i16,
    body: &mut Bytes,
) -> Result<Vec<RequestBody>, Malformed> {
    let message: messages::ConsumerGroupDescribeRequest = read(version, body)?;
    let groups = message.group_ids.iter();
    Ok(groups.map(|id| RequestBody::DescribeConsumerGroup(group(id))).collect())
}

/// Such a group there is none, so there is nothing but an error.
pub(super) fn described_consumers(
    version: i16,
    answers: &[(RequestBody, ResponseBody)],
) -> Result<Bytes, Malformed> {
    let groups = answers.iter().filter_map(|(_, answer)| match answer {
        ResponseBody::DescribeConsumerGroup(group) => Some(
            ConsumerGroup::default()
                .with_error_code(group.error.number())
                .with_group_id(GroupId(text(group.group_id.as_str())))
                .with_group_state(text(group.state.as_str())),
        ),
        _ => None,
    });
    let message = messages::ConsumerGroupDescribeResponse::default();
    write(version, &message.with_groups(groups.collect()))
}

pub(super) fn delete(version: i16, body: &mut Bytes) -> Result<Vec<RequestBody>, Malformed> {
    let message: messages::DeleteGroupsRequest = read(version, body)?;
    Ok(message.groups_names.iter().map(|id| RequestBody::DeleteGroup(group(id))).collect())
}

pub(super) fn deleted(
    version: i16,
    answers: &[(RequestBody, ResponseBody)],
) -> Result<Bytes, Malformed> {
    let groups = answers.iter().filter_map(|(_, answer)| match answer {
        ResponseBody::DeleteGroup(group_id, error) => Some(
            DeletableGroupResult::default()
                .with_group_id(GroupId(text(group_id.as_str())))
                .with_error_code(error.number()),
        ),
        _ => None,
    });
    write(version, &messages::DeleteGroupsResponse::default().with_results(groups.collect()))
}

pub(super) fn list(version: i16, body: &mut Bytes) -> Result<RequestBody, Malformed> {
    let message: messages::ListGroupsRequest = read(version, body)?;
    Ok(RequestBody::ListGroups {
        states: message.states_filter.iter().map(ToString::to_string).collect(),
        types: message.types_filter.iter().map(ToString::to_string).collect(),
    })
}

pub(super) fn listed(version: i16, listed: &ListGroupsResponse) -> Result<Bytes, Malformed> {
    let from = |first: i16, said: &Option<String>| {
        text(said.clone().filter(|_| version >= first).unwrap_or_default())
    };
    let groups = listed.groups.iter().map(|group| {
        ListedGroup::default()
            .with_group_id(GroupId(text(group.group_id.as_str())))
            .with_protocol_type(text(group.protocol_type.as_str()))
            .with_group_state(from(4, &group.state))
            .with_group_type(from(5, &group.group_type))
    });
    let message = messages::ListGroupsResponse::default().with_error_code(listed.error.number());
    write(version, &message.with_groups(groups.collect()))
}
