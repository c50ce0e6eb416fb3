//! The solver against two others that are slow, simple and share nothing with it.

mod beside;
mod exhaustive;
mod item_flow;
pub(super) mod random;
pub(super) mod score;

use std::borrow::Cow;

use super::*;
use random::{Case, Size};
use score::Score;

/// How many groups are tried: a build for debugging tries few, `KAFKA_GROUP_FULL=1` all.
pub(super) fn rounds(quick: u64, full: u64) -> u64 {
    match std::env::var_os("KAFKA_GROUP_FULL") {
        Some(_) => full,
        None => quick,
    }
}

pub(super) const PRIORITIES: [Priority; 2] = [Priority::MovesThenRacks, Priority::RacksThenMoves];

/// Both orders, without slack and with some.
fn all_wishes() -> impl Iterator<Item = Wishes> {
    PRIORITIES.into_iter().flat_map(|priority| [0, 1, 2].map(|slack| Wishes { priority, slack }))
}

#[test]
fn no_plan_of_a_tiny_group_is_better() {
    for seed in 0..rounds(4_000, 120_000) {
        let case = Case::random(seed, Size::TINY);
        let plans = exhaustive::Plans::of(&case);
        for wishes in all_wishes() {
            let plan = solve(&case.problem(), &wishes);
            let found = Score::of(&case, &plan, wishes);
            assert_eq!(
                found,
                plans.best(&case, wishes),
                "seed {seed}, {wishes:?}: {plan:?} of {case:?}"
            );
        }
    }
}

#[test]
fn a_flow_of_single_items_finds_no_better_plan_of_a_small_group() {
    for seed in 0..rounds(250, 12_000) {
        let case = Case::random(seed, Size::SMALL);
        for wishes in all_wishes() {
            let plan = solve(&case.problem(), &wishes);
            let found = Score::of(&case, &plan, wishes);
            let best = Score::of(&case, &item_flow::plan(&case, wishes), wishes);
            assert_eq!(found, best, "seed {seed}, {wishes:?}: {plan:?} of {case:?}");
        }
    }
}

#[test]
fn the_two_references_agree() {
    for seed in 0..rounds(200, 4_000) {
        let case = Case::random(seed, Size::TINY);
        let plans = exhaustive::Plans::of(&case);
        for wishes in all_wishes() {
            let flow = item_flow::plan(&case, wishes);
            assert_eq!(
                Score::of(&case, &flow, wishes),
                plans.best(&case, wishes),
                "seed {seed}, {wishes:?}"
            );
        }
    }
}

#[test]
fn a_plan_planned_again_is_the_same() {
    for seed in 0..rounds(1_000, 20_000) {
        let mut case = Case::random(seed, Size::SMALL);
        let wishes = Wishes { slack: (seed % 3) as u32, ..Wishes::default() };
        case.owners = solve(&case.problem(), &wishes);
        assert_eq!(solve(&case.problem(), &wishes), case.owners, "seed {seed}: {case:?}");
    }
}

#[test]
fn named_pieces_of_work_are_divided_like_partitions() {
    let count = 10_000;
    let pieces: Vec<String> = (0..count).map(|piece| format!("piece {piece}")).collect();
    let members = vec![Member { group: 0, rack: NONE, capacity: 1 }; 7];
    let mut problem = Problem {
        families: vec![Family { first: 0, count, takers: 0 }],
        takers: vec![vec![0]],
        members,
        groups: 1,
        owners: Cow::Borrowed(&[]),
        racks: None,
        weights: Vec::new(),
    };
    let plan = solve(&problem, &Wishes::default());
    assert!(loads(&plan, 7).iter().all(|load| [1428, 1429].contains(load)));
    assert_eq!(plan.len(), pieces.len());

    problem.members.push(problem.members[0]);
    problem.owners = Cow::Borrowed(&plan);
    let next = solve(&problem, &Wishes::default());
    assert_eq!(loads(&next, 8), [1250; 8]);
    assert_eq!(plan.iter().zip(&next).filter(|(before, after)| before != after).count(), 1250);
}

#[test]
fn weights_are_even_where_numbers_leave_a_choice() {
    let members = vec![Member { group: 0, rack: NONE, capacity: 1 }; 4];
    let problem = Problem {
        families: vec![Family { first: 0, count: 40, takers: 0 }],
        takers: vec![vec![0]],
        members,
        groups: 1,
        owners: Cow::Borrowed(&[]),
        racks: None,
        weights: (0..40).map(|item| if item < 4 { 1000 } else { item }).collect(),
    };
    let plan = solve(&problem, &Wishes::default());
    assert_eq!(loads(&plan, 4), [10; 4]);
    let mut weights = [0; 4];
    plan.iter()
        .zip(&problem.weights)
        .for_each(|(member, weight)| weights[*member as usize] += weight);
    assert!(weights.iter().max().unwrap() - weights.iter().min().unwrap() <= 3, "{weights:?}");
}

#[test]
fn nobody_and_nothing_are_no_trouble() {
    let mut problem = Problem {
        families: Vec::new(),
        takers: Vec::new(),
        members: Vec::new(),
        groups: 0,
        owners: Cow::Borrowed(&[]),
        racks: None,
        weights: Vec::new(),
    };
    assert!(solve(&problem, &Wishes::default()).is_empty());
    problem.families.push(Family { first: 0, count: 2, takers: NONE });
    assert_eq!(solve(&problem, &Wishes::default()), [NONE; 2]);
    problem.takers.push(Vec::new());
    problem.families.push(Family { first: 2, count: 0, takers: 0 });
    problem.groups = 1;
    problem.members.push(Member { group: 0, rack: 9, capacity: 0 });
    assert_eq!(solve(&problem, &Wishes::default()), [NONE; 2]);
    assert_eq!(solve(&problem, &Wishes { slack: u32::MAX, ..Wishes::default() }), [NONE; 2]);
}

fn loads(plan: &[u32], members: usize) -> Vec<u32> {
    let mut loads = vec![0; members];
    plan.iter().filter(|member| **member != NONE).for_each(|member| loads[*member as usize] += 1);
    loads
}
