//! Types and protocols: who may join, and which protocol is chosen.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, pair};
use crate::run::scenarios;

scenarios![Usual:
    without_a_common_protocol_a_joiner_is_refused_and_the_group_goes_on,
    another_protocol_type_is_refused,
    no_protocols_and_no_type_are_refused,
    foreign_protocols_are_refused_before_an_unknown_id,
    a_member_that_joins_again_with_foreign_protocols_stays_as_it_was,
    each_member_votes_for_the_first_that_all_support,
    what_not_all_support_is_no_candidate,
    a_protocol_that_is_named_twice_bricks_a_new_group,
    an_empty_group_takes_any_type,
];

async fn without_a_common_protocol_a_joiner_is_refused_and_the_group_goes_on(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut bob = broker.member("bob").speaking(&["q"]);
    assert_eq!(bob.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    let mut carl = broker.member("carl").speaking(&["q"]).fixed();
    assert_eq!(carl.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
}

async fn another_protocol_type_is_refused(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    bob.protocol_type = "connect".to_owned();
    assert_eq!(bob.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
}

async fn no_protocols_and_no_type_are_refused(broker: &mut Broker) {
    let (mut ann, mut bob) = (broker.member("ann").speaking(&[]), broker.member("bob"));
    bob.protocol_type.clear();
    assert_eq!(ann.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(bob.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    let carl = broker.member("carl");
    alone(broker, carl).await;
    assert_eq!(ann.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(bob.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
}

async fn foreign_protocols_are_refused_before_an_unknown_id(broker: &mut Broker) {
    let ann = broker.member("ann");
    alone(broker, ann).await;
    let mut bob = broker.member("bob").speaking(&["q"]);
    bob.id = "nobody".to_owned();
    assert_eq!(bob.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
}

async fn a_member_that_joins_again_with_foreign_protocols_stays_as_it_was(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut other = ann.clone().speaking(&["q"]);
    assert_eq!(other.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
}

async fn each_member_votes_for_the_first_that_all_support(broker: &mut Broker) {
    let (ann, bob) =
        (broker.member("ann").speaking(&["b", "a"]), broker.member("bob").speaking(&["a", "b"]));
    let (mut ann, mut bob) = pair(broker, ann, bob).await;
    let mut carl = broker.member("carl").speaking(&["a", "b"]);
    let newcomer = carl.enter(broker).await;
    ann.until_rebalancing(broker).await;
    let again = bob.send_join(broker);
    assert_eq!(ann.join(broker).await.protocol.as_deref(), Some("a"));
    assert_eq!(bob.joined(broker, again).await.protocol.as_deref(), Some("a"));
    assert_eq!(carl.joined(broker, newcomer).await.protocol.as_deref(), Some("a"));
}

async fn what_not_all_support_is_no_candidate(broker: &mut Broker) {
    let ann = broker.member("ann").speaking(&["a", "b"]);
    let mut ann = alone(broker, ann).await;
    assert_eq!(ann.protocol.as_deref(), Some("a"));
    let mut bob = broker.member("bob").speaking(&["c", "b"]);
    let newcomer = bob.enter(broker).await;
    ann.until_rebalancing(broker).await;
    assert_eq!(ann.join(broker).await.protocol.as_deref(), Some("b"));
    assert_eq!(bob.joined(broker, newcomer).await.protocol.as_deref(), Some("b"));
}

async fn a_protocol_that_is_named_twice_bricks_a_new_group(broker: &mut Broker) {
    let mut ann = broker.member("ann").speaking(&["p", "p"]);
    let mut parked = ann.enter(broker).await;
    parked.assert_parked().await;
    let mut bob = broker.member("bob");
    assert_eq!(bob.join(broker).await.error, ErrorCode::InconsistentGroupProtocol);
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
    assert_eq!(ann.joined(broker, parked).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(broker.describe().await.state, "PreparingRebalance");
    let mut parked = bob.enter(broker).await;
    parked.assert_parked().await;
}

async fn an_empty_group_takes_any_type(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
    let mut bob = broker.member("bob").speaking(&["q"]);
    bob.protocol_type = "connect".to_owned();
    let bob = alone(broker, bob).await;
    assert_eq!(bob.generation, 3);
}
