//! OffsetCommit and OffsetFetch.

use kafka_group::testing::ErrorCode;

use crate::broker::{Broker, TOPIC};
use crate::member::{Member, alone, both_joined};
use crate::run::scenarios;

scenarios![Usual:
    a_member_may_commit_unless_the_round_is_completing,
    another_generation_is_illegal_and_another_member_unknown,
    a_commit_to_no_group_needs_no_generation_and_makes_the_group,
    an_empty_group_takes_commits_without_a_generation,
    a_live_group_takes_no_commit_from_outside,
    a_parked_newcomer_may_commit_in_the_generation_before,
    unknown_partitions_and_long_metadata_are_refused_one_by_one,
    any_offset_is_taken_and_comes_back,
    what_is_not_committed_is_minus_one,
    offsets_outlive_the_members,
];

fn outsider(broker: &Broker) -> Member {
    broker.member("outsider")
}

async fn a_member_may_commit_unless_the_round_is_completing(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    for version in 2..=9 {
        ann.versions.commit = version;
        assert_eq!(ann.commit(broker, 1).await, ErrorCode::None, "stable");
    }
    let mut bob = broker.member("bob");
    let newcomer = bob.enter(broker).await;
    ann.until_rebalancing(broker).await;
    assert_eq!(ann.commit(broker, 2).await, ErrorCode::None, "preparing");
    ann.join(broker).await;
    bob.joined(broker, newcomer).await;
    for version in [2, 8, 9] {
        ann.versions.commit = version;
        assert_eq!(ann.commit(broker, 3).await, ErrorCode::RebalanceInProgress, "completing");
    }
}

async fn another_generation_is_illegal_and_another_member_unknown(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    for generation in [-1, 0, 2] {
        ann.generation = generation;
        assert_eq!(ann.commit(broker, 1).await, ErrorCode::IllegalGeneration);
    }
    ann.generation = 1;
    for id in ["nobody", ""] {
        ann.id = id.to_owned();
        assert_eq!(ann.commit(broker, 1).await, ErrorCode::UnknownMemberId);
    }
}

async fn a_commit_to_no_group_needs_no_generation_and_makes_the_group(broker: &mut Broker) {
    let mut late = outsider(broker);
    (late.id, late.generation) = ("nobody".to_owned(), 3);
    assert_eq!(late.commit(broker, 1).await, ErrorCode::GroupIdNotFound);
    late.versions.commit = 8;
    assert_eq!(late.commit(broker, 1).await, ErrorCode::IllegalGeneration);
    assert_eq!(outsider(broker).commit(broker, 1).await, ErrorCode::None);
    let described = broker.describe().await;
    assert_eq!((described.state.as_str(), described.protocol_type.as_str()), ("Empty", ""));
    broker.next_group().await;
    late.generation = -1;
    assert_eq!(late.commit(broker, 1).await, ErrorCode::None, "whoever it says it is");
}

async fn an_empty_group_takes_commits_without_a_generation(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    ann.leave(broker).await;
    assert_eq!(ann.commit(broker, 1).await, ErrorCode::UnknownMemberId);
    ann.generation = -1;
    assert_eq!(ann.commit(broker, 1).await, ErrorCode::None);
    assert_eq!(outsider(broker).commit(broker, 2).await, ErrorCode::None);
}

async fn a_live_group_takes_no_commit_from_outside(broker: &mut Broker) {
    let ann = broker.member("ann");
    let mut ann = alone(broker, ann).await;
    assert_eq!(outsider(broker).commit(broker, 1).await, ErrorCode::UnknownMemberId);
    let mut bob = broker.member("bob");
    both_joined(broker, &mut ann, &mut bob).await;
    assert_eq!(outsider(broker).commit(broker, 1).await, ErrorCode::UnknownMemberId);
}

async fn a_parked_newcomer_may_commit_in_the_generation_before(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let mut bob = broker.member("bob");
    let mut parked = bob.enter(broker).await;
    parked.assert_parked().await;
    bob.generation = ann.generation;
    assert_eq!(bob.commit(broker, 1).await, ErrorCode::None);
}

async fn unknown_partitions_and_long_metadata_are_refused_one_by_one(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    let (longest, longer) = ("x".repeat(4096), "x".repeat(4097));
    let all = [
        (TOPIC, 0, 1, longest.as_str()),
        (TOPIC, 1, 1, longer.as_str()),
        (TOPIC, 9, 1, ""),
        ("nowhere", 0, 1, ""),
    ];
    let errors = ann.commit_all(broker, &all).await;
    let unknown = ErrorCode::UnknownTopicOrPartition;
    assert_eq!(errors, [ErrorCode::None, ErrorCode::OffsetMetadataTooLarge, unknown, unknown]);
    let mut stranger = ann.clone();
    stranger.id = "nobody".to_owned();
    let errors = stranger.commit_all(broker, &[(TOPIC, 0, 1, ""), ("nowhere", 0, 1, "")]).await;
    assert_eq!(errors, [ErrorCode::UnknownMemberId, unknown]);
    assert_eq!(stranger.commit_all(broker, &[("nowhere", 0, 1, "")]).await, [unknown]);
}

async fn any_offset_is_taken_and_comes_back(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    ann.commit_all(broker, &[(TOPIC, 0, 7, "seven"), (TOPIC, 1, -5, "")]).await;
    for version in [1, 2, 5, 7, 8, 9] {
        let fetched = broker.fetch(version, Some(&[0, 1])).await;
        assert_eq!(fetched, [(0, 7, "seven".to_owned(), 0), (1, -5, String::new(), 0)]);
    }
    ann.commit(broker, 3).await;
    assert_eq!(broker.fetch(8, None).await.len(), 2);
}

async fn what_is_not_committed_is_minus_one(broker: &mut Broker) {
    for version in [1, 2, 7, 8, 9] {
        assert_eq!(
            broker.fetch(version, Some(&[0])).await,
            [(0, -1, String::new(), 0)],
            "no group"
        );
    }
    assert_eq!(broker.fetch(8, None).await, []);
    assert_eq!(broker.fetch(7, None).await, []);
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    ann.commit(broker, 3).await;
    let fetched = broker.fetch(8, Some(&[0, 1, 9])).await;
    assert_eq!(fetched.iter().map(|fetched| fetched.1).collect::<Vec<_>>(), [3, -1, -1]);
}

async fn offsets_outlive_the_members(broker: &mut Broker) {
    let ann = broker.member("ann");
    let ann = alone(broker, ann).await;
    ann.commit(broker, 3).await;
    ann.leave(broker).await;
    assert_eq!(broker.fetch(8, None).await, [(0, 3, String::new(), 0)]);
}
