//! Items of different widths, each of which binds several partitions together.
//!
//! To divide such items so that everybody carries the same is NP-hard. What can be had exactly is this: of the items
//! of each width, a *band*, each member has its share, rounded down or up, and so of each width and all wider ones
//! together. Such plans always exist: these sets of items contain each other or have nothing in common, members'
//! exact shares keep all the bounds, and a flow between whole bounds may be chosen whole. What a member carries is the
//! sum of those rounded numbers, each times the step from its width to the next, and the steps add up to the widest:
//! so it is less than the width of one item from its share.
//!
//! Among these plans the cheapest flow finds one with the fewest moves and misses, as [`solve`](super::solve) does
//! among balanced plans. Sets of takers are planned one after the other, those with the fewest members first; the
//! shares in each level what the earlier ones gave.

mod classes;
mod flow;
mod shares;

#[cfg(test)]
mod tests;

use super::deal::Deal;
use super::families::Families;
use super::holdings::{Holdings, Rows};
use super::problem::{Priority, Problem};
use super::racks::Nearness;
use super::release::Release;
use classes::BandClasses;
use flow::{BandFlow, Crew};
use shares::Shares;

/// What is known of items beside the problem that they are in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widths<'a> {
    /// Per family how many partitions one of its items binds together.
    pub(crate) of_family: &'a [u32],
    /// Per item how many of those its owner had: what moves if it moves.
    pub(crate) stakes: &'a [u32],
}

/// Per item its member; `NONE` for those that nobody may take. Moves are counted in partitions.
pub(crate) fn solve_bands(
    problem: &Problem<'_>,
    priority: Priority,
    widths: Widths<'_>,
) -> Vec<u32> {
    let nearness = Nearness::of(problem);
    let mut owners = problem.everything_kept(&problem.owners);
    let holdings = Holdings::of(&owners, problem.members.len());
    let bands = BandClasses::of(problem, nearness.as_ref(), widths, &owners);
    let families = Families::of(problem);
    let rows = Rows::of(&holdings, &families, &bands.classes);

    let mut flow = BandFlow::new(problem, priority, nearness.as_ref(), &bands, &rows);
    let mut loads = vec![0; problem.members.len()];
    for takers in in_order(problem) {
        let members = members(problem, takers);
        let capacities: Vec<u32> = capacities(problem, &members);
        let carried: Vec<u64> = members.iter().map(|member| loads[*member as usize]).collect();
        let steps = bands.of_takers(takers);
        let all = steps.iter().map(|band| u64::from(band.width) * u64::from(band.supply)).sum();
        let shares = Shares::level(all, &capacities, &carried);
        flow.run(&Crew { members, shares, bands: steps }, &mut loads);
    }
    let exchange = flow.exchange;
    let release = Release::new(&families, &holdings);
    super::release(release, &bands.classes, &rows, &exchange, &mut owners);
    let class_of = |family, item| bands.classes.class_of(family, item);
    Deal::new(exchange, problem.members.len()).deal(problem, class_of, &mut owners);
    owners
}

/// The sets of takers for which there is something, the smallest first.
fn in_order(problem: &Problem<'_>) -> Vec<u32> {
    let mut of_group = vec![0_usize; problem.groups];
    problem.members.iter().for_each(|member| of_group[member.group as usize] += 1);
    let size = |takers: &u32| -> usize {
        problem.takers[*takers as usize].iter().map(|group| of_group[*group as usize]).sum()
    };
    let wanted = problem.wanted_families().filter(|(_, family)| family.count > 0);
    let mut order: Vec<u32> = wanted.map(|(_, family)| family.takers).collect();
    order.sort_unstable();
    order.dedup();
    order.retain(|takers| size(takers) > 0);
    order.sort_by_key(size);
    order
}

fn members(problem: &Problem<'_>, takers: u32) -> Vec<u32> {
    (0..problem.members.len() as u32).filter(|member| problem.may_take(*member, takers)).collect()
}

/// Who has no capacity takes nothing, unless nobody has any.
fn capacities(problem: &Problem<'_>, members: &[u32]) -> Vec<u32> {
    let capacity = |member: &u32| problem.members[*member as usize].capacity;
    match members.iter().any(|member| capacity(member) > 0) {
        true => members.iter().map(capacity).collect(),
        false => vec![1; members.len()],
    }
}
