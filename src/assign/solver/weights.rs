//! Even weights, as far as numbers leave a choice.
//!
//! How many items of a class who keeps, gives and gets is settled; which ones is not. To divide weights exactly is
//! NP-hard even so. Members give up what brings them nearest to the mean, the heaviest of what moves goes first to
//! whoever carries least, and then the heaviest member changes items with others as long as that helps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::classes::Classes;
use super::exchange::Exchange;
use super::holdings::{Holdings, Rows};
use super::problem::{NONE, Problem};

/// How often two members change items in the end, at most.
const MOST_SWAPS: usize = 1000;

/// How many members and items are tried for one exchange.
const LOOK: usize = 64;

/// What members carry.
#[derive(Debug)]
pub(super) struct Scales<'a> {
    problem: &'a Problem<'a>,
    /// Per item; `NONE` if nobody takes it.
    class_of: Vec<u32>,
    /// Per member.
    loads: Vec<u64>,
    /// What each would carry if weights could be divided.
    mean: u64,
}

impl<'a> Scales<'a> {
    pub(super) fn of(problem: &'a Problem<'_>, classes: &'a Classes, owners: &[u32]) -> Self {
        let mut class_of = vec![NONE; owners.len()];
        for (place, family) in problem.wanted_families() {
            for item in family.items() {
                class_of[item] = classes.class_of(place, item as u32);
            }
        }
        let loads = vec![0; problem.members.len()];
        let mut scales = Self { problem, class_of, loads, mean: 0 };
        let mut total = 0_u64;
        for (owner, item) in owners.iter().zip(0..) {
            if scales.class_of[item as usize] != NONE {
                total = total.saturating_add(scales.weight(item));
            }
            if *owner != NONE {
                scales.loads[*owner as usize] += scales.weight(item);
            }
        }
        scales.mean = total / (problem.members.len() as u64).max(1);
        scales
    }

    /// Chooses items for the numbers of an exchange.
    pub(super) fn level(
        mut self,
        holdings: &Holdings,
        rows: &Rows,
        exchange: &Exchange,
        owners: &mut [u32],
    ) {
        for member in 0..self.problem.members.len() as u32 {
            for (row, place) in rows.of_member(member).iter().zip(rows.range(member)) {
                let count = (row.count - exchange.kept[place]) as usize;
                if count > 0 {
                    self.release(holdings, member, row.class, count, owners);
                }
            }
        }
        let mut moving = vec![Vec::new(); self.loads.len()];
        for item in self.deal(exchange, owners) {
            moving[owners[item as usize] as usize].push(item);
        }
        Swaps { scales: &mut self, moving }.run(owners);
    }

    fn weight(&self, item: u32) -> u64 {
        self.problem.weights.get(item as usize).copied().unwrap_or(0)
    }

    /// Makes ownerless the neighbours by weight that leave a member nearest to the mean.
    fn release(
        &mut self,
        holdings: &Holdings,
        member: u32,
        class: u32,
        count: usize,
        owners: &mut [u32],
    ) {
        let is_of_class = |item: &u32| self.class_of[*item as usize] == class;
        let mut items: Vec<u32> =
            holdings.of_member(member).iter().copied().filter(is_of_class).collect();
        items.sort_by_key(|item| (self.weight(*item), *item));
        let load = self.loads[member as usize];
        let mut released: u64 = items[..count].iter().map(|item| self.weight(*item)).sum();
        let mut best = (0, released);
        for last in count..items.len() {
            released = released + self.weight(items[last]) - self.weight(items[last - count]);
            if (load - released).abs_diff(self.mean) < (load - best.1).abs_diff(self.mean) {
                best = (last + 1 - count, released);
            }
        }
        self.loads[member as usize] -= best.1;
        items[best.0..best.0 + count].iter().for_each(|item| owners[*item as usize] = NONE);
    }

