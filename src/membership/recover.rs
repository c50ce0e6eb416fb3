//! What an error makes of the member: the error table's words, carried out.

use std::time::Instant;

use super::round::Step;
use super::timers::{Timer, after};
use super::{
    CommitEnd, Ended, Failure, GroupResponse, InFlight, LossCause, Membership, OnFenced, Output,
    RequestId, Role, Rule,
};
use crate::protocol::{Cause, Holding};
use crate::types::{Generation, MemberId};
use crate::wire::{ApiKey, ErrorCode, Recovery};

/// JoinGroups of a static member without an id that were given up: the coordinator may still take one of them, give its
/// nobody our place, and fence us. That fence is our own doing.
#[derive(Debug, Default)]
pub(super) struct OwnFence {
    /// Until when a fence may be our own.
    until: Option<Instant>,
    /// Requests that were given up, the newest last, with the id they were sent under.
    abandoned: Vec<(RequestId, MemberId)>,
}

impl OwnFence {
    const MOST: usize = 8;

    /// The round ended well, so what was given up long before it has been forgotten by the broker, too.
    pub(super) fn settled(&mut self) {
        if self.until.is_none() {
            self.abandoned.clear();
        }
    }
}

impl<H: Holding> Membership<H> {
    /// JoinGroup or SyncGroup was refused.
    pub(super) fn recover_round(
        &mut self,
        now: Instant,
        api: ApiKey,
        code: ErrorCode,
        recovery: Recovery,
    ) {
        match recovery {
            Recovery::Rejoin { now: at_once } => {
                self.heard_from_coordinator();
                self.retry_round(now, !at_once);
            }
            Recovery::Rediscover => {
                self.lose_coordinator(now);
                self.retry_round(now, false);
            }
            Recovery::Reset | Recovery::ResetAfterBackoff | Recovery::RejoinLost => {
                self.recover_member(now, api, code, recovery);
            }
            Recovery::Fatal => self.fatal(now, api, code),
            _ => self.retry_round(now, true),
        }
    }

    /// The coordinator said that we are not who we think we are.
    pub(super) fn recover_member(
        &mut self,
        now: Instant,
        api: ApiKey,
        code: ErrorCode,
        recovery: Recovery,
    ) {
        match recovery {
            Recovery::Reset => self.reset(now, code, false),
            Recovery::ResetAfterBackoff => self.reset(now, code, true),
            Recovery::RejoinLost => self.rejoin_lost(now, code),
            Recovery::Fatal => self.fatal(now, api, code),
            _ => {}
        }
    }

    /// Unknown: a new id is needed. Once at once; who is unknown time and again waits.
    fn reset(&mut self, now: Instant, code: ErrorCode, wait: bool) {
        self.heard_from_coordinator();
        self.expelled(now, LossCause::Expelled, Cause::Refused(code));
        self.identity.member_id = MemberId::default();
        self.round.id_is_pending = false;
        self.round.resets = self.round.resets.saturating_add(1);
        if wait || self.round.resets > 1 {
            self.wait_before_round(now);
        }
    }

    /// The generation is over, the id is still good.
    fn rejoin_lost(&mut self, now: Instant, code: ErrorCode) {
        self.heard_from_coordinator();
        self.expelled(now, LossCause::GenerationOver, Cause::Refused(code));
        self.wait_before_round(now);
    }

    /// Out of the generation, and back to the start.
    fn expelled(&mut self, now: Instant, loss: LossCause, cause: Cause) {
        self.abandon_round(now);
        self.round.step = Step::Idle;
        if self.keeps(Rule::LoseWhenExpelled) {
            self.lose_all(now, loss);
        }
        self.leave_generation();
        self.want(cause);
    }

    /// What was said in or about this generation is said no more.
    pub(super) fn leave_generation(&mut self) {
        self.identity.generation = Generation::NONE;
        self.leader = MemberId::default();
        self.role = Role::Follower;
        self.round.described = None;
        self.round.watching = None;
        self.round.plan_again = None;
        self.forget_heartbeats();
    }

    fn fatal(&mut self, now: Instant, api: ApiKey, code: ErrorCode) {
        if code == ErrorCode::FencedInstanceId {
            return self.fenced(now, api);
        }
        self.fail_code(now, api, code);
    }

    /// Another process has our instance id, or our own JoinGroup, given up and taken late. Fighting for an id never
    /// ends, so even then it is taken back once, unless the policy is to come back.
    fn fenced(&mut self, now: Instant, api: ApiKey) {
        let is_own = self.fence.until.take().is_some_and(|until| now < until);
        match (self.identity.group_instance_id.clone(), self.config.on_fenced) {
            (Some(group_instance_id), OnFenced::Fail) if !is_own => {
                self.fail(now, Ended::Fenced { group_instance_id, refused: api });
            }
            (Some(_), OnFenced::RetryAfter(wait)) if !is_own => {
                self.forget_who_we_were(now);
                self.timers.set(Timer::Round, after(now, wait));
            }
            _ => {
                self.forget_who_we_were(now);
                self.wait_before_round(now);
            }
        }
    }

