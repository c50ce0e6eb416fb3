//! ConsumerGroupDescribe.

use kafka_protocol::messages::ConsumerGroupDescribeResponse as TheirDescribe;
use kafka_protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup, Member, TopicPartitions,
};
use kafka_protocol::protocol::StrBytes;

use super::groups::throttled;
use super::{Answer, Sample, made, since};
use crate::types::{MemberId, Partitions};
use crate::wire::api::tests::random::Random;
use crate::wire::api::*;

pub(super) fn samples() -> Vec<Box<dyn Sample>> {
    vec![made::<ConsumerGroupDescribeRequest, _, _>(describe)]
}

impl Answer for ConsumerGroupDescribeResponse {}

fn describe(version: i16, random: &mut Random) -> (TheirDescribe, ConsumerGroupDescribeResponse) {
    let theirs = TheirDescribe::default()
        .with_throttle_time_ms(random.millis())
        .with_groups(random.many(|random| group(version, random)));
    let ours = ConsumerGroupDescribeResponse {
        throttle: throttled(true, theirs.throttle_time_ms),
        groups: theirs.groups.iter().map(our_group).collect(),
    };
    (theirs, ours)
}

fn group(version: i16, random: &mut Random) -> DescribedGroup {
    DescribedGroup::default()
        .with_error_code(random.error())
        .with_error_message(random.maybe_text())
        .with_group_id(random.text().into())
        .with_group_state(random.text())
        .with_group_epoch(random.i32())
        .with_assignment_epoch(random.i32())
        .with_assignor_name(random.text())
        .with_members(random.many(|random| member(version, random)))
        .with_authorized_operations(random.i32())
}

fn member(version: i16, random: &mut Random) -> Member {
    Member::default()
        .with_member_id(random.text())
        .with_instance_id(random.maybe_text())
        .with_rack_id(random.maybe_text())
        .with_member_epoch(random.i32())
        .with_client_id(random.text())
        .with_client_host(random.text())
        .with_subscribed_topic_names(random.many(|random| random.text().into()))
        .with_subscribed_topic_regex(random.maybe_text())
        .with_assignment(assignment(random))
        .with_target_assignment(assignment(random))
        .with_member_type(since(version >= 1, 1, -1))
}

fn assignment(random: &mut Random) -> Assignment {
    let topics = random.many(|random| {
        TopicPartitions::default()
            .with_topic_name(random.text().into())
            .with_partitions(random.many(Random::i32))
    });
    Assignment::default().with_topic_partitions(topics)
}

fn our_group(group: &DescribedGroup) -> DescribedConsumerGroup {
    DescribedConsumerGroup {
        error: group.error_code.into(),
        group_id: group.group_id.to_string(),
        state: group.group_state.to_string(),
        epoch: group.group_epoch,
        assignor: group.assignor_name.to_string(),
        members: group.members.iter().map(our_member).collect(),
    }
}

fn our_member(member: &Member) -> DescribedConsumer {
    let assigned = member.assignment.topic_partitions.iter().flat_map(|topic| {
        topic.partitions.iter().map(|number| (topic.topic_name.as_str(), *number))
    });
    DescribedConsumer {
        member_id: MemberId::new(member.member_id.as_str()),
        group_instance_id: member.instance_id.as_ref().map(StrBytes::to_string),
        rack: member.rack_id.as_ref().map(|rack| rack.as_str().into()),
        epoch: member.member_epoch,
        client_id: member.client_id.to_string(),
        client_host: member.client_host.to_string(),
        topics: member.subscribed_topic_names.iter().map(|name| name.as_str().into()).collect(),
        topic_pattern: member.subscribed_topic_regex.as_ref().map(StrBytes::to_string),
        assignment: assigned.collect::<Partitions>(),
    }
}
