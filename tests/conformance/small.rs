//! Brokers with `group.max.size` 2 and an initial rebalance delay of 600 ms.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, pair};
use crate::run::scenarios;

scenarios![Small:
    a_full_group_refuses_a_newcomer_and_does_not_notice,
    in_a_round_that_is_full_a_member_that_comes_last_is_out,
    ids_are_handed_out_beyond_the_limit_while_the_group_is_empty,
    a_full_group_refuses_the_restart_of_its_own_static_member,
    the_first_round_waits_and_takes_in_who_comes_meanwhile,
    the_first_round_waits_longer_while_members_come,
    the_first_round_waits_its_delay_though_the_rebalance_timeout_is_shorter,
    one_who_leaves_while_the_first_round_waits_does_not_end_it,
];

async fn a_full_group_refuses_a_newcomer_and_does_not_notice(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (ann, bob) = pair(broker, ann, bob).await;
    let mut carl = broker.member("carl");
    for version in [3, 9] {
        carl.versions.join = version;
        let refused = carl.join(broker).await;
        assert_eq!((refused.error, refused.member.as_str()), (ErrorCode::GroupMaxSizeReached, ""));
    }
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::None);
}

async fn in_a_round_that_is_full_a_member_that_comes_last_is_out(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let (mut bob, mut carl) = (broker.member("bob"), broker.member("carl"));
    let mut first = bob.enter(broker).await;
    first.assert_parked().await;
    let mut second = carl.enter(broker).await;
    second.assert_parked().await;
    assert_eq!(ann.join(broker).await.error, ErrorCode::GroupMaxSizeReached);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    let mut dora = broker.member("dora");
    assert_eq!(dora.join(broker).await.error, ErrorCode::GroupMaxSizeReached);
    first.assert_parked().await;
}

async fn ids_are_handed_out_beyond_the_limit_while_the_group_is_empty(broker: &mut Broker) {
    let mut members = [broker.member("ann"), broker.member("bob"), broker.member("carl")];
    for member in &mut members {
        assert_eq!(member.join(broker).await.error, ErrorCode::MemberIdRequired);
    }
    let [mut ann, mut bob, mut carl] = members;
    let mut first = ann.send_join(broker);
    first.assert_parked().await;
    let mut second = bob.send_join(broker);
    second.assert_parked().await;
    assert_eq!(carl.join(broker).await.error, ErrorCode::GroupMaxSizeReached);
    assert_eq!(ann.joined(broker, first).await.members.len(), 2);
    assert_eq!(bob.joined(broker, second).await.generation, 1);
}

async fn a_full_group_refuses_the_restart_of_its_own_static_member(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob").fixed());
    let (_ann, bob) = pair(broker, ann, bob).await;
    assert_eq!(bob.restarted().join(broker).await.error, ErrorCode::GroupMaxSizeReached);
    let mut again = bob.clone();
    assert_eq!(again.join(broker).await.error, ErrorCode::None, "with its old id");
}

async fn the_first_round_waits_and_takes_in_who_comes_meanwhile(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    let mut first = ann.enter(broker).await;
    first.assert_parked().await;
    let second = bob.enter(broker).await;
    assert_eq!(ann.joined(broker, first).await.members.len(), 2);
    assert_eq!(bob.joined(broker, second).await.generation, 1);
}

async fn the_first_round_waits_longer_while_members_come(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann"), broker.member("bob"));
    let mut first = ann.enter(broker).await;
    first.assert_parked().await;
    let mut second = bob.enter(broker).await;
    broker.pass(250).await;
    second.assert_parked().await;
    first.assert_parked().await;
    assert_eq!(ann.joined(broker, first).await.generation, 1);
    assert_eq!(bob.joined(broker, second).await.generation, 1);
}

async fn the_first_round_waits_its_delay_though_the_rebalance_timeout_is_shorter(
    broker: &mut Broker,
) {
    let mut ann = broker.member("ann");
    ann.rebalance_timeout = 100;
    let mut parked = ann.enter(broker).await;
    parked.assert_parked().await;
    assert_eq!(ann.joined(broker, parked).await.generation, 1);
}

async fn one_who_leaves_while_the_first_round_waits_does_not_end_it(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    let mut parked = ann.enter(broker).await;
    parked.assert_parked().await;
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
    assert_eq!(ann.joined(broker, parked).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(broker.describe().await.state, "PreparingRebalance");
    broker.pass(800).await;
    assert_eq!(broker.describe().await.state, "Empty");
}
