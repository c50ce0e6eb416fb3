//! The end that was asked for, and absences.

use std::time::{Duration, Instant};

use super::round::{Step, Then};
use super::timers::{Timer, after};
use super::{
    Ended, Failure, GroupRequest, GroupResponse, InFlight, Lane, LeavePolicy, LossCause,
    Membership, Output,
};
use crate::protocol::{Cause, Holding};
use crate::types::MemberId;
use crate::wire::api::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember};
use crate::wire::{ApiKey, ErrorCode, Recovery, recovery};

/// How long an id that was asked for is waited for at the end.
const ID_WAIT: Duration = Duration::from_secs(1);

/// How long a round is waited for at the end by who holds something in it.
const ROUND_WAIT: Duration = Duration::from_secs(5);

/// An end that was asked for.
#[derive(Debug)]
pub(super) struct Ending {
    /// Whether the group is to hear of it.
    leaves: bool,
    reason: Option<String>,
    pub(super) deadline: Instant,
    /// LeaveGroup is tried twice.
    tried: bool,
}

impl<H: Holding> Membership<H> {
    pub(super) fn on_close(&mut self, now: Instant, deadline: Instant) {
        let leaves = match self.config.leave_policy {
            LeavePolicy::Auto => self.identity.group_instance_id.is_none(),
            LeavePolicy::Leave => true,
            LeavePolicy::Remain => false,
        };
        self.begin_ending(now, leaves, None, deadline);
    }

    pub(super) fn begin_ending(
        &mut self,
        now: Instant,
        leaves: bool,
        reason: Option<String>,
        deadline: Instant,
    ) {
        if self.ended.is_some() {
            return;
        }
        let fresh = Ending { leaves, reason: None, deadline, tried: false };
        let ending = self.ending.get_or_insert(fresh);
        ending.leaves |= leaves;
        ending.deadline = ending.deadline.min(deadline);
        ending.reason = ending.reason.take().or(reason);
        self.timers.set(Timer::Close, ending.deadline.max(now));
        self.timers.stop(Timer::Scheduled);
        self.timers.stop(Timer::Progress);
        self.stalled = false;
        let wait = if self.awaits_id() { ID_WAIT } else { ROUND_WAIT };
        if self.awaits_id() || self.holds_in_a_round() {
            let left = deadline.saturating_duration_since(now);
            self.timers.set(Timer::Drain, after(now, wait.min(left / 4)));
        }
        self.shorten_revocation(now);
    }

    /// What is being given up already is given up within the end's time.
    fn shorten_revocation(&mut self, now: Instant) {
        let until = self.revoke_until(now);
        if let Step::Revoking(revocation) = &mut self.round.step {
            revocation.deadline = revocation.deadline.min(until);
            self.timers.set(Timer::Revocation, revocation.deadline);
        }
    }

    /// Moves the end on as far as it goes now: release, commits, LeaveGroup.
    pub(super) fn advance_ending(&mut self, now: Instant) {
        let Some(ending) = &self.ending else { return };
        let (leaves, reason) = (ending.leaves, ending.reason.clone());
        match self.round.step {
            Step::Revoking(_) | Step::Leaving => return,
            Step::Joining if self.awaits_id() && self.timers.runs(Timer::Drain) => return,
            _ if self.holds_in_a_round() && self.timers.runs(Timer::Drain) => return,
            Step::Joining | Step::Leading(_) | Step::Syncing => self.break_off_round(now),
            _ => self.round.step = Step::Idle,
        }
        if !self.held.is_empty() {
            if self.identity.generation.is_some() {
                let held = self.held.clone();
                return self.revoke(now, held, Cause::Closing, Then::Leave);
            }
            self.lose_all(now, LossCause::Closed);
        }
        if !self.commits.is_idle() && self.identity.generation.is_some() {
            return; // Until the end's deadline.
        }
        if !leaves || !self.is_known_to_group() {
            let left = leaves && self.identity.member_id.is_empty();
            return self.end(now, Ended::Closed { left }, LossCause::Closed);
        }
        if self.may_send() {
            self.round.step = Step::Leaving;
            self.send_leave(now, reason);
        }
    }

    /// A new dynamic member has asked for an id. One that is not given back holds up the whole group (KIP-394), so its
    /// coming is waited for, for a moment.
    fn awaits_id(&self) -> bool {
        self.identity.group_instance_id.is_none() && self.identity.member_id.is_empty()
    }

