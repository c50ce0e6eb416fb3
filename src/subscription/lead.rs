//! The leader's work: from what everybody said to bytes for everybody.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;

use super::dialect::Dialect;
use super::envelope::PlanFailure;
use super::members::{ReadMember, counts_of, gather_model};
use super::notice::ConsumerNotice;
use super::options::{ConsumerOptions, OnAssignError};
use super::outcome::{Outcome, Trouble, in_peace};
use super::publish::Publishing;
use crate::assign::{
    AssignFailure, ErasedAssigner, GroupAssignment, InvalidPlan, MemberBytes, MetadataError,
    MetadataPayload, Model, check_record, keep_claims, run_assign,
};
use crate::protocol::{Facts, JobError, Plan};
use crate::types::{Generation, MemberId, Partitions};

/// A group to plan for, read.
#[derive(Debug)]
pub(super) struct Leading {
    pub(super) options: Arc<ConsumerOptions>,
    /// What the broker chose; none where it chose a name that we have no assigner for.
    pub(super) assigner: Option<ErasedAssigner>,
    pub(super) protocol: String,
    pub(super) generation: Generation,
    pub(super) leader: MemberId,
    pub(super) members: Vec<ReadMember>,
    /// The plan stands: only what it should know of the topics is wanted (KIP-814).
    pub(super) skip_assignment: bool,
    /// How many plans in a row have failed before.
    pub(super) failures: u32,
    /// Where the outcome goes.
    pub(super) slot: Arc<OnceLock<Outcome>>,
}

impl Leading {
    /// Plans. Runs the application's code.
    pub(super) fn run(self, facts: &Facts) -> Result<Plan, JobError> {
        let group = self.build(facts)?;
        if self.skip_assignment {
            self.settle(&group, false, []);
            return Ok(Plan::default());
        }
        let (told, gathered) = (&group.told, facts.gathered.clone());
        match run_assign(group.assigner, &group.model, told, gathered) {
            Err(failure) => self.keep(&group, &failure.into()),
            Ok(mut plan) => {
                let mut withheld = plan.withhold(group.assigner.coverage());
                withheld.extend_with(&plan.waiting_for_first());
                match self.encode(&group, &plan, &withheld, None) {
                    Err(too_large) => {
                        let trouble = AssignFailure::Invalid(too_large).into();
                        self.keep(&group, &trouble)
                    }
                    Ok(assignments) => {
                        let idle = idle_members(&plan, &withheld);
                        let few = plan.few_copies(group.assigner.coverage());
                        let notices = [
                            (!idle.is_empty()).then_some(ConsumerNotice::IdleMembers(idle)),
                            (!few.is_empty()).then_some(ConsumerNotice::FewCopies(few)),
                        ];
                        self.settle(&group, false, notices.into_iter().flatten());
                        Ok(Plan { assignments, again_after: self.again_after(&plan) })
                    }
                }
            }
        }
    }

    /// Plans without the assigner, which hangs or was not reached. Runs nothing of the application's.
    pub(super) fn run_without(self, facts: &Facts, error: &JobError) -> Result<Plan, JobError> {
        let group = self.build(facts)?;
        self.keep(&group, &error.into())
    }

