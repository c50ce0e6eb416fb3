//! Copies against a search through all plans of tiny groups, and against what must hold of any plan.

mod cases;
mod exhaustive;

use super::*;
use cases::{Case, Score, Size};

/// How many groups are tried: a build for debugging tries few, `KAFKA_GROUP_FULL=1` all.
fn rounds(quick: u64, full: u64) -> u64 {
    match std::env::var_os("KAFKA_GROUP_FULL") {
        Some(_) => full,
        None => quick,
    }
}

#[test]
fn copies_of_a_tiny_group_are_balanced_and_apart_as_far_as_any_plan_is() {
    let (mut moves, mut fewest) = (0, 0);
    for seed in 0..rounds(3_000, 60_000) {
        let case = Case::random(seed, Size::TINY);
        let plan = case.solve();
        let (found, best) = (Score::of(&case, &plan), exhaustive::best(&case));
        assert_eq!(found.balance, best.balance, "seed {seed}: {plan:?} of {case:?}");
        assert_eq!(found.together, best.together, "seed {seed}: {plan:?} of {case:?}");
        assert!(found.moves >= best.moves, "seed {seed}: {plan:?} of {case:?}");
        moves += found.moves;
        fewest += best.moves;
    }
    println!("{moves} moves, at the least {fewest}");
    assert!(moves * 100 <= fewest * 101, "{moves} moves, at the least {fewest}");
}

#[test]
fn nothing_can_be_taken_from_anybody_for_somebody_with_two_less() {
    for seed in 0..rounds(1_000, 20_000) {
        let case = Case::random(seed, Size::SMALL);
        let plan = case.solve();
        let loads = case.loads(&plan);
        let takes_from = Graph::of(&case, &plan);
        for giver in 0..loads.len() {
            for taker in takes_from.reached_from(giver) {
                assert!(
                    loads[giver] < loads[taker] + 2,
                    "seed {seed}: {giver} to {taker}, {case:?}"
                );
            }
        }
    }
}

#[test]
fn each_domain_has_of_all_items_of_a_kind_equally_many_copies_but_for_one() {
    for seed in 0..rounds(1_000, 20_000) {
        let case = Case::random(seed, Size::SMALL);
        let plan = case.solve();
        let members: Vec<u32> = (0..case.members.len() as u32).collect();
        for families in case.families_by_takers() {
            for level in case.domains.iter().chain([&members]) {
                let copies = |item: u32, domain: u32| {
                    plan.of(item).iter().filter(|member| level[**member as usize] == domain).count()
                };
                for domain in level {
                    let items = families.iter().flat_map(|family| family.items());
                    let counts = items.map(|item| copies(item as u32, *domain));
                    let (least, most) = (counts.clone().min(), counts.max());
                    assert!(most <= least.map(|least| least + 1), "seed {seed}: {case:?}");
                }
            }
        }
    }
}

#[test]
fn a_plan_planned_again_is_the_same() {
    for seed in 0..rounds(1_000, 20_000) {
        let mut case = Case::random(seed, Size::SMALL);
        case.holders = sorted(&case, &case.solve());
        assert_eq!(sorted(&case, &case.solve()), case.holders, "seed {seed}: {case:?}");
    }
}

#[test]
fn partners_are_many() {
    // Ten members, 45 pairs and two copies of 90 items: two items a pair would be ideal.
    let case = Case::alike(10, 90, 2);
    let plan = case.solve();
    let mut pairs = std::collections::BTreeMap::new();
    for item in 0..90 {
        let mut pair = plan.of(item).to_vec();
        pair.sort_unstable();
        *pairs.entry(pair).or_insert(0) += 1;
    }
    assert!(pairs.len() >= 40, "{} pairs", pairs.len());
    assert!(pairs.values().all(|items| *items <= 4), "{pairs:?}");
}

/// With the holders of each item ascending.
fn sorted(case: &Case, plan: &Holders) -> Holders {
    let mut sorted = Holders::default();
    for item in 0..case.item_count() {
        let mut members = plan.of(item).to_vec();
        members.sort_unstable();
        sorted.push(members);
    }
    sorted
}

/// Who could take an item from whom.
struct Graph(Vec<Vec<usize>>);

impl Graph {
    fn of(case: &Case, plan: &Holders) -> Self {
        let mut takers = vec![Vec::new(); case.members.len()];
        for (item, eligible) in (0..).zip(case.eligible()) {
            let holders = plan.of(item);
            for giver in holders {
                let others = eligible.iter().filter(|member| !holders.contains(member));
                takers[*giver as usize].extend(others.map(|member| *member as usize));
            }
        }
        Self(takers)
    }

    fn reached_from(&self, giver: usize) -> Vec<usize> {
        let mut reached = vec![giver];
        let mut next = 0;
        while let Some(member) = reached.get(next) {
            next += 1;
            for taker in &self.0[*member] {
                if !reached.contains(taker) {
                    reached.push(*taker);
                }
            }
        }
        reached
    }
}
