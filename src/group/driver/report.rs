//! What a driver tells of itself: status, one line a round, a span.

use std::time::{Duration, Instant};

use tokio::sync::watch;
use tracing::field::Empty;
use tracing::{Span, info, info_span, warn};

use crate::error::Error;
use crate::group::settings::Settings;
use crate::group::status::{Round, Status};
use crate::membership::{Event, Failure, GroupRequest, GroupResponse, LossCause, Membership};
use crate::protocol::{Cause, Holding, Led};
use crate::subscription::PlanSeen;
use crate::types::{Generation, GroupInstanceId};
use crate::wire::api::JoinGroupResponse;
use crate::wire::{ApiKey, ErrorCode};

/// Keeps the status, and times the rounds.
#[derive(Debug)]
pub(super) struct Report<H> {
    settings: Settings,
    status: watch::Sender<Status<H>>,
    offered: Vec<String>,
    timing: Timing<H>,
}

/// The times of the round that is under way.
#[derive(Debug)]
struct Timing<H> {
    /// Who reads the traces of all members finds one round by its generation, leader and plan.
    span: Span,
    cause: Option<Cause>,
    /// What was held when the round began.
    held: H,
    began: Option<Instant>,
    join_sent: Option<Instant>,
    joined: Option<Instant>,
    plan: Option<(Instant, Option<Instant>)>,
    members: Option<usize>,
    sync_sent: Option<Instant>,
    synced: Option<Instant>,
    protocol: Option<String>,
    leader: Option<String>,
    plan_digest: Option<u64>,
}

impl<H: Holding> Default for Timing<H> {
    fn default() -> Self {
        Self {
            span: Span::none(),
            cause: None,
            held: H::default(),
            began: None,
            join_sent: None,
            joined: None,
            plan: None,
            members: None,
            sync_sent: None,
            synced: None,
            protocol: None,
            leader: None,
            plan_digest: None,
        }
    }
}

impl<H: Holding> Report<H> {
    pub(super) fn new(settings: &Settings, status: watch::Sender<Status<H>>) -> Self {
        Self { settings: settings.clone(), status, offered: Vec::new(), timing: Timing::default() }
    }

    pub(super) fn group_instance_id(&self) -> Option<&GroupInstanceId> {
        self.settings.group_instance_id.as_ref()
    }

    /// The protocols that were last offered.
    pub(super) fn offered(&self) -> &[String] {
        &self.offered
    }

    pub(super) fn described(&mut self, protocols: &[(String, bytes::Bytes)]) {
        self.offered = protocols.iter().map(|(name, _)| name.clone()).collect();
    }

    /// The error that a refusal for good ends with.
    pub(super) fn refusal(&self, api: ApiKey, code: ErrorCode) -> Error {
        match code {
            ErrorCode::GroupAuthorizationFailed => {
                Error::GroupAuthorization { group: self.settings.group_id.clone(), api }
            }
            ErrorCode::InvalidSessionTimeout => {
                Error::SessionTimeoutRefused(self.settings.options.session_timeout)
            }
            ErrorCode::InvalidGroupId => Error::option("group.id", "the broker refuses it"),
            _ => Error::Refused { api, code },
        }
    }

    pub(super) fn round_began(&mut self, cause: Cause, held: H, now: Instant) {
        if self.timing.began.is_some() && self.timing.synced.is_none() {
            self.status.send_modify(|status| status.counters.failed_rebalances += 1);
        }
        let span = info_span!(
            "group.round",
            group = self.settings.group_id,
            group_instance_id = self.settings.group_instance_id.as_ref().map(|id| id.as_str()),
            member_id = Empty,
            %cause,
            generation = Empty,
            leader = Empty,
            plan = Empty,
        );
        self.timing =
            Timing { span, cause: Some(cause), held, began: Some(now), ..Timing::default() };
    }

    /// The round that is under way, for what happens in it elsewhere.
    pub(super) fn span(&self) -> Span {
        self.timing.span.clone()
    }

    pub(super) fn sending(&mut self, request: &GroupRequest, now: Instant) {
        match request {
            GroupRequest::Join(_) => self.timing.join_sent = Some(now),
            GroupRequest::Sync(_) => self.timing.sync_sent = Some(now),
            GroupRequest::Heartbeat(_) => self.count(|status| status.counters.heartbeats += 1),
            GroupRequest::Leave(_) => {}
        }
    }

    pub(super) fn committing(&self) {
        self.count(|status| status.counters.commits += 1);
    }

