//! JoinGroup of dynamic members.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, both_joined, pair, settle};
use crate::run::scenarios;

scenarios![Usual:
    below_version_4_a_first_join_makes_a_member_at_once,
    from_version_4_on_a_first_join_is_answered_with_an_id,
    an_id_that_is_handed_out_changes_nothing_for_the_others,
    a_newcomer_is_parked_until_the_others_have_joined_again,
    the_leader_stays_and_only_it_is_told_the_members,
    a_followers_join_with_the_same_bytes_is_free,
    a_followers_join_with_other_bytes_is_a_rebalance,
    a_followers_join_with_one_more_protocol_is_a_rebalance,
    the_leaders_join_is_always_a_rebalance,
    while_completing_a_join_with_the_same_bytes_is_answered_at_once,
    while_completing_a_join_with_other_bytes_is_a_rebalance,
    a_member_id_that_nobody_has_is_unknown,
    session_timeouts_have_inclusive_bounds,
    any_rebalance_timeout_is_accepted,
    an_empty_group_id_is_invalid,
    a_join_that_is_sent_again_is_answered_and_the_first_never,
    a_long_reason_is_accepted,
    an_id_that_is_handed_out_holds_up_the_next_round_until_it_is_given_back,
    an_id_that_is_handed_out_does_not_hold_up_the_first_round,
    a_parked_join_whose_connection_closes_stays_in_the_round,
];

async fn below_version_4_a_first_join_makes_a_member_at_once(broker: &mut Broker) {
    for version in 0..4 {
        broker.next_group().await;
        let mut ann = broker.member("ann");
        ann.versions.join = version;
        let joined = ann.join(broker).await;
        assert_eq!((joined.error, joined.generation), (ErrorCode::None, 1));
        assert_eq!(joined.leader, joined.member);
        assert_eq!(joined.members, [format!("{}=ann", joined.member)]);
    }
}

async fn from_version_4_on_a_first_join_is_answered_with_an_id(broker: &mut Broker) {
    for version in 4..=9 {
        broker.next_group().await;
        let mut ann = broker.member("ann");
        ann.versions.join = version;
        let asked = ann.join(broker).await;
        assert_eq!((asked.error, asked.generation), (ErrorCode::MemberIdRequired, -1));
        assert!(ann.id.starts_with("ann-") && ann.id.len() == 40, "{}", ann.id);
        let joined = ann.join(broker).await;
        assert_eq!((joined.error, joined.generation), (ErrorCode::None, 1));
    }
}

async fn an_id_that_is_handed_out_changes_nothing_for_the_others(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    assert_eq!(bob.join(broker).await.error, ErrorCode::MemberIdRequired);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(broker.describe().await.members.len(), 1);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::UnknownMemberId);
}

async fn a_newcomer_is_parked_until_the_others_have_joined_again(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    let mut newcomer = bob.enter(broker).await;
    newcomer.assert_parked().await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.join(broker).await.generation, 2);
    assert_eq!(bob.joined(broker, newcomer).await.generation, 2);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
}

async fn the_leader_stays_and_only_it_is_told_the_members(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    let mut again = ann.send_join(broker);
    again.assert_parked().await;
    let followed = bob.join(broker).await;
    let led = ann.joined(broker, again).await;
    assert_eq!((led.leader.as_str(), followed.leader.as_str()), ("ann#1", "ann#1"));
    assert_eq!(led.members, ["ann#1=ann", "bob#1=bob"]);
    assert!(followed.members.is_empty());
}

async fn a_followers_join_with_the_same_bytes_is_free(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (ann, mut bob) = pair(broker, ann, bob).await;
    bob.reason = Some("whatever".to_owned());
    bob.session_timeout = 30_000;
    let joined = bob.join(broker).await;
    assert_eq!((joined.error, joined.generation), (ErrorCode::None, 2));
    assert!(joined.members.is_empty());
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
}

async fn a_followers_join_with_other_bytes_is_a_rebalance(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    bob.protocols[0].1 = b"other".to_vec();
    let mut again = bob.send_join(broker);
    again.assert_parked().await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.join(broker).await.members, ["ann#1=ann", "bob#1=other"]);
    assert_eq!(bob.joined(broker, again).await.generation, 3);
}

async fn a_followers_join_with_one_more_protocol_is_a_rebalance(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (mut ann, bob) = pair(broker, ann, bob).await;
    let mut bob = bob.speaking(&["p", "q"]);
    let mut again = bob.send_join(broker);
    again.assert_parked().await;
    assert_eq!(ann.join(broker).await.generation, 3);
    assert_eq!(bob.joined(broker, again).await.protocol.as_deref(), Some("p"));
}

async fn the_leaders_join_is_always_a_rebalance(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    let mut again = ann.send_join(broker);
    again.assert_parked().await;
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(bob.join(broker).await.generation, 3);
    assert_eq!(ann.joined(broker, again).await.generation, 3);
    settle(broker, &ann, &bob).await;
}

