use super::*;
use crate::assign::GroupSubscriptionBuilder;
use crate::types::Partitions;

type Builder = GroupSubscriptionBuilder<()>;

/// So many members, `a` to `z`, of one topic with so many partitions.
fn group(members: u8, partitions: u32) -> Builder {
    let mut group = GroupSubscription::builder().topic("t", partitions);
    for member in 0..members {
        group = group.member(name(member), ["t"], ());
    }
    group
}

fn name(member: u8) -> String {
    char::from(b'a' + member).to_string()
}

fn planned(copies: u16, group: &GroupSubscription) -> GroupAssignment {
    let plan = RedundantAssigner::new(copies).assign(group).unwrap();
    assert_eq!(plan.validate(Coverage::Copies(copies)), Ok(()));
    plan
}

/// Per partition its holders by id, the first one in front.
fn holders(group: &GroupSubscription, plan: &GroupAssignment) -> Vec<String> {
    let of = |partition| plan.holders(partition).filter_map(|at| Some(group.member(at)?.id()));
    group.partitions().map(|partition| of(partition).collect::<String>()).collect()
}

fn loads(group: &GroupSubscription, plan: &GroupAssignment) -> Vec<usize> {
    group.members().map(|member| plan.load(member)).collect()
}

/// The group after a plan has been published and taken, with these members.
fn after(
    plan: &GroupAssignment,
    before: &GroupSubscription,
    members: &[&str],
) -> GroupSubscription {
    let mut group = GroupSubscription::builder();
    for topic in before.topics() {
        group = group.topic(topic.name(), topic.partition_count() as u32);
    }
    let given = plan.by_name();
    for id in members {
        group = group.member(*id, ["t"], ());
        if let Some(set) = given.get(*id) {
            group = group.owns(claims(set), 7);
            let place = before.members().position(|member| member.id() == *id).unwrap();
            group = group.standing_by(claims(&plan.standbys(place as u32, set)));
        }
    }
    group.build()
}

fn claims(set: &Partitions) -> Vec<(String, i32)> {
    set.iter().map(|at| (at.topic().to_owned(), at.partition())).collect()
}

#[test]
fn copies_are_with_different_members_and_loads_within_one() {
    for (members, partitions, copies) in [(3, 3, 2), (5, 7, 2), (5, 7, 3), (4, 1, 3), (7, 100, 5)] {
        let group = group(members, partitions).build();
        let plan = planned(copies, &group);
        let loads = loads(&group, &plan);
        let spread = loads.iter().max().unwrap() - loads.iter().min().unwrap();
        assert!(spread <= 1, "{members} members, {partitions} partitions: {loads:?}");
    }
}

#[test]
fn more_copies_than_members_are_one_each_and_the_leader_says_so() {
    let group = group(2, 2).topic("nobody's", 1).build();
    let plan = planned(3, &group);
    assert_eq!(loads(&group, &plan), [2, 2]);
    let few = plan.few_copies(RedundantAssigner::new(3).coverage());
    let few: Vec<_> = few.iter().map(|few| (&*few.topic, few.copies, few.wanted)).collect();
    assert_eq!(few, [("t", 2, 3)]);
    assert!(plan.few_copies(Coverage::Copies(2)).is_empty());
}

#[test]
fn no_copies_are_taken_for_one_which_is_the_sticky_plan() {
    let group = group(2, 4).build();
    for copies in [0, 1] {
        let assigner = RedundantAssigner::new(copies);
        assert_eq!((assigner.copies(), assigner.coverage()), (1, Coverage::Copies(1)));
        assert_eq!(loads(&group, &assigner.assign(&group).unwrap()), [2, 2]);
    }
}

#[test]
fn copies_are_in_different_processes_then_hosts_then_racks() {
    let place = [
        ("h1", "1", "r1"),
        ("h1", "1", "r1"),
        ("h1", "2", "r1"),
        ("h2", "3", "r1"),
        ("h3", "4", "r2"),
        ("h4", "5", "r2"),
    ];
    let mut builder = GroupSubscription::builder().topic("t", 12);
    for ((host, process, rack), member) in place.into_iter().zip(0..) {
        builder = builder.member(name(member), ["t"], ()).process(host, process).rack(rack);
    }
    let group = builder.build();
    let plan = planned(2, &group);
    assert_eq!(loads(&group, &plan), [4; 6]);
    let mut in_one_rack = 0;
    for partition in group.partitions() {
        let holders: Vec<_> = plan.holders(partition).map(|at| group.member(at).unwrap()).collect();
        assert_ne!(holders[0].process(), holders[1].process(), "{partition:?}");
        assert_ne!(holders[0].host(), holders[1].host(), "{partition:?}");
        in_one_rack += usize::from(holders[0].rack() == holders[1].rack());
    }
    // Two thirds of the members are in one rack, so a third of the partitions must have both copies there.
    assert_eq!(in_one_rack, 4);
}

