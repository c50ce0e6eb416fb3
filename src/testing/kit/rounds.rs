//! The rounds that a group goes through after a change.

use std::sync::Arc;

use super::change::GroupChange;
use super::group::{Column, Group};
use super::report::{AssignerFault, AssignerReport, CheckedGroup};
use super::{Gathering, Variant};
use crate::assign::{
    AssignFailure, GroupAssignment, GroupSubscription, LocalMember, MetadataCodec, MetadataError,
    MetadataPayload, Model, Racks, RebalanceProtocol, Worth, run_assign,
};

/// After so many rounds a plan is given up on: one gives up, one gives, one shows that all is quiet.
const MOST_ROUNDS: usize = 3;

/// One group, driven.
pub(super) struct Run<'a> {
    pub(super) variants: &'a [Variant],
    pub(super) gather: Option<&'a Gathering>,
    pub(super) group: Group,
    pub(super) dice: fastrand::Rng,
    pub(super) seed: u64,
}

impl Run<'_> {
    /// Lets the group live through every change; ends where there is no plan that could come true.
    pub(super) fn drive(mut self, report: &mut AssignerReport) {
        for change in GroupChange::ALL {
            if !self.group.change(change, &mut self.dice) {
                continue;
            }
            let checked = CheckedGroup { seed: self.seed, change };
            match self.settle(checked, report) {
                Ok(()) => {}
                Err(AssignFailure::Refused(why)) => report.add_refusal(change, &why),
                Err(failure) => {
                    let failure = failure.to_string();
                    return report.add_fault(AssignerFault::NoPlan { group: checked, failure });
                }
            }
            self.group.silent = None;
        }
    }

    /// Plans, until what was planned is so.
    fn settle(
        &mut self,
        checked: CheckedGroup,
        report: &mut AssignerReport,
    ) -> Result<(), AssignFailure> {
        let held = self.group.held();
        let (model, told) = self.build(&self.group);
        let plan = self.plan(0, &model, &told)?;
        self.compare(&plan, checked, report);
        let view = GroupSubscription::untold(&model);
        let (worth, best) = (Worth::of(&view, &plan), Worth::best(&view, Racks::AfterMoves));
        let rounds = self.go_on(plan)?;
        if rounds > 2 {
            report.add_fault(AssignerFault::Unsettled { group: checked, rounds });
        }
        if checked.change == GroupChange::Restart && self.group.held() != held {
            report.add_fault(AssignerFault::RestartMoves(checked));
        }
        report.add_plan(checked.change, &worth, &best, rounds);
        Ok(())
    }

    /// The same group, planned once more, told otherwise, and planned by others.
    fn compare(
        &mut self,
        plan: &GroupAssignment,
        checked: CheckedGroup,
        report: &mut AssignerReport,
    ) {
        let expected = plan.by_name();
        let same = |again: Result<GroupAssignment, AssignFailure>| {
            again.is_ok_and(|again| again.by_name() == expected)
        };
        let (model, told) = self.build(&self.group);
        if !same(self.plan(0, &model, &told)) {
            return report.add_fault(AssignerFault::Unsteady(checked));
        }
        if !(1..self.variants.len()).all(|leader| same(self.plan(leader, &model, &told))) {
            report.add_fault(AssignerFault::LeadersDiffer(checked));
        }
        let shuffled = self.group.shuffled(&mut self.dice);
        let (model, told) = self.build(&shuffled);
        if !same(self.plan(0, &model, &told)) {
            report.add_fault(AssignerFault::OrderMatters(checked));
        }
    }

    /// Publishes what nobody else holds, and plans anew while something waits; how many rounds that took.
    fn go_on(&mut self, mut plan: GroupAssignment) -> Result<usize, AssignFailure> {
        for round in 1..=MOST_ROUNDS {
            let Some(first) = self.variants.first() else { break };
            let withheld = plan.withhold(first.assigner.coverage());
            self.group.take(&plan);
            if withheld.is_empty() {
                return Ok(round);
            }
            let (model, told) = self.build(&self.group);
            plan = self.plan(0, &model, &told)?;
        }
        Ok(MOST_ROUNDS)
    }

    fn plan(
        &self,
        leader: usize,
        model: &Arc<Model>,
        told: &Column,
    ) -> Result<GroupAssignment, AssignFailure> {
        let Some(leader) = self.variants.get(leader) else {
            return Ok(GroupAssignment::new(Arc::clone(model), MetadataCodec::preferred()));
        };
        let gathered = self.gather.map(|gather| gather(&self.group.partitions()));
        run_assign(&leader.assigner, model, told, gathered)
    }

    fn build(&self, group: &Group) -> (Arc<Model>, Column) {
        let protocols = self.variants.first().map_or(&[][..], |first| first.assigner.protocols());
        let holds = protocols.contains(&RebalanceProtocol::Cooperative);
        group.build(holds, |member, local| self.describe(member, local))
    }

    fn describe(
        &self,
        member: usize,
        local: &LocalMember<'_>,
    ) -> Result<MetadataPayload, MetadataError> {
        let variant = self.variants.get(member % self.variants.len().max(1));
        let variant = variant.ok_or(MetadataError::Missing)?;
        // What is wrong with describing is told by the check of the codec.
        variant.assigner.describe(local).map_err(|_| MetadataError::Missing)
    }
}
