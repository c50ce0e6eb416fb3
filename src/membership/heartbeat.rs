//! Heartbeats, and what their answers prove: until when what is held is surely ours.

use std::time::{Duration, Instant};

use super::round::Step;
use super::timers::{Timer, after};
use super::{
    Event, Failure, GroupRequest, GroupResponse, InFlight, Lane, LossCause, MemberState,
    Membership, Output, Rule,
};
use crate::protocol::{Cause, Holding};
use crate::wire::api::{HeartbeatRequest, HeartbeatResponse};
use crate::wire::{ApiKey, ErrorCode, Recovery, recovery};

const DEFAULT_INTERVAL: Duration = Duration::from_secs(3);

/// No plan makes us beat more often.
const SHORTEST_TOLD: Duration = Duration::from_millis(50);

/// How long a round that a plan announced is listened for. Whoever must begin it may have work to finish first.
const HURRY: Duration = Duration::from_secs(2);

/// The heart.
#[derive(Debug, Default)]
pub(super) struct Heartbeats {
    /// One is out at a time.
    pub(super) out: Option<InFlight>,
    /// The next goes out as soon as it can.
    due: bool,
    /// What the plan said about the interval.
    pub(super) told_interval: Option<Duration>,
    /// What it said about the moment until the next round, and when that is over.
    hurried: Option<(Duration, Instant)>,
    /// How often the interval was doubled because answers carried a throttle time.
    stretched: u32,
    failures: u32,
    /// When what was acknowledged last was sent: our session ends no earlier than a session after it.
    pub(super) alive: Option<Instant>,
    /// When what was answered last without a rebalance was sent: no round began before.
    pub(super) calm: Option<Instant>,
    /// A heartbeat of this generation was answered so.
    was_calm: bool,
    /// The application knows that the coordinator refuses the group to us.
    unauthorized: bool,
}

impl<H: Holding> Membership<H> {
    /// Sends a heartbeat if one is due and makes sense.
    pub(super) fn advance_heartbeats(&mut self, now: Instant) {
        let may_beat = self.heartbeats.due && self.heartbeats.out.is_none() && self.may_send();
        if !may_beat || !self.beats() {
            return;
        }
        self.heartbeats.due = false;
        let request = GroupRequest::Heartbeat(HeartbeatRequest {
            group_id: self.config.group_id.clone(),
            generation: self.identity.generation,
            member_id: self.identity.member_id.clone(),
            group_instance_id: self.identity.group_instance_id.clone(),
        });
        let sent = self.in_flight(now, ApiKey::Heartbeat);
        // Several tries fit in a session.
        let span = self.config.request_timeout.min(self.config.session_timeout / 3);
        let deadline = after(now, span);
        self.timers.set(Timer::HeartbeatAnswer, deadline);
        let id = sent.id;
        self.heartbeats.out = Some(sent);
        self.outputs.push_back(Output::Send { id, lane: Lane::Heartbeats, request, deadline });
    }

    /// In a generation, while revoking and while the leader plans. A parked JoinGroup is proof enough of life, except
    /// to ourselves: who holds something must know until when.
    fn beats(&self) -> bool {
        let may = match self.round.step {
            Step::Leaving => false,
            Step::Joining => !self.held.is_empty(),
            _ => true,
        };
        may && self.identity.generation.is_some() && !self.stalled
    }

    pub(super) fn stop_heartbeats_while_joining(&mut self) {
        if self.held.is_empty() {
            self.timers.stop(Timer::Heartbeat);
            self.heartbeats.due = false;
        }
    }

    /// JoinGroup was answered: fresh timers, and a heartbeat at once where the answer started no session of the length
    /// that we asked for (an unchanged follower, a static member that came back) or started it a while ago.
    pub(super) fn start_heartbeats(&mut self, now: Instant, join: &InFlight, is_new: bool) {
        self.heartbeats.failures = 0;
        if is_new {
            self.heartbeats.alive = self.heartbeats.alive.max(Some(join.at));
        }
        self.no_round_before(join.at);
        let waited = now.saturating_duration_since(join.at);
        let came_back =
            self.identity.group_instance_id.is_some() && join.identity.member_id.is_empty();
        let at_once = !is_new || came_back || waited >= self.config.session_timeout / 3;
        self.heartbeats.due = at_once;
        self.heartbeats.hurried = None;
        self.heartbeats.was_calm = false;
        let next = after(now, self.interval(now));
        self.timers.set(Timer::Heartbeat, next);
    }

    pub(super) fn on_heartbeat_due(&mut self) {
        self.heartbeats.due = true;
    }

