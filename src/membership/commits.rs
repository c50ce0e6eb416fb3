//! Commits around rounds: held while JoinGroup and SyncGroup are out, sent again for what stayed, ended for the rest.

use std::collections::VecDeque;
use std::time::Instant;

use super::round::Step;
use super::timers::{Timer, after};
use super::{CommitEnd, CommitId, Failure, GroupResponse, InFlight, Membership, Output};
use crate::protocol::{Cause, Holding};
use crate::wire::{ApiKey, ErrorCode, Recovery, recovery};

/// More than this wait nowhere: an application that commits faster than its coordinator answers hears of it.
const MOST: usize = 1024;

/// How often a commit is tried whose topic the broker does not know: new ones take a moment to be known everywhere.
const UNKNOWN_TOPIC_TRIES: u32 = 5;

/// Commits in the order in which they were asked for. The first may be out; the others never overtake it.
#[derive(Debug)]
pub(super) struct Commits<H> {
    queue: VecDeque<Commit<H>>,
    out: Option<InFlight>,
    /// Tries of the first one.
    tries: u32,
    /// What the first one, being out, commits is not ours any more.
    overtaken: bool,
}

#[derive(Debug)]
struct Commit<H> {
    id: CommitId,
    items: H,
    expires: Instant,
}

impl<H: Holding> Commits<H> {
    pub(super) fn new() -> Self {
        Self { queue: VecDeque::new(), out: None, tries: 0, overtaken: false }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn answered(&mut self, id: super::RequestId) -> Option<InFlight> {
        self.out.take_if(|sent| sent.id == id)
    }

    pub(super) fn unanswered(&mut self) -> Option<InFlight> {
        self.out.take()
    }
}

impl<H: Holding> Membership<H> {
    pub(super) fn on_commit(&mut self, now: Instant, id: CommitId, items: H) {
        if self.ended.is_some() {
            return self.end_commit(id, items, CommitEnd::Closed);
        }
        if items.is_empty() {
            return self.end_commit(id, items, CommitEnd::Answered);
        }
        let (ours, others) = self.split(items);
        if !others.is_empty() {
            self.end_foreign(id, others);
        }
        let ours = self.without_standbys(id, ours);
        if ours.is_empty() {
            return;
        }
        if self.commits.queue.len() >= MOST {
            return self.end_commit(id, ours, CommitEnd::TooMany);
        }
        let expires = after(now, self.config.api_timeout);
        self.commits.queue.push_back(Commit { id, items: ours, expires });
        self.watch_expiry();
    }

    /// What may be committed, and what not. The broker would accept everything: it knows no owners.
    fn split(&self, items: H) -> (H, H) {
        if self.config.allow_foreign_commits {
            return (items, H::default());
        }
        let ours = items.common(&self.held);
        let mut others = items;
        others.remove(&ours);
        (ours, others)
    }

    fn end_foreign(&mut self, id: CommitId, items: H) {
        let formerly = items.common(&self.ever_held);
        let mut never = items;
        never.remove(&formerly);
        if !formerly.is_empty() {
            self.end_commit(id, formerly, CommitEnd::NoLongerOwned);
        }
        if !never.is_empty() {
            self.end_commit(id, never, CommitEnd::NotOwned);
        }
    }

    /// Ends the part of which another commits the offsets, and returns the rest.
    fn without_standbys(&mut self, id: CommitId, mut items: H) -> H {
        if !self.config.allow_foreign_commits {
            let standby = items.common(&self.standby);
            if !standby.is_empty() {
                items.remove(&standby);
                self.end_commit(id, standby, CommitEnd::StandsBy);
            }
        }
        items
    }

    fn end_commit(&mut self, commit: CommitId, items: H, end: CommitEnd) {
        self.outputs.push_back(Output::CommitEnded { commit, items, end });
    }

    /// Sends the first commit if this is a time for it.
    pub(super) fn advance_commits(&mut self, now: Instant) {
        let in_round = matches!(
            self.round.step,
            Step::Joining
                | Step::Leading(_)
                | Step::Syncing
                | Step::Applying(_)
                | Step::Confirming { .. }
                | Step::Leaving
        );
        let may_commit = self.may_send()
            && !in_round
            && self.identity.generation.is_some()
            && self.commits.out.is_none()
            && !self.timers.runs(Timer::CommitRetry);
        if !may_commit {
            return;
        }
        let Some(first) = self.commits.queue.front() else { return };
        let (commit, items, expires) = (first.id, first.items.clone(), first.expires);
        let sent = self.in_flight(now, ApiKey::OffsetCommit);
        let deadline = after(now, self.config.request_timeout).min(expires);
        self.timers.set(Timer::CommitAnswer, deadline);
        let (id, identity) = (sent.id, sent.identity.clone());
        self.commits.out = Some(sent);
        self.outputs.push_back(Output::Commit { id, commit, items, identity, deadline });
    }

