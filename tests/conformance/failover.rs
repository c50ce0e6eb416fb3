//! The coordinator dies, and what comes after it knows what the log says.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, both_joined, pair};
use crate::run::scenarios;

scenarios![Mortal: a_new_coordinator_knows_what_the_log_says];

/// All in one, since a restart of Kafka takes its time.
async fn a_new_coordinator_knows_what_the_log_says(broker: &mut Broker) {
    let stable = broker.group.clone();
    let (ann, bob) = (broker.member("ann").fixed(), broker.member("bob").fixed());
    let (ann, mut bob) = pair(broker, ann, bob).await;
    assert_eq!(ann.commit(broker, 7).await, ErrorCode::None);

    broker.next_group().await;
    let two_protocols = broker.group.clone();
    let (carl, dora) =
        (broker.member("carl").speaking(&["p", "q"]), broker.member("dora").speaking(&["p", "q"]));
    let (carl, mut dora) = pair(broker, carl, dora).await;

    broker.next_group().await;
    let completing = broker.group.clone();
    let eve = broker.member("eve");
    let (mut eve, mut fred) = (alone(broker, eve).await, broker.member("fred"));
    let before = eve.clone();
    both_joined(broker, &mut eve, &mut fred).await;

    broker.next_group().await;
    let first_joined = broker.group.clone();
    let mut gina = broker.member("gina");
    let sent = gina.enter(broker).await;
    assert_eq!(gina.joined(broker, sent).await.generation, 1);

    broker.next_group().await;
    let preparing = broker.group.clone();
    let hal = broker.member("hal");
    let (mut hal, mut ida, mut jim) =
        (alone(broker, hal).await, broker.member("ida"), broker.member("jim"));
    assert_eq!(jim.join(broker).await.error, ErrorCode::MemberIdRequired);
    let parked = ida.enter(broker).await;
    hal.until_rebalancing(broker).await;

    broker.fail_over().await;
    drop(parked);

    broker.use_group(stable).await;
    assert_eq!(ann.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(broker.describe().await.members.len(), 2);
    assert_eq!(bob.sync(broker, &[]).await.assignment, "two");
    assert_eq!(bob.join(broker).await.generation, 2, "its bytes are in the log");
    assert_eq!(broker.fetch(8, None).await, [(0, 7, String::new(), 0)]);
    assert_eq!(bob.restarted().join(broker).await.error, ErrorCode::None);
    assert_eq!(bob.heartbeat(broker).await, ErrorCode::FencedInstanceId);

    broker.use_group(two_protocols).await;
    let mut again = dora.send_join(broker);
    again.assert_parked().await;
    assert_eq!(
        carl.heartbeat(broker).await,
        ErrorCode::RebalanceInProgress,
        "its second protocol is not in the log"
    );
    assert_eq!(dora.leave(broker).await, ErrorCode::None);
    assert_eq!(dora.joined(broker, again).await.error, ErrorCode::UnknownMemberId);

    broker.use_group(completing).await;
    assert_eq!(eve.heartbeat(broker).await, ErrorCode::IllegalGeneration);
    assert_eq!(before.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(fred.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(before.sync(broker, &[]).await.assignment, "all");
    assert_eq!(eve.join(broker).await.generation, 2, "the same number again");

    broker.use_group(first_joined).await;
    assert_eq!(broker.describe().await.state, "Empty");
    assert_eq!(gina.heartbeat(broker).await, ErrorCode::UnknownMemberId);
    assert_eq!(gina.join(broker).await.error, ErrorCode::UnknownMemberId);

    broker.use_group(preparing).await;
    assert_eq!(broker.describe().await.state, "Stable");
    assert_eq!(hal.heartbeat(broker).await, ErrorCode::None);
    assert_eq!(ida.join(broker).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(jim.join(broker).await.error, ErrorCode::UnknownMemberId);
    assert_eq!(hal.join(broker).await.generation, 2);
}