    /// Deals what is ownerless, the heaviest first, each to the least laden of those that may get it. Returns what
    /// was dealt.
    fn deal(&mut self, exchange: &Exchange, owners: &mut [u32]) -> Vec<u32> {
        let mut moving: Vec<u32> = (0..owners.len() as u32)
            .filter(|item| owners[*item as usize] == NONE && self.class_of[*item as usize] != NONE)
            .collect();
        moving.sort_by_key(|item| (Reverse(self.weight(*item)), *item));
        let mut shares = exchange.shares.clone();
        let laden =
            |(member, due): &(u32, u32)| Reverse((self.loads[*member as usize], *member, *due));
        let mut hungry: Vec<BinaryHeap<Reverse<(u64, u32, u32)>>> =
            exchange.hungry.iter().map(|queue| queue.iter().map(laden).collect()).collect();
        for item in &moving {
            let shares = &mut shares[self.class_of[*item as usize] as usize];
            let least = |(_, (queue, _)): &(usize, &(u32, u32))| {
                hungry[*queue as usize].peek().map(|least| least.0)
            };
            let Some((place, _)) = shares.iter().enumerate().min_by_key(least) else { continue };
            let queue = &mut hungry[shares[place].0 as usize];
            let Some(Reverse((load, member, due))) = queue.pop() else { continue };
            shares[place].1 -= 1;
            if shares[place].1 == 0 {
                shares.remove(place);
            }
            let load = load + self.weight(*item);
            if due > 1 {
                queue.push(Reverse((load, member, due - 1)));
            }
            self.loads[member as usize] = load;
            owners[*item as usize] = member;
        }
        moving
    }
}

/// Exchanges of moving items between members, which change no number.
struct Swaps<'s, 'a> {
    scales: &'s mut Scales<'a>,
    /// The moving items of each member.
    moving: Vec<Vec<u32>>,
}

impl Swaps<'_, '_> {
    /// Lets the heaviest member change items with one of the lightest, as long as that brings them nearer.
    fn run(&mut self, owners: &mut [u32]) {
        for _ in 0..MOST_SWAPS {
            let members = 0..self.moving.len() as u32;
            let load = |member: &u32| self.scales.loads[*member as usize];
            let movers = members.filter(|member| !self.moving[*member as usize].is_empty());
            let mut by_load: Vec<u32> = movers.collect();
            by_load.sort_by_key(|member| (load(member), *member));
            let Some(heaviest) = by_load.pop() else { return };
            let mut lightest = by_load.into_iter().take(LOOK);
            let Some((other, swap)) =
                lightest.find_map(|other| Some((other, self.best_swap(heaviest, other)?)))
            else {
                return;
            };
            self.swap(heaviest, other, swap, owners);
        }
    }

    /// Places of two items of one class whose exchange brings two members nearest to each other.
    fn best_swap(&self, heavy: u32, light: u32) -> Option<(usize, usize)> {
        let loads = &self.scales.loads;
        let gap = loads[heavy as usize].checked_sub(loads[light as usize])?;
        let mut best = (gap, None);
        for (item, place) in self.moving[heavy as usize].iter().zip(0..).take(LOOK) {
            for (other, other_place) in self.moving[light as usize].iter().zip(0..).take(LOOK) {
                let (weight, less) = (self.scales.weight(*item), self.scales.weight(*other));
                let class_of = &self.scales.class_of;
                if weight <= less || class_of[*item as usize] != class_of[*other as usize] {
                    continue;
                }
                let remaining = gap.abs_diff(2 * (weight - less));
                if remaining < best.0 {
                    best = (remaining, Some((place, other_place)));
                }
            }
        }
        best.1
    }

    fn swap(
        &mut self,
        heavy: u32,
        light: u32,
        (place, other_place): (usize, usize),
        owners: &mut [u32],
    ) {
        let item = self.moving[heavy as usize][place];
        let other = self.moving[light as usize][other_place];
        self.moving[heavy as usize][place] = other;
        self.moving[light as usize][other_place] = item;
        owners[item as usize] = light;
        owners[other as usize] = heavy;
        let difference = self.scales.weight(item) - self.scales.weight(other);
        self.scales.loads[heavy as usize] -= difference;
        self.scales.loads[light as usize] += difference;
    }
}
