//! From units and partitions to the plan.

use std::borrow::Cow;
use std::sync::Arc;

use super::racks;
use super::units::{Band, CoPartitionUnits};
use crate::assign::model::Model;
use crate::assign::solver::{
    Family, NONE, Problem, Widths, Wishes, solve, solve_bands, solve_beside,
};
use crate::assign::sticky_problem::{Asked, problem};
use crate::assign::sticky_rounds::Waiting;
use crate::assign::{GroupAssignment, GroupSubscription};

/// How often a plan is planned again with what it leaves. Each time more of it stays as it is.
const MOST_ROUNDS: usize = 8;

/// The target for a group: where units go, and then all partitions that are in none.
pub(super) fn plan<T>(
    group: &GroupSubscription<T>,
    units: &CoPartitionUnits<'_>,
    asked: &Asked<'_, T>,
) -> GroupAssignment {
    let wishes = Wishes { priority: asked.racks.priority(), slack: 0 };
    let mut planning = Planning::of(group, units, asked, wishes);
    let mut owners = planning.run(Cow::Borrowed(&group.model.claims.owners));
    // What somebody still holds goes to its next member one round later, and that round plans anew. So this one plans
    // what that will, and the target stays the same until it is reached.
    let waiting = Waiting::of(group);
    let published = |owners: &[u32]| waiting.as_ref().and_then(|waiting| waiting.published(owners));
    for _ in 1..MOST_ROUNDS {
        let Some(first) = published(&owners).filter(|first| *first != *planning.rest.owners) else {
            break;
        };
        owners = planning.run(Cow::Owned(first));
    }
    GroupAssignment::of_owners(Arc::clone(&group.model), group.codec, owners)
}

/// A group, taken apart.
struct Planning<'g> {
    model: &'g Model,
    units: &'g CoPartitionUnits<'g>,
    wishes: Wishes,
    /// Units as items; bands are families.
    joined: Problem<'g>,
    /// Per band how many partitions a unit holds.
    widths: Vec<u32>,
    /// All partitions as items; nobody takes those that are in units.
    rest: Problem<'g>,
}

impl<'g> Planning<'g> {
    fn of<T>(
        group: &'g GroupSubscription<T>,
        units: &'g CoPartitionUnits<'g>,
        asked: &Asked<'_, T>,
        wishes: Wishes,
    ) -> Self {
        let mut rest = problem(group, asked);
        let mut first = 0;
        let mut families = Vec::new();
        for band in units.joined() {
            families.push(Family { first, count: band.count(), takers: band.subscribers });
            first += band.count();
            band.topics().iter().for_each(|topic| rest.families[*topic as usize].takers = NONE);
        }
        let model = &*group.model;
        let racks =
            rest.racks.as_ref().map(|of| racks::of_units(model, of, &rest.members, units.joined()));
        let joined = Problem {
            families,
            takers: rest.takers.clone(),
            members: rest.members.clone(),
            groups: rest.groups,
            owners: Cow::Borrowed(&[]),
            racks,
            weights: Vec::new(),
        };
        let widths = units.joined().map(|band| band.width()).collect();
        Self { model, units, wishes, joined, widths, rest }
    }

    /// Per partition its member, planned on who had which.
    fn run(&mut self, prior: Cow<'g, [u32]>) -> Vec<u32> {
        let (owners, stakes) = self.owners_of_units(&prior);
        self.joined.owners = Cow::Owned(owners);
        self.rest.owners = prior;
        let of_units = self.plan_units(&stakes);

        let mut loads = vec![0; self.joined.members.len()];
        for (band, family) in self.units.joined().zip(&self.joined.families) {
            for owner in of_units[family.items()].iter().filter(|owner| **owner != NONE) {
                loads[*owner as usize] += band.width();
            }
        }
        let mut owners = solve_beside(&self.rest, &self.wishes, &loads);
        for (band, family) in self.units.joined().zip(&self.joined.families) {
            for (owner, number) in of_units[family.items()].iter().zip(band.numbers.clone()) {
                band.places(self.model, number).for_each(|place| owners[place] = *owner);
            }
        }
        owners
    }

    /// Units of one size are items like any other; only of different ones it matters who has how many of which.
    fn plan_units(&self, stakes: &[u32]) -> Vec<u32> {
        match self.widths.windows(2).all(|pair| pair[0] == pair[1]) {
            true => solve(&self.joined, &self.wishes),
            false => {
                let widths = Widths { of_family: &self.widths, stakes };
                solve_bands(&self.joined, self.wishes.priority, widths)
            }
        }
    }

    /// Per unit whoever had the most of its partitions, the first of equals, and how many.
    fn owners_of_units(&self, prior: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let members = self.joined.members.len() as u32;
        let mut had = Vec::new();
        let bands = self.units.joined();
        let units = bands.flat_map(|band| band.numbers.clone().map(move |number| (band, number)));
        let owner_of = |(band, number): (&Band, u32)| {
            let owners = band.places(self.model, number).filter_map(|place| prior.get(place));
            had.clear();
            had.extend(owners.filter(|owner| **owner < members));
            most_frequent(&mut had)
        };
        units.map(owner_of).unzip()
    }
}

/// The number that occurs most often, the least of equals, and how often.
fn most_frequent(numbers: &mut [u32]) -> (u32, u32) {
    numbers.sort_unstable();
    let runs = numbers.chunk_by(|one, other| one == other);
    // Of equals `max_by_key` takes the last one.
    let longest = runs.rev().max_by_key(|run| run.len());
    longest.map_or((NONE, 0), |run| (run[0], run.len() as u32))
}
