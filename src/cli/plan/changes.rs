//! Who would get what from whom, and why.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Planned;
use crate::assign::{Copies, Handover, MemberRef, Model, PartitionRef, is_near};

/// What a plan changes.
#[derive(Debug)]
pub(super) struct Changes {
    /// Partitions that change hands, put together where the rest is the same; by whom they leave.
    pub(super) moves: BTreeMap<Move, Vec<u32>>,
    /// How many partitions nobody claims and somebody gets.
    pub(super) unclaimed: usize,
    /// How many partitions of members that leave somebody gets.
    pub(super) freed: usize,
    /// How many of the moves are of partitions whose owner is in doubt or subscribes no more.
    pub(super) doubtful: usize,
    /// How many stay.
    pub(super) kept: usize,
}

/// A change of hands.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Move {
    /// Who had it; several where that is in doubt. Those that leave have places behind the members'.
    pub(super) from: Vec<u32>,
    /// Who gets it; none where nobody does.
    pub(super) to: Option<u32>,
    pub(super) why: Why,
}

/// Why a partition changes hands.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Why {
    /// Its owner leaves.
    Leaves,
    /// Its owner subscribes no more.
    Unsubscribed,
    /// Several members claim it with one generation, so nobody can be believed.
    Contested { generation: i32 },
    /// Its owner has more than the plan leaves it.
    Balance { had: usize, keeps: usize },
    /// It gets nearer to its member.
    Rack,
    /// There are to be fewer copies.
    Enough,
    /// Its owner gets others in its place: what is right for still others, or the assigner's choice.
    Exchange,
}

impl Changes {
    pub(super) fn of(planned: &Planned) -> Self {
        let contested = newest_claims(&planned.group.model);
        let (moves, unclaimed) = (BTreeMap::new(), 0);
        let mut changes = Self { moves, unclaimed, freed: 0, doubtful: 0, kept: 0 };
        let had: Vec<usize> = planned.had.iter().map(Vec::len).collect();
        let copies = Copies::of(&planned.view, &planned.timed.plan);
        for partition in planned.view.partitions() {
            match &copies {
                Some(copies) => changes.add_copies(planned, partition, copies, &had),
                None => changes.add(planned, partition, &contested, &had),
            }
        }
        changes
    }

    /// Copies that some gave up go to those that got some, one by one.
    fn add_copies(
        &mut self,
        planned: &Planned,
        partition: PartitionRef<'_>,
        copies: &Copies<'_>,
        had: &[usize],
    ) {
        let plan = &planned.timed.plan;
        let Handover { from, to } = copies.handover(plan, partition);
        self.kept += plan.holders(partition).count() - to.len();
        self.unclaimed += to.len().saturating_sub(from.len());
        let place = partition.position() as u32;
        for (from, at) in from.into_iter().zip(0..) {
            let to = to.get(at).copied();
            let keeps = planned.view.members().nth(from as usize).map_or(0, |m| plan.load(m));
            let had = had.get(from as usize).copied().unwrap_or(0);
            let why = match to {
                None => Why::Enough,
                Some(_) if had > keeps => Why::Balance { had, keeps },
                Some(_) => Why::Exchange,
            };
            self.moves.entry(Move { from: vec![from], to, why }).or_default().push(place);
        }
    }

    fn add(
        &mut self,
        planned: &Planned,
        partition: PartitionRef<'_>,
        contested: &BTreeMap<u32, Vec<u32>>,
        had: &[usize],
    ) {
        let view = &planned.view;
        let mut holders = planned.timed.plan.holders(partition).filter_map(|at| view.member(at));
        let place = partition.position() as u32;
        let owner = view.owner(partition);
        if owner.is_some_and(|owner| {
            planned.timed.plan.holders(partition).any(|at| at == owner.index())
        }) {
            self.kept += 1;
            return;
        }
        let to = holders.next();
        let claimants = contested.get(&place).map_or(&[][..], Vec::as_slice);
        let to_place = to.map(|member| member.position() as u32);
        if claimants.is_empty() && owner.is_none() {
            let leaver = planned.group.freed.get(&place);
            match leaver {
                Some(leaver) => {
                    let change = Move { from: vec![*leaver], to: to_place, why: Why::Leaves };
                    self.moves.entry(change).or_default().push(place);
                    self.freed += usize::from(to.is_some());
                }
                None => self.unclaimed += usize::from(to.is_some()),
            }
            return;
        }
        let (from, why) = match owner {
            Some(owner) => (vec![owner.position() as u32], why(planned, partition, owner, to, had)),
            None => (claimants.to_vec(), why_in_doubt(&planned.group.model, claimants)),
        };
        self.doubtful += usize::from(owner.is_none());
        self.moves.entry(Move { from, to: to_place, why }).or_default().push(place);
    }
}

impl Why {
    /// In words; `from` is who had it.
    pub(super) fn words(&self, from: &str) -> String {
        match self {
            Self::Leaves => format!("{from} leaves"),
            Self::Unsubscribed => format!("{from} subscribes to the topic no more"),
            Self::Contested { generation } => format!("all claim it with generation {generation}"),
            Self::Balance { had, keeps } => format!("{from} had {had} and is to have {keeps}"),
            Self::Enough => "there are to be fewer copies".to_owned(),
            Self::Rack => "a replica is in the new member's rack".to_owned(),
            Self::Exchange => format!("{from} gets others in its place"),
        }
    }
}

fn why(
    planned: &Planned,
    partition: PartitionRef<'_>,
    owner: MemberRef<'_>,
    to: Option<MemberRef<'_>>,
    had: &[usize],
) -> Why {
    let had = had.get(owner.position()).copied().unwrap_or(0);
    let keeps = planned.timed.plan.load(owner);
    let is_nearer = to.is_some_and(|to| is_near(to, partition) == Some(true))
        && is_near(owner, partition) == Some(false);
    match had > keeps {
        _ if is_nearer && had <= keeps => Why::Rack,
        true => Why::Balance { had, keeps },
        false => Why::Exchange,
    }
}

/// Partitions without a valid owner that members claim all the same: by place, who claims with the newest generation.
fn newest_claims(model: &Model) -> BTreeMap<u32, Vec<u32>> {
    let mut claims: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let members = model.members().len() as u32;
    for member in 0..members {
        for partition in model.claims(member) {
            if model.owner(*partition) >= members {
                claims.entry(*partition).or_default().push(member);
            }
        }
    }
    for claimants in claims.values_mut() {
        let generation = |member: &u32| model.members().get(*member as usize).map(|m| m.generation);
        claimants.sort_by_key(|member| Reverse(generation(member)));
        let newest = claimants.first().and_then(generation);
        claimants.retain(|member| generation(member) == newest);
    }
    claims
}

fn why_in_doubt(model: &Model, claimants: &[u32]) -> Why {
    match claimants {
        [_] => Why::Unsubscribed,
        _ => {
            let first = claimants.first().and_then(|member| model.members().get(*member as usize));
            Why::Contested { generation: first.map_or(-1, |member| member.generation.0) }
        }
    }
}
