//! A process with one member: the machine, the connections, and an application that works on pieces.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pieces::Pieces;
use super::spoken::{Listed, Spoken};
use crate::membership::{
    CommitId, Event, Failure, GroupResponse, Lane, Membership, MembershipConfig, OnFenced,
    RequestId, RevocationId, Rule,
};
use crate::protocol::{GroupProtocol, Holding};
use crate::testing::coordinator::{ConnectionId, RequestTag};
use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::ErrorCode;
use crate::wire::api::HeartbeatRequest;

pub(super) const GROUP: &str = "workers";
pub(super) const SESSION: Duration = Duration::from_secs(6);

/// A member's process. Restarted, it is another process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) member: Membership<Pieces>,
    pub(super) protocol: Spoken,
    /// What a restart may change.
    pub(super) wish: u8,
    /// What it lists, if it consumes.
    pub(super) listed: Listed,
    pub(super) name: Arc<str>,
    pub(super) instance: Option<GroupInstanceId>,
    pub(super) on_fenced: OnFenced,
    pub(super) is_dead: bool,
    pub(super) paused_until: Option<Instant>,
    /// The coordinator that this process knows.
    pub(super) epoch: u64,
    pub(super) lanes: BTreeMap<u8, Connection>,
    /// What waits for an answer.
    pub(super) out: BTreeMap<RequestId, Waiting>,
    /// What the application works on: told as assigned, neither released nor said to be lost.
    pub(super) works_on: Pieces,
    /// The event that waits for the application.
    pub(super) slot: Option<Event<Pieces>>,
    pub(super) asks: bool,
    pub(super) releasing: Option<(RevocationId, Pieces)>,
    /// Parts of commits that have not ended.
    pub(super) commits: BTreeMap<CommitId, Pieces>,
    /// It is out, through no fault of its own, and no heartbeat has said so yet.
    pub(super) untold: Option<Out>,
    /// What the last heartbeat said.
    pub(super) told: Option<Out>,
    /// It stood still, and no heartbeat was answered since.
    pub(super) stood_still: bool,
}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) lane: Lane,
    /// The generation it was asked in.
    pub(super) asked_in: Generation,
    pub(super) deadline: Instant,
    /// None if it was sent on a connection that is cut.
    pub(super) tag: Option<RequestTag>,
}

/// A heartbeat, and what it is refused with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Out {
    pub(super) member_id: MemberId,
    pub(super) generation: Generation,
    pub(super) error: ErrorCode,
}

/// One of a process's connections to a coordinator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) epoch: u64,
    /// Nothing goes through any more, and nobody says so.
    pub(super) is_cut: bool,
    pub(super) last_sent: Instant,
    pub(super) last_answer: Instant,
}

impl Process {
    pub(super) fn new(
        name: Arc<str>,
        instance: Option<GroupInstanceId>,
        protocol: Spoken,
        rebalance_timeout: Duration,
        on_fenced: OnFenced,
        seed: u64,
        broken: Option<Rule>,
    ) -> Self {
        let protocol_type = protocol.protocol_type().to_owned();
        let config = MembershipConfig {
            rebalance_timeout,
            protocol_type,
            on_fenced,
            ..config(instance.clone())
        };
        let member = Membership::new(config, seed);
        Self {
            member: match broken {
                Some(rule) => member.without(rule),
                None => member,
            },
            protocol,
            wish: 0,
            listed: Listed::Range,
            name,
            instance,
            on_fenced,
            is_dead: false,
            paused_until: None,
            epoch: 0,
            lanes: BTreeMap::new(),
            out: BTreeMap::new(),
            works_on: Pieces::default(),
            slot: None,
            asks: true,
            releasing: None,
            commits: BTreeMap::new(),
            untold: None,
            told: None,
            stood_still: false,
        }
    }

    pub(super) fn runs(&self) -> bool {
        !self.is_dead && self.paused_until.is_none()
    }

    /// The heartbeat that it would send now.
    pub(super) fn heartbeat(&self) -> HeartbeatRequest {
        HeartbeatRequest {
            group_id: GROUP.to_owned(),
            generation: self.member.generation(),
            member_id: self.member.member_id().clone(),
            group_instance_id: self.instance.clone(),
        }
    }

    pub(super) fn out_with(&self, error: ErrorCode) -> Out {
        let member_id = self.member.member_id().clone();
        Out { member_id, generation: self.member.generation(), error }
    }

    /// What the answer to a heartbeat of this generation says, if it comes before the machine gives it up.
    pub(super) fn hears(
        &self,
        now: Instant,
        waiting: Waiting,
        answer: &Result<GroupResponse, Failure>,
    ) -> Option<Out> {
        let Ok(GroupResponse::Heartbeat(beat)) = answer else { return None };
        let in_time = now < waiting.deadline && waiting.asked_in == self.member.generation();
        in_time.then(|| self.out_with(beat.error))
    }

    /// Whether it takes part, or would if the network let it.
    pub(super) fn lives(&self) -> bool {
        !self.is_dead && self.member.ended().is_none()
    }

    /// Whether it may be working on something, or be about to.
    pub(super) fn has_generation(&self) -> bool {
        !self.is_dead && self.member.generation().is_some()
    }

    /// The machine has given an event out: it takes the place of the one before. A loss counts once it is said.
    pub(super) fn say(&mut self, event: Event<Pieces>) {
        if let Event::Lost { lost, .. } = &event {
            self.works_on.remove(lost);
            if self.releasing.as_ref().is_some_and(|(_, pieces)| !pieces.common(lost).is_empty()) {
                self.releasing = None;
            }
        }
        self.slot = Some(event);
    }

    pub(super) fn part_ended(&mut self, commit: CommitId, items: &Pieces) -> Result<(), String> {
        let Some(left) = self.commits.get_mut(&commit) else {
            return Err(format!("{commit:?} ended twice"));
        };
        if left.common(items) != *items {
            return Err(format!("{commit:?} ended for {items:?}, of which only {left:?} was left"));
        }
        left.remove(items);
        if left.is_empty() {
            self.commits.remove(&commit);
        }
        Ok(())
    }
}

pub(super) fn lane_key(lane: Lane) -> u8 {
    match lane {
        Lane::Rounds => 0,
        Lane::Heartbeats => 1,
        Lane::Commits => 2,
    }
}

fn config(group_instance_id: Option<GroupInstanceId>) -> MembershipConfig {
    MembershipConfig {
        group_id: GROUP.to_owned(),
        group_instance_id,
        protocol_type: String::new(),
        session_timeout: SESSION,
        rebalance_timeout: Duration::from_secs(10),
        heartbeat_interval: None,
        request_timeout: Duration::from_secs(4),
        retry_backoff: Duration::from_millis(100),
        retry_backoff_max: Duration::from_secs(1),
        api_timeout: Duration::from_secs(20),
        settle_delay: Duration::ZERO,
        allow_foreign_commits: false,
        leave_policy: crate::membership::LeavePolicy::Auto,
        on_fenced: OnFenced::Fail,
    }
}
