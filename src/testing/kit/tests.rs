use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use super::*;
use crate::assign::{
    AssignError, CoPartitionAssigner, Coverage, EagerStickyAssigner, GroupAssignment,
    GroupSubscription, LocalMember, MemberRef, PerTopicAssigner, RackAwareAssigner, RangeAssigner,
    RedundantAssigner, RoundRobinAssigner, StickyAssigner,
};

/// An assigner that is only as good as this function.
#[derive(Clone, Copy)]
struct Free {
    assign: fn(&GroupSubscription<Told>, &str) -> Result<GroupAssignment, AssignError>,
    metadata: fn(&LocalMember<'_>) -> Told,
    own: &'static str,
}

#[derive(Deserialize, Serialize)]
enum Told {
    Cpus(usize),
    /// Written in no order.
    Map(HashMap<u8, u8>),
}

impl PartitionAssigner<Told> for Free {
    fn name(&self) -> &str {
        "free"
    }

    fn metadata(&self, local: &LocalMember<'_>) -> Told {
        (self.metadata)(local)
    }

    fn assign(&self, group: &GroupSubscription<Told>) -> Result<GroupAssignment, AssignError> {
        (self.assign)(group, self.own)
    }
}

const FREE: Free = Free {
    assign: |group, _| Ok(dealt(group, 0)),
    metadata: |local| Told::Cpus(local.cpus),
    own: "",
};

/// Each partition to the next subscriber, from one on.
fn dealt<T>(group: &GroupSubscription<T>, from: usize) -> GroupAssignment {
    let mut plan = group.plan();
    for partition in group.partitions() {
        let subscribers: Vec<MemberRef<'_, T>> = group.subscribers(partition.topic()).collect();
        if !subscribers.is_empty() {
            plan.give(subscribers[(from + partition.position()) % subscribers.len()], partition);
        }
    }
    plan
}

fn first_fault(assigner: Free) -> String {
    let report = check_assigner(assigner);
    report.faults().first().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn every_builtin_is_sound() {
    let joining = CoPartitionAssigner::default().group(["topic-0", "topic-1", "new-2"]);
    for report in [
        check_assigner(CoPartitionAssigner::default()),
        check_assigner(joining),
        check_assigner(RackAwareAssigner::new()),
        check_assigner(RedundantAssigner::new(2)),
        check_assigner(RangeAssigner::default()),
        check_assigner(RangeAssigner::default().rack_aware()),
        check_assigner(RoundRobinAssigner::default()),
        check_assigner(EagerStickyAssigner::default().slack(1)),
        check_assigner(StickyAssigner::default().racks(crate::assign::Racks::BeforeMoves)),
        check_assigner(PerTopicAssigner::new(StickyAssigner::default()).unwrap()),
    ] {
        report.assert_sound();
        assert!(report.changes().all(|(_, change)| change.plans > 0), "{report}");
    }
}

#[test]
fn the_sticky_assigners_balance_and_move_least() {
    for report in
        [check_assigner(StickyAssigner::default()), check_assigner(EagerStickyAssigner::default())]
    {
        report.assert_sound();
        assert!(report.is_balanced() && report.moves_least(), "{report}");
    }
    let range = check_assigner(RangeAssigner::default());
    assert!(!range.is_balanced() && !range.moves_least(), "{range}");
}

#[test]
fn an_assigner_without_a_fault_has_none() {
    assert_eq!(first_fault(FREE), "");
}

#[test]
fn plans_that_cannot_be_are_told_with_the_seed_that_draws_their_group() {
    let empty = Free { assign: |group, _| Ok(group.plan()), ..FREE };
    assert!(first_fault(empty).starts_with("seed 0, start: invalid plan: "));
    let panicking = Free { assign: |_, _| panic!("no idea"), ..FREE };
    assert_eq!(first_fault(panicking), "seed 0, start: the assigner panicked: no idea");
}

#[test]
fn a_refusal_is_counted_and_no_fault() {
    let choosy = Free {
        assign: |group, _| match group.topics().any(|topic| topic.name().starts_with("new")) {
            true => Err(AssignError::other("not today")),
            false => Ok(dealt(group, 0)),
        },
        ..FREE
    };
    let report = check_assigner(choosy);
    report.assert_sound();
    let refused = |(_, change): (GroupChange, &ChangeReport)| change.refused;
    assert!(report.changes().map(refused).sum::<usize>() > 0, "{report}");
}

#[test]
fn who_refuses_every_group_is_not_sound_and_the_first_reason_is_told() {
    let never = Free { assign: |_, _| Err(AssignError::other("not today")), ..FREE };
    assert_eq!(first_fault(never), "it planned for no group: not today");
}

#[test]
fn who_made_no_plan_is_not_called_balanced() {
    let panicking = check_assigner(Free { assign: |_, _| panic!("no idea"), ..FREE });
    assert!(!panicking.is_balanced() && !panicking.moves_least(), "{panicking}");
}

#[test]
fn a_fault_says_how_to_drive_its_group_alone() {
    let panicking = Free { assign: |_, _| panic!("no idea"), ..FREE };
    let report = AssignerCheck::new(|_| panicking).seed(5).run();
    let again = "`AssignerCheck::new(..).seed(5).groups(1)` drives that group alone";
    assert!(report.to_string().contains(again), "{report}");
    let alone = AssignerCheck::new(|_| panicking).seed(5).groups(1).run();
    assert_eq!(alone.faults(), &report.faults()[..1]);
}

#[test]
fn who_draws_is_caught() {
    static DRAWN: AtomicUsize = AtomicUsize::new(0);
    let drawing =
        Free { assign: |group, _| Ok(dealt(group, DRAWN.fetch_add(1, Ordering::Relaxed))), ..FREE };
    assert!(first_fault(drawing).ends_with(": planned twice, the same group has two plans"));
}

#[test]
fn leaders_that_plan_their_own_way_are_caught() {
    let assign = |group: &GroupSubscription<Told>, own: &str| Ok(dealt(group, own.len()));
    let report =
        AssignerCheck::new(|member| Free { assign, own: ["", "x"][member % 2], ..FREE }).run();
    assert!(report.faults()[0].to_string().contains("another leader makes another plan"));
}

#[test]
fn who_goes_by_member_ids_moves_what_static_members_had() {
    let by_id = Free {
        assign: |group, _| {
            let mut plan = group.plan();
            for partition in group.partitions() {
                let subscribers = group.subscribers(partition.topic());
                if let Some(last) = subscribers.max_by_key(|member| member.id().to_owned()) {
                    plan.give(last, partition);
                }
            }
            Ok(plan)
        },
        ..FREE
    };
    assert!(
        first_fault(by_id).ends_with(", restart: a static member restarted, and something moved")
    );
}

#[test]
fn who_never_comes_to_rest_is_caught() {
    let restless = Free {
        assign: |group, _| {
            let mut plan = group.plan();
            for partition in group.partitions() {
                let owner = group.owner(partition);
                let other = group.subscribers(partition.topic()).find(|m| Some(*m) != owner);
                if let Some(member) = other.or(owner).filter(|m| m.subscribes(partition.topic())) {
                    plan.give(member, partition);
                }
            }
            Ok(plan)
        },
        ..FREE
    };
    let report = check_assigner(restless);
    assert!(
        report
            .faults()
            .iter()
            .any(|fault| matches!(fault, AssignerFault::Unsettled { rounds: 3, .. })),
        "{report}"
    );
}

#[test]
fn metadata_that_is_written_in_no_order_is_caught() {
    let unordered =
        Free { metadata: |_| Told::Map((0..50).map(|key| (key, key)).collect()), ..FREE };
    assert_eq!(first_fault(unordered), "its metadata: equal input, different bytes");
    let panicking = Free { metadata: |_| panic!("no idea"), ..FREE };
    assert_eq!(first_fault(panicking), "its metadata: it panicked");
}

#[test]
fn a_name_of_kafkas_is_a_fault() {
    struct Range;

    impl PartitionAssigner for Range {
        fn name(&self) -> &str {
            "range"
        }

        fn metadata(&self, _local: &LocalMember<'_>) {}

        fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
            Ok(group.plan())
        }
    }

    let report = check_assigner(Range);
    assert!(report.to_string().contains("FAULT: no member could list it: the name `range`"));
}

#[test]
fn what_gather_would_bring_is_there() {
    let heaviest = Free {
        assign: |group, _| {
            let count =
                group.gathered::<usize>().copied().ok_or_else(|| AssignError::other("nothing"))?;
            assert_eq!(count, group.partitions().count());
            Ok(dealt(group, count))
        },
        ..FREE
    };
    let report = AssignerCheck::new(|_| heaviest).gathered(Partitions::len).run();
    report.assert_sound();
    assert!(report.changes().all(|(_, change)| change.refused == 0), "{report}");
}

#[test]
fn copies_are_driven_without_a_comparison() {
    struct Everywhere;

    impl PartitionAssigner for Everywhere {
        fn name(&self) -> &str {
            "everywhere"
        }

        fn metadata(&self, _local: &LocalMember<'_>) {}

        fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
            let mut plan = group.plan();
            for partition in group.partitions() {
                for member in group.subscribers(partition.topic()) {
                    plan.give(member, partition);
                }
            }
            Ok(plan)
        }

        fn coverage(&self) -> Coverage {
            Coverage::Copies(100)
        }
    }

    let report = check_assigner(Everywhere);
    report.assert_sound();
    assert!(!report.is_balanced());
    assert!(report.to_string().lines().nth(2).unwrap().contains(" - "), "{report}");
}

#[test]
fn a_report_reads_as_a_table() {
    let report = AssignerCheck::new(|_| FREE).groups(1).seed(3).run();
    let lines: Vec<String> = report.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "free over 1 groups, seed 3");
    assert_eq!(lines[1], "change          plans refused balanced excess  moves fewest rounds");
    assert!(lines[2].starts_with("start               1       0 "), "{}", lines[2]);
}
