//! The best plan by shortest paths over single items, one item after the other, with a price for each further item
//! of a member.

use super::random::Case;
use super::score::per_item;
use crate::assign::solver::{NONE, Priority, Wishes};

/// Farther than any path.
const FAR: i128 = i128::MAX / 4;

/// A plan with the least score.
pub(super) fn plan(case: &Case, wishes: Wishes) -> Vec<u32> {
    let balanced = Search::new(case, wishes)
        .run(&|member, load| (2 * i128::from(load) + 1) * per_item(case, member) as i128);
    if wishes.slack == 0 {
        return balanced.plan;
    }
    let bounds = balanced.bounds();
    let least = |member: u32| bounds[member as usize].0.saturating_sub(wishes.slack);
    let most = |member: u32| bounds[member as usize].1 + wishes.slack;
    // All plans have equally many items beyond the least, so only those are compared that fill it everywhere.
    let price = |member: u32, load: u32| match load {
        load if load < least(member) => 0,
        load if load < most(member) => 1,
        _ => FAR / (1 << 60),
    };
    Search::new(case, wishes).run(&price).plan
}

struct Search<'a> {
    case: &'a Case,
    wishes: Wishes,
    eligible: Vec<Vec<u32>>,
    plan: Vec<u32>,
    loads: Vec<u32>,
    /// More than all moves and misses together cost.
    much: i128,
}

impl<'a> Search<'a> {
    fn new(case: &'a Case, wishes: Wishes) -> Self {
        let items = case.item_count();
        let much = 4 * (items as i128 + 1) * (items as i128 + 1);
        let (plan, loads) = (vec![NONE; items], vec![0; case.members.len()]);
        Self { case, wishes, eligible: case.eligible(), plan, loads, much }
    }

    fn run(mut self, price: &dyn Fn(u32, u32) -> i128) -> Self {
        for item in 0..self.plan.len() {
            if !self.eligible[item].is_empty() {
                self.add(item, price);
            }
        }
        self
    }

    /// Gives an item to somebody, and perhaps one of that member's to another, and so on.
    fn add(&mut self, item: usize, price: &dyn Fn(u32, u32) -> i128) {
        // Per member how far it is, and by which item from whom it is reached.
        let mut ways = vec![(FAR, NONE, NONE); self.loads.len()];
        for member in &self.eligible[item] {
            ways[*member as usize] = (self.cost(item, *member), item as u32, NONE);
        }
        while self.improve(&mut ways) {}
        let members = (0..ways.len() as u32).filter(|member| ways[*member as usize].0 < FAR);
        let whole = |member: &u32| {
            ways[*member as usize].0 + self.much * price(*member, self.loads[*member as usize])
        };
        let mut member = members.min_by_key(whole).unwrap();
        self.loads[member as usize] += 1;
        while member != NONE {
            let (_, item, from) = ways[member as usize];
            self.plan[item as usize] = member;
            member = from;
        }
    }

    fn improve(&self, ways: &mut [(i128, u32, u32)]) -> bool {
        let mut improved = false;
        for (item, from) in self.plan.iter().enumerate().filter(|(_, from)| **from != NONE) {
            for to in &self.eligible[item] {
                let (so_far, ..) = ways[*from as usize];
                let way = so_far - self.cost(item, *from) + self.cost(item, *to);
                if so_far < FAR && way < ways[*to as usize].0 {
                    ways[*to as usize] = (way, item as u32, *from);
                    improved = true;
                }
            }
        }
        improved
    }

    fn cost(&self, item: usize, member: u32) -> i128 {
        let prior = self.case.prior(item);
        let moved = i128::from(prior != NONE && prior != member);
        let missed = i128::from(self.case.is_far(item, member));
        let many = self.plan.len() as i128 + 1;
        match self.wishes.priority {
            Priority::MovesThenRacks => moved * many + missed,
            Priority::RacksThenMoves => missed * many + moved,
        }
    }

    /// The least and the most that each member has in a balanced plan, this one being one.
    fn bounds(&self) -> Vec<(u32, u32)> {
        let members = self.loads.len() as u32;
        let mut bounds: Vec<(u32, u32)> = self.loads.iter().map(|load| (*load, *load)).collect();
        for giver in 0..members {
            let gain = |member: u32| {
                (2 * u128::from(self.loads[member as usize]) + 1) * per_item(self.case, member)
            };
            let loss = gain(giver).saturating_sub(2 * per_item(self.case, giver));
            let reached = self.reachable_from(giver);
            for taker in (0..members).filter(|taker| *taker != giver && reached[*taker as usize]) {
                if self.loads[giver as usize] > 0 && gain(taker) == loss {
                    bounds[giver as usize].0 = self.loads[giver as usize] - 1;
                    bounds[taker as usize].1 = self.loads[taker as usize] + 1;
                }
            }
        }
        bounds
    }

    /// Whom an item taken from a member could reach, through others.
    fn reachable_from(&self, giver: u32) -> Vec<bool> {
        let mut reached = vec![false; self.loads.len()];
        let mut queue = vec![giver];
        while let Some(member) = queue.pop() {
            let items =
                self.plan.iter().zip(&self.eligible).filter(|(holder, _)| **holder == member);
            for taker in items.flat_map(|(_, eligible)| eligible) {
                if !std::mem::replace(&mut reached[*taker as usize], true) {
                    queue.push(*taker);
                }
            }
        }
        reached
    }
}
