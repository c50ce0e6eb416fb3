//! Every plan of a tiny group.

use super::Holders;
use super::cases::{Case, Score};

/// The score of the best plan.
pub(super) fn best(case: &Case) -> Score {
    let choices: Vec<Vec<Vec<u32>>> = case
        .eligible()
        .iter()
        .map(|eligible| subsets(eligible, eligible.len().min(case.count as usize)))
        .collect();
    let mut best: Option<Score> = None;
    let mut plan = Vec::new();
    try_all(case, &choices, &mut plan, &mut best);
    best.unwrap()
}

fn try_all<'a>(
    case: &Case,
    choices: &'a [Vec<Vec<u32>>],
    plan: &mut Vec<&'a Vec<u32>>,
    best: &mut Option<Score>,
) {
    let Some(holders) = choices.get(plan.len()) else {
        let mut whole = Holders::default();
        plan.iter().for_each(|holders| whole.push(holders.iter().copied()));
        let score = Score::of(case, &whole);
        if best.as_ref().is_none_or(|best| score < *best) {
            *best = Some(score);
        }
        return;
    };
    for holders in holders {
        plan.push(holders);
        try_all(case, choices, plan, best);
        plan.pop();
    }
}

fn subsets(of: &[u32], size: usize) -> Vec<Vec<u32>> {
    match (size, of.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (_, Some((first, rest))) => {
            let mut with = subsets(rest, size - 1);
            with.iter_mut().for_each(|set| set.insert(0, *first));
            with.extend(subsets(rest, size));
            with
        }
    }
}