    pub(super) fn on_commit_answer(
        &mut self,
        now: Instant,
        sent: &InFlight,
        answer: Result<GroupResponse, Failure>,
    ) {
        self.timers.stop(Timer::CommitAnswer);
        match answer {
            Ok(GroupResponse::Commit(code)) => self.on_committed(now, sent, code),
            Err(Failure::Unsupported(_)) => {
                self.end_first(CommitEnd::Refused(ErrorCode::UnsupportedVersion));
            }
            Err(Failure::TimedOut | Failure::Disconnected) => {
                self.lose_coordinator(now);
                self.retry_commit(now);
            }
            Ok(_) | Err(_) => self.retry_commit(now),
        }
    }

    fn on_committed(&mut self, now: Instant, sent: &InFlight, code: ErrorCode) {
        let is_current = sent.identity == self.identity;
        let unknown_topic =
            matches!(code, ErrorCode::UnknownTopicOrPartition | ErrorCode::UnknownTopicId);
        match recovery(ApiKey::OffsetCommit, code) {
            Recovery::Proceed => {
                self.heard_from_coordinator();
                if is_current {
                    self.acknowledged(sent.at);
                }
                self.end_first(CommitEnd::Answered);
            }
            Recovery::Report => self.end_first(CommitEnd::Answered),
            Recovery::Retry if unknown_topic && self.commits.tries >= UNKNOWN_TOPIC_TRIES => {
                self.end_first(CommitEnd::Answered);
            }
            Recovery::Rediscover => {
                self.lose_coordinator(now);
                self.retry_commit(now);
            }
            Recovery::Reset | Recovery::RejoinLost | Recovery::Fatal if is_current => {
                self.end_first(CommitEnd::Refused(code));
                let recovery = recovery(ApiKey::OffsetCommit, code);
                self.recover_member(now, ApiKey::OffsetCommit, code, recovery);
            }
            // Refused because a round is under way, or overtaken by one: again for what stays.
            Recovery::CommitAfterRejoin if is_current => {
                self.want(Cause::Refused(code));
                self.retry_commit(now);
            }
            _ => self.retry_commit(now),
        }
    }

    fn retry_commit(&mut self, now: Instant) {
        if std::mem::take(&mut self.commits.overtaken) {
            if let Some(first) = self.commits.queue.pop_front() {
                let first = self.settle(first);
                if let Some(first) = first {
                    self.commits.queue.push_front(first);
                }
            }
        }
        self.commits.tries = self.commits.tries.saturating_add(1);
        let (first, max) = (self.config.retry_backoff, self.config.retry_backoff_max);
        let wait = self.jitter.backoff(first, max, self.commits.tries);
        self.timers.set(Timer::CommitRetry, after(now, wait));
        self.watch_expiry();
    }

    fn end_first(&mut self, end: CommitEnd) {
        self.timers.stop(Timer::CommitRetry);
        self.commits.tries = 0;
        self.commits.overtaken = false;
        if let Some(first) = self.commits.queue.pop_front() {
            self.end_commit(first.id, first.items, end);
        }
        self.watch_expiry();
    }

    /// A round has ended, or everything is lost: what stayed goes on, in the new generation.
    pub(super) fn release_commits(&mut self) {
        let is_out = self.commits.out.is_some();
        let mut queue = std::mem::take(&mut self.commits.queue);
        if let Some(first) = is_out.then(|| queue.pop_front()).flatten() {
            // Its answer will tell; only then is there something to say.
            self.commits.overtaken = true;
            self.commits.queue.push_back(first);
        }
        for commit in queue {
            let commit = self.settle(commit);
            self.commits.queue.extend(commit);
        }
        self.watch_expiry();
    }

    /// Ends a commit's part that is in other hands, or in others' to commit, and returns the rest.
    fn settle(&mut self, mut commit: Commit<H>) -> Option<Commit<H>> {
        let mut gone = commit.items.common(&self.ever_held);
        gone.remove(&self.held);
        commit.items.remove(&gone);
        if !gone.is_empty() {
            self.end_commit(commit.id, gone, CommitEnd::NoLongerOwned);
        }
        commit.items = self.without_standbys(commit.id, commit.items);
        Some(commit).filter(|commit| !commit.items.is_empty())
    }

    /// The last word on all that wait.
    pub(super) fn end_commits(&mut self, end: &CommitEnd) {
        self.commits.out = None;
        for commit in std::mem::take(&mut self.commits.queue) {
            self.end_commit(commit.id, commit.items, end.clone());
        }
        for timer in [Timer::CommitAnswer, Timer::CommitRetry, Timer::CommitExpiry] {
            self.timers.stop(timer);
        }
    }

    pub(super) fn on_commits_expired(&mut self, now: Instant) {
        while self.commits.queue.front().is_some_and(|first| first.expires <= now) {
            if self.commits.out.take().is_some() {
                self.timers.stop(Timer::CommitAnswer);
            }
            self.end_first(CommitEnd::TimedOut);
        }
        self.watch_expiry();
    }

    /// All wait for equally long, so the first expires first.
    fn watch_expiry(&mut self) {
        match self.commits.queue.front() {
            Some(first) => self.timers.set(Timer::CommitExpiry, first.expires),
            None => self.timers.stop(Timer::CommitExpiry),
        }
    }
}
