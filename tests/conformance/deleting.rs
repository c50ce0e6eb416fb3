//! DeleteGroups and OffsetDelete.

use kafka_group::testing::ErrorCode;
use kafka_protocol::messages::offset_delete_request::{
    OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use kafka_protocol::messages::{DeleteGroupsRequest, OffsetDeleteRequest, TopicName};
use kafka_protocol::protocol::StrBytes;

use crate::broker::{Broker, TOPIC, group};
use crate::member::{Member, alone};
use crate::run::scenarios;

scenarios![Usual:
    only_a_group_that_nobody_is_in_is_deleted,
    a_group_that_waits_for_its_members_is_not_deleted,
    an_id_that_was_handed_out_is_deleted_with_its_group,
    offsets_are_deleted_one_by_one_of_a_group_that_nobody_is_in,
    offsets_of_a_live_group_of_another_type_are_kept,
    offsets_that_members_subscribe_to_are_kept,
    a_round_that_is_under_way_keeps_no_offsets_that_nobody_subscribes_to,
];

async fn delete(broker: &mut Broker, version: i16) -> ErrorCode {
    let request = DeleteGroupsRequest::default().with_groups_names(vec![group(&broker.group)]);
    let answer = broker.send("admin", version, request).answer().await;
    let error = answer.results.first().expect("one was asked for").error_code.into();
    broker.note("admin", &format!("delete v{version}"), &error);
    error
}

/// Deletes the offsets of these partitions; the errors of each, or that of the whole.
async fn forget(broker: &mut Broker, partitions: &[i32]) -> Result<Vec<ErrorCode>, ErrorCode> {
    let partition =
        |number: &i32| OffsetDeleteRequestPartition::default().with_partition_index(*number);
    let topic = OffsetDeleteRequestTopic::default()
        .with_name(TopicName(StrBytes::from_static_str(TOPIC)))
        .with_partitions(partitions.iter().map(partition).collect());
    let request =
        OffsetDeleteRequest::default().with_group_id(group(&broker.group)).with_topics(vec![topic]);
    let answer = broker.send("admin", 0, request).answer().await;
    let mut told: Vec<_> = answer.topics.into_iter().flat_map(|topic| topic.partitions).collect();
    told.sort_by_key(|partition| partition.partition_index);
    let codes = told.iter().map(|partition| partition.error_code.into()).collect();
    let forgot = match answer.error_code.into() {
        ErrorCode::None => Ok(codes),
        error => Err(error),
    };
    broker.note("admin", "forget", &forgot);
    forgot
}

/// A member of a group of consumers, which subscribes to this topic.
fn consumer(broker: &Broker, topic: &str) -> Member {
    let length = u16::try_from(topic.len()).expect("a short name").to_be_bytes();
    let subscription = [&[0, 0, 0, 0, 0, 1], &length[..], topic.as_bytes(), &[0xff; 4]].concat();
    let mut member = broker.member("ann");
    member.protocol_type = "consumer".to_owned();
    member.protocols = vec![("range".to_owned(), subscription)];
    member
}

async fn only_a_group_that_nobody_is_in_is_deleted(broker: &mut Broker) {
    for version in 0..=2 {
        assert_eq!(delete(broker, version).await, ErrorCode::GroupIdNotFound);
    }
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    assert_eq!(ann.commit(broker, 1).await, ErrorCode::None);
    for version in 0..=2 {
        assert_eq!(delete(broker, version).await, ErrorCode::NonEmptyGroup);
    }
    ann.leave(broker).await;
    assert_eq!(broker.fetch(8, None).await.len(), 1);
    assert_eq!(delete(broker, 2).await, ErrorCode::None);
    assert_eq!(broker.fetch(8, None).await.len(), 0);
    assert_eq!(delete(broker, 2).await, ErrorCode::GroupIdNotFound);
}

async fn a_group_that_waits_for_its_members_is_not_deleted(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    let _newcomer = bob.enter(broker).await;
    ann.until_rebalancing(broker).await;
    assert_eq!(delete(broker, 2).await, ErrorCode::NonEmptyGroup);
}

async fn an_id_that_was_handed_out_is_deleted_with_its_group(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    assert_eq!(ann.join(broker).await.error, ErrorCode::MemberIdRequired);
    broker.until_listed().await;
    assert_eq!(delete(broker, 2).await, ErrorCode::None);
    assert_eq!(ann.join(broker).await.error, ErrorCode::UnknownMemberId);
}

async fn offsets_are_deleted_one_by_one_of_a_group_that_nobody_is_in(broker: &mut Broker) {
    assert_eq!(forget(broker, &[0]).await, Err(ErrorCode::GroupIdNotFound));
    let outsider = broker.member("outsider");
    outsider.commit_all(broker, &[(TOPIC, 0, 1, ""), (TOPIC, 1, 2, "")]).await;
    let unknown = ErrorCode::UnknownTopicOrPartition;
    assert_eq!(forget(broker, &[0, 99]).await, Ok(vec![ErrorCode::None, unknown]));
    assert_eq!(broker.fetch(8, None).await.len(), 1);
    assert_eq!(forget(broker, &[0]).await, Ok(vec![ErrorCode::None]), "nothing is there");
}

async fn offsets_of_a_live_group_of_another_type_are_kept(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    ann.commit(broker, 1).await;
    assert_eq!(forget(broker, &[0]).await, Err(ErrorCode::NonEmptyGroup));
    ann.leave(broker).await;
    assert_eq!(forget(broker, &[0]).await, Ok(vec![ErrorCode::None]));
}

async fn offsets_that_members_subscribe_to_are_kept(broker: &mut Broker) {
    let ann = consumer(broker, "another");
    let ann = alone(broker, ann).await;
    ann.commit(broker, 1).await;
    assert_eq!(forget(broker, &[0, 99]).await.map(|codes| codes[0]), Ok(ErrorCode::None));
    ann.leave(broker).await;

    broker.next_group().await;
    let ann = consumer(broker, TOPIC);
    let ann = alone(broker, ann).await;
    ann.commit(broker, 1).await;
    let kept = ErrorCode::GroupSubscribedToTopic;
    assert_eq!(forget(broker, &[0, 1]).await, Ok(vec![kept; 2]));
    assert_eq!(broker.fetch(8, None).await.len(), 1);
}

async fn a_round_that_is_under_way_keeps_no_offsets_that_nobody_subscribes_to(broker: &mut Broker) {
    let ann = consumer(broker, "another");
    let ann = alone(broker, ann).await;
    ann.commit(broker, 1).await;
    let mut bob = consumer(broker, "another");
    let _newcomer = bob.enter(broker).await;
    ann.until_rebalancing(broker).await;
    assert_eq!(forget(broker, &[0]).await, Ok(vec![ErrorCode::None]));
}
