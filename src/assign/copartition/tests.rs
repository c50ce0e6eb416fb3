use super::*;
use crate::assign::GroupSubscriptionBuilder;

fn planned(assigner: &CoPartitionAssigner, group: &GroupSubscription) -> String {
    format!("{:?}", assigner.assign(group).unwrap())
}

/// Members a, b, … with equal subscriptions.
fn members(
    mut group: GroupSubscriptionBuilder<()>,
    count: u8,
    topics: &[&str],
) -> GroupSubscriptionBuilder<()> {
    for id in (b'a'..).take(count.into()).map(char::from) {
        group = group.member(id.to_string(), topics.iter().copied(), ());
    }
    group
}

fn loads(group: &GroupSubscription, plan: &GroupAssignment) -> Vec<usize> {
    group.members().map(|member| plan.load(member)).collect()
}

#[test]
fn partitions_of_one_number_go_to_one_member() {
    let group = GroupSubscription::builder().topic("x", 4).topic("y", 4);
    let group = members(group, 2, &["x", "y"]).build();
    assert_eq!(
        planned(&CoPartitionAssigner::default(), &group),
        r#"{"a": {"x": [0, 2], "y": [0, 2]}, "b": {"x": [1, 3], "y": [1, 3]}}"#
    );
}

#[test]
fn a_newcomer_takes_whole_units_and_nothing_else_moves() {
    let group = GroupSubscription::builder().topic("x", 4).topic("y", 4);
    let owned = |numbers: [i32; 2]| numbers.into_iter().flat_map(|n| [("x", n), ("y", n)]);
    let group = group.member("a", ["x", "y"], ()).owns(owned([0, 1]), 4);
    let group = group.member("b", ["x", "y"], ()).owns(owned([2, 3]), 4);
    let group = group.member("c", ["x", "y"], ()).build();
    assert_eq!(
        planned(&CoPartitionAssigner::default(), &group),
        r#"{"a": {"x": [0, 1], "y": [0, 1]}, "b": {"x": [2], "y": [2]}, "c": {"x": [3], "y": [3]}}"#
    );
}

#[test]
fn what_only_one_topic_has_levels_the_rest() {
    let group = GroupSubscription::builder().topic("x", 6).topic("y", 4);
    let group = members(group, 3, &["x", "y"]).build();
    let plan = CoPartitionAssigner::default().assign(&group).unwrap();
    assert_eq!(loads(&group, &plan), [4, 3, 3]);
}

#[test]
fn strict_names_the_topics_that_differ_and_their_counts() {
    let strict = CoPartitionAssigner::default().group(["x", "y", "ghost"]).group(["u"]).strict();
    let group = GroupSubscription::builder().topic("u", 1).topic("x", 6).topic("y", 4);
    let group = members(group, 2, &["u", "x", "y", "ghost"]).build();
    let error = strict.assign(&group).unwrap_err();
    assert!(matches!(&error, AssignError::CountsDiffer(topics)
            if *topics == [("x".into(), 6), ("y".into(), 4)]));
    let said = "topics that belong together differ in their partition counts: x=6, y=4";
    assert_eq!(error.to_string(), said);
}

#[test]
fn strict_plans_where_counts_agree_or_nobody_subscribes() {
    let strict = CoPartitionAssigner::default().strict();
    let group = GroupSubscription::builder().topic("x", 4).topic("y", 4).topic("unwanted", 9);
    let group = members(group, 2, &["x", "y"]).build();
    assert!(strict.assign(&group).is_ok());
}

#[test]
fn topics_of_no_group_level_what_units_left_uneven() {
    let group = GroupSubscription::builder().topic("x", 1).topic("y", 1).topic("z", 1);
    let group = members(group.topic("other", 6), 3, &["x", "y", "z", "other"]).build();
    let plan = CoPartitionAssigner::default().group(["x", "y", "z"]).assign(&group).unwrap();
    assert_eq!(loads(&group, &plan), [3, 3, 3]);
}

#[test]
fn a_group_is_split_by_the_subscribers_of_its_topics() {
    let group = GroupSubscription::builder().topic("x", 2).topic("y", 2).topic("z", 2);
    let group = group.member("old", ["x", "y"], ()).member("new", ["x", "y", "z"], ()).build();
    let assigner = CoPartitionAssigner::default();
    assert_eq!(format!("{:?}", assigner.units(&group)), "[[x-0, y-0], [x-1, y-1], [z-0], [z-1]]");
    let plan = assigner.assign(&group).unwrap();
    let together = |set: &crate::types::Partitions| {
        (0..2).all(|number| set.contains("x", number) == set.contains("y", number))
    };
    assert!(plan.by_name().values().all(together), "{plan:?}");
}

