//! LeaveGroup.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, leave, pair};
use crate::run::scenarios;

scenarios![Usual:
    when_all_have_left_the_group_is_empty_and_its_generation_is_counted_up,
    the_others_are_told_and_another_leads,
    each_of_a_batch_gets_its_own_answer,
    an_administrator_takes_a_static_member_out_by_its_instance_id,
    a_static_member_leaves_by_its_member_id_alone,
    nobody_leaves_an_unknown_or_empty_group,
    who_leaves_while_its_join_is_parked_is_unknown,
    a_round_ends_when_the_one_that_was_missing_leaves,
];

async fn when_all_have_left_the_group_is_empty_and_its_generation_is_counted_up(
    broker: &mut Broker,
) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (ann, bob) = pair(broker, ann, bob).await;
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    let described = broker.describe().await;
    assert_eq!((described.state.as_str(), described.protocol_type.as_str()), ("Empty", "worker"));
    let carl = broker.member("carl");
    assert_eq!(alone(broker, carl).await.generation, 4);
}

async fn the_others_are_told_and_another_leads(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (ann, mut bob) = pair(broker, ann, bob).await;
    assert_eq!(ann.leave(broker).await, ErrorCode::None);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    let joined = bob.join(broker).await;
    assert_eq!((joined.leader.as_str(), joined.members.len()), ("bob#1", 1));
}

async fn each_of_a_batch_gets_its_own_answer(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (ann, bob) = pair(broker, ann, bob).await;
    let batch = [
        (String::new(), Some("i-nobody".to_owned())),
        ("wrong".to_owned(), bob.instance_id.clone()),
        (String::new(), ann.instance_id.clone()),
        (String::new(), None),
    ];
    let errors = leave(broker, 5, Some("scaled down"), &batch).await;
    let unknown = ErrorCode::UnknownMemberId;
    assert_eq!(
        errors,
        [unknown, ErrorCode::FencedInstanceId, ErrorCode::None, unknown, ErrorCode::None]
    );
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
}

async fn an_administrator_takes_a_static_member_out_by_its_instance_id(broker: &mut Broker) {
    for version in [3, 4, 5] {
        broker.next_group().await;
        let ann = broker.member("ann").fixed();
        let ann = alone(broker, ann).await;
        let errors =
            leave(broker, version, None, &[(String::new(), ann.instance_id.clone())]).await;
        assert_eq!(errors, [ErrorCode::None, ErrorCode::None]);
        assert_eq!(ann.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    }
}

async fn a_static_member_leaves_by_its_member_id_alone(broker: &mut Broker) {
    for version in [0, 1, 2, 3, 5] {
        broker.next_group().await;
        let ann = broker.member("ann").fixed();
        let mut ann = alone(broker, ann).await;
        (ann.versions.leave, ann.instance_id) = (version, None);
        assert_eq!(ann.leave(broker).await, ErrorCode::None);
        assert_eq!(ann.leave(broker).await, ErrorCode::UnknownMemberId);
    }
}

async fn nobody_leaves_an_unknown_or_empty_group(broker: &mut Broker) {
    let nobody = [("nobody".to_owned(), None)];
    assert_eq!(
        leave(broker, 5, None, &nobody).await,
        [ErrorCode::UnknownMemberId, ErrorCode::None]
    );
    let mut ann = broker.member("ann");
    ann.versions.leave = 2;
    ann.id = "nobody".to_owned();
    assert_eq!(ann.leave(broker).await, ErrorCode::UnknownMemberId);
    let bob = broker.member("bob");
    let bob = alone(broker, bob).await;
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    assert_eq!(bob.leave(broker).await, ErrorCode::UnknownMemberId);
}

async fn who_leaves_while_its_join_is_parked_is_unknown(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    let mut parked = bob.enter(broker).await;
    parked.assert_parked().await;
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    let answered = bob.joined(broker, parked).await;
    assert_eq!((answered.error, answered.member.as_str()), (ErrorCode::UnknownMemberId, ""));
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::RebalanceInProgress);
    assert_eq!(ann.join(broker).await.generation, 2);
}

async fn a_round_ends_when_the_one_that_was_missing_leaves(broker: &mut Broker) {
    let (ann, bob) = (broker.member("ann"), broker.member("bob"));
    let (mut ann, bob) = pair(broker, ann, bob).await;
    let mut parked = ann.send_join(broker);
    parked.assert_parked().await;
    assert_eq!(bob.leave(broker).await, ErrorCode::None);
    assert_eq!(ann.joined(broker, parked).await.members, ["ann#1=ann"]);
}
