//! Heartbeats and sessions.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, both_joined, pair};
use crate::run::scenarios;

scenarios![Usual:
    heartbeats_are_answered_by_state,
    heartbeats_of_another_generation_are_illegal,
    a_silent_member_is_out_after_its_session_and_the_others_are_told,
    a_silent_static_member_is_out_after_its_session_too,
    commits_keep_a_member_alive,
    joins_that_are_answered_at_once_and_syncs_keep_nobody_alive,
    timeouts_in_a_join_that_is_answered_at_once_are_ignored,
    a_known_member_in_a_parked_join_outlives_its_session,
    an_id_that_is_not_used_holds_up_the_round_for_a_session,
];

async fn heartbeats_are_answered_by_state(broker: &mut Broker) {
    let ann = broker.member("ann");
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId, "no group");
    let mut ann = alone(broker, ann).await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None, "stable");
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None, "completing");
    bob.leave(broker).await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress, "preparing");
    ann.leave(broker).await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId, "empty");
}

async fn heartbeats_of_another_generation_are_illegal(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    for generation in [-1, 0, 2] {
        ann.generation = generation;
        assert_eq!(ann.heartbeat(broker).await, ErrorCode::IllegalGeneration);
    }
    for version in 0..=4 {
        ann.versions.heartbeat = version;
        assert_eq!(ann.heartbeat(broker).await, ErrorCode::IllegalGeneration);
    }
}

async fn a_silent_member_is_out_after_its_session_and_the_others_are_told(broker: &mut Broker) {
    let (ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    bob.session_timeout = 1000;
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    ann.until_rebalancing(broker).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(bob.commit(broker, 1).await, ErrorCode::UnknownMemberId);
    assert_eq!(bob.join(broker).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(ann.join(broker).await.members, ["ann#1=ann"]);
}

async fn a_silent_static_member_is_out_after_its_session_too(broker: &mut Broker) {
    let (ann, mut bob) = (broker.member("ann"), broker.member("bob").fixed());
    bob.session_timeout = 1000;
    let (ann, bob) = pair(broker, ann, bob).await;
    ann.until_rebalancing(broker).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
}

async fn commits_keep_a_member_alive(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    ann.session_timeout = 2000;
    let ann = alone(broker, ann).await;
    for offset in 0..6 {
        broker.pass(500).await;
        assert_eq!(ann.commit(broker, offset).await, ErrorCode::None);
    }
}

async fn joins_that_are_answered_at_once_and_syncs_keep_nobody_alive(broker: &mut Broker) {
    let (ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    bob.session_timeout = 1500;
    let (ann, mut bob) = pair(broker, ann, bob).await;
    for _ in 0..2 {
        broker.pass(300).await;
        assert_eq!(bob.join(broker).await.generation, 2);
        assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
    }
    broker.pass(1500).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
}

async fn timeouts_in_a_join_that_is_answered_at_once_are_ignored(broker: &mut Broker) {
    let (ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    bob.session_timeout = 1000;
    let (ann, mut bob) = pair(broker, ann, bob).await;
    bob.session_timeout = 20_000;
    assert_eq!(bob.join(broker).await.generation, 2);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
    ann.until_rebalancing(broker).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
}

async fn a_known_member_in_a_parked_join_outlives_its_session(broker: &mut Broker) {
    let (mut ann, bob) = (broker.member("ann"), broker.member("bob"));
    ann.session_timeout = 1000;
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    let mut parked = ann.send_join(broker);
    bob.until_rebalancing(broker).await;
    broker.pass(2000).await;
    parked.assert_parked().await;
    assert_eq!(bob.join(broker).await.generation, 3);
    assert_eq!(ann.joined(broker, parked).await.members, ["ann#1=ann", "bob#1=bob"]);
}

async fn an_id_that_is_not_used_holds_up_the_round_for_a_session(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    bob.session_timeout = 1000;
    assert_eq!(bob.join(broker).await.error, ErrorCode::MemberIdRequired);
    let mut parked = ann.send_join(broker);
    parked.assert_parked().await;
    assert_eq!(ann.joined(broker, parked).await.generation, 2);
    assert_eq!(bob.join(broker).await.error, ErrorCode::UnknownMemberId);
}
