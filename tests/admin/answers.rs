//! Answers of brokers, written by hand, for groups that no member of ours makes.

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup as ConsumerGroup, Member, TopicPartitions,
};
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::messages::list_groups_response::ListedGroup;
use kafka_protocol::messages::{
    ConsumerGroupDescribeResponse, DescribeClusterResponse, DescribeGroupsResponse,
    ListGroupsResponse,
};
use kafka_protocol::protocol::{Encodable, StrBytes};

use crate::harness::GROUP;

pub(crate) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// To DescribeGroups in version 6: our group, stable, of this type and with this assigner.
pub(crate) fn described(
    protocol_type: &str,
    protocol: &str,
    members: Vec<DescribedGroupMember>,
) -> Bytes {
    let group = DescribedGroup::default()
        .with_group_id(text(GROUP).into())
        .with_group_state(text("Stable"))
        .with_protocol_type(text(protocol_type))
        .with_protocol_data(text(protocol))
        .with_members(members);
    encoded(&DescribeGroupsResponse::default().with_groups(vec![group]), 6)
}

/// The same of a group that waits for its members.
#[cfg(feature = "cli")]
pub(crate) fn rebalancing(members: Vec<DescribedGroupMember>) -> Bytes {
    let group = DescribedGroup::default()
        .with_group_id(text(GROUP).into())
        .with_group_state(text("PreparingRebalance"))
        .with_protocol_type(text("consumer"))
        .with_members(members);
    encoded(&DescribeGroupsResponse::default().with_groups(vec![group]), 6)
}

/// A member that wrote this, and was given this.
pub(crate) fn wrote(id: &str, subscription: &[u8], assignment: &[u8]) -> DescribedGroupMember {
    DescribedGroupMember::default()
        .with_member_id(text(id))
        .with_client_id(text("app"))
        .with_client_host(text("/10.0.0.7"))
        .with_member_metadata(Bytes::copy_from_slice(subscription))
        .with_member_assignment(Bytes::copy_from_slice(assignment))
}

/// To ConsumerGroupDescribe in version 1: our group, with a static member that has one partition and a dynamic one that
/// subscribes to a pattern.
pub(crate) fn described_consumers() -> Bytes {
    let member = |id: &str| {
        let member = Member::default().with_member_id(text(id)).with_member_epoch(6);
        member.with_client_id(text("app")).with_client_host(text("/10.0.0.7"))
    };
    let has =
        TopicPartitions::default().with_topic_name(text("orders").into()).with_partitions(vec![3]);
    let pod = member("m-1")
        .with_instance_id(Some(text("pod")))
        .with_rack_id(Some(text("r-1")))
        .with_subscribed_topic_names(vec![text("orders").into()])
        .with_assignment(Assignment::default().with_topic_partitions(vec![has]));
    let dynamic = member("m-2").with_subscribed_topic_regex(Some(text("or.*")));
    let group = ConsumerGroup::default()
        .with_group_id(text(GROUP).into())
        .with_group_state(text("Reconciling"))
        .with_group_epoch(7)
        .with_assignor_name(text("uniform"))
        .with_members(vec![dynamic, pod]);
    encoded(&ConsumerGroupDescribeResponse::default().with_groups(vec![group]), 1)
}

/// To ListGroups in version 5: our group as one of this type.
pub(crate) fn listed_as(group_type: &str) -> Bytes {
    let group =
        ListedGroup::default().with_group_id(text(GROUP).into()).with_group_type(text(group_type));
    encoded(&ListGroupsResponse::default().with_groups(vec![group]), 5)
}

/// To DescribeCluster in version 2: this user may do these things to the cluster, a bit for each.
pub(crate) fn may(operations: i32) -> Bytes {
    encoded(&DescribeClusterResponse::default().with_cluster_authorized_operations(operations), 2)
}

fn encoded(message: &impl Encodable, version: i16) -> Bytes {
    let mut body = BytesMut::new();
    message.encode(&mut body, version).unwrap();
    body.freeze()
}
