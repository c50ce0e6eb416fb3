//! Static members: who is who, and who is fenced.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, both_joined, pair};
use crate::run::scenarios;

scenarios![Usual:
    a_static_member_is_never_asked_to_come_again_with_an_id,
    the_replaced_one_is_fenced_if_it_says_who_it_is,
    the_replaced_one_is_unknown_if_it_does_not_say_who_it_is,
    the_replaced_ones_parked_join_is_fenced_at_once,
    the_replaced_ones_parked_sync_is_fenced_at_once,
    an_instance_id_must_belong_to_the_member_id,
    a_static_member_may_omit_its_instance_id,
    an_id_that_was_handed_out_cannot_turn_static,
    of_two_first_joins_of_one_instance_the_second_wins,
    a_static_member_that_keeps_its_id_joins_again_like_any_other,
];

async fn a_static_member_is_never_asked_to_come_again_with_an_id(broker: &mut Broker) {
    for version in 5..=9 {
        broker.next_group().await;
        let mut ann = broker.member("ann").fixed();
        ann.versions.join = version;
        let joined = ann.join(broker).await;
        assert_eq!((joined.error, joined.generation), (ErrorCode::None, 1));
        assert!(ann.id.starts_with("i-ann-") && ann.id.len() == 42, "{}", ann.id);
        assert_eq!(joined.members, [format!("{} i-ann=ann", joined.member)]);
    }
}

async fn the_replaced_one_is_fenced_if_it_says_who_it_is(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob").fixed());
    let (_ann, mut old) = pair(broker, ann, bob).await;
    let mut new = old.restarted();
    assert_eq!(new.join(broker).await.error, ErrorCode::None);
    assert_eq!(old.heartbeat(broker).await, ErrorCode::FencedInstanceId);
    assert_eq!(old.sync(broker, &[]).await.error, ErrorCode::FencedInstanceId);
    assert_eq!(old.commit(broker, 1).await, ErrorCode::FencedInstanceId);
    assert_eq!(old.leave(broker).await, ErrorCode::FencedInstanceId);
    assert_eq!(old.join(broker).await.error, ErrorCode::FencedInstanceId);
    assert_eq!(new.heartbeat(broker).await, ErrorCode::None);
}

async fn the_replaced_one_is_unknown_if_it_does_not_say_who_it_is(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob").fixed());
    let (_ann, mut old) = pair(broker, ann, bob).await;
    assert_eq!(old.restarted().join(broker).await.error, ErrorCode::None);
    old.instance_id = None;
    assert_eq!(old.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(old.sync(broker, &[]).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(old.commit(broker, 1).await, ErrorCode::UnknownMemberId);
    assert_eq!(old.leave(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(old.join(broker).await.error, ErrorCode::UnknownMemberId);
}

async fn the_replaced_ones_parked_join_is_fenced_at_once(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob").fixed());
    let (mut ann, mut old) = pair(broker, ann, bob).await;
    old.protocols[0].1 = b"other".to_vec();
    let mut parked = old.send_join(broker);
    parked.assert_parked().await;
    let mut new = old.restarted();
    let again = new.send_join(broker);
    assert_eq!(old.joined(broker, parked).await.error, ErrorCode::FencedInstanceId);
    assert_eq!(ann.join(broker).await.generation, 3);
    assert_eq!(new.joined(broker, again).await.generation, 3);
}

async fn the_replaced_ones_parked_sync_is_fenced_at_once(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut old = broker.member("bob").fixed();
    both_joined(broker, &mut ann, &mut old).await;
    let mut parked = old.send_sync(broker, &[]);
    parked.assert_parked().await;
    let mut new = old.restarted();
    let again = new.send_join(broker);
    assert_eq!(old.synced(broker, parked).await.error, ErrorCode::FencedInstanceId);
    assert_eq!(ann.join(broker).await.generation, 3);
    assert_eq!(new.joined(broker, again).await.generation, 3);
}

async fn an_instance_id_must_belong_to_the_member_id(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (ann, bob) = pair(broker, ann, bob).await;
    let mut stranger = bob.clone();
    stranger.instance_id = Some("i-nobody".to_owned());
    assert_eq!(stranger.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(stranger.join(broker).await.error, ErrorCode::UnknownMemberId);
    stranger.instance_id.clone_from(&ann.instance_id);
    assert_eq!(stranger.heartbeat(broker).await, ErrorCode::FencedInstanceId);
    assert_eq!(stranger.join(broker).await.error, ErrorCode::FencedInstanceId);
    assert_eq!(stranger.leave(broker).await, ErrorCode::FencedInstanceId);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
}

async fn a_static_member_may_omit_its_instance_id(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob").fixed());
    let (ann, mut bob) = pair(broker, ann, bob).await;
    bob.instance_id = None;
    bob.versions.heartbeat = 2;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(bob.commit(broker, 7).await, ErrorCode::None);
    assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
    assert_eq!(bob.join(broker).await.generation, 2);
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
}

async fn an_id_that_was_handed_out_cannot_turn_static(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    assert_eq!(ann.join(broker).await.error, ErrorCode::MemberIdRequired);
    let mut fixed = ann.clone().fixed();
    assert_eq!(fixed.join(broker).await.error, ErrorCode::UnknownServerError);
    assert_eq!(ann.join(broker).await.generation, 1);
}

async fn of_two_first_joins_of_one_instance_the_second_wins(broker: &mut Broker) {
    let (mut first, mut second) = (broker.member("ann").fixed(), broker.member("ann").fixed());
    assert_eq!(first.join(broker).await.generation, 1);
    assert_eq!(second.join(broker).await.generation, 2);
    assert_eq!(first.heartbeat(broker).await, ErrorCode::FencedInstanceId);
    assert_eq!(second.heartbeat(broker).await, ErrorCode::None);
}

async fn a_static_member_that_keeps_its_id_joins_again_like_any_other(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    assert_eq!(bob.join(broker).await.generation, 2);
    let mut again = ann.send_join(broker);
    again.assert_parked().await;
    assert_eq!(bob.join(broker).await.generation, 3);
    assert_eq!(ann.joined(broker, again).await.generation, 3);
}
