//! Bands against every plan of a tiny group, its shares found otherwise.

use super::*;
use crate::assign::solver::tests::random::{Case, Size};
use crate::assign::solver::tests::score::Score;
use crate::assign::solver::tests::{PRIORITIES, rounds};
use crate::assign::solver::{NONE, Wishes, solve};

/// A group of items with widths.
#[derive(Debug)]
struct Banded {
    case: Case,
    of_family: Vec<u32>,
    stakes: Vec<u32>,
}

impl Banded {
    fn random(seed: u64, size: Size) -> Self {
        let case = Case::random(seed, size);
        let mut dice = fastrand::Rng::with_seed(seed);
        let most = dice.u32(2..5);
        let of_family: Vec<u32> = case.families.iter().map(|_| dice.u32(1..most)).collect();
        let all_moves = dice.bool();
        let stake = |width: u32| if all_moves { width } else { dice.u32(1..=width) };
        let widths = case.families.iter().zip(&of_family);
        let widths = widths.flat_map(|(family, width)| vec![*width; family.count as usize]);
        let stakes = widths.map(stake).collect();
        Self { case, of_family, stakes }
    }

    /// The same if everybody took everything, and all were equal.
    fn uniform(mut self) -> Self {
        self.case.takers = vec![(0..self.case.groups as u32).collect()];
        self.case.families.iter_mut().for_each(|family| family.takers = 0);
        self.case.members.iter_mut().for_each(|member| member.capacity = 1);
        self
    }

    fn solve(&self, priority: Priority) -> Vec<u32> {
        let widths = Widths { of_family: &self.of_family, stakes: &self.stakes };
        solve_bands(&self.case.problem(), priority, widths)
    }

    /// The distinct sets of members that take something, the smallest first, each with its items.
    fn crews(&self) -> Vec<(Vec<u32>, Vec<usize>)> {
        let mut crews: Vec<(u32, Vec<u32>, Vec<usize>)> = Vec::new();
        let eligible = self.case.eligible();
        for family in &self.case.families {
            for item in family.items().filter(|item| !eligible[*item].is_empty()) {
                match crews.iter_mut().find(|crew| crew.0 == family.takers) {
                    Some(crew) => crew.2.push(item),
                    None => crews.push((family.takers, eligible[item].clone(), vec![item])),
                }
            }
        }
        crews.sort_by_key(|(takers, members, _)| (members.len(), *takers));
        crews.into_iter().map(|(_, members, items)| (members, items)).collect()
    }

    fn width(&self, item: usize) -> u32 {
        let family = self.case.families.iter().position(|family| family.items().contains(&item));
        self.of_family[family.unwrap()]
    }

    /// What a crew's plan costs, the least being the best; none if somebody gets too much or too little.
    fn score(
        &self,
        crew: &Due<'_>,
        plan: &[(usize, u32)],
        priority: Priority,
    ) -> Option<(u32, u32)> {
        let is_due = |(member, place): (&u32, usize)| {
            let of_member = |wanted: &dyn Fn(u32) -> bool| {
                let items = plan
                    .iter()
                    .filter(|(item, owner)| owner == member && wanted(self.width(*item)));
                items.count()
            };
            crew.widths.iter().all(|(width, count, together)| {
                crew.allows(place, *count, of_member(&|other| other == *width))
                    && crew.allows(place, *together, of_member(&|other| other >= *width))
            })
        };
        crew.members.iter().zip(0..).all(is_due).then_some(())?;
        let (mut moves, mut misses) = (0, 0);
        for (item, owner) in plan {
            let prior = self.case.prior(*item);
            moves += if prior == NONE || prior == *owner { 0 } else { self.stakes[*item] };
            misses += u32::from(self.case.is_far(*item, *owner));
        }
        match priority {
            Priority::MovesThenRacks => Some((moves, misses)),
            Priority::RacksThenMoves => Some((misses, moves)),
        }
    }
}

/// What the members of a crew are due.
struct Due<'a> {
    members: &'a [u32],
    /// Each width, how many items have it, and how many have it or are wider.
    widths: Vec<(u32, usize, usize)>,
    /// Per member its share, as numerator and denominator.
    shares: Vec<(i128, i128)>,
}

impl<'a> Due<'a> {
    fn of(banded: &Banded, members: &'a [u32], items: &[usize], loads: &[i128]) -> Self {
        let mut widths: Vec<u32> = items.iter().map(|item| banded.width(*item)).collect();
        let all: i128 = widths.iter().map(|width| i128::from(*width)).sum();
        let count = |wanted: &dyn Fn(u32) -> bool| {
            items.iter().filter(|item| wanted(banded.width(**item))).count()
        };
        widths.sort_unstable();
        widths.dedup();
        let widths = widths.iter().map(|width| {
            (*width, count(&|other| other == *width), count(&|other| other >= *width))
        });
        Self { members, widths: widths.collect(), shares: shares(banded, members, all, loads) }
    }