    pub(super) fn answered(&mut self, response: &Result<GroupResponse, Failure>, now: Instant) {
        match response {
            Ok(GroupResponse::Join(join)) if join.error.is_none() => {
                self.timing.joined = Some(now);
                self.timing.protocol.clone_from(&join.protocol);
                self.timing.leader = Some(join.leader.to_string());
                self.timing.record_join(join);
            }
            Ok(GroupResponse::Sync(sync)) if sync.error.is_none() => self.timing.synced = Some(now),
            _ => {}
        }
    }

    pub(super) fn planning(&mut self, led: &Led, now: Instant) {
        self.timing.plan = Some((now, None));
        self.timing.members = Some(led.members.len());
    }

    pub(super) fn planned(&mut self, now: Instant) {
        if let Some((_, end)) = &mut self.timing.plan {
            *end = Some(now);
        }
    }

    pub(super) fn plan_seen(&mut self, plan: Option<&PlanSeen>) {
        self.timing.plan_digest = plan.map(|plan| plan.digest);
        if let Some(plan) = plan {
            self.timing.span.record("plan", format!("{:016x}", plan.digest));
        }
    }

    /// What the application is about to be told.
    pub(super) fn telling(&mut self, event: &Event<H>, now: Instant) {
        match event {
            Event::Assigned { generation, leads, held, .. } => {
                self.round_ended(*generation, *leads, held, now);
            }
            Event::Lost { cause, .. } => {
                self.log_loss(cause);
                self.count(|status| status.counters.losses += 1);
            }
            _ => {}
        }
    }

    fn log_loss(&self, cause: &LossCause) {
        let group = &self.settings.group_id;
        match (cause, self.group_instance_id()) {
            (LossCause::Fenced, Some(id)) => {
                warn!(group, %id, "assignment lost: another process has joined with this group.instance.id");
            }
            _ => info!(group, ?cause, "assignment lost"),
        }
    }

    fn round_ended(&mut self, generation: Generation, leads: bool, held: &H, now: Instant) {
        let timing = std::mem::take(&mut self.timing);
        let round = timing.round(generation, held, now);
        let _round = timing.span.enter();
        info!(
            group = self.settings.group_id,
            generation = generation.0,
            protocol = timing.protocol.as_deref(),
            leader = timing.leader.as_deref(),
            leads,
            plan = timing.plan_digest.map(|digest| format!("{digest:016x}")),
            cause = %round.cause,
            join_ms = round.join.as_millis(),
            sync_ms = round.sync.as_millis(),
            "round ended"
        );
        self.status.send_modify(|status| {
            status.counters.rebalances += 1;
            status.last_round = Some(round);
        });
    }

    /// Copies what the machine shows, where it has changed.
    pub(super) fn observe(&self, machine: &Membership<H>) {
        self.status.send_if_modified(|status| {
            let changed = status.state != machine.state()
                || status.generation != machine.generation()
                || status.member_id != *machine.member_id()
                || status.assignment != *machine.held();
            status.owned_until = machine.owned_until();
            if changed {
                status.state = machine.state();
                status.generation = machine.generation();
                status.member_id = machine.member_id().clone();
                status.is_leader = machine.is_leader();
                status.leader = machine.leader().clone();
                status.protocol = machine.protocol().map(str::to_owned);
                status.assignment = machine.held().clone();
            }
            changed
        });
    }

    pub(super) fn ended(&self, error: Option<Error>) {
        self.status.send_modify(|status| {
            status.assignment = H::default();
            status.owned_until = None;
            status.ended = Some(error.map_or(Ok(()), Err));
        });
    }

    /// Counts without waking whoever watches.
    fn count(&self, change: impl FnOnce(&mut Status<H>)) {
        self.status.send_if_modified(|status| {
            change(status);
            false
        });
    }
}

impl<H: Holding> Timing<H> {
    fn record_join(&self, join: &JoinGroupResponse) {
        self.span.record("generation", join.generation.0);
        self.span.record("member_id", join.member_id.to_string());
        self.span.record("leader", join.leader.to_string());
    }

    fn round(&self, generation: Generation, held: &H, now: Instant) -> Round<H> {
        let between = |from: Option<Instant>, to: Option<Instant>| {
            from.zip(to).map_or(Duration::ZERO, |(from, to)| to.saturating_duration_since(from))
        };
        Round {
            generation,
            cause: self.cause.clone().unwrap_or(Cause::GroupRebalancing),
            revoke: between(self.began, self.join_sent),
            join: between(self.join_sent, self.joined),
            plan: self.plan.map(|(from, to)| to.unwrap_or(now).saturating_duration_since(from)),
            sync: between(self.sync_sent, self.synced),
            members: self.members,
            gained: without(held, &self.held),
            gave_up: without(&self.held, held),
        }
    }
}

/// What `all` holds and `part` does not.
fn without<H: Holding>(all: &H, part: &H) -> H {
    let mut rest = all.clone();
    rest.remove(part);
    rest
}
