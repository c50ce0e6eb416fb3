//! The task that owns a consumer's membership: it turns events into reading and not reading, and alone gives
//! partitions up. It runs where the member's connections run, so that an application that blocks its runtime delays no
//! commit.

mod revocation;
mod start;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use self::revocation::{Commits, Revocation};
use self::start::{Found, Search, Starting};
use super::denials::{Denial, Denials, Word};
use super::hand_over::HandOver;
use super::listener::Listening;
use super::pump::Pump;
use super::reset::{AutoOffsetReset, Known};
use crate::error::Error;
use crate::group::{Assigned, Event, GroupMember, Lost, MemberHandle, Revoked, now, sleep_until};
use crate::types::{Offsets, Partitions};

/// A consumer's membership at work.
pub(super) struct Task {
    member: GroupMember,
    handle: MemberHandle,
    pump: Pump,
    /// What rdkafka is denied, as it happens, and what is to be said of it.
    denied: mpsc::Receiver<Denial>,
    denials: Denials,
    hand_over: Arc<HandOver>,
    listening: Listening,
    reset: AutoOffsetReset,
    known: Known,
    interval: Duration,
    close_timeout: Duration,
    work: JoinSet<Done>,
    /// The revocation under way.
    revoking: Option<(Partitions, AbortHandle)>,
    /// A commit of marks is under way.
    committing: bool,
    /// Marks of what was lost in the end.
    left: Offsets,
    /// The pump's end, which ends the rest.
    failed: Option<Error>,
}

/// What a task of the task's brought back.
enum Done {
    Found(Found),
    Released,
    Committed,
    Left,
}

/// What a task is made of.
pub(super) struct Parts {
    pub(super) member: GroupMember,
    pub(super) pump: Pump,
    pub(super) denied: mpsc::Receiver<Denial>,
    pub(super) session: Duration,
    pub(super) hand_over: Arc<HandOver>,
    pub(super) listening: Listening,
    pub(super) reset: AutoOffsetReset,
    pub(super) known: Known,
    pub(super) interval: Duration,
    pub(super) close_timeout: Duration,
}

impl Task {
    pub(super) fn new(parts: Parts) -> Self {
        Self {
            handle: parts.member.handle(),
            member: parts.member,
            pump: parts.pump,
            denied: parts.denied,
            denials: Denials::new(parts.session),
            hand_over: parts.hand_over,
            listening: parts.listening,
            reset: parts.reset,
            known: parts.known,
            interval: parts.interval,
            close_timeout: parts.close_timeout,
            work: JoinSet::new(),
            revoking: None,
            committing: false,
            left: Offsets::new(),
            failed: None,
        }
    }

