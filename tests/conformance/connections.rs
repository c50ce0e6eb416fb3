//! One connection: what is answered in which order, and what closes it.

use kafka_group::testing::ErrorCode;
use kafka_protocol::messages::{HeartbeatRequest, JoinGroupRequest};

use crate::broker::Broker;
use crate::member::alone;
use crate::run::scenarios;

scenarios![Usual:
    requests_behind_a_parked_one_are_answered_after_it,
    a_version_that_is_not_known_closes_the_connection,
    an_unknown_version_of_api_versions_is_answered_in_version_0,
];

async fn requests_behind_a_parked_one_are_answered_after_it(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    bob.versions.join = 3;
    let mut connection = broker.connect().await;
    connection.send(3, &bob.join_request(broker)).await;
    connection.send(4, &ann.heartbeat_request(broker)).await;
    connection.assert_silent().await;
    assert_eq!(ann.join(broker).await.generation, 2);
    let joined = connection.receive::<JoinGroupRequest>(3).await;
    broker.name_of(&joined.member_id, "bob");
    assert_eq!(joined.generation_id, 2);
    let late = connection.receive::<HeartbeatRequest>(4).await;
    assert_eq!(ErrorCode::from(late.error_code), ErrorCode::IllegalGeneration);
}

async fn a_version_that_is_not_known_closes_the_connection(broker: &mut Broker) {
    for (api, version) in [(11, 10), (12, 5), (14, 6), (13, 6)] {
        let mut connection = broker.connect().await;
        connection.send_bare(api, version).await;
        assert_eq!(connection.frame().await, None, "API {api}");
        broker.note("raw", "is closed", &(api, version));
    }
}

async fn an_unknown_version_of_api_versions_is_answered_in_version_0(broker: &mut Broker) {
    let mut connection = broker.connect().await;
    connection.send_bare(18, 99).await;
    let answer = connection.frame().await.expect("it is answered");
    let (error, count, api) = (&answer[4..6], &answer[6..10], &answer[10..12]);
    assert_eq!((error, count, api), (&[0, 35][..], &[0, 0, 0, 1][..], &[0, 18][..]));
    broker.note("raw", "is answered", &(error, count, api, answer.len()));
}
