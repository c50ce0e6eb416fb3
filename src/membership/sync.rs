//! The plan: made by the leader, published by SyncGroup, and taken from its answer by everyone.

use std::mem;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::round::{Step, Then};
use super::timers::{Timer, after};
use super::{
    Ended, Event, Failure, GroupRequest, GroupResponse, InFlight, Membership, Output, Role, Work,
    WorkId,
};
use crate::protocol::{Cause, Change, Holding, JobError, Plan, Rejoin};
use crate::types::MemberId;
use crate::wire::api::{SyncGroupRequest, SyncGroupResponse};
use crate::wire::{ApiKey, recovery};

/// How long a leader stays away that had nothing to publish: doubled each time, up to the longest.
const STEP_DOWN: Duration = Duration::from_secs(1);
const STEP_DOWN_MAX: Duration = Duration::from_secs(60);

impl<H: Holding> Membership<H> {
    pub(super) fn on_planned(&mut self, now: Instant, id: WorkId, planned: Result<Plan, JobError>) {
        if self.round.watching == Some(id) {
            return self.on_watched(now, planned);
        }
        if !matches!(self.round.step, Step::Leading(work) if work == id) {
            return;
        }
        match planned {
            Ok(plan) => {
                self.round.plan_again = plan.again_after;
                self.round.stepped_down = 0;
                self.send_sync(now, plan.assignments);
            }
            Err(JobError::Fail(message)) => self.fail(now, Ended::PlanFailed { message }),
            Err(error) => self.step_down(now, &error),
        }
    }

    /// The plan stands; the group's topics may ask for another.
    fn on_watched(&mut self, now: Instant, planned: Result<Plan, JobError>) {
        self.round.watching = None;
        let Ok(Plan { again_after: Some(wait), .. }) = planned else { return };
        match self.round.step {
            Step::Idle => self.schedule(now, Cause::Scheduled, wait),
            _ => self.round.plan_again = Some(wait),
        }
    }

    /// Nothing can be published. The followers are parked until somebody plans, so the leader leaves: another leads.
    fn step_down(&mut self, now: Instant, error: &JobError) {
        self.round.stepped_down = self.round.stepped_down.saturating_add(1);
        let wait = self.jitter.backoff(STEP_DOWN, STEP_DOWN_MAX, self.round.stepped_down);
        self.leave_for_a_while(now, error.to_string(), super::LossCause::GenerationOver);
        self.want(Cause::PlanFailed);
        self.timers.set(Timer::Round, after(now, wait));
    }

    pub(super) fn send_sync(&mut self, now: Instant, assignments: Vec<(MemberId, Bytes)>) {
        let request = SyncGroupRequest {
            group_id: self.config.group_id.clone(),
            generation: self.identity.generation,
            member_id: self.identity.member_id.clone(),
            group_instance_id: self.identity.group_instance_id.clone(),
            protocol_type: self.config.protocol_type.clone(),
            protocol: self.chosen.clone().unwrap_or_default(),
            assignments,
        };
        let span = self.parked_span();
        self.round.step = Step::Syncing;
        self.send_parked(now, ApiKey::SyncGroup, GroupRequest::Sync(request), span);
    }

    pub(super) fn on_sync_answer(
        &mut self,
        now: Instant,
        sent: &InFlight,
        answer: Result<GroupResponse, Failure>,
    ) {
        match answer {
            Ok(GroupResponse::Sync(synced)) if synced.error.is_none() => {
                self.on_synced(now, sent, synced);
            }
            Ok(GroupResponse::Sync(refusal)) => {
                let code = refusal.error;
                self.recover_round(now, ApiKey::SyncGroup, code, recovery(ApiKey::SyncGroup, code));
            }
            Ok(_) => self.on_round_unanswered(now, sent, Failure::Unreadable),
            Err(failure) => self.on_round_unanswered(now, sent, failure),
        }
    }