    /// The next heartbeat as soon as possible.
    pub(super) fn beat_now(&mut self) {
        self.heartbeats.due = true;
    }

    pub(super) fn forget_heartbeats(&mut self) {
        let told_interval = self.heartbeats.told_interval;
        self.heartbeats = Heartbeats { told_interval, ..Heartbeats::default() };
        for timer in [Timer::Heartbeat, Timer::HeartbeatAnswer, Timer::Session] {
            self.timers.stop(timer);
        }
    }

    pub(super) fn on_heartbeat_answer(
        &mut self,
        now: Instant,
        sent: &InFlight,
        answer: Result<GroupResponse, Failure>,
    ) {
        self.timers.stop(Timer::HeartbeatAnswer);
        match answer {
            Ok(GroupResponse::Heartbeat(beat)) => self.on_heartbeat(now, sent, &beat),
            Err(Failure::TimedOut | Failure::Disconnected) => {
                self.lose_coordinator(now);
                self.beat_after_failure(now);
            }
            Ok(_) | Err(_) => self.beat_after_failure(now),
        }
    }

    fn on_heartbeat(&mut self, now: Instant, sent: &InFlight, beat: &HeartbeatResponse) {
        let is_current = sent.identity == self.identity;
        match recovery(ApiKey::Heartbeat, beat.error) {
            Recovery::Proceed => {
                self.heard_from_coordinator();
                if is_current {
                    self.acknowledged(sent.at);
                    self.on_calm(sent.at);
                }
                self.beat_later(now, sent, beat.throttle);
            }
            Recovery::Rejoin { .. } => {
                self.heard_from_coordinator();
                if is_current {
                    self.acknowledged(sent.at);
                    self.on_rebalance(now);
                }
                self.beat_later(now, sent, beat.throttle);
            }
            Recovery::Retry => {
                if beat.error == ErrorCode::GroupAuthorizationFailed {
                    self.tell_unauthorized(now);
                }
                self.beat_after_failure(now);
            }
            Recovery::Rediscover => {
                self.lose_coordinator(now);
                self.beat_after_failure(now);
            }
            // No loss: the next generation's leader knows what we hold.
            Recovery::RejoinLost
                if matches!(self.round.step, Step::Joining) && self.was_waited_for(now) =>
            {
                self.on_overtaken(now);
                self.beat_later(now, sent, beat.throttle);
            }
            other if is_current || !self.keeps(Rule::DropStaleAnswers) => {
                self.recover_member(now, ApiKey::Heartbeat, beat.error, other);
            }
            _ => self.beat_later(now, sent, beat.throttle),
        }
    }

    /// No round is on. But who owes SyncGroup is thrown out a rebalance timeout after JoinGroup was answered, and
    /// heartbeats do not change that.
    fn on_calm(&mut self, sent: Instant) {
        self.heartbeats.unauthorized = false;
        self.heartbeats.was_calm = true;
        if !matches!(self.round.step, Step::Leading(_) | Step::Syncing) {
            self.no_round_before(sent);
        }
    }

    /// Whether a generation that came after ours has us in it because of our JoinGroup. Without one a dynamic member is
    /// unknown to it. A static one is kept with what it said before, as soon as a round can have ended without it.
    pub(super) fn was_waited_for(&self, now: Instant) -> bool {
        let is_member = self.identity.generation.is_some();
        let is_static = self.identity.group_instance_id.is_some();
        is_member && (!is_static || self.round_ends_after().is_some_and(|end| now < end))
    }

    /// The answer to our JoinGroup or SyncGroup is on its way, or was lost: then it is asked for again, since the round
    /// goes on without who does not come back.
    fn on_overtaken(&mut self, now: Instant) {
        if std::mem::replace(&mut self.round.is_overtaken, true) {
            self.on_ask_again(now);
        }
    }

    /// Somebody joined, left or changed. Said of the generation that we wait to sync, SyncGroup is refused for the same
    /// reason; unless the broker is of another make, and says so from the first heartbeat on until the plan is there
    /// (Redpanda, librdkafka's mock).
    fn on_rebalance(&mut self, now: Instant) {
        match self.round.step {
            Step::Syncing if self.heartbeats.was_calm => self.on_overtaken(now),
            // The plan is too old to be taken up, and will not get younger: no heartbeat is calm any more.
            Step::Confirming { .. } => {
                self.round.step = Step::Idle;
                self.want(Cause::GroupRebalancing);
            }
            _ if self.state() == MemberState::Stable => self.want(Cause::GroupRebalancing),
            _ => {}
        }
    }

