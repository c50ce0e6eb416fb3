//! Every plan of a tiny group.

use super::random::Case;
use super::score::{Score, balance};
use crate::assign::solver::{NONE, Wishes};

/// What matters of all plans, each kind once.
pub(super) struct Plans {
    plans: Vec<(u128, Vec<u32>, u32, u32)>,
}

impl Plans {
    pub(super) fn of(case: &Case) -> Self {
        let mut found = Found {
            case,
            eligible: case.eligible(),
            loads: vec![0; case.members.len()],
            kinds: Vec::new(),
        };
        found.go_on(0, 0, 0);
        found.kinds.sort_unstable();
        found.kinds.dedup();
        let with_balance = |(loads, moves, misses): (Vec<u32>, u32, u32)| {
            (balance(case, &loads), loads, moves, misses)
        };
        Self { plans: found.kinds.into_iter().map(with_balance).collect() }
    }

    /// The score of the best plan.
    pub(super) fn best(&self, case: &Case, wishes: Wishes) -> Score {
        let balanced = self.plans.iter().map(|plan| plan.0).min().unwrap();
        let loads_of = |member: usize| {
            self.plans.iter().filter(|plan| plan.0 == balanced).map(move |plan| plan.1[member])
        };
        let bounds: Vec<(u32, u32)> = (0..case.members.len())
            .map(|member| (loads_of(member).min().unwrap(), loads_of(member).max().unwrap()))
            .collect();
        let is_within = |(load, (least, most)): (&u32, &(u32, u32))| {
            *load + wishes.slack >= *least && *load <= most + wishes.slack
        };
        let allowed = self.plans.iter().filter(|plan| match wishes.slack {
            0 => plan.0 == balanced,
            _ => plan.1.iter().zip(&bounds).all(is_within),
        });
        let score = |plan: &(u128, Vec<u32>, u32, u32)| {
            Score::with(if wishes.slack > 0 { 0 } else { plan.0 }, plan.2, plan.3, wishes.priority)
        };
        allowed.map(score).min().unwrap()
    }
}

struct Found<'a> {
    case: &'a Case,
    eligible: Vec<Vec<u32>>,
    loads: Vec<u32>,
    kinds: Vec<(Vec<u32>, u32, u32)>,
}

impl Found<'_> {
    fn go_on(&mut self, item: usize, moves: u32, misses: u32) {
        if item == self.eligible.len() {
            return self.kinds.push((self.loads.clone(), moves, misses));
        }
        if self.eligible[item].is_empty() {
            return self.go_on(item + 1, moves, misses);
        }
        let prior = self.case.prior(item);
        for place in 0..self.eligible[item].len() {
            let member = self.eligible[item][place];
            self.loads[member as usize] += 1;
            let moved = u32::from(prior != NONE && prior != member);
            self.go_on(item + 1, moves + moved, misses + u32::from(self.case.is_far(item, member)));
            self.loads[member as usize] -= 1;
        }
    }
}
