//! How a round begins: what must go is given up, then what we say is fixed.

use std::mem;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::timers::{Timer, after};
use super::{
    Ended, Event, GroupRequest, InFlight, LossCause, Membership, Output, RevocationId, Rule, Work,
    WorkId,
};
use crate::protocol::{Cause, Holding, JobError, Rejoin};
use crate::types::Generation;

/// Where a round stands. `Idle` is between rounds, in the group or not.
#[derive(Debug)]
pub(super) enum Step<H> {
    Idle,
    /// The protocol is asked what must be given up.
    Preparing(WorkId),
    /// The application gives it up.
    Revoking(Revocation<H>),
    /// Commits that are under way are awaited: a commit that meets the next generation is refused.
    Draining,
    /// The protocol says what we are.
    Describing(WorkId),
    /// JoinGroup goes out as soon as there is a coordinator and no back-off.
    Ready,
    /// JoinGroup is out.
    Joining,
    /// We lead: the protocol plans.
    Leading(WorkId),
    /// SyncGroup is out.
    Syncing,
    /// The protocol says what the plan changes.
    Applying(WorkId),
    /// What the plan gives is taken up once it is sure that we are still a member.
    Confirming {
        add: H,
        rejoin: Option<Rejoin>,
    },
    /// LeaveGroup is out, and nothing follows it.
    Leaving,
}

/// What is being given up.
#[derive(Debug)]
pub(super) struct Revocation<H> {
    pub(super) id: RevocationId,
    pub(super) revoked: H,
    pub(super) deadline: Instant,
    pub(super) then: Then<H>,
}

/// What follows when it has been given up.
#[derive(Debug)]
pub(super) enum Then<H> {
    /// JoinGroup.
    Join,
    /// The rest of what the plan changes.
    Finish { add: H, rejoin: Option<Rejoin> },
    /// The end.
    Leave,
}

/// The round that is wanted or under way.
#[derive(Debug)]
pub(super) struct Round<H> {
    pub(super) step: Step<H>,
    /// Why a round is needed: a level, cleared by nothing but a successful SyncGroup.
    pub(super) wanted: Option<Cause>,
    /// Why another is needed after this one, whose bytes were fixed before the reason arose.
    pub(super) again: Option<Cause>,
    /// Why one is needed when `Timer::Scheduled` runs out.
    pub(super) scheduled: Option<Cause>,
    /// What we say in this round: fixed until its SyncGroup is answered, because other bytes are a change.
    pub(super) described: Option<Vec<(String, Bytes)>>,
    /// What we said last, should the application's code fail.
    pub(super) last_described: Option<Vec<(String, Bytes)>>,
    /// Part of what we say, so that bytes can be made to differ.
    pub(super) nonce: u64,
    /// JoinGroup or SyncGroup, whichever is out.
    pub(super) out: Option<InFlight>,
    /// The same, where it is to be sent again.
    pub(super) asked: Option<GroupRequest>,
    /// A heartbeat said that its answer must have been given.
    pub(super) is_overtaken: bool,
    /// The id we have is a fresh one (KIP-394): joining with it always makes a new generation.
    pub(super) id_is_pending: bool,
    /// A JoinGroup went unanswered. The coordinator may have taken it, and then answers the next one at once.
    pub(super) join_is_lost: bool,
    /// Tries since the last success.
    pub(super) tries: u32,
    /// Times in a row that the coordinator did not know us.
    pub(super) resets: u32,
    /// Since when the group refuses us, for one reason or the other.
    pub(super) refused_since: Option<Instant>,
    /// The leader's work beside a plan that stands.
    pub(super) watching: Option<WorkId>,
    /// When the leader comes back to a plan that was not what it wanted.
    pub(super) plan_again: Option<Duration>,
    /// Times in a row that this leader had nothing to publish.
    pub(super) stepped_down: u32,
}