    /// Runs until the membership is over. Returns marks that were not committed.
    pub(super) async fn run(mut self) -> Offsets {
        let mut commits = every(self.interval);
        let ended = loop {
            let due = self.denials.due();
            tokio::select! {
                event = self.member.next(), if self.listening.has_room() => match event {
                    Ok(Some(event)) => self.event(event),
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                },
                Some(done) = self.work.join_next() => self.done(done.ok()),
                _ = commits.tick() => self.commit(),
                Some(denial) = self.denied.recv() => {
                    self.denials.heard(now(), denial);
                    self.say_denials();
                }
                () = sleep_until(due) => self.say_denials(),
                error = self.pump.failed(), if self.failed.is_none() => self.pump_failed(error),
            }
        };
        self.end(ended).await
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Assigned(assigned) => self.assigned(assigned),
            Event::Revoked(revoked) => self.revoked(revoked),
            Event::Lost(lost) => self.lost(lost),
            Event::Denied(why) => {
                self.denials.membership_denied(now());
                self.listening.told(Event::Denied(why));
            }
            other => self.listening.told(other),
        }
    }

    /// The membership says of itself what it is denied; this is what rdkafka alone is.
    fn say_denials(&mut self) {
        while let Some(word) = self.denials.word(now()) {
            match word {
                Word::Denied(why) => self.listening.told(Event::Denied(why)),
                Word::Lasts(why) => self.hand_over.trouble(Error::DataPlane(why)),
            }
        }
    }

    fn assigned(&mut self, assigned: Assigned) {
        self.left.clear();
        let cluster = self.handle.cluster();
        let mut starting = Vec::new();
        let opened = self.hand_over.open(assigned.partitions());
        self.hand_over.stand_by(assigned.standbys());
        for (at, epoch) in opened {
            let reset = match self.reset {
                AutoOffsetReset::Latest if self.known.is_new(&at, &cluster) => {
                    AutoOffsetReset::Earliest
                }
                reset => reset,
            };
            starting.push(Starting { at, epoch, reset });
        }
        let search = Search::new(self.handle.clone(), Arc::clone(&self.hand_over), starting);
        let mut answer = self.listening.assigned(assigned);
        self.work.spawn(async move { Done::Found(search.begin(answer.get().await.flatten())) });
    }

    fn revoked(&mut self, revoked: Revoked) {
        let partitions = revoked.partitions().clone();
        self.hand_over.close(&partitions);
        self.pump.unassign(&partitions);
        let revocation = Revocation {
            partitions: partitions.clone(),
            deadline: revoked.deadline().into(),
            hold: revoked.hold(),
            heard: self.listening.revoked(revoked),
            commits: self.commits(),
        };
        let running = self.work.spawn(async move {
            revocation.run().await;
            Done::Released
        });
        self.revoking = Some((partitions, running));
    }

    /// Too late for anything but stopping: what is marked is not committed.
    fn lost(&mut self, lost: Lost) {
        self.left.append(&mut self.hand_over.uncommitted(Some(lost.partitions())).offsets);
        self.hand_over.forget(lost.partitions());
        self.pump.unassign(lost.partitions());
        let concerns = |revoked: &Partitions| !revoked.intersection(lost.partitions()).is_empty();
        if let Some((_, running)) = self.revoking.take_if(|(revoked, _)| concerns(revoked)) {
            running.abort();
        }
        self.listening.lost(lost);
    }

    fn done(&mut self, done: Option<Done>) {
        match done {
            Some(Done::Found(found)) => self.found(found),
            Some(Done::Released) => self.revoking = None,
            Some(Done::Committed) => self.committing = false,
            // Aborted, or on its way out.
            Some(Done::Left) | None => {}
        }
    }

    fn found(&mut self, Found { mut starts, search }: Found) {
        starts.retain(|(at, start)| self.hand_over.is_open(at, start.epoch));
        if !starts.is_empty() {
            self.pump.assign(starts);
        }
        if let Some(search) = search {
            self.work.spawn(async move { Done::Found(search.go_on().await) });
        }
    }

    /// Commits what is marked, unless that is under way.
    fn commit(&mut self) {
        if self.committing || self.hand_over.uncommitted_open().offsets.is_empty() {
            return;
        }
        self.committing = true;
        let commits = self.commits();
        self.work.spawn(async move {
            commits.commit().await;
            Done::Committed
        });
    }

    fn commits(&self) -> Commits {
        Commits {
            handle: self.handle.clone(),
            hand_over: Arc::clone(&self.hand_over),
            listening: self.listening.clone(),
        }
    }

    /// Nothing can be read any more: others can do it, so the group is left, with all that it takes.
    fn pump_failed(&mut self, error: Error) {
        tracing::error!(%error, "the data plane failed: the consumer leaves its group");
        self.failed = Some(error);
        let handle = self.handle.clone();
        self.work.spawn(async move {
            // What is left is in the marks.
            drop(handle.leave().await);
            Done::Left
        });
    }

    /// The membership is over. librdkafka comes last, and hangs nobody up.
    async fn end(mut self, ended: Option<Error>) -> Offsets {
        self.work.shutdown().await;
        self.left.append(&mut self.hand_over.uncommitted(None).offsets);
        self.hand_over.end(ended.or(self.failed));
        let deadline = Instant::now() + self.close_timeout;
        if !self.pump.close(deadline).await {
            tracing::warn!("librdkafka did not end in time, and is left alone");
        }
        self.left
    }
}

fn every(interval: Duration) -> Interval {
    let mut every = interval_at(Instant::now() + interval, interval);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    every
}
