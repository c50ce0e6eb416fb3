//! SyncGroup.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, both_joined, pair};
use crate::run::scenarios;

scenarios![Usual:
    a_followers_sync_is_parked_until_the_leaders_plan_comes,
    a_followers_plan_is_ignored,
    who_is_left_out_gets_nothing_and_strangers_parts_are_lost,
    of_two_parts_for_one_member_the_last_counts,
    in_a_stable_group_the_stored_part_is_returned_and_a_plan_ignored,
    while_preparing_a_sync_is_refused,
    a_missing_protocol_is_refused_before_all_else,
    identity_then_generation_then_protocol_are_checked,
    a_sync_for_an_unknown_or_empty_group_is_of_an_unknown_member,
    below_version_5_no_protocol_is_compared,
    when_the_leader_leaves_parked_syncs_are_refused,
    the_parked_sync_of_one_who_leaves_is_never_answered,
    a_sync_that_is_sent_again_is_answered_and_the_first_never,
    a_plan_that_is_too_large_starts_another_round,
];

async fn a_followers_sync_is_parked_until_the_leaders_plan_comes(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let mut parked = bob.send_sync(broker, &[]);
    parked.assert_parked().await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
    ann.sync(broker, &[(&bob.id, b"two"), (&ann.id, b"one")]).await;
    assert_eq!(bob.synced(broker, parked).await.assignment, "two");
}

async fn a_followers_plan_is_ignored(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let mut parked = bob.send_sync(broker, &[(&bob.id, b"everything")]);
    parked.assert_parked().await;
    assert_eq!(ann.sync(broker, &[(&ann.id, b"one")]).await.assignment, "one");
    assert_eq!(bob.synced(broker, parked).await.assignment, "");
}

async fn who_is_left_out_gets_nothing_and_strangers_parts_are_lost(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let synced = ann.sync(broker, &[("stranger", b"x"), ("", b"y"), (&bob.id, b"two")]).await;
    assert_eq!((synced.error, synced.assignment.as_str()), (ErrorCode::None, ""));
    assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
}

async fn of_two_parts_for_one_member_the_last_counts(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    let sent = ann.enter(broker).await;
    ann.joined(broker, sent).await;
    assert_eq!(
        ann.sync(broker, &[(&ann.id, b"first"), (&ann.id, b"last")]).await.assignment,
        "last"
    );
}

async fn in_a_stable_group_the_stored_part_is_returned_and_a_plan_ignored(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (ann, bob) = pair(broker, ann, bob).await;
    assert_eq!(
        ann.sync(broker, &[(&ann.id, b"other"), (&bob.id, b"other")]).await.assignment,
        "one"
    );
    assert_eq!(bob.sync(broker, &[(&bob.id, b"other")]).await.assignment, "two");
}

async fn while_preparing_a_sync_is_refused(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    let mut newcomer = bob.enter(broker).await;
    newcomer.assert_parked().await;
    assert_eq!(ann.sync(broker, &[]).await.error, ErrorCode::RebalanceInProgress);
}

async fn a_missing_protocol_is_refused_before_all_else(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    (ann.id, ann.generation) = ("nobody".to_owned(), 7);
    assert_eq!(ann.sync(broker, &[]).await.error, ErrorCode::InconsistentGroupProtocol);
}

async fn identity_then_generation_then_protocol_are_checked(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut wrong = ann.clone();
    (wrong.id, wrong.generation, wrong.protocol) = ("nobody".to_owned(), 7, Some("q".to_owned()));
    assert_eq!(wrong.sync(broker, &[]).await.error, ErrorCode::UnknownMemberId);
    wrong.id.clone_from(&ann.id);
    assert_eq!(wrong.sync(broker, &[]).await.error, ErrorCode::IllegalGeneration);
    wrong.generation = ann.generation;
    assert_eq!(wrong.sync(broker, &[]).await.error, ErrorCode::InconsistentGroupProtocol);
    wrong.protocol.clone_from(&ann.protocol);
    wrong.protocol_type = "connect".to_owned();
    assert_eq!(wrong.sync(broker, &[]).await.error, ErrorCode::InconsistentGroupProtocol);
}

async fn a_sync_for_an_unknown_or_empty_group_is_of_an_unknown_member(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    (ann.id, ann.generation, ann.protocol) = ("nobody".to_owned(), 1, Some("p".to_owned()));
    assert_eq!(ann.sync(broker, &[]).await.error, ErrorCode::UnknownMemberId);
    let bob = broker.member("bob");
    let bob = alone(broker, bob).await;
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    assert_eq!(bob.sync(broker, &[]).await.error, ErrorCode::UnknownMemberId);
}

async fn below_version_5_no_protocol_is_compared(broker: &mut Broker) {
    for version in 0..5 {
        broker.next_group().await;
        let mut ann = broker.member("ann");
        ann.versions.sync = version;
        let sent = ann.enter(broker).await;
        ann.joined(broker, sent).await;
        ann.protocol = Some("q".to_owned());
        assert_eq!(ann.sync(broker, &[(&ann.id, b"all")]).await.assignment, "all");
    }
}

async fn when_the_leader_leaves_parked_syncs_are_refused(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let mut parked = bob.send_sync(broker, &[]);
    parked.assert_parked().await;
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
    assert_eq!(bob.synced(broker, parked).await.error, ErrorCode::RebalanceInProgress);
    let led = bob.join(broker).await;
    assert_eq!((led.leader.as_str(), led.generation), ("bob#1", 3));
}

async fn the_parked_sync_of_one_who_leaves_is_never_answered(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let mut parked = bob.send_sync(broker, &[]);
    parked.assert_parked().await;
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    assert_eq!(ann.join(broker).await.generation, 3);
    parked.assert_parked().await;
}

async fn a_sync_that_is_sent_again_is_answered_and_the_first_never(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let mut first = bob.send_sync(broker, &[]);
    first.assert_parked().await;
    let mut second = bob.send_sync(broker, &[]);
    second.assert_parked().await;
    assert_eq!(ann.sync(broker, &[(&bob.id, b"two")]).await.error, ErrorCode::None);
    assert_eq!(bob.synced(broker, second).await.assignment, "two");
    first.assert_parked().await;
}

async fn a_plan_that_is_too_large_starts_another_round(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let mut parked = bob.send_sync(broker, &[]);
    parked.assert_parked().await;
    let large = vec![0; 1_048_600];
    assert_eq!(ann.sync(broker, &[(&ann.id, &large)]).await.error, ErrorCode::UnknownServerError);
    assert_eq!(bob.synced(broker, parked).await.error, ErrorCode::UnknownServerError);
    assert_eq!(broker.describe().await.state, "PreparingRebalance");
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(bob.commit(broker, 5).await, ErrorCode::None);
    assert_eq!(ann.sync(broker, &[]).await.error, ErrorCode::RebalanceInProgress);
    let again = ann.send_join(broker);
    assert_eq!(bob.join(broker).await.generation, 3);
    assert_eq!(ann.joined(broker, again).await.generation, 3);
}
