//! The sticky assigners on groups that are large, lopsided or nonsense: nothing panics, and nothing takes long.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "support/growth.rs"]
mod growth;

use std::sync::Arc;

use kafka_group::assign::{
    Coverage, EagerStickyAssigner, GroupAssignment, GroupSubscription, GroupSubscriptionBuilder,
    PartitionAssigner, Racks, StickyAssigner, StickyPlanner,
};

use growth::assert_grows_with_the_partitions;

fn planned(group: &GroupSubscription) -> GroupAssignment {
    let plan = StickyAssigner::default().assign(group).unwrap();
    assert_eq!(plan.validate(Coverage::ExactlyOnce), Ok(()));
    plan
}

fn loads<T>(group: &GroupSubscription<T>, plan: &GroupAssignment) -> Vec<usize> {
    group.members().map(|member| plan.load(member)).collect()
}

/// So many members with equal subscriptions.
fn members(mut group: GroupSubscriptionBuilder<()>, count: usize) -> GroupSubscriptionBuilder<()> {
    let topic: Arc<str> = "t".into();
    for member in 0..count {
        group = group.member(format!("m{member:05}"), [Arc::clone(&topic)], ());
    }
    group
}

#[test]
fn ten_thousand_members_share_one_partition() {
    let group = members(GroupSubscription::builder().topic("t", 1), 10_000).build();
    assert_eq!(loads(&group, &planned(&group)).iter().sum::<usize>(), 1);
}

#[test]
fn one_member_takes_a_million_partitions() {
    let group = members(GroupSubscription::builder().topic("t", 1_000_000), 1).build();
    assert_eq!(loads(&group, &planned(&group)), [1_000_000]);
}

#[test]
fn nobody_and_nothing_are_planned_for() {
    let group = GroupSubscription::builder().topic("t", 3).topic("empty", 0).build();
    assert!(loads(&group, &planned(&group)).is_empty());
    let group = GroupSubscription::builder().topic("t", 3).topic("empty", 0);
    let nothing: [&str; 0] = [];
    let group = group.member("idle", nothing, ()).member("a", ["empty", "ghost", "t"], ());
    let group = group.member("b", ["ghost", ""], ()).build();
    assert_eq!(loads(&group, &planned(&group)), [3, 0, 0]);
}

#[test]
fn claims_of_nonsense_win_nothing() {
    let group = GroupSubscription::builder().topic("t", 4).topic("other", 1);
    let claims =
        [("t", -1), ("t", i32::MAX), ("t", 0), ("t", 0), ("ghost", 3), ("", 0), ("other", 0)];
    let group = group.member("a", ["t"], ()).owns(claims, i32::MIN);
    let group = group.member("b", ["t"], ()).owns([("t", 1)], i32::MAX).build();
    let plan = planned(&group);
    assert_eq!(loads(&group, &plan), [2, 2]);
    let owner = |number| plan.holders(group.topic("t").unwrap().partition(number).unwrap()).next();
    assert_eq!(owner(0), Some(group.members().next().unwrap().index()));
    assert_eq!(owner(1), Some(group.members().last().unwrap().index()));
}

#[test]
fn names_may_be_any_text() {
    let names = ["", "\0", "\u{10FFFF}", "a\nb", "ä", " "];
    let mut group = GroupSubscription::builder();
    for name in names {
        group = group.topic(name, 2);
    }
    for name in names {
        group = group.member(format!("m{name}"), names, ()).rack(name).owns([(name, 0)], 1);
    }
    let group = group.build();
    assert_eq!(loads(&group, &planned(&group)), [2; 6]);
}

#[test]
fn weights_may_be_any_number() {
    let weights =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, f64::MAX, 1.0];
    for all in weights {
        let group = members(GroupSubscription::builder().topic("t", 64), 7).build();
        let mixed =
            StickyPlanner::new().weight(|partition| weights[partition.position() % 8]).plan(&group);
        let same = StickyPlanner::new().weight(|_| all).plan(&group);
        for plan in [mixed, same] {
            let loads = loads(&group, &plan);
            assert!(loads.iter().all(|load| [9, 10].contains(load)), "{all}: {loads:?}");
        }
    }
}

#[test]
fn capacities_may_be_any_number() {
    let capacities = [0, 1, u32::MAX, 0];
    let mut group = GroupSubscription::builder().topic("t", 10).topic("alone", 3);
    for (place, capacity) in capacities.into_iter().enumerate() {
        let topics = if place == 3 { vec!["t", "alone"] } else { vec!["t"] };
        group = group.member(format!("m{place}"), topics, capacity);
    }
    let group = group.build();
    let plan = StickyPlanner::new().capacity(|member| *member.metadata().unwrap()).plan(&group);
    assert_eq!(loads(&group, &plan), [0, 0, 10, 3]);
}

#[test]
fn slack_may_be_any_number() {
    let group = GroupSubscription::builder().topic("t", 9);
    let group = group.member("a", ["t"], ()).owns((0..9).map(|number| ("t", number)), 1);
    let group = group.member("b", ["t"], ()).build();
    for (slack, expected) in [(0, [5, 4]), (2, [7, 2]), (u32::MAX, [9, 0])] {
        let plan = EagerStickyAssigner::default().slack(slack).assign(&group).unwrap();
        assert_eq!(loads(&group, &plan), expected, "slack {slack}");
    }
}

#[test]
fn there_may_be_more_racks_than_bits() {
    let mut group = GroupSubscription::builder();
    let racks: Vec<String> = (0..200).map(|rack| format!("r{rack}")).collect();
    group = group.topic("t", 200).racks(racks.iter().map(|rack| [rack.as_str()]));
    for rack in racks.iter().rev() {
        group = group.member(format!("of {rack}"), ["t"], ()).rack(rack.as_str());
    }
    let group = group.build();
    for racks in [Racks::AfterMoves, Racks::BeforeMoves, Racks::LeadersBeforeMoves] {
        let plan = StickyAssigner::default().racks(racks).assign(&group).unwrap();
        for partition in group.partitions() {
            let holder = group.member(plan.holders(partition).next().unwrap()).unwrap();
            assert_eq!(holder.rack(), partition.leader().unwrap().rack.as_deref());
        }
    }
}

/// Invariant 9 of the field study: twice the partitions take about twice the time.
#[test]
fn time_grows_with_the_partitions() {
    let group = |partitions| {
        let mut group = GroupSubscription::builder().topic("t", partitions).topic("u", partitions);
        for member in 0..100 {
            let topics = if member % 10 == 0 { vec!["t"] } else { vec!["t", "u"] };
            let owned = (member as u32..partitions).step_by(101).map(|number| ("t", number as i32));
            group = group.member(format!("m{member:03}"), topics, ()).owns(owned, 1);
        }
        group.build()
    };
    let (small, large) = (group(20_000), group(80_000));
    assert_grows_with_the_partitions([&small, &large], 5, |group| drop(planned(group)));
}
