//! Events, and whether the application asks for them.

use std::time::Instant;

use super::events::Events;
use super::round::Step;
use super::timers::{Timer, after};
use super::{Event, LossCause, Membership};
use crate::protocol::{Cause, Holding};

impl<H: Holding> Membership<H> {
    /// Tells the application, which must ask before the rebalance timeout is over.
    pub(super) fn tell(&mut self, now: Instant, event: Event<H>) {
        match event {
            Event::NoCommonProtocol | Event::Unauthorized | Event::Denied(_) | Event::Stalled => {
                self.events.push_once(event);
            }
            event => self.events.push(event),
        }
        self.watch_progress(now);
    }

    pub(super) fn tell_loss(&mut self, now: Instant, tell: impl FnOnce(&mut Events<H>)) {
        tell(&mut self.events);
        self.watch_progress(now);
    }

    /// Having nothing to ask for is no stall.
    fn watch_progress(&mut self, now: Instant) {
        if self.events.is_empty() {
            self.timers.stop(Timer::Progress);
        } else if !self.timers.runs(Timer::Progress) && !self.stalled && self.ending.is_none() {
            self.timers.set(Timer::Progress, after(now, self.config.rebalance_timeout));
        }
    }

    pub(super) fn on_delivered(&mut self, now: Instant) {
        self.events.taken();
        self.timers.stop(Timer::Progress);
        self.resume();
        self.watch_progress(now);
    }

    /// Said once. A dynamic member makes room for others; a static one lets its session run out, and comes back to
    /// what it had if it is quick.
    pub(super) fn on_stalled(&mut self, now: Instant) {
        if self.ending.is_some() {
            return;
        }
        self.stalled = true;
        if self.identity.group_instance_id.is_none() {
            let reason = "the application has stopped asking for events".to_owned();
            self.leave_for_a_while(now, reason, LossCause::Stalled);
        } else {
            self.abandon_round(now);
            self.round.described = None;
            if !matches!(self.round.step, Step::Revoking(_)) {
                self.round.step = Step::Idle;
            }
        }
        self.tell(now, Event::Stalled);
    }

    pub(super) fn resume(&mut self) {
        if std::mem::take(&mut self.stalled) {
            self.round.wanted = Some(Cause::ProgressResumed);
            self.beat_now();
        }
    }
}