    fn forget_who_we_were(&mut self, now: Instant) {
        let cause = Cause::Refused(ErrorCode::FencedInstanceId);
        self.expelled(now, LossCause::Fenced, cause);
        self.identity.member_id = MemberId::default();
    }

    /// A request of the rounds will not be waited for any more; the coordinator may still take it.
    pub(super) fn note_abandoned(&mut self, now: Instant, sent: &InFlight) {
        self.round.join_is_lost |= sent.api == ApiKey::JoinGroup;
        if self.identity.group_instance_id.is_none() {
            return;
        }
        if sent.identity.member_id.is_empty() {
            let span = self.config.session_timeout.saturating_add(self.config.rebalance_timeout);
            self.fence.until = Some(after(now, span));
        }
        self.fence.abandoned.push((sent.id, sent.identity.member_id.clone()));
        if self.fence.abandoned.len() > OwnFence::MOST {
            self.fence.abandoned.remove(0);
        }
    }

    /// An answer that nobody waits for. Only a fence matters: it is final whenever it was asked for.
    pub(super) fn on_stale_answer(
        &mut self,
        now: Instant,
        id: RequestId,
        answer: &Result<GroupResponse, Failure>,
    ) {
        let (api, code) = match answer {
            Ok(GroupResponse::Join(joined)) => (ApiKey::JoinGroup, joined.error),
            Ok(GroupResponse::Sync(synced)) => (ApiKey::SyncGroup, synced.error),
            _ => return,
        };
        let Some(at) = self.fence.abandoned.iter().position(|(known, _)| *known == id) else {
            return;
        };
        let (_, sent_as) = self.fence.abandoned.remove(at);
        let about_us = !sent_as.is_empty() && sent_as == self.identity.member_id;
        if code == ErrorCode::FencedInstanceId && about_us {
            self.fenced(now, api);
        }
    }

    /// Gives up the request of the rounds that is out. The broker may never answer it, nor what is sent behind it.
    pub(super) fn abandon_round(&mut self, now: Instant) {
        self.timers.stop(Timer::RoundAnswer);
        self.timers.stop(Timer::AskAgain);
        if let Some(sent) = self.round.out.take() {
            self.note_abandoned(now, &sent);
            self.drop_rounds();
        }
    }

    pub(super) fn drop_rounds(&mut self) {
        if self.keeps(Rule::DropTheConnection) {
            self.outputs.push_back(Output::DropRounds);
        }
    }

    /// Everything held is gone, and with it what was about to be said of it.
    pub(super) fn lose_all(&mut self, now: Instant, cause: LossCause) {
        let lost = std::mem::take(&mut self.held);
        self.held_in = Generation::NONE;
        if !lost.is_empty() && self.is_round_out() {
            // The leader will plan on claims that are not true any more, and keep back for us what we do not have.
            self.ask(Cause::FollowUp);
        }
        self.timers.stop(Timer::Revocation);
        self.tell_loss(now, |events| events.lost_all(lost, cause));
        self.round.described = None;
        // Commits of what was lost end here; one that is out may have been in time.
        self.release_commits();
        if !self.is_round_out() && !matches!(self.round.step, Step::Leaving) {
            self.round.step = Step::Idle;
        }
        if matches!(self.round.step, Step::Joining) {
            self.stop_heartbeats_while_joining();
        }
    }

    pub(super) fn is_round_out(&self) -> bool {
        matches!(self.round.step, Step::Joining | Step::Leading(_) | Step::Syncing)
    }

    /// The membership ends, and not because anybody asked.
    pub(super) fn fail(&mut self, now: Instant, ended: Ended) {
        let loss = match ended {
            Ended::Fenced { .. } => LossCause::Fenced,
            _ => LossCause::Closed,
        };
        self.abandon_round(now);
        let still_there =
            !matches!(ended, Ended::Fenced { .. } | Ended::Refused { .. } | Ended::Denied { .. });
        let plan_failed = matches!(ended, Ended::PlanFailed { .. });
        if still_there && (plan_failed || self.identity.group_instance_id.is_none()) {
            self.send_leave(now, Some("the membership failed".to_owned()));
        }
        self.end(now, ended, loss);
    }

    /// The last event.
    pub(super) fn end(&mut self, now: Instant, ended: Ended, loss: LossCause) {
        self.end_commits(&CommitEnd::Closed);
        self.lose_all(now, loss);
        self.leave_generation();
        self.round.step = Step::Idle;
        self.round.wanted = None;
        self.leave_out = None;
        self.tell(now, super::Event::Ended(ended.clone()));
        self.timers = super::timers::Timers::default();
        self.ended = Some(ended);
    }
}
