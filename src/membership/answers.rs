//! The doors by which results and time come in.

use std::time::Instant;

use bytes::Bytes;

use super::timers::Timer;
use super::{Failure, GroupResponse, InFlight, Membership, RequestId, Rule, WorkId};
use crate::protocol::{Change, Holding, JobError, Plan};
use crate::wire::ApiKey;

/// Results of what was given out. Late ones, and ones that fit nothing, change nothing.
impl<H: Holding> Membership<H> {
    /// `Err(Failure::Refused(code))` where FindCoordinator was answered with an error.
    pub(crate) fn handle_coordinator(
        &mut self,
        now: Instant,
        id: RequestId,
        found: Result<(), Failure>,
    ) {
        let found = self.let_in(now, found);
        self.on_coordinator(now, id, found);
        self.advance(now);
    }

    /// The door of all answers. Whose request is not waited for any more is settled here, once for all.
    pub(crate) fn handle_response(
        &mut self,
        now: Instant,
        id: RequestId,
        answer: Result<GroupResponse, Failure>,
    ) {
        if answer.is_ok() {
            self.was_let_in();
        }
        let answer = self.let_in(now, answer);
        let takes_stale = !self.keeps(Rule::DropStaleAnswers);
        if let Some(sent) = self.round.out.take_if(|sent| {
            sent.id == id || takes_stale && answer.as_ref().is_ok_and(|answer| fits(sent, answer))
        }) {
            self.timers.stop(Timer::RoundAnswer);
            self.timers.stop(Timer::AskAgain);
            self.on_round_answer(now, &sent, answer);
        } else if let Some(sent) = self.heartbeats.out.take_if(|sent| sent.id == id) {
            self.on_heartbeat_answer(now, &sent, answer);
        } else if let Some(sent) = self.leave_out.take_if(|sent| sent.id == id) {
            self.on_leave_answer(now, &sent, answer);
        } else if let Some(sent) = self.commits.answered(id) {
            self.on_commit_answer(now, &sent, answer);
        } else if self.ended.is_none() {
            self.on_stale_answer(now, id, &answer);
        }
        self.advance(now);
    }

    pub(crate) fn handle_release_wanted(&mut self, now: Instant, id: WorkId, wanted: H) {
        self.on_release_wanted(now, id, &wanted);
        self.advance(now);
    }

    pub(crate) fn handle_described(
        &mut self,
        now: Instant,
        id: WorkId,
        described: Result<Vec<(String, Bytes)>, JobError>,
    ) {
        self.on_described(now, id, described);
        self.advance(now);
    }

    pub(crate) fn handle_planned(
        &mut self,
        now: Instant,
        id: WorkId,
        planned: Result<Plan, JobError>,
    ) {
        self.on_planned(now, id, planned);
        self.advance(now);
    }

    /// The change's notices are not for the machine: take them out first.
    pub(crate) fn handle_change<N>(&mut self, now: Instant, id: WorkId, change: Change<H, N>) {
        self.on_change(now, id, change);
        self.advance(now);
    }

    /// Acts on everything that has run out by `now`.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        for timer in self.timers.expire(now) {
            if self.ended.is_none() {
                self.on_timer(now, timer);
            }
        }
        self.advance(now);
    }

    fn on_round_answer(
        &mut self,
        now: Instant,
        sent: &InFlight,
        answer: Result<GroupResponse, Failure>,
    ) {
        match sent.api {
            ApiKey::JoinGroup => self.on_join_answer(now, sent, answer),
            _ => self.on_sync_answer(now, sent, answer),
        }
    }

    fn on_timer(&mut self, now: Instant, timer: Timer) {
        let timed_out = Err(Failure::TimedOut);
        match timer {
            Timer::Heartbeat => self.on_heartbeat_due(),
            Timer::Session => self.on_ownership_over(now),
            Timer::Revocation => self.on_revocation_over(now),
            Timer::Scheduled => self.on_scheduled(),
            Timer::Settle => self.on_settled(),
            Timer::AskAgain => self.on_ask_again(now),
            Timer::Progress => self.on_stalled(now),
            Timer::Close => self.on_close_deadline(now),
            Timer::CommitExpiry => self.on_commits_expired(now),
            Timer::RoundAnswer => {
                if let Some(sent) = self.round.out.take() {
                    self.on_round_answer(now, &sent, timed_out);
                }
            }
            Timer::HeartbeatAnswer => {
                if let Some(sent) = self.heartbeats.out.take() {
                    self.on_heartbeat_answer(now, &sent, timed_out);
                }
            }
            Timer::CommitAnswer => {
                if let Some(sent) = self.commits.unanswered() {
                    self.on_commit_answer(now, &sent, timed_out);
                }
            }
            Timer::LeaveAnswer => {
                if let Some(sent) = self.leave_out.take() {
                    self.on_leave_answer(now, &sent, timed_out);
                }
            }
            // That they do not run any more is all that matters: `advance` looks.
            Timer::Drain | Timer::Round | Timer::Coordinator | Timer::CommitRetry => {}
        }
    }
}

/// Whether `answer` is of the kind that `sent` asks for.
fn fits(sent: &InFlight, answer: &GroupResponse) -> bool {
    match answer {
        GroupResponse::Join(_) => sent.api == ApiKey::JoinGroup,
        GroupResponse::Sync(_) => sent.api == ApiKey::SyncGroup,
        _ => false,
    }
}
