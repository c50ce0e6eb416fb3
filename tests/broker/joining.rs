//! Joining, sharing, leaving, restarting.

use kafka_group::types::Offsets;

use crate::common::{Kafka, unique};
use crate::harness::{SOON, assigned, member};

#[tokio::test]
async fn a_static_member_restarts_in_the_same_generation_and_finds_its_offsets() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 4, 1);

    let mut ann =
        member(kafka.bootstrap(), &group, &topic).group_instance_id("ann").join().await.unwrap();
    let first = assigned(&mut ann, 4).await;
    let offsets: Offsets = first.all().iter().map(|at| (at, 7.into())).collect();
    ann.handle().commit(offsets.clone()).await.unwrap();
    ann.close().await.unwrap();

    let mut ann =
        member(kafka.bootstrap(), &group, &topic).group_instance_id("ann").join().await.unwrap();
    let second = assigned(&mut ann, 4).await;
    assert_eq!(second.generation(), first.generation());
    assert_eq!(ann.handle().committed(second.all().iter()).await.unwrap(), offsets);
    ann.leave().await.unwrap();
}

#[tokio::test]
async fn dynamic_members_share_a_topic_and_one_takes_all_when_the_other_leaves() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 4, 1);

    let mut ann = member(kafka.bootstrap(), &group, &topic).join().await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = member(kafka.bootstrap(), &group, &topic).join().await.unwrap();
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
    let (left, all) = tokio::join!(bob.leave(), assigned(&mut ann, 4));
    assert_eq!(left.unwrap().len(), 0);
    assert_eq!(all.all().len(), 4);
    tokio::time::timeout(SOON, ann.close()).await.expect("closes in time").unwrap();
}
