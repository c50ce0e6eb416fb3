//! DescribeGroups, ListGroups and DescribeCluster.

use kafka_group::testing::ErrorCode;

use crate::broker::Broker;
use crate::member::{alone, settle};
use crate::run::scenarios;

scenarios![Usual:
    protocol_and_metadata_are_told_of_a_stable_group_only,
    an_unknown_group_is_an_error_from_version_6_on,
    an_id_that_is_handed_out_makes_the_group,
    groups_are_listed_by_state,
    whoever_may_do_everything_to_the_cluster_is_told_so,
];

async fn protocol_and_metadata_are_told_of_a_stable_group_only(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    for version in 0..=broker.newest_describe {
        let stable = broker.describe_in(version).await;
        assert_eq!((stable.state.as_str(), stable.protocol.as_str()), ("Stable", "p"));
        assert_eq!(stable.members, ["ann#1 - /127.0.0.1=ann/all"]);
    }
    let mut bob = broker.member("bob");
    let newcomer = bob.enter(broker).await;
    ann.until_rebalancing(broker).await;
    let preparing = broker.describe().await;
    assert_eq!((preparing.state.as_str(), preparing.protocol.as_str()), ("PreparingRebalance", ""));
    assert_eq!(
        preparing.members,
        ["ann#1 - /127.0.0.1=/all", &format!("{} - /127.0.0.1=/", broker.plain(&bob.id))]
    );
    ann.join(broker).await;
    bob.joined(broker, newcomer).await;
    let completing = broker.describe().await;
    assert_eq!(
        (completing.state.as_str(), completing.protocol.as_str()),
        ("CompletingRebalance", "")
    );
    settle(broker, &ann, &bob).await;
    assert_eq!(broker.describe().await.members.len(), 2);
}

async fn an_unknown_group_is_an_error_from_version_6_on(broker: &mut Broker) {
    for version in 0..=broker.newest_describe {
        let described = broker.describe_in(version).await;
        let error = if version >= 6 { ErrorCode::GroupIdNotFound } else { ErrorCode::None };
        assert_eq!((described.error, described.state.as_str()), (error, "Dead"));
    }
}

async fn an_id_that_is_handed_out_makes_the_group(broker: &mut Broker) {
    let mut ann = broker.member("ann");
    assert_eq!(ann.join(broker).await.error, ErrorCode::MemberIdRequired);
    broker.until_listed().await;
    let described = broker.describe().await;
    assert_eq!((described.state.as_str(), described.members.len()), ("Empty", 0));
    assert!(broker.list(5, &[]).await.is_some());
}

async fn groups_are_listed_by_state(broker: &mut Broker) {
    assert_eq!(broker.list(5, &[]).await, None);
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    for version in 0..=5 {
        let (protocol_type, state) = broker.list(version, &[]).await.expect("it is there");
        assert_eq!(protocol_type, "worker");
        assert_eq!(state, if version >= 4 { "Stable" } else { "" });
    }
    assert!(broker.list(4, &["Stable"]).await.is_some());
    assert!(broker.list(4, &["stable"]).await.is_some());
    assert!(broker.list(4, &["Empty", "Dead"]).await.is_none());
    ann.leave(broker).await;
    assert!(broker.list(4, &["Empty"]).await.is_some());
}

/// CREATE, and all from ALTER to IDEMPOTENT_WRITE, by their codes; a number of its own where nobody has asked.
async fn whoever_may_do_everything_to_the_cluster_is_told_so(broker: &mut Broker) {
    for version in 0..=1 {
        assert_eq!(broker.may(version, true).await, 0b1_1111_1010_0000);
        assert_eq!(broker.may(version, false).await, i32::MIN);
    }
}
