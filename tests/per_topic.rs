//! Several assigners as one, on groups that are large, lopsided or nonsense.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::Arc;

use kafka_group::assign::{
    CoPartitionAssigner, Coverage, GroupSubscription, GroupSubscriptionBuilder, LocalMember,
    MetadataError, PartitionAssigner, Parts, PerTopicAssigner, RoundRobinAssigner, StickyAssigner,
};

/// Joined topics `x` and `y`, whatever begins with `m`, and the rest.
fn assigner() -> PerTopicAssigner {
    let assigner = PerTopicAssigner::new(StickyAssigner::default()).unwrap();
    let assigner = assigner.topics(["x", "y"], CoPartitionAssigner::default()).unwrap();
    assigner.pattern("^m", RoundRobinAssigner::default()).unwrap()
}

fn loads(group: &GroupSubscription<Parts>) -> Vec<usize> {
    let plan = assigner().assign(group).unwrap();
    assert_eq!(plan.validate(Coverage::ExactlyOnce), Ok(()));
    group.members().map(|member| plan.load(member)).collect()
}

fn members(
    mut group: GroupSubscriptionBuilder<Parts>,
    count: usize,
) -> GroupSubscriptionBuilder<Parts> {
    let topics: [Arc<str>; 5] = ["x", "y", "m", "rest", "ghost"].map(Into::into);
    let parts = assigner().metadata(&LocalMember::new("group"));
    for member in 0..count {
        group = group.member(format!("m{member:05}"), topics.clone(), parts.clone());
    }
    group
}

#[test]
fn ten_thousand_members_share_one_partition() {
    let group = members(GroupSubscription::builder().topic("m", 1), 10_000).build();
    assert_eq!(loads(&group).iter().sum::<usize>(), 1);
}

#[test]
fn one_member_takes_a_million_partitions() {
    let group = ["x", "y", "m", "rest"]
        .into_iter()
        .fold(GroupSubscription::builder(), |group, topic| group.topic(topic, 250_000));
    assert_eq!(loads(&members(group, 1).build()), [1_000_000]);
}

#[test]
fn nobody_and_nothing_are_planned_for() {
    let group = || GroupSubscription::builder().topic("x", 3).topic("rest", 0);
    assert!(loads(&group().build()).is_empty());
    assert_eq!(loads(&members(group(), 2).build()), [2, 1]);
    assert_eq!(loads(&members(GroupSubscription::builder(), 2).build()), [0, 0]);
}

#[test]
fn members_that_say_nothing_readable_get_their_part() {
    let group = members(GroupSubscription::builder().topic("m", 4).topic("rest", 2), 3);
    let group = group.undecodable("m00001", MetadataError::TooShort).build();
    assert_eq!(loads(&group), [3, 2, 1]);
}

#[test]
fn names_may_be_any_text() {
    let mut group = GroupSubscription::builder();
    for name in ["", "\0", "m\n", "ä"] {
        group = group.topic(name, 2);
    }
    for name in ["", "\0", "m\n", "ä"] {
        group = group.member(name, ["", "\0", "m\n", "ä"], Parts::default()).owns([(name, -1)], 1);
    }
    assert_eq!(loads(&group.build()).iter().sum::<usize>(), 8);
}
