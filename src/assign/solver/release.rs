//! Which items a member gives up, once it is known how many.

use std::cmp::Reverse;

use super::holdings::{FamilyCursor, Holdings};
use super::problem::{NONE, Problem};

/// Chooses what members give up so that families grow thin evenly: with each member, and among those given up.
#[derive(Debug)]
pub(super) struct Release<'a> {
    problem: &'a Problem<'a>,
    holdings: &'a Holdings,
    /// Per family how many of its items have been given up.
    released: Vec<u32>,
    candidates: Vec<Candidate>,
}

/// An item that could be given up.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    class: u32,
    /// How many items of its family stand before it with its member.
    rank: u32,
    family: u32,
    item: u32,
}

impl<'a> Release<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, holdings: &'a Holdings) -> Self {
        let released = vec![0; problem.families.len()];
        Self { problem, holdings, released, candidates: Vec::new() }
    }

    /// Makes ownerless what one member gives up, which is so many items of each class.
    pub(super) fn of_member(
        &mut self,
        member: u32,
        class_of: impl Fn(u32) -> u32,
        given_up: impl Fn(u32) -> u32,
        owners: &mut [u32],
    ) {
        self.find_candidates(member, class_of, &given_up);
        let mut candidates = std::mem::take(&mut self.candidates);
        for class in candidates.chunk_by_mut(|a, b| a.class == b.class) {
            let count = given_up(class[0].class) as usize;
            for candidate in self.first_to_go(class, count) {
                self.released[candidate.family as usize] += 1;
                owners[candidate.item as usize] = NONE;
            }
        }
        self.candidates = candidates;
    }

    fn find_candidates(
        &mut self,
        member: u32,
        class_of: impl Fn(u32) -> u32,
        given_up: &impl Fn(u32) -> u32,
    ) {
        self.candidates.clear();
        let mut cursor = FamilyCursor::new(self.problem);
        let (mut last, mut rank) = (NONE, 0);
        for item in self.holdings.of_member(member) {
            let family = cursor.family_of(*item);
            rank = if family == last { rank + 1 } else { 0 };
            last = family;
            let class = class_of(*item);
            if given_up(class) > 0 {
                self.candidates.push(Candidate { class, rank, family, item: *item });
            }
        }
        if !self.candidates.is_sorted_by_key(|candidate| candidate.class) {
            self.candidates.sort_by_key(|candidate| candidate.class);
        }
    }

    /// The first ones of a class: from families of which the member has most, then those least touched.
    fn first_to_go<'c>(&self, class: &'c mut [Candidate], count: usize) -> &'c [Candidate] {
        let order = |candidate: &Candidate| {
            (Reverse(candidate.rank), self.released[candidate.family as usize], candidate.item)
        };
        if count < class.len() && count > 0 {
            class.select_nth_unstable_by_key(count - 1, order);
        }
        &class[..count.min(class.len())]
    }
}