    /// What is held through a round (KIP-429) stays ours in the next generation, for its leader knows of it, and can only
    /// then be committed. So the round is waited for, for a moment.
    fn holds_in_a_round(&self) -> bool {
        self.is_round_out() && !self.held.is_empty()
    }

    /// A round that is under way is not waited for any longer. What is held meanwhile is in other hands soon.
    fn break_off_round(&mut self, now: Instant) {
        self.without_id = self.round.out.as_ref().is_some_and(|sent| {
            sent.identity.member_id.is_empty() && sent.identity.group_instance_id.is_some()
        });
        self.abandon_round(now);
        self.lose_all(now, LossCause::Closed);
        self.round.step = Step::Idle;
    }

    /// Whether the coordinator may have us in its books: under an id, a pending one too, or by the instance id of a
    /// JoinGroup that it has not answered.
    fn is_known_to_group(&self) -> bool {
        !self.identity.member_id.is_empty() || self.without_id
    }

    /// LeaveGroup, as well as it goes. A parked request of the rounds gets no answer any more.
    pub(super) fn send_leave(&mut self, now: Instant, reason: Option<String>) {
        if !self.is_known_to_group() || !self.may_send() {
            return;
        }
        let leaving = LeavingMember {
            member_id: self.identity.member_id.clone(),
            group_instance_id: self.identity.group_instance_id.clone(),
            reason,
        };
        let request = GroupRequest::Leave(LeaveGroupRequest {
            group_id: self.config.group_id.clone(),
            members: vec![leaving],
        });
        let sent = self.in_flight(now, ApiKey::LeaveGroup);
        let by = after(now, self.config.request_timeout);
        let deadline = self.ending.as_ref().map_or(by, |ending| by.min(ending.deadline)).max(now);
        self.timers.set(Timer::LeaveAnswer, deadline);
        let id = sent.id;
        self.leave_out = Some(sent);
        self.outputs.push_back(Output::Send { id, lane: Lane::Heartbeats, request, deadline });
    }

    pub(super) fn on_leave_answer(
        &mut self,
        now: Instant,
        sent: &InFlight,
        answer: Result<GroupResponse, Failure>,
    ) {
        self.timers.stop(Timer::LeaveAnswer);
        let code = match answer {
            Ok(GroupResponse::Leave(left)) => Some(code_of(&left)),
            _ => None,
        };
        let left = matches!(code, Some(ErrorCode::None | ErrorCode::UnknownMemberId));
        if left && sent.identity.member_id == self.identity.member_id {
            self.identity.member_id = MemberId::default();
        }
        if !matches!(self.round.step, Step::Leaving) {
            return; // An absence, not the end.
        }
        let again =
            code.is_none_or(|code| recovery(ApiKey::LeaveGroup, code) == Recovery::Rediscover);
        if let Some(ending) = self.ending.as_mut().filter(|ending| again && !ending.tried) {
            ending.tried = true;
            self.round.step = Step::Idle;
            return self.lose_coordinator(now);
        }
        self.end(now, Ended::Closed { left }, LossCause::Closed);
    }

    /// The time is over: nothing is waited for, and the group is told as well as it goes.
    pub(super) fn on_close_deadline(&mut self, now: Instant) {
        let Some(ending) = &self.ending else { return };
        let (leaves, reason) = (ending.leaves, ending.reason.clone());
        if !matches!(self.round.step, Step::Leaving) {
            self.abandon_round(now);
            if leaves {
                self.send_leave(now, reason);
            }
        }
        self.end(now, Ended::Closed { left: false }, LossCause::Closed);
    }

    /// Out of the group, but not for good.
    pub(super) fn leave_for_a_while(&mut self, now: Instant, reason: String, loss: LossCause) {
        self.abandon_round(now);
        self.send_leave(now, Some(reason));
        self.round.step = Step::Idle;
        self.lose_all(now, loss);
        self.leave_generation();
        // A static member's id is good until the coordinator says that it left: a JoinGroup without one would be
        // taken for a second process.
        if self.identity.group_instance_id.is_none() {
            self.identity.member_id = MemberId::default();
        }
        self.round.id_is_pending = false;
    }
}

/// The one member's code, or the whole answer's.
fn code_of(left: &LeaveGroupResponse) -> ErrorCode {
    match left.members.first() {
        Some(member) if left.error.is_none() => member.error,
        _ => left.error,
    }
}