    pub(super) fn tell_unauthorized(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.heartbeats.unauthorized, true) {
            self.tell(now, Event::Unauthorized);
        }
    }

    /// The coordinator knew us when it took something that was sent at `at`.
    pub(super) fn acknowledged(&mut self, at: Instant) {
        self.heartbeats.alive = self.heartbeats.alive.max(Some(at));
        self.watch_ownership();
    }

    /// No round had begun when the coordinator took something that was sent at `at`.
    pub(super) fn no_round_before(&mut self, at: Instant) {
        self.heartbeats.calm = self.heartbeats.calm.max(Some(at));
        self.watch_ownership();
    }

    pub(super) fn watch_ownership(&mut self) {
        if let Some(until) = self.owned_until() {
            self.timers.set(Timer::Session, until);
        }
    }

    /// Until when our session and our generation cannot have ended without our knowing. A round that leaves us behind
    /// begins after the last heartbeat that knew of none, and takes its time; with JoinGroup or SyncGroup out we are
    /// part of it.
    pub(crate) fn owned_until(&self) -> Option<Instant> {
        let session = after(self.heartbeats.alive?, self.config.session_timeout);
        if self.is_round_out() {
            return Some(session);
        }
        Some(session.min(self.round_ends_after()?))
    }

    /// No round ends before, unless we are part of it: it begins after the last heartbeat that knew of none, and then
    /// waits for us.
    fn round_ends_after(&self) -> Option<Instant> {
        Some(after(self.heartbeats.calm?, self.config.rebalance_timeout))
    }

    /// By now the coordinator may have given what we hold to others. The id and the generation may still be good.
    pub(super) fn on_ownership_over(&mut self, now: Instant) {
        if !self.keeps(Rule::LoseAtSessionEnd) {
            return;
        }
        if self.owned_until().is_some_and(|until| until > now) {
            return self.watch_ownership();
        }
        let session = self.heartbeats.alive.map(|at| after(at, self.config.session_timeout));
        let is_session_over = session.is_none_or(|end| end <= now);
        if is_session_over {
            self.heartbeats.alive = None;
        }
        if is_session_over && self.beats() {
            self.lose_coordinator(now);
        }
        if !self.held.is_empty() {
            let cause = match is_session_over {
                true => LossCause::SessionExpired,
                false => LossCause::GenerationOver,
            };
            self.lose_all(now, cause);
            self.want(Cause::Unanswered);
        }
    }

    fn beat_later(&mut self, now: Instant, sent: &InFlight, throttle: Duration) {
        self.heartbeats.failures = 0;
        self.heartbeats.stretched =
            if throttle.is_zero() { 0 } else { self.heartbeats.stretched.saturating_add(1) };
        let next = after(sent.at, self.interval(now));
        self.timers.set(Timer::Heartbeat, next.max(now));
    }

    fn beat_after_failure(&mut self, now: Instant) {
        self.heartbeats.failures = self.heartbeats.failures.saturating_add(1);
        let (first, max) = (self.config.retry_backoff, self.config.retry_backoff_max);
        let wait = self.jitter.backoff(first, max, self.heartbeats.failures);
        self.timers.set(Timer::Heartbeat, after(now, wait.min(self.longest_interval())));
    }

    /// What the plan says of the interval, usually and until the round that it announces. It counts from now on: a
    /// member that joined on the default would else be the last to see who joins after it.
    pub(super) fn take_intervals(
        &mut self,
        now: Instant,
        told: Option<Duration>,
        hurried: Option<Duration>,
    ) {
        let is_news = std::mem::replace(&mut self.heartbeats.told_interval, told) != told;
        self.heartbeats.hurried = hurried.map(|hurried| (hurried, after(now, HURRY)));
        if is_news || hurried.is_some() {
            let next = after(now, self.interval(now));
            self.timers.bring_forward(Timer::Heartbeat, next);
        }
    }

    fn interval(&mut self, now: Instant) -> Duration {
        let longest = self.longest_interval();
        let told = self.heartbeats.told_interval.map(|told| told.max(SHORTEST_TOLD));
        let usual = self.config.heartbeat_interval.or(told).unwrap_or(DEFAULT_INTERVAL);
        let hurried = self.heartbeats.hurried.filter(|(_, until)| now < *until);
        let interval = hurried
            .map_or(usual, |(hurried, _)| usual.min(hurried.max(SHORTEST_TOLD)))
            .saturating_mul(1 << self.heartbeats.stretched.min(16));
        self.jitter.around(interval.min(longest), 10).min(longest)
    }

    fn longest_interval(&self) -> Duration {
        self.config.session_timeout / 3
    }
}
