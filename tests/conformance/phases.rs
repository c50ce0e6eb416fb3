//! The phases of a rebalance, and what ends them when somebody does not come.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, both_joined, pair};
use crate::run::scenarios;

scenarios![Usual:
    who_heartbeats_but_does_not_join_is_out_at_the_rebalance_timeout,
    a_static_member_that_does_not_join_is_kept_until_it_owes_its_sync_too_long,
    the_longest_rebalance_timeout_counts_though_its_member_is_absent,
    when_no_member_is_left_but_absent_ones_the_newcomer_leads,
    a_leader_that_heartbeats_but_never_syncs_is_out_at_the_rebalance_timeout,
    a_leader_that_falls_silent_is_out_after_its_session,
    a_follower_that_never_syncs_is_out_though_the_group_is_stable,
    everybody_may_be_thrown_out_and_the_group_is_empty,
];

async fn who_heartbeats_but_does_not_join_is_out_at_the_rebalance_timeout(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    (ann.rebalance_timeout, bob.rebalance_timeout) = (1500, 1500);
    let (mut ann, bob) = pair(broker, ann, bob).await;
    let mut parked = ann.send_join(broker);
    parked.assert_parked().await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.joined(broker, parked).await.members, ["ann#1=ann"]);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
}

async fn a_static_member_that_does_not_join_is_kept_until_it_owes_its_sync_too_long(
    broker: &mut Broker,
) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob").fixed());
    (ann.rebalance_timeout, bob.rebalance_timeout) = (1500, 1500);
    let (mut ann, bob) = pair(broker, ann, bob).await;
    let led = ann.join(broker).await;
    assert_eq!(led.members, ["ann#1=ann", "bob#1 i-bob=bob"]);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::IllegalGeneration);
    assert_eq!(ann.sync(broker, &[(&ann.id, b"all")]).await.assignment, "all");
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
    ann.until_rebalancing(broker).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(ann.join(broker).await.members, ["ann#1=ann"]);
}

async fn the_longest_rebalance_timeout_counts_though_its_member_is_absent(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob").fixed());
    (ann.rebalance_timeout, bob.rebalance_timeout) = (1000, 2500);
    let (mut ann, _bob) = pair(broker, ann, bob).await;
    let mut parked = ann.send_join(broker);
    broker.pass(1500).await;
    parked.assert_parked().await;
    assert_eq!(ann.joined(broker, parked).await.members.len(), 2);
}

async fn when_no_member_is_left_but_absent_ones_the_newcomer_leads(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann").fixed(), broker.member("bob"));
    (ann.rebalance_timeout, bob.rebalance_timeout) = (1500, 1500);
    alone(broker, ann).await;
    let newcomer = bob.enter(broker).await;
    let led = bob.joined(broker, newcomer).await;
    assert_eq!(led.leader, "bob#1");
    assert_eq!(led.members, ["ann#1 i-ann=ann", "bob#1=bob"]);
}

async fn a_leader_that_heartbeats_but_never_syncs_is_out_at_the_rebalance_timeout(
    broker: &mut Broker,
) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    (ann.rebalance_timeout, bob.rebalance_timeout) = (1500, 1500);
    let mut ann = alone(broker, ann).await;
    both_joined(broker, &mut ann, &mut bob).await;
    let mut parked = bob.send_sync(broker, &[]);
    parked.assert_parked().await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(bob.synced(broker, parked).await.error, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(bob.join(broker).await.leader, "bob#1");
}

async fn a_leader_that_falls_silent_is_out_after_its_session(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    ann.session_timeout = 1000;
    let mut ann = alone(broker, ann).await;
    both_joined(broker, &mut ann, &mut bob).await;
    let synced = bob.sync(broker, &[]).await;
    assert_eq!(synced.error, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(bob.join(broker).await.leader, "bob#1");
}

async fn a_follower_that_never_syncs_is_out_though_the_group_is_stable(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    (ann.rebalance_timeout, bob.rebalance_timeout) = (1500, 1500);
    let mut ann = alone(broker, ann).await;
    both_joined(broker, &mut ann, &mut bob).await;
    assert_eq!(ann.sync(broker, &[]).await.error, ErrorCode::None);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(broker.describe().await.state, "Stable");
    ann.until_rebalancing(broker).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
}

async fn everybody_may_be_thrown_out_and_the_group_is_empty(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    ann.session_timeout = 1000;
    let ann = alone(broker, ann).await;
    broker.pass(1600).await;
    assert_eq!(broker.describe().await.state, "Empty");
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId);
}