#[test]
fn equal_process_keys_for_all_are_as_good_as_none() {
    let mut builder = GroupSubscription::builder().topic("t", 5);
    for member in 0..4 {
        builder = builder.member(name(member), ["t"], ()).process("host", "1").rack("r");
    }
    let together = builder.build();
    let unknown = group(4, 5).build();
    assert_eq!(planned(2, &together).by_name(), planned(2, &unknown).by_name());
}

#[test]
fn what_stays_moves_nothing_and_keeps_its_role() {
    let group = group(5, 10).build();
    let first = planned(3, &group);
    let again = after(&first, &group, &["a", "b", "c", "d", "e"]);
    let second = planned(3, &again);
    let sorted = |plan, group| -> Vec<String> {
        let sort = |holders: String| {
            let (first, others) = holders.split_at(1);
            let mut others: Vec<char> = others.chars().collect();
            others.sort_unstable();
            first.to_owned() + &others.into_iter().collect::<String>()
        };
        holders(group, plan).into_iter().map(sort).collect()
    };
    assert_eq!(sorted(&first, &group), sorted(&second, &again));
}

#[test]
fn a_standby_becomes_the_first_when_the_first_leaves_and_no_other_role_changes() {
    let group = group(4, 8).build();
    let before = planned(2, &group);
    let next = after(&before, &group, &["b", "c", "d"]);
    let plan = planned(2, &next);
    for (was, is) in holders(&group, &before).into_iter().zip(holders(&next, &plan)) {
        let (first, standby) = was.split_at(1);
        let expected = if first == "a" { standby } else { first };
        assert!(is.starts_with(expected), "{was} became {is}");
    }
    let moved: usize = before.by_name()["a"].len();
    let kept: usize = ["b", "c", "d"]
        .iter()
        .map(|id| plan.by_name()[*id].intersection(&before.by_name()[*id]).len())
        .sum();
    assert_eq!(kept + moved, 16, "only what was a's moves");
}

#[test]
fn a_newcomer_gets_its_share_in_two_rounds_and_the_third_changes_nothing() {
    let group = group(3, 9).build();
    let settled = planned(2, &group);
    let joined = after(&settled, &group, &["a", "b", "c", "d"]);
    let target = planned(2, &joined);
    let mut published = target.clone();
    let withheld = published.withhold(Coverage::Copies(2));
    assert!(!withheld.is_empty());
    let next = after(&published, &joined, &["a", "b", "c", "d"]);
    let mut second = planned(2, &next);
    assert_eq!(holders(&next, &second), holders(&joined, &target));
    assert!(second.withhold(Coverage::Copies(2)).is_empty());
    let third = planned(2, &after(&second, &next, &["a", "b", "c", "d"]));
    assert_eq!(third.by_name(), second.by_name());
}

#[test]
fn fewer_copies_than_before_move_nothing() {
    let group = group(4, 8).build();
    let before = planned(3, &group);
    let next = after(&before, &group, &["a", "b", "c", "d"]);
    let mut plan = planned(2, &next);
    for (id, set) in plan.by_name() {
        assert!(set.difference(&before.by_name()[&id]).is_empty(), "{id} gets something new");
    }
    assert!(plan.withhold(Coverage::Copies(2)).is_empty());
}

#[test]
fn first_copies_are_shared_out() {
    let group = group(6, 60).build();
    let plan = planned(2, &group);
    let firsts = |id: &str| holders(&group, &plan).iter().filter(|h| h.starts_with(id)).count();
    let counts: Vec<usize> = (0..6).map(|member| firsts(&name(member))).collect();
    assert!(counts.iter().all(|count| (8..=12).contains(count)), "{counts:?}");
}

#[test]
fn what_no_group_could_be_told_is_refused() {
    let mut group = GroupSubscription::builder().topic("t", 1 << 20);
    for member in 0..200 {
        group = group.member(format!("{member}"), ["t"], ());
    }
    let error = RedundantAssigner::new(200).assign(&group.build()).unwrap_err();
    assert_eq!(error.to_string(), "209715200 copies of partitions, of at most 134217728");
}