    /// What the answer says is the plan, also for its author: the broker may have kept an older one.
    fn on_synced(&mut self, now: Instant, sent: &InFlight, synced: SyncGroupResponse) {
        self.heard_from_coordinator();
        if let Err(ended) = self.check_synced(&synced) {
            return self.fail(now, ended);
        }
        self.note_settled();
        self.round.described = None;
        self.round.wanted = None;
        self.round.scheduled = None;
        self.timers.stop(Timer::Scheduled);
        let id = self.next_work();
        self.round.step = Step::Applying(id);
        // No rebalance had begun when the coordinator took our SyncGroup.
        self.no_round_before(sent.at);
        let work = Work::Join {
            generation: self.identity.generation,
            protocol: self.chosen.clone().unwrap_or_default(),
            member_id: self.identity.member_id.clone(),
            leads: self.is_leader(),
            held: self.held.clone(),
            assignment: synced.assignment,
        };
        self.outputs.push_back(Output::Work { id, work });
    }

    fn check_synced(&self, synced: &SyncGroupResponse) -> Result<(), Ended> {
        self.check_protocol_type(synced.protocol_type.as_deref())?;
        match &synced.protocol {
            Some(protocol) if self.chosen.as_ref() != Some(protocol) => {
                Err(Ended::Inconsistent { what: format!("protocol {protocol:?} in SyncGroup") })
            }
            _ => Ok(()),
        }
    }

    /// The plan takes something away first, then gives.
    pub(super) fn on_change<N>(&mut self, now: Instant, id: WorkId, change: Change<H, N>) {
        if !matches!(self.round.step, Step::Applying(work) if work == id) {
            return;
        }
        self.take_intervals(now, change.heartbeat_interval, change.hurried_interval);
        // What is given up first goes as it was, and nothing is committed by two meanwhile.
        self.standby.add(&change.standby);
        self.next_standby = change.standby;
        let revoke = self.held.common(&change.revoke);
        let (add, rejoin) = (change.add, change.rejoin);
        if revoke.is_empty() {
            self.round.step = Step::Confirming { add, rejoin };
        } else {
            let cause = rejoin.as_ref().map(|rejoin| rejoin.cause.clone());
            let cause = cause.unwrap_or(Cause::GroupRebalancing);
            self.revoke(now, revoke, cause, Then::Finish { add, rejoin });
        }
    }

    /// Whether our session cannot have ended yet: nothing is taken up on the word of an old answer.
    pub(super) fn is_confirmed(&self, now: Instant) -> bool {
        self.owned_until().is_some_and(|until| until > now)
            || !self.keeps(super::Rule::LoseAtSessionEnd)
    }

    pub(super) fn finish_round(&mut self, now: Instant) {
        let (add, rejoin) = match mem::replace(&mut self.round.step, Step::Idle) {
            Step::Confirming { add, rejoin } => (add, rejoin),
            other => return self.round.step = other,
        };
        self.held.add(&add);
        self.ever_held.add(&add);
        self.standby = mem::take(&mut self.next_standby);
        self.held_in = self.identity.generation;
        self.round.tries = 0;
        self.round.resets = 0;
        self.fence.settled();
        let event = Event::Assigned {
            added: add,
            held: self.held.clone(),
            standby: self.standby.clone(),
            generation: self.identity.generation,
            leads: self.is_leader(),
        };
        self.tell(now, event);
        self.release_commits();
        self.follow_up(now, rejoin);
    }

    fn follow_up(&mut self, now: Instant, rejoin: Option<Rejoin>) {
        let again = self.round.plan_again.take();
        match rejoin {
            Some(Rejoin { cause, after }) if after.is_zero() => self.ask(cause),
            Some(Rejoin { cause, after }) => self.schedule(now, cause, after),
            None => {}
        }
        match (again, self.role) {
            (Some(wait), Role::Leader) => self.schedule(now, Cause::PlanFailed, wait),
            (Some(wait), Role::Watcher) => self.schedule(now, Cause::Scheduled, wait),
            _ => {}
        }
        if let Some(cause) = self.round.again.take() {
            self.want(cause);
        }
    }

    /// The soonest wish counts: a round puts the others right, too.
    pub(super) fn schedule(&mut self, now: Instant, cause: Cause, wait: Duration) {
        let at = after(now, wait);
        if self.timers.end_of(Timer::Scheduled).is_none_or(|end| at < end) {
            self.round.scheduled = Some(cause);
            self.timers.set(Timer::Scheduled, at);
        }
    }

    /// Whoever was quicker has begun the round that this one was to be, and one more would change nothing.
    pub(super) fn on_scheduled(&mut self) {
        let is_on = self.round.wanted.is_some();
        if let Some(cause) = self.round.scheduled.take().filter(|_| !is_on) {
            self.ask(cause);
        }
    }
}