#[test]
fn units_say_what_belongs_together() {
    let group = GroupSubscription::builder().topic("a", 1).topic("x", 3).topic("y", 2);
    let group = group.topic("unwanted", 1).topic("empty", 0);
    let group = members(group, 1, &["a", "x", "y", "empty"]).build();
    let assigner = CoPartitionAssigner::default().group(["x", "y", "empty", "unwanted"]);
    let units = assigner.units(&group);
    let shown =
        |unit: CoPartitionUnit<'_>| format!("{:?} {} {unit:?}", unit.co_group(), unit.number());
    assert_eq!(
        units.iter().map(shown).collect::<Vec<_>>(),
        ["Some(0) 0 [x-0, y-0]", "Some(0) 1 [x-1, y-1]", "Some(0) 2 [x-2]", "None 0 [a-0]"]
    );
    let part = group.only(|topic| topic.name() != "y");
    assert_eq!(format!("{:?}", assigner.units(&part)), "[[x-0], [x-1], [x-2], [a-0]]");
}

#[test]
fn a_view_of_some_topics_is_planned_alone() {
    let group = GroupSubscription::builder().topic("x", 2).topic("y", 2).topic("z", 5);
    let group = members(group, 2, &["x", "y", "z"]).build();
    let part = group.only(|topic| topic.name() != "z");
    assert_eq!(
        planned(&CoPartitionAssigner::default(), &part),
        r#"{"a": {"x": [0], "y": [0]}, "b": {"x": [1], "y": [1]}}"#
    );
}

#[test]
fn several_groups_are_each_and_together_even() {
    let topics = ["a", "b", "c", "x", "y"];
    let group = GroupSubscription::builder().topic("a", 6).topic("b", 6).topic("c", 6);
    let group = members(group.topic("x", 6).topic("y", 6), 4, &topics).build();
    let assigner = CoPartitionAssigner::default().group(["a", "b", "c"]).group(["x", "y"]);
    let plan = assigner.assign(&group).unwrap();
    assert_eq!(loads(&group, &plan), [8, 8, 7, 7]);
    for set in plan.by_name().values() {
        let count = |topic: &str| set.iter().filter(|partition| partition.topic() == topic).count();
        assert!([1, 2].contains(&count("a")) && [1, 2].contains(&count("x")), "{plan:?}");
    }
}

#[test]
fn a_unit_is_near_where_most_of_its_partitions_are() {
    let group = GroupSubscription::builder()
        .topic("x", 2)
        .racks([["east"], ["west"]])
        .topic("y", 2)
        .racks([["east"], ["west"]])
        .topic("z", 2)
        .racks([["west"], ["east"]]);
    let group = group.member("a", ["x", "y", "z"], ()).rack("west");
    let group = group.member("b", ["x", "y", "z"], ()).rack("east").build();
    assert_eq!(
        planned(&CoPartitionAssigner::default().racks(Racks::BeforeMoves), &group),
        r#"{"a": {"x": [1], "y": [1], "z": [1]}, "b": {"x": [0], "y": [0], "z": [0]}}"#
    );
}

#[test]
fn racks_count_before_moves_or_after() {
    let at_home = |racks| {
        let homes = ["east", "west"].map(|rack| [rack]);
        let group = GroupSubscription::builder().topic("x", 2).racks(homes).topic("y", 2);
        let group = group.racks(homes);
        let group = group.member("a", ["x", "y"], ()).rack("west").owns([("x", 0), ("y", 0)], 1);
        let group = group.member("b", ["x", "y"], ()).rack("east").owns([("x", 1), ("y", 1)], 1);
        let plan = CoPartitionAssigner::default().racks(racks).assign(&group.build()).unwrap();
        plan.by_name()["a"].contains("x", 1)
    };
    assert_eq!([Racks::AfterMoves, Racks::BeforeMoves].map(at_home), [false, true]);
}

#[test]
fn a_unit_counts_as_whoever_had_most_of_it() {
    let group = GroupSubscription::builder().topic("x", 2).topic("y", 2).topic("z", 2);
    let topics = ["x", "y", "z"];
    let group = group.member("a", topics, ()).owns([("x", 1), ("y", 1), ("z", 0)], 1);
    let group = group.member("b", topics, ()).owns([("x", 0), ("y", 0), ("z", 1)], 1).build();
    assert_eq!(
        planned(&CoPartitionAssigner::default(), &group),
        r#"{"a": {"x": [1], "y": [1], "z": [1]}, "b": {"x": [0], "y": [0], "z": [0]}}"#
    );
}

#[test]
fn twice_the_capacity_gets_twice_the_units() {
    for counts in [[12, 12], [12, 6]] {
        let group = GroupSubscription::builder().topic("x", counts[0]).topic("y", counts[1]);
        let group = group.member("a", ["x", "y"], 8_u32).member("b", ["x", "y"], 4);
        let group = group.member("c", ["x", "y"], 0).build();
        let plan = CoPartitionAssigner::default()
            .plan_by_capacity(&group, |member| member.metadata().copied().unwrap_or(1))
            .unwrap();
        let loads: Vec<usize> = group.members().map(|member| plan.load(member)).collect();
        assert_eq!(loads, [2, 1, 0].map(|part| part * (counts[0] + counts[1]) as usize / 3));
    }
}