impl<H> Round<H> {
    pub(super) fn new(nonce: u64) -> Self {
        Self {
            step: Step::Idle,
            wanted: None,
            again: None,
            scheduled: None,
            described: None,
            last_described: None,
            nonce,
            out: None,
            asked: None,
            is_overtaken: false,
            id_is_pending: false,
            join_is_lost: false,
            tries: 0,
            resets: 0,
            refused_since: None,
            watching: None,
            plan_again: None,
            stepped_down: 0,
        }
    }
}

impl<H: Holding> Membership<H> {
    /// Takes the next step of the round, if it can be taken now.
    pub(super) fn advance_round(&mut self, now: Instant) -> bool {
        let waits = self.stalled || self.timers.runs(Timer::Round);
        match self.round.step {
            Step::Idle if !waits && self.round.wanted.is_some() => self.begin_round(),
            Step::Draining if self.commits.is_idle() || !self.timers.runs(Timer::Drain) => {
                self.timers.stop(Timer::Drain);
                self.describe();
            }
            Step::Ready if !waits && self.may_send() => self.send_join(now),
            Step::Confirming { .. } if self.is_confirmed(now) => self.finish_round(now),
            _ => return false,
        }
        true
    }

    /// The membership wants a round; the bytes of the next one differ from the last one's.
    pub(super) fn ask(&mut self, cause: Cause) {
        self.round.nonce = self.jitter.next();
        let fixed =
            self.round.described.is_some() || matches!(self.round.step, Step::Describing(_));
        let reason = if fixed { &mut self.round.again } else { &mut self.round.wanted };
        if reason.is_none() || *reason == Some(Cause::GroupRebalancing) {
            *reason = Some(cause);
        }
    }

    /// The membership wants a round; its bytes may stay the same.
    pub(super) fn want(&mut self, cause: Cause) {
        self.round.wanted.get_or_insert(cause);
    }

    /// The first step, once a rebalance and not once a JoinGroup.
    fn begin_round(&mut self) {
        let Some(cause) = self.round.wanted.clone() else { return };
        let id = self.next_work();
        self.round.step = Step::Preparing(id);
        let held = self.held.clone();
        self.outputs.push_back(Output::Work { id, work: Work::BeforeJoin { held, cause } });
    }

    pub(super) fn on_release_wanted(&mut self, now: Instant, id: WorkId, wanted: &H) {
        if !matches!(self.round.step, Step::Preparing(work) if work == id) {
            return;
        }
        let revoked = self.held.common(wanted);
        if revoked.is_empty() {
            return self.drain(now);
        }
        let cause = self.round.wanted.clone().unwrap_or(Cause::GroupRebalancing);
        self.revoke(now, revoked, cause, Then::Join);
        if !self.keeps(Rule::ReleaseBeforeJoin) {
            self.drain(now);
        }
    }

    /// Has the application give something up.
    pub(super) fn revoke(&mut self, now: Instant, revoked: H, cause: Cause, then: Then<H>) {
        let id = RevocationId(self.next_id());
        let deadline = self.revoke_until(now);
        self.timers.set(Timer::Revocation, deadline);
        self.tell(now, Event::Revoked { id, revoked: revoked.clone(), deadline, cause });
        self.round.step = Step::Revoking(Revocation { id, revoked, deadline, then });
    }

    pub(super) fn on_release(&mut self, now: Instant, id: RevocationId) {
        self.events.withdraw(id);
        if !matches!(&self.round.step, Step::Revoking(revocation) if revocation.id == id) {
            return;
        }
        if let Some(revocation) = self.take_revocation() {
            if self.keeps(Rule::ForgetReleased) {
                self.held.remove(&revocation.revoked);
            }
            self.after_revocation(now, revocation.then);
        }
    }