async fn while_completing_a_join_with_the_same_bytes_is_answered_at_once(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    assert!(bob.join(broker).await.members.is_empty());
    assert_eq!(ann.join(broker).await.members.len(), 2);
    settle(broker, &ann, &bob).await;
}

async fn while_completing_a_join_with_other_bytes_is_a_rebalance(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    let mut parked = bob.send_sync(broker, &[]);
    parked.assert_parked().await;
    ann.protocols[0].1 = b"other".to_vec();
    let again = ann.send_join(broker);
    assert_eq!(bob.synced(broker, parked).await.error, ErrorCode::RebalanceInProgress);
    assert_eq!(broker.describe().await.members, ["ann#1 - /127.0.0.1=/", "bob#1 - /127.0.0.1=/"]);
    assert_eq!(bob.join(broker).await.generation, 3);
    assert_eq!(ann.joined(broker, again).await.generation, 3);
}

async fn a_member_id_that_nobody_has_is_unknown(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    ann.id = "nobody".to_owned();
    assert_eq!(ann.join(broker).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(broker.describe().await.state, "Dead", "it makes no group");

    let bob = broker.member("bob");
    let mut bob = alone(broker, bob).await;
    assert_eq!(ann.join(broker).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    let gone = bob.join(broker).await;
    assert_eq!((gone.error, gone.member.as_str()), (ErrorCode::UnknownMemberId, "bob#1"));
}

async fn session_timeouts_have_inclusive_bounds(broker: &mut Broker) {
    for session_timeout in [-1, 0, 999, 1_800_001] {
        let mut ann = broker.member("ann");
        (ann.id, ann.session_timeout) = ("somebody".to_owned(), session_timeout);
        let refused = ann.join(broker).await;
        assert_eq!(
            (refused.error, refused.member.as_str()),
            (ErrorCode::InvalidSessionTimeout, "ann#1")
        );
    }
    for session_timeout in [1000, 1_800_000] {
        broker.next_group().await;
        let mut ann = broker.member("ann");
        (ann.versions.join, ann.session_timeout) = (3, session_timeout);
        assert_eq!(ann.join(broker).await.error, ErrorCode::None);
    }
}

async fn any_rebalance_timeout_is_accepted(broker: &mut Broker) {
    for rebalance_timeout in [-1, 0, 1] {
        broker.next_group().await;
        let mut ann = broker.member("ann");
        (ann.versions.join, ann.rebalance_timeout) = (3, rebalance_timeout);
        assert_eq!(ann.join(broker).await.generation, 1);
    }
}

async fn an_empty_group_id_is_invalid(broker: &mut Broker) {
    broker.use_group(format!(" ü {} ", broker.group)).await;
    let mut ann = broker.member("ann");
    ann.versions.join = 3;
    assert_eq!(ann.join(broker).await.error, ErrorCode::None, "any other is not");
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
    broker.group.clear();
    assert_eq!(ann.join(broker).await.error, ErrorCode::InvalidGroupId);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::InvalidGroupId);
    assert_eq!(ann.leave(broker).await, ErrorCode::InvalidGroupId);
    ann.versions.sync = 4;
    assert_eq!(ann.sync(broker, &[]).await.error, ErrorCode::InvalidGroupId);
}

async fn a_join_that_is_sent_again_is_answered_and_the_first_never(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    let mut first = ann.send_join(broker);
    first.assert_parked().await;
    let mut second = ann.send_join(broker);
    second.assert_parked().await;
    assert_eq!(bob.join(broker).await.generation, 3);
    assert_eq!(ann.joined(broker, second).await.generation, 3);
    first.assert_parked().await;
}

async fn a_long_reason_is_accepted(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    ann.reason = Some("x".repeat(300));
    let ann = alone(broker, ann).await;
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
}

async fn an_id_that_is_handed_out_holds_up_the_next_round_until_it_is_given_back(
    broker: &mut Broker,
) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    assert_eq!(bob.join(broker).await.error, ErrorCode::MemberIdRequired);
    let mut parked = ann.send_join(broker);
    parked.assert_parked().await;
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    assert_eq!(ann.joined(broker, parked).await.generation, 2);
    assert_eq!(bob.join(broker).await.error, ErrorCode::UnknownMemberId);
}

async fn an_id_that_is_handed_out_does_not_hold_up_the_first_round(broker: &mut Broker) {
    let mut bob = broker.member("bob");
    assert_eq!(bob.join(broker).await.error, ErrorCode::MemberIdRequired);
    let mut ann = broker.member("ann");
    ann.versions.join = 3;
    assert_eq!(ann.join(broker).await.generation, 1);
    let parked = bob.send_join(broker);
    ann.until_rebalancing(broker).await;
    assert_eq!(ann.join(broker).await.generation, 2);
    assert_eq!(bob.joined(broker, parked).await.generation, 2);
}

async fn a_parked_join_whose_connection_closes_stays_in_the_round(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (ann, mut bob) = pair(broker, ann, bob).await;
    let mut parked = ann.send_join(broker);
    parked.assert_parked().await;
    parked.close();
    assert_eq!(bob.join(broker).await.generation, 3);
    assert_eq!(broker.describe().await.members.len(), 2);
}
