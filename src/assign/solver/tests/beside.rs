//! Members that carry something already, against every plan of a tiny group.

use super::random::{Case, Size};
use super::score::{Score, balance};
use super::{rounds, solve_beside};
use crate::assign::solver::{NONE, Wishes};

/// A group and what its members carry.
struct Laden {
    case: Case,
    loads: Vec<u32>,
}

impl Laden {
    fn random(seed: u64) -> Self {
        let case = Case::random(seed, Size::TINY);
        let mut dice = fastrand::Rng::with_seed(seed);
        let most = dice.u32(1..6);
        let loads = case.members.iter().map(|_| dice.u32(0..most)).collect();
        Self { case, loads }
    }

    /// Balance counts the loads; moves and misses do not.
    fn score(&self, plan: &[u32], wishes: Wishes) -> Score {
        let mut loads = self.loads.clone();
        plan.iter().filter(|owner| **owner != NONE).for_each(|owner| loads[*owner as usize] += 1);
        Score { balance: balance(&self.case, &loads), ..Score::of(&self.case, plan, wishes) }
    }

    fn best(&self, wishes: Wishes) -> Score {
        let mut plans = vec![Vec::new()];
        for eligible in self.case.eligible() {
            let eligible = if eligible.is_empty() { vec![NONE] } else { eligible };
            let go_on = |plan: &Vec<u32>| {
                let with = |member| plan.iter().copied().chain([member]).collect();
                eligible.iter().map(|member| with(*member)).collect::<Vec<Vec<u32>>>()
            };
            plans = plans.iter().flat_map(go_on).collect();
        }
        plans.iter().map(|plan| self.score(plan, wishes)).min().unwrap()
    }
}

#[test]
fn no_plan_beside_what_members_carry_is_better() {
    for seed in 0..rounds(1_500, 30_000) {
        let laden = Laden::random(seed);
        for priority in super::PRIORITIES {
            let wishes = Wishes { priority, slack: 0 };
            let plan = solve_beside(&laden.case.problem(), &wishes, &laden.loads);
            let found = laden.score(&plan, wishes);
            let (case, loads) = (&laden.case, &laden.loads);
            assert_eq!(
                found,
                laden.best(wishes),
                "seed {seed}: {plan:?} beside {loads:?} of {case:?}"
            );
        }
    }
}

#[test]
fn a_plan_beside_loads_planned_again_is_the_same() {
    for seed in 0..rounds(1_000, 20_000) {
        let mut laden = Laden::random(seed);
        let wishes = Wishes { slack: (seed % 3) as u32, ..Wishes::default() };
        laden.case.owners = solve_beside(&laden.case.problem(), &wishes, &laden.loads);
        let again = solve_beside(&laden.case.problem(), &wishes, &laden.loads);
        assert_eq!(again, laden.case.owners, "seed {seed}: {:?}", laden.case);
    }
}
