//! The broker's half of the classic group protocol, pure.
//!
//! Time is an argument, chance is a seed, and answers are polled. What is said of Kafka here was seen on Kafka 4.4.

mod connections;
mod context;
mod describe;
mod group;
mod join;
mod leave;
mod liveness;
mod member;
mod offsets;
mod rebalance;
mod record;
mod replace;
mod request;
mod serve;
mod settings;
mod sync;

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use crate::types::{MemberId, Offsets};
use crate::wire::ErrorCode;
use crate::wire::api::{DescribedGroup, HeartbeatRequest, LeaveGroupRequest, LeavingMember};

use connections::Connections;
use context::Context;
use group::Group;

pub(crate) use group::GroupState;
pub(crate) use request::{
    ConnectionId, CoordinatorRequest, CoordinatorResponse, RequestBody, RequestTag, ResponseBody,
};
pub use settings::CoordinatorSettings;

/// The coordinator of many groups, without a network and without a clock.
///
/// It does what a Kafka 4.4 broker does with members of the classic protocol, dynamic and static, down to the
/// requests that are never answered. [`FakeBroker`](super::FakeBroker) puts it behind a TCP port.
#[derive(Debug)]
pub struct FakeCoordinator {
    settings: CoordinatorSettings,
    groups: BTreeMap<String, Group>,
    /// Groups that a new coordinator is loading, and until when.
    loading: BTreeMap<String, Instant>,
    /// Partitions by topic; any topic exists if there are none.
    topics: Option<BTreeMap<String, i32>>,
    connections: Connections,
    answers: VecDeque<CoordinatorResponse>,
    dice: fastrand::Rng,
}

/// How a coordinator is lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Loss {
    /// It hands over: parked requests are answered NOT_COORDINATOR.
    HandedOver,
    /// It dies: parked requests are never answered.
    Killed,
}

impl FakeCoordinator {
    /// A coordinator without groups.
    pub fn new(settings: CoordinatorSettings) -> Self {
        let dice = fastrand::Rng::with_seed(settings.seed);
        Self {
            settings,
            groups: BTreeMap::new(),
            loading: BTreeMap::new(),
            topics: None,
            connections: Connections::default(),
            answers: VecDeque::new(),
            dice,
        }
    }

    /// From now on only offsets of these topics' partitions can be committed.
    pub(crate) fn set_topics(&mut self, topics: BTreeMap<String, i32>) {
        self.topics = Some(topics);
    }

    /// A request comes in. Its answer, if it gets one, is polled; until then its connection's later requests wait.
    pub(crate) fn handle(&mut self, now: Instant, request: CoordinatorRequest) {
        let before = self.answers.len();
        if let Some(request) = self.connections.admit(request) {
            self.serve(now, request);
            self.release(now, before);
        }
    }

    /// Time has passed.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        let before = self.answers.len();
        self.loading.retain(|_, until| *until > now);
        let Self { settings, groups, answers, dice, .. } = &mut *self;
        for group in groups.values_mut() {
            if group.next_timeout().is_some_and(|at| at <= now) {
                group.on_timeout(&mut Context { now, settings, answers, dice });
            }
        }
        self.release(now, before);
    }

    /// When [`Self::handle_timeout`] is next due.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let loaded = self.loading.values().copied();
        self.groups.values().filter_map(Group::next_timeout).chain(loaded).min()
    }

    /// The next answer.
    pub(crate) fn poll_response(&mut self) -> Option<CoordinatorResponse> {
        self.answers.pop_front()
    }

    /// A connection is gone. A member whose request was parked in it stays where it is.
    pub(crate) fn disconnect(&mut self, connection: ConnectionId) {
        self.connections.close(connection);
        self.answers.retain(|answer| answer.connection != connection);
    }

    /// Every group gets a new coordinator, which knows what the log says.
    pub(crate) fn fail_over(&mut self, now: Instant, loss: Loss) {
        for group_id in self.groups.keys().cloned().collect::<Vec<_>>() {
            self.fail_over_group(now, &group_id, loss);
        }
    }

    /// As [`Self::fail_over`], for one group.
    pub(crate) fn fail_over_group(&mut self, now: Instant, group_id: &str, loss: Loss) {
        let before = self.answers.len();
        let loaded = now + self.settings.loading_time;
        if let Some((group, mut context)) = self.group(now, group_id) {
            if loss == Loss::HandedOver {
                group.answer_all(&mut context, ErrorCode::NotCoordinator);
            }
            *group = group.reloaded(loaded);
            if group.members.len() > context.settings.max_size {
                group.prepare_rebalance(&mut context);
            }
        }
        self.loading.insert(group_id.to_owned(), loaded);
        self.release(now, before);
    }

    /// The group as DescribeGroups tells it, if it exists.
    pub(crate) fn describe(&self, group_id: &str) -> Option<DescribedGroup> {
        self.groups.get(group_id).map(Group::described)
    }

    /// What this heartbeat would be refused with: whoever sends it is out of the group, or its generation is over.
    pub(crate) fn refuses(&self, heartbeat: &HeartbeatRequest) -> Option<ErrorCode> {
        let Some(group) = self.groups.get(&heartbeat.group_id) else {
            return Some(ErrorCode::UnknownMemberId);
        };
        let (id, instance_id) = (&heartbeat.member_id, heartbeat.group_instance_id.as_ref());
        group.validate_generation(id, instance_id, heartbeat.generation).err()
    }

    /// Whether this request is parked in a group, or waits behind another one.
    pub(crate) fn has(&self, connection: ConnectionId, tag: RequestTag) -> bool {
        self.connections.waits_behind(connection, tag)
            || self.groups.values().any(|group| group.has_parked(tag))
    }

    /// What a group has committed.
    pub(crate) fn committed(&self, group_id: &str) -> Offsets {
        self.groups.get(group_id).map(|group| group.offsets.clone()).unwrap_or_default()
    }

    /// Takes a member out, as an administrator's LeaveGroup does.
    pub(crate) fn remove_member(&mut self, now: Instant, group_id: &str, member_id: &MemberId) {
        let before = self.answers.len();
        let leaving =
            LeavingMember { member_id: member_id.clone(), group_instance_id: None, reason: None };
        let request = LeaveGroupRequest { group_id: group_id.to_owned(), members: vec![leaving] };
        if let Some((group, mut context)) = self.group(now, group_id) {
            group.on_leave(&mut context, &request);
        }
        self.release(now, before);
    }

    /// Drops the answers, from the given one on, that nobody waits for, and serves what waited behind the others.
    fn release(&mut self, now: Instant, from: usize) {
        let mut next = from;
        while let Some(answer) = self.answers.get(next) {
            let (connection, tag) = (answer.connection, answer.tag);
            if !self.connections.awaits(connection, tag) {
                self.answers.remove(next);
                continue;
            }
            next += 1;
            if let Some(waiting) = self.connections.answered(connection) {
                self.serve(now, waiting);
            }
        }
    }

    fn group(&mut self, now: Instant, group_id: &str) -> Option<(&mut Group, Context<'_>)> {
        let Self { settings, groups, answers, dice, .. } = self;
        let group = groups.get_mut(group_id)?;
        Some((group, Context { now, settings, answers, dice }))
    }
}

#[cfg(test)]
mod tests;
