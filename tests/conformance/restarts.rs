//! A static member restarts: it joins without a member id, under an instance id that the group knows.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, both_joined, pair};
use crate::run::scenarios;

scenarios![Usual:
    a_followers_restart_is_no_rebalance,
    a_leaders_restart_is_no_rebalance_and_the_plan_stands,
    below_version_9_a_restarted_leader_is_told_its_old_id_and_leads_from_its_next_join,
    changed_metadata_are_stored_at_a_restart_and_change_nothing,
    one_more_protocol_at_a_restart_changes_nothing,
    a_restart_that_changes_the_vote_is_a_rebalance,
    a_restart_with_foreign_protocols_is_refused_and_the_old_one_not_fenced,
    the_new_id_may_heartbeat_and_commit_before_its_sync,
    a_restart_while_completing_is_a_rebalance,
    a_restart_while_preparing_is_parked,
    a_restart_with_too_much_metadata_is_undone,
    after_a_restart_the_first_session_has_the_old_length,
    a_restart_before_the_first_sync_costs_a_rebalance_later,
];

async fn a_followers_restart_is_no_rebalance(broker: &mut Broker) {
    for version in [5, 8, 9] {
        broker.next_group().await;
        let (ann, mut bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
        bob.versions.join = version;
        let (ann, bob) = pair(broker, ann, bob).await;
        let mut bob = bob.restarted();
        let joined = bob.join(broker).await;
        assert_eq!((joined.error, joined.generation), (ErrorCode::None, 2));
        assert_eq!(joined.leader, broker.plain(&ann.id));
        assert!(joined.members.is_empty() && !joined.skip_assignment);
        assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
        assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
    }
}

async fn a_leaders_restart_is_no_rebalance_and_the_plan_stands(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (ann, bob) = pair(broker, ann, bob).await;
    let mut ann = ann.restarted();
    let joined = ann.join(broker).await;
    assert!(joined.skip_assignment);
    assert_eq!((joined.leader.as_str(), joined.generation), ("ann#2", 2));
    assert_eq!(joined.members, ["ann#2 i-ann=ann", "bob#1 i-bob=bob"]);
    let synced = ann.sync(broker, &[(&ann.id, b"another"), (&bob.id, b"plan")]).await;
    assert_eq!(synced.assignment, "one");
    assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
}

async fn below_version_9_a_restarted_leader_is_told_its_old_id_and_leads_from_its_next_join(
    broker: &mut Broker,
) {
    for version in [5, 8] {
        broker.next_group().await;
        let (mut ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
        ann.versions.join = version;
        let (ann, mut bob) = pair(broker, ann, bob).await;
        let old = broker.plain(&ann.id);
        let mut ann = ann.restarted();
        let joined = ann.join(broker).await;
        assert_eq!((joined.leader, joined.members.len()), (old, 0));
        assert_eq!(ann.sync(broker, &[]).await.assignment, "one");
        let mut again = ann.send_join(broker);
        again.assert_parked().await;
        assert_eq!(bob.join(broker).await.generation, 3);
        let led = ann.joined(broker, again).await;
        assert_eq!((&led.leader, led.members.len()), (&led.member, 2));
    }
}

async fn changed_metadata_are_stored_at_a_restart_and_change_nothing(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (ann, bob) = pair(broker, ann, bob).await;
    let (mut ann, mut bob) = (ann.restarted(), bob.restarted());
    ann.protocols[0].1 = b"ann changed".to_vec();
    bob.protocols[0].1 = b"bob changed".to_vec();
    assert_eq!(bob.join(broker).await.generation, 2);
    let led = ann.join(broker).await;
    assert_eq!(led.members, ["ann#2 i-ann=ann changed", "bob#2 i-bob=bob changed"]);
    assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
    assert_eq!(
        broker.describe().await.members,
        ["ann#2 i-ann /127.0.0.1=ann changed/one", "bob#2 i-bob /127.0.0.1=bob changed/two"]
    );
    assert_eq!(bob.join(broker).await.generation, 2, "these bytes are known now");
}

async fn one_more_protocol_at_a_restart_changes_nothing(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (ann, bob) = pair(broker, ann, bob).await;
    assert_eq!(bob.restarted().speaking(&["p", "q"]).join(broker).await.generation, 2);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
}

async fn a_restart_that_changes_the_vote_is_a_rebalance(broker: &mut Broker) {
    let ann = broker.member("ann").fixed().speaking(&["p", "q"]);
    let ann = alone(broker, ann).await;
    let joined = ann.restarted().speaking(&["q", "p"]).join(broker).await;
    assert_eq!((joined.generation, joined.protocol.as_deref()), (2, Some("q")));
    assert_eq!((joined.leader.as_str(), joined.skip_assignment), ("ann#2", false));
}

async fn a_restart_with_foreign_protocols_is_refused_and_the_old_one_not_fenced(
    broker: &mut Broker,
) {
    let ann = broker.member("ann").fixed();
    let ann = alone(broker, ann).await;
    let refused = ann.restarted().speaking(&["q"]).join(broker).await;
    assert_eq!(refused.error, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
}

async fn the_new_id_may_heartbeat_and_commit_before_its_sync(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (_ann, bob) = pair(broker, ann, bob).await;
    let mut bob = bob.restarted();
    assert_eq!(bob.join(broker).await.error, ErrorCode::None);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(bob.commit(broker, 3).await, ErrorCode::None);
}

async fn a_restart_while_completing_is_a_rebalance(broker: &mut Broker) {
    let ann = broker.member("ann").fixed();
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob").fixed();
    both_joined(broker, &mut ann, &mut bob).await;
    let mut bob = bob.restarted();
    let mut again = bob.send_join(broker);
    again.assert_parked().await;
    assert_eq!(ann.sync(broker, &[]).await.error, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.join(broker).await.generation, 3);
    assert_eq!(bob.joined(broker, again).await.generation, 3);
}

async fn a_restart_while_preparing_is_parked(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (mut ann, bob) = pair(broker, ann, bob).await;
    let mut carl = broker.member("carl");
    let newcomer = carl.enter(broker).await;
    ann.until_rebalancing(broker).await;
    let mut bob = bob.restarted();
    let mut again = bob.send_join(broker);
    again.assert_parked().await;
    assert_eq!(ann.join(broker).await.members.len(), 3);
    assert_eq!(bob.joined(broker, again).await.generation, 3);
    assert_eq!(carl.joined(broker, newcomer).await.generation, 3);
}

async fn a_restart_with_too_much_metadata_is_undone(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob").fixed());
    let (ann, bob) = pair(broker, ann, bob).await;
    let mut large = bob.restarted();
    large.protocols[0].1 = vec![0; 1_200_000];
    let refused = large.join(broker).await;
    assert_eq!((refused.error, refused.member.as_str()), (ErrorCode::UnknownServerError, ""));
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
}

async fn after_a_restart_the_first_session_has_the_old_length(broker: &mut Broker) {
    let (ann, mut bob) = (broker.member("ann"), broker.member("bob").fixed());
    bob.session_timeout = 1000;
    let (ann, bob) = pair(broker, ann, bob).await;
    let mut bob = bob.restarted();
    bob.session_timeout = 20_000;
    assert_eq!(bob.join(broker).await.error, ErrorCode::None);
    ann.until_rebalancing(broker).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
}

async fn a_restart_before_the_first_sync_costs_a_rebalance_later(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    (ann.rebalance_timeout, bob.rebalance_timeout) = (1500, 1500);
    let mut ann = alone(broker, ann).await;
    both_joined(broker, &mut ann, &mut bob).await;
    assert_eq!(
        ann.sync(broker, &[(&ann.id, b"one"), (&bob.id, b"two")]).await.error,
        ErrorCode::None
    );
    let mut bob = bob.restarted();
    assert_eq!(bob.join(broker).await.generation, 2);
    assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
    ann.until_rebalancing(broker).await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
}
