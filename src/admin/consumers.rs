//! Groups of the new protocol (KIP-848), described in the same words.

use super::describe::{AssignmentDescription, SubscriptionDescription, in_order};
use super::{Content, GroupDescription, GroupState, GroupType, MemberDescription};
use crate::types::{Generation, Node, Partitions};
use crate::wire::api::{DescribedConsumer, DescribedConsumerGroup};
use crate::wire::client_host;

/// Reads what a coordinator said of a group whose members it manages itself.
pub(super) fn describe_consumers(
    coordinator: Node,
    described: DescribedConsumerGroup,
) -> GroupDescription {
    GroupDescription {
        group_id: described.group_id,
        group_type: GroupType::Consumer,
        state: GroupState::from(described.state.as_str()),
        protocol_type: "consumer".to_owned(),
        protocol: Some(described.assignor).filter(|name| !name.is_empty()),
        epoch: Some(described.epoch),
        coordinator,
        members: in_order(described.members.into_iter().map(member).collect()),
    }
}

fn member(member: DescribedConsumer) -> MemberDescription {
    let subscription = SubscriptionDescription {
        topics: member.topics,
        pattern: member.topic_pattern.filter(|pattern| !pattern.is_empty()),
        owned: Partitions::new(),
        generation: Generation(member.epoch),
        rack: member.rack,
        metadata: None,
        words: None,
        user_data: None,
    };
    let assignment =
        AssignmentDescription { partitions: member.assignment, words: None, user_data: None };
    MemberDescription {
        member_id: member.member_id,
        group_instance_id: member.group_instance_id,
        client_id: member.client_id,
        client_host: client_host::shown(&member.client_host).to_owned(),
        subscription: Content::Read(subscription),
        assignment: Content::Read(assignment),
    }
}
