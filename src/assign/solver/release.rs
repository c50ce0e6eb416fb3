//! Which items a member gives up, once it is known how many.

use super::families::Families;
use super::holdings::Holdings;
use super::problem::NONE;

/// Chooses what members give up so that families grow thin evenly: with each member, and among those given up.
#[derive(Debug)]
pub(super) struct Release<'a> {
    families: &'a Families<'a>,
    holdings: &'a Holdings,
    /// Per family how many of its items have been given up.
    released: Vec<u32>,
    candidates: Vec<Candidate>,
    /// Per rank how many candidates have it.
    of_rank: Vec<u32>,
    /// Candidates of one rank, of which some go.
    edge: Vec<(u32, Candidate)>,
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
    pub(super) fn new(families: &'a Families<'a>, holdings: &'a Holdings) -> Self {
        Self {
            families,
            holdings,
            released: vec![0; families.count()],
            candidates: Vec::new(),
            of_rank: Vec::new(),
            edge: Vec::new(),
        }
    }

    /// Makes ownerless what one member gives up, which is so many items of each class.
    pub(super) fn of_member(
        &mut self,
        member: u32,
        class_of: impl Fn(u32, u32) -> u32,
        given_up: impl Fn(u32) -> u32,
        owners: &mut [u32],
    ) {
        self.find_candidates(member, class_of, &given_up);
        let candidates = std::mem::take(&mut self.candidates);
        for class in candidates.chunk_by(|one, other| one.class == other.class) {
            self.release(class, given_up(class[0].class), owners);
        }
        self.candidates = candidates;
    }

    fn find_candidates(
        &mut self,
        member: u32,
        class_of: impl Fn(u32, u32) -> u32,
        given_up: &impl Fn(u32) -> u32,
    ) {
        self.candidates.clear();
        let mut cursor = self.families.cursor();
        let (mut last, mut rank) = (NONE, 0);
        for item in self.holdings.of_member(member) {
            let family = cursor.family_of(*item);
            rank = if family == last { rank + 1 } else { 0 };
            last = family;
            let class = class_of(family, *item);
            if given_up(class) > 0 {
                self.candidates.push(Candidate { class, rank, family, item: *item });
            }
        }
        if !self.candidates.is_sorted_by_key(|candidate| candidate.class) {
            self.candidates.sort_by_key(|candidate| candidate.class);
        }
    }

    /// Of families that the member has most of, and then of those least touched.
    fn release(&mut self, class: &[Candidate], count: u32, owners: &mut [u32]) {
        let (edge, at_edge) = self.edge_rank(class, count);
        self.edge.clear();
        for candidate in class {
            if candidate.rank > edge {
                self.released[candidate.family as usize] += 1;
                owners[candidate.item as usize] = NONE;
            } else if candidate.rank == edge {
                self.edge.push((0, *candidate));
            }
        }
        for (released, candidate) in &mut self.edge {
            *released = self.released[candidate.family as usize];
        }
        if at_edge < self.edge.len() {
            let order = |(released, candidate): &(u32, Candidate)| (*released, candidate.item);
            self.edge.select_nth_unstable_by_key(at_edge, order);
        }
        for (_, candidate) in self.edge.iter().take(at_edge) {
            self.released[candidate.family as usize] += 1;
            owners[candidate.item as usize] = NONE;
        }
    }

    /// The rank above which everything goes, and how many go at it.
    fn edge_rank(&mut self, class: &[Candidate], count: u32) -> (u32, usize) {
        self.of_rank.clear();
        for candidate in class {
            let rank = candidate.rank as usize;
            if self.of_rank.len() <= rank {
                self.of_rank.resize(rank + 1, 0);
            }
            self.of_rank[rank] += 1;
        }
        let mut left = count;
        for (rank, candidates) in self.of_rank.iter().enumerate().rev() {
            if left <= *candidates {
                return (rank as u32, left as usize);
            }
            left -= candidates;
        }
        (0, left as usize)
    }
}