    fn build(&self, facts: &Facts) -> Result<Group<'_>, JobError> {
        let Some(assigner) = &self.assigner else {
            let message =
                format!("the group chose `{}`, which this member cannot plan", self.protocol);
            return Err(JobError::StepDown(message));
        };
        let counts = counts_of(&self.members, &facts.cluster);
        let (id, cluster) = (&self.options.group_id, &facts.cluster);
        let builder =
            gather_model(id, self.generation, &self.leader, &self.members, cluster, &counts);
        let (model, told) = builder.build();
        let by_id = self.members.iter().map(|member| (member.id.as_str(), member)).collect();
        let dialect = Dialect::of(assigner);
        Ok(Group { assigner, dialect, model: Arc::new(model), told, counts, by_id })
    }

    /// What everybody validly has stays with them, and they are told why nothing else happened.
    fn keep(&self, group: &Group<'_>, trouble: &Trouble) -> Result<Plan, JobError> {
        if self.options.on_assign_error == OnAssignError::Fail && self.failures > 0 {
            return Err(JobError::Fail(trouble.message().to_owned()));
        }
        if let Some(silent) = self.members.iter().find(|member| !member.told_all) {
            return Err(JobError::StepDown(format!(
                "no plan ({}), and what `{}` had is not known",
                trouble.message(),
                silent.name(),
            )));
        }
        let (coverage, codec) = (group.assigner.coverage(), group.assigner.codec());
        let by_topic = group.assigner.coverage_by_topic(&group.model);
        let mut plan = keep_claims(&group.model, coverage, by_topic, codec);
        let withheld = plan.withhold(coverage);
        let failure = trouble.tell(self.own_name());
        let assignments =
            self.encode(group, &plan, &withheld, Some(&failure)).map_err(|too_large| {
                JobError::StepDown(format!("no plan ({}), and {too_large}", trouble.message()))
            })?;
        self.settle(group, true, []);
        Ok(Plan { assignments, again_after: Some(trouble.again_after(self.failures)) })
    }

    fn encode(
        &self,
        group: &Group<'_>,
        plan: &GroupAssignment,
        withheld: &Partitions,
        failure: Option<&PlanFailure>,
    ) -> Result<Vec<(MemberId, Bytes)>, InvalidPlan> {
        let mut publishing = Publishing::new(self, group, plan, withheld, failure);
        let mut assignments = Vec::with_capacity(self.members.len());
        for (member, at) in group.model.members().iter().zip(0..) {
            let Some(read) = group.by_id.get(member.id.as_str()) else { continue };
            assignments.push((member.id.clone(), publishing.assignment(read, at)));
        }
        self.check_size(group, &assignments)?;
        Ok(assignments)
    }

    fn check_size(
        &self,
        group: &Group<'_>,
        assignments: &[(MemberId, Bytes)],
    ) -> Result<(), InvalidPlan> {
        let client_id = self.options.client_id.len();
        let sizes = assignments.iter().filter_map(|(id, bytes)| {
            let read = group.by_id.get(id.as_str())?;
            let instance_id = read.instance_id.as_deref().map_or(0, str::len);
            Some(MemberBytes {
                member_id: id.as_str(),
                other_ids: instance_id + client_id,
                metadata: read.size,
                assignment: bytes.len(),
            })
        });
        let sizes: Vec<MemberBytes<'_>> = sizes.collect();
        check_record(&self.options.group_id, &sizes, self.options.record_limit)
    }

    /// A round that the assigner wants goes down in the leader's envelope, which a restarted leader reads again; where
    /// there is none, this process must remember.
    fn again_after(&self, plan: &GroupAssignment) -> Option<Duration> {
        let own = self.members.iter().find(|member| member.id == self.leader);
        let dialect = self.assigner.as_ref().map(Dialect::of);
        let enveloped = own
            .zip(dialect)
            .is_some_and(|(own, dialect)| is_spoken_to(own, dialect, self.options.allow_migration));
        plan.wanted_rebalance().filter(|_| !enveloped).map(in_peace)
    }

    fn settle(
        &self,
        group: &Group<'_>,
        failed: bool,
        of_plan: impl IntoIterator<Item = ConsumerNotice>,
    ) {
        let unreadable = self.members.iter().filter_map(|member| {
            member.unreadable.as_ref().map(|why| (member.id.clone(), Arc::clone(why)))
        });
        let unreadable: Vec<_> = unreadable.collect();
        let mut notices = Vec::new();
        if !unreadable.is_empty() {
            notices.push(ConsumerNotice::UnreadableMembers(unreadable));
        }
        notices.extend(of_plan);
        let outcome = Outcome {
            generation: self.generation,
            counts: group.counts.clone(),
            failed,
            skipped: self.skip_assignment,
            notices,
        };
        // A job that was abandoned comes too late, and finds a slot that nobody looks at.
        drop(self.slot.set(outcome));
    }

    fn own_name(&self) -> &str {
        let own = self.members.iter().find(|member| member.id == self.leader);
        own.map_or(self.leader.as_str(), ReadMember::name)
    }
}

/// The group as the assigner sees it, and as its members said it.
#[derive(Debug)]
pub(super) struct Group<'a> {
    assigner: &'a ErasedAssigner,
    pub(super) dialect: Dialect,
    pub(super) model: Arc<Model>,
    told: Vec<Result<MetadataPayload, MetadataError>>,
    pub(super) counts: BTreeMap<Arc<str>, u32>,
    by_id: BTreeMap<&'a str, &'a ReadMember>,
}

/// Whether a member gets an envelope: under Kafka's names whoever sent one, under our own names everybody. To others
/// null: Sarama would hand an envelope on to its own leader, and wedge.
pub(super) fn is_spoken_to(member: &ReadMember, dialect: Dialect, allow_migration: bool) -> bool {
    match dialect {
        _ if allow_migration => false,
        Dialect::Sticky => false,
        Dialect::Plain | Dialect::CooperativeSticky => member.envelope.is_ok(),
        Dialect::Own | Dialect::Raw => true,
    }
}

/// Members that get nothing though there is a partition for each; while something is withheld the plan is not the
/// whole one.
fn idle_members(plan: &GroupAssignment, withheld: &Partitions) -> Vec<MemberId> {
    let model = plan.model();
    if !withheld.is_empty() || model.partition_count() < model.members().len() {
        return Vec::new();
    }
    let members = model.members().iter().zip(0..);
    let idle =
        members.filter(|(_, at)| plan.load_at(*at) == 0 && !model.subscription(*at).is_empty());
    idle.map(|(member, _)| member.id.clone()).collect()
}