    /// The deadline has come: who still works on it works on what another may have.
    pub(super) fn on_revocation_over(&mut self, now: Instant) {
        let Some(revocation) = self.take_revocation() else { return };
        self.held.remove(&revocation.revoked);
        if self.held.is_empty() {
            self.held_in = Generation::NONE;
        }
        if self.keeps(Rule::LoseWhatIsNotReleased) {
            self.tell_loss(now, |events| {
                events.lost_part(revocation.revoked, LossCause::NotReleased);
            });
        }
        self.after_revocation(now, revocation.then);
    }

    fn take_revocation(&mut self) -> Option<Revocation<H>> {
        self.timers.stop(Timer::Revocation);
        match mem::replace(&mut self.round.step, Step::Idle) {
            Step::Revoking(revocation) => Some(revocation),
            other => {
                self.round.step = other;
                None
            }
        }
    }

    fn after_revocation(&mut self, now: Instant, then: Then<H>) {
        match then {
            Then::Join => self.drain(now),
            Then::Finish { add, rejoin } => self.round.step = Step::Confirming { add, rejoin },
            Then::Leave => self.round.step = Step::Idle,
        }
    }

    /// Lets commits that were accepted reach the coordinator first, for a quarter of the time left at most.
    fn drain(&mut self, now: Instant) {
        self.round.step = Step::Draining;
        let left = self.revoke_until(now).saturating_duration_since(now);
        self.timers.set(Timer::Drain, after(now, left / 4));
    }

    fn describe(&mut self) {
        if self.round.described.is_some() {
            self.round.step = Step::Ready;
            return;
        }
        // What is said now says it all.
        self.round.again = None;
        let id = self.next_work();
        self.round.step = Step::Describing(id);
        let work = Work::Describe {
            held: self.held.clone(),
            generation: self.held_in,
            member_id: self.identity.member_id.clone(),
            cause: self.round.wanted.clone().unwrap_or(Cause::GroupRebalancing),
            nonce: self.round.nonce,
        };
        self.outputs.push_back(Output::Work { id, work });
    }

    pub(super) fn on_described(
        &mut self,
        now: Instant,
        id: WorkId,
        described: Result<Vec<(String, Bytes)>, JobError>,
    ) {
        if !matches!(self.round.step, Step::Describing(work) if work == id) {
            return;
        }
        match (described, self.round.last_described.clone()) {
            (Ok(protocols), _) => match flaw(&protocols) {
                Some(flaw) => self.fail(now, Ended::Inconsistent { what: flaw.to_owned() }),
                None => self.fix_description(protocols),
            },
            (Err(_), Some(last)) => self.fix_description(last),
            (Err(error), None) => self.fail(now, Ended::PlanFailed { message: error.to_string() }),
        }
    }

    fn fix_description(&mut self, protocols: Vec<(String, Bytes)>) {
        self.round.last_described = Some(protocols.clone());
        self.round.described = Some(protocols);
        self.round.step = Step::Ready;
    }

    /// When the broker will have ended the round without us: it counts from the first member's rejoin, which was
    /// after the last heartbeat that was answered without a rebalance.
    pub(super) fn revoke_until(&self, now: Instant) -> Instant {
        let timeout = self.config.rebalance_timeout;
        let margin = Duration::from_secs(5).min(timeout / 10);
        let until = after(self.heartbeats.calm.unwrap_or(now), timeout.saturating_sub(margin));
        match &self.ending {
            // The rest is for the commit and for LeaveGroup.
            Some(ending) => {
                until.min(after(now, ending.deadline.saturating_duration_since(now) / 4 * 3))
            }
            None => until,
        }
    }
}

/// What a broker would answer with silence: a name that comes twice bricks a new group.
fn flaw(protocols: &[(String, Bytes)]) -> Option<&'static str> {
    let repeats = |(at, (name, _)): (usize, &(String, Bytes))| {
        protocols.iter().skip(at + 1).any(|(other, _)| other == name)
    };
    match protocols {
        [] => Some("no protocol to join with"),
        _ if protocols.iter().enumerate().any(repeats) => Some("a protocol name comes twice"),
        _ => None,
    }
}