    fn allows(&self, place: usize, items: usize, has: usize) -> bool {
        let (part, whole) = self.shares[place];
        let distance = part * items as i128 - whole * has as i128;
        -whole < distance && distance < whole
    }
}

/// The only shares at which those that get something end level, and the others above.
fn shares(banded: &Banded, members: &[u32], all: i128, loads: &[i128]) -> Vec<(i128, i128)> {
    let capacity = |member: u32| i128::from(banded.case.members[member as usize].capacity);
    let anybody = members.iter().any(|member| capacity(*member) > 0);
    let capacity = |member: u32| if anybody { capacity(member) } else { 1 };
    for chosen in 1..1_u32 << members.len() {
        let is_chosen = |place: usize| chosen >> place & 1 == 1;
        let of_chosen = |of: &dyn Fn(u32) -> i128| -> i128 {
            (0..members.len())
                .filter(|place| is_chosen(*place))
                .map(|place| of(members[place]))
                .sum()
        };
        let (sum, whole) = (all + of_chosen(&|m| loads[m as usize]), of_chosen(&capacity));
        let part = |member: u32| capacity(member) * sum - whole * loads[member as usize];
        let is_level = |place: usize| match is_chosen(place) {
            true => capacity(members[place]) > 0 && part(members[place]) >= 0,
            false => part(members[place]) <= 0,
        };
        if (0..members.len()).all(is_level) {
            let part = |place: usize| if is_chosen(place) { part(members[place]) } else { 0 };
            return (0..members.len()).map(|place| (part(place), whole * all)).collect();
        }
    }
    panic!("no shares for {members:?} of {banded:?}")
}

/// All ways to give these items to these members.
fn plans(members: &[u32], items: &[usize]) -> Vec<Vec<(usize, u32)>> {
    let mut plans = vec![Vec::new()];
    for item in items {
        let with = |plan: &Vec<(usize, u32)>, member: &u32| {
            plan.iter().copied().chain([(*item, *member)]).collect()
        };
        let longer = |plan| members.iter().map(move |member| with(plan, member));
        plans = plans.iter().flat_map(longer).collect();
    }
    plans
}

#[test]
fn everybody_gets_its_share_of_each_band_with_the_fewest_moves() {
    for seed in 0..rounds(1_500, 120_000) {
        let banded = Banded::random(seed, Size::TINY);
        for priority in PRIORITIES {
            let plan = banded.solve(priority);
            let mut loads = vec![0; banded.case.members.len()];
            let mut given = 0;
            for (members, items) in banded.crews() {
                let due = Due::of(&banded, &members, &items, &loads);
                let score = |plan: &[(usize, u32)]| banded.score(&due, plan, priority);
                let found: Vec<_> = items.iter().map(|item| (*item, plan[*item])).collect();
                let best = plans(&members, &items).iter().filter_map(|plan| score(plan)).min();
                assert!(best.is_some(), "seed {seed}: no plan at all, {banded:?}");
                assert_eq!(
                    score(&found),
                    best,
                    "seed {seed}, {priority:?}: {plan:?} of {banded:?}"
                );
                for (item, owner) in found {
                    loads[owner as usize] += i128::from(banded.width(item));
                    given += 1;
                }
            }
            assert_eq!(given, plan.iter().filter(|owner| **owner != NONE).count());
        }
    }
}

#[test]
fn what_members_carry_differs_by_the_widest_item_at_most() {
    for seed in 0..rounds(1_000, 20_000) {
        let banded = Banded::random(seed, Size::SMALL).uniform();
        let mut loads = vec![0; banded.case.members.len()];
        for (item, owner) in banded.solve(Priority::default()).into_iter().enumerate() {
            loads[owner as usize] += banded.width(item);
        }
        let spread = loads.iter().max().unwrap() - loads.iter().min().unwrap();
        let widest = banded.of_family.iter().max().unwrap();
        assert!(spread <= *widest, "seed {seed}: {loads:?} of {banded:?}");
    }
}

#[test]
fn a_plan_of_bands_planned_again_is_the_same() {
    for seed in 0..rounds(1_000, 20_000) {
        let mut banded = Banded::random(seed, Size::SMALL);
        banded.case.owners = banded.solve(Priority::default());
        let again = banded.solve(Priority::default());
        assert_eq!(again, banded.case.owners, "seed {seed}: {banded:?}");
    }
}

#[test]
fn items_of_one_width_are_planned_as_well_as_without_widths() {
    for seed in 0..rounds(500, 10_000) {
        let mut banded = Banded::random(seed, Size::SMALL).uniform();
        banded.of_family.fill(3);
        banded.stakes.fill(3);
        for priority in PRIORITIES {
            let wishes = Wishes { priority, slack: 0 };
            let score = |plan: &[u32]| Score::of(&banded.case, plan, wishes);
            let plain = solve(&banded.case.problem(), &wishes);
            assert_eq!(score(&banded.solve(priority)), score(&plain), "seed {seed}: {banded:?}");
        }
    }
}
