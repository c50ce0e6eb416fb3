//! The plan where all may take all and nothing else is asked: loads are the mean, rounded down or up.
//!
//! Whoever has more than the mean keeps one more, as far as there are such places. Nothing has to be searched.

use super::deal::Deal;
use super::exchange::Exchange;
use super::families::Families;
use super::holdings::Holdings;
use super::problem::{NONE, Problem, Wishes};
use super::release::Release;

/// The members that take, if the problem is as simple as that.
pub(super) fn takers(problem: &Problem<'_>, wishes: &Wishes) -> Option<Vec<u32>> {
    if wishes.slack > 0 || !problem.weights.is_empty() {
        return None;
    }
    let mut wanted = problem.wanted_families().map(|(_, family)| family.takers);
    let takers = wanted.next()?;
    if wanted.any(|other| other != takers) {
        return None;
    }
    let mut members = 0..problem.members.len() as u32;
    let members: Vec<u32> =
        members.by_ref().filter(|member| problem.may_take(*member, takers)).collect();
    let capacity = |member: &u32| problem.members[*member as usize].capacity;
    let are_equal = members.windows(2).all(|pair| capacity(&pair[0]) == capacity(&pair[1]));
    (are_equal && !members.is_empty()).then_some(members)
}

/// The plan, with the fewest moves.
pub(super) fn plan(problem: &Problem<'_>, takers: &[u32], before: &[u32]) -> Vec<u32> {
    let mut owners = problem.everything_kept(before);
    let mut loads = vec![0_u32; problem.members.len()];
    owners.iter().filter(|owner| **owner != NONE).for_each(|owner| loads[*owner as usize] += 1);
    let quotas = quotas(problem, takers, &loads);

    let over = |member: u32| loads[member as usize].saturating_sub(quotas[member as usize]);
    let under = |member: u32| quotas[member as usize].saturating_sub(loads[member as usize]);
    let hungry: Vec<(u32, u32)> =
        takers.iter().map(|member| (*member, under(*member))).filter(|(_, due)| *due > 0).collect();
    let gives_up = takers.iter().any(|member| over(*member) > 0);
    if !gives_up && hungry.is_empty() {
        return owners;
    }
    if gives_up {
        let holdings = Holdings::of(&owners, problem.members.len());
        let families = Families::of(problem);
        let mut release = Release::new(&families, &holdings);
        for member in takers.iter().filter(|member| over(**member) > 0) {
            release.of_member(*member, |_, _| 0, |_| over(*member), &mut owners);
        }
    }
    let due = hungry.iter().map(|(_, due)| due).sum();
    let exchange =
        Exchange { kept: Vec::new(), shares: vec![vec![(0, due)]], hungry: vec![hungry] };
    Deal::new(exchange, problem.members.len()).deal(problem, |_, _| 0, &mut owners);
    owners
}

/// Per member how many items it gets.
fn quotas(problem: &Problem<'_>, takers: &[u32], loads: &[u32]) -> Vec<u32> {
    let items: u32 = problem.wanted_families().map(|(_, family)| family.count).sum();
    let floor = items / takers.len() as u32;
    let mut extras = items as usize % takers.len();
    let mut quotas = vec![0; loads.len()];
    takers.iter().for_each(|member| quotas[*member as usize] = floor);
    let has_more = |member: &&u32| loads[**member as usize] > floor;
    let has_no_more = |member: &&u32| loads[**member as usize] <= floor;
    for member in takers.iter().filter(has_more).chain(takers.iter().filter(has_no_more)) {
        if extras == 0 {
            break;
        }
        quotas[*member as usize] += 1;
        extras -= 1;
    }
    quotas
}
