//! A plan, on its way to bytes for each member.

use std::sync::Arc;

use bytes::Bytes;

use super::dialect::Dialect;
use super::embedded::{encode_assignment, write_lists};
use super::envelope::{Down, PlanFailure, Told};
use super::hash::digest;
use super::lead::{Group, Leading, is_spoken_to};
use super::members::ReadMember;
use super::writer::Writer;
use crate::assign::{GroupAssignment, MemberLists};
use crate::types::Partitions;

/// A plan, and what is said beside it.
pub(super) struct Publishing<'a> {
    leading: &'a Leading,
    group: &'a Group<'a>,
    plan: &'a GroupAssignment,
    lists: MemberLists<'a>,
    /// Partitions that wait until somebody gives them up, by place, ascending.
    waiting: Vec<u32>,
    failure: Option<&'a PlanFailure>,
    digest: u64,
    /// What the member before was told that follows from what it said: the next one mostly said the same.
    last: Option<Planned<'a>>,
}

/// What of an answer follows from what its member said.
#[derive(Clone)]
struct Planned<'a> {
    member: &'a ReadMember,
    hash: Option<u64>,
    counts: Vec<u32>,
}

impl<'a> Publishing<'a> {
    pub(super) fn new(
        leading: &'a Leading,
        group: &'a Group<'a>,
        plan: &'a GroupAssignment,
        withheld: &Partitions,
        failure: Option<&'a PlanFailure>,
    ) -> Self {
        let lists = plan.by_member();
        let place = |(topic, number): (&Arc<str>, i32)| group.model.partition_index(topic, number);
        let withheld = withheld.by_topic();
        let waiting = withheld
            .flat_map(|(topic, numbers)| numbers.iter().map(move |number| (topic, *number)));
        Self {
            leading,
            group,
            plan,
            digest: digest(&group.model, &lists),
            waiting: waiting.filter_map(place).collect(),
            lists,
            failure,
            last: None,
        }
    }

    /// The bytes for the member at a place.
    pub(super) fn assignment(&mut self, member: &'a ReadMember, at: u32) -> Bytes {
        let user_data = self.user_data(member, at);
        let partitions = self.lists.places(at).len();
        encode_assignment(self.lists.by_topic(at), partitions, user_data.as_deref())
    }

    fn user_data(&mut self, member: &'a ReadMember, at: u32) -> Option<Bytes> {
        let allow_migration = self.leading.options.allow_migration;
        if is_spoken_to(member, self.group.dialect, allow_migration) {
            return Some(self.down(member, at).encode());
        }
        // Sarama sends back what it was assigned with as its claim, and knows no other way to be sticky.
        let sticky = self.group.dialect == Dialect::Sticky && !allow_migration;
        sticky.then(|| {
            let mut writer = Writer::default();
            write_lists(&mut writer, self.lists.by_topic(at));
            writer.i32(self.leading.generation.0);
            writer.finish()
        })
    }

    fn down(&mut self, member: &'a ReadMember, at: u32) -> Down {
        let planned = self.planned(member);
        let told = self.plan.told(at);
        let standbys = match self.plan.has_standbys() {
            true => (&self.plan.standbys(at, &self.lists.partitions(at))).into(),
            false => Default::default(),
        };
        Down {
            generation: self.leading.generation,
            failure: self.failure.cloned(),
            told: told
                .map(|told| Told { codec: told.codec.id(), bytes: told.bytes.clone().into() }),
            planned_on: planned.hash,
            group_size: u32::try_from(self.leading.members.len()).unwrap_or(u32::MAX),
            counts: Some(planned.counts),
            follow_up: self.must_follow_up(at),
            rebalance_after: self.plan.wanted_rebalance(),
            digest: self.digest,
            leader: self.leading.leader.as_str().into(),
            second_round: !self.waiting.is_empty(),
            standbys,
        }
    }

    fn planned(&mut self, member: &'a ReadMember) -> Planned<'a> {
        if let Some(last) = self.last.as_ref().filter(|last| last.member.says_as(member)) {
            return last.clone();
        }
        let count_of = |topic: &Arc<str>| self.group.counts.get(topic).copied().unwrap_or(0);
        let planned = Planned {
            member,
            hash: member.planned_on(&self.leading.protocol),
            counts: member.subscription.topics.iter().map(count_of).collect(),
        };
        self.last = Some(planned.clone());
        planned
    }

    /// Whether somebody waits for what this member still holds, be it only for the first copy.
    fn must_follow_up(&self, at: u32) -> bool {
        let model = &*self.group.model;
        let holds = model.members().get(at as usize).is_some_and(|member| member.holds);
        if self.waiting.is_empty() || !holds {
            return false;
        }
        let stays = |partition: u32| {
            let is_given = self.plan.holder_places(partition).any(|holder| holder == at);
            let is_first = self.plan.first_place(partition) == Some(at);
            is_given && (is_first || model.stands_by(at, partition))
        };
        let mut waited_for =
            model.claims(at).iter().filter(|place| self.waiting.binary_search(place).is_ok());
        waited_for.any(|partition| !stays(*partition))
    }
}
