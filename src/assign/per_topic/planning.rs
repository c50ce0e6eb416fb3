//! The parts' plans, as one.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::PerTopicAssigner;
use super::parts::{PartKey, Parts};
use crate::assign::codec::MetadataCodec;
use crate::assign::erased::{ErasedAssigner, MetadataPayload};
use crate::assign::error::{AssignError, MetadataError};
use crate::assign::plan::Told;
use crate::assign::run::panic_message;
use crate::assign::validate::InvalidPlan;
use crate::assign::view::Scope;
use crate::assign::{GroupAssignment, GroupSubscription};

/// Runs each part that has topics, missing ones included.
pub(super) fn plan(
    whole: &PerTopicAssigner,
    group: &GroupSubscription<Parts>,
) -> Result<GroupAssignment, AssignError> {
    let model = &group.model;
    let part_of: Vec<usize> =
        model.topics().iter().map(|topic| whole.part_of(&topic.name)).collect();
    let missing_in: Vec<usize> =
        group.missing_topics().iter().map(|topic| whole.part_of(&topic.name)).collect();
    let mut plan = group.plan();
    let mut told = vec![Parts::default(); model.members().len()];
    for ((part, assigner), at) in whole.parts().zip(0..) {
        let shows = |(topic, part): (u32, &usize)| *part == at && group.shows(topic);
        let missing = group.missing_topics().iter().zip(&missing_in);
        let missing = missing.filter(|(_, part)| **part == at).map(|(topic, _)| topic.clone());
        let scope = Scope::new((0..).zip(&part_of).map(shows), missing);
        if scope.is_empty() {
            continue;
        }
        let of_part = run(part, assigner, group, scope.clone())?;
        merge(&mut plan, of_part, &scope, part, &mut told)
            .map_err(|error| error.of_part(part.name))?;
    }
    for (parts, member) in told.into_iter().zip(0..).filter(|(parts, _)| *parts != Parts::default())
    {
        let bytes = parts.encode().map_err(AssignError::other)?;
        plan.set_told(member, Told { codec: MetadataCodec::Parts, bytes });
    }
    let coverage = model.topics().iter().map(|topic| whole.coverage_of(&topic.name));
    plan.set_coverage(Some(coverage.collect()));
    Ok(plan)
}

/// The plan of one part. A panic goes on with its name.
fn run(
    part: PartKey<'_>,
    assigner: &ErasedAssigner,
    group: &GroupSubscription<Parts>,
    scope: Scope,
) -> Result<GroupAssignment, AssignError> {
    let told = |member: u32| -> Result<MetadataPayload, MetadataError> {
        let parts = group.metadata_at(member).map_err(Clone::clone)?;
        parts.payload(part).ok_or(MetadataError::Missing)
    };
    let told: Vec<_> = (0..group.model.members().len() as u32).map(told).collect();
    let gathered = group.gathered.clone();
    let plan = || assigner.plan_within(&group.model, &told, gathered, scope);
    match catch_unwind(AssertUnwindSafe(plan)) {
        Ok(plan) => plan.map_err(|error| error.of_part(part.name)),
        Err(panic) => {
            let message = panic_message(panic);
            resume_unwind(Box::new(format!("`{}`: {message}", part.name)))
        }
    }
}

/// Takes over what a part gives and says.
fn merge(
    plan: &mut GroupAssignment,
    of_part: GroupAssignment,
    scope: &Scope,
    part: PartKey<'_>,
    told: &mut [Parts],
) -> Result<(), AssignError> {
    let model = Arc::clone(plan.model());
    if of_part.model().stamp() != model.stamp() {
        return Err(AssignError::other(InvalidPlan::OtherGroup));
    }
    if let Some(fault) = of_part.faults().first() {
        return Err(AssignError::other(InvalidPlan::from(fault)));
    }
    for (topic, place) in model.topics().iter().zip(0..) {
        let is_own = scope.shows(place);
        for partition in topic.first..topic.first + topic.count {
            for member in of_part.holder_places(partition) {
                if !is_own {
                    let name = &topic.name;
                    return Err(AssignError::other(format!(
                        "`{name}` is not a topic of this part"
                    )));
                }
                plan.give_place(member, partition);
            }
        }
    }
    for (parts, member) in told.iter_mut().zip(0..) {
        if let Some(Told { codec, bytes }) = of_part.told(member) {
            let bytes = bytes.clone().into();
            parts.say(part, MetadataPayload { codec: codec.id(), version: 0, bytes });
        }
    }
    let wanted = plan.wanted_rebalance().into_iter().chain(of_part.wanted_rebalance()).min();
    wanted.into_iter().for_each(|delay| plan.rebalance_after(delay));
    Ok(())
}
