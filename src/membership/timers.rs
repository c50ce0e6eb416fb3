//! The few deadlines that a member has.

use std::time::{Duration, Instant};

/// What can run out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Timer {
    /// The next heartbeat is due.
    Heartbeat,
    /// Nothing is surely ours any more.
    Session,
    /// What is being given up must have been given up.
    Revocation,
    /// Commits have held up JoinGroup for long enough.
    Drain,
    /// The round may go on after a back-off.
    Round,
    /// The coordinator may be looked for again.
    Coordinator,
    /// A round that was asked for ahead of time.
    Scheduled,
    /// The application has left an event alone for too long.
    Progress,
    /// A commit may be tried again.
    CommitRetry,
    /// The oldest commit has waited for too long.
    CommitExpiry,
    /// The end must have come.
    Close,
    /// The leader has waited for more joiners.
    Settle,
    /// JoinGroup or SyncGroup is not answered.
    RoundAnswer,
    /// It is to be sent again before the round can end without us.
    AskAgain,
    /// A heartbeat is not answered.
    HeartbeatAnswer,
    /// A commit is not answered.
    CommitAnswer,
    /// LeaveGroup is not answered.
    LeaveAnswer,
}

impl Timer {
    /// In the order in which they are acted on when several have run out: losses first.
    const ALL: [Self; 17] = [
        Self::Session,
        Self::Revocation,
        Self::Close,
        Self::Progress,
        Self::Settle,
        Self::RoundAnswer,
        Self::AskAgain,
        Self::HeartbeatAnswer,
        Self::CommitAnswer,
        Self::LeaveAnswer,
        Self::CommitExpiry,
        Self::CommitRetry,
        Self::Drain,
        Self::Coordinator,
        Self::Round,
        Self::Scheduled,
        Self::Heartbeat,
    ];
}

/// When each runs out, if it runs.
#[derive(Debug, Default)]
pub(super) struct Timers([Option<Instant>; Timer::ALL.len()]);

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, at: Instant) {
        if let Some(slot) = self.0.get_mut(timer as usize) {
            *slot = Some(at);
        }
    }

    /// Has a timer that runs run out at `at`, if that is sooner.
    pub(super) fn bring_forward(&mut self, timer: Timer, at: Instant) {
        if let Some(Some(set)) = self.0.get_mut(timer as usize) {
            *set = at.min(*set);
        }
    }

    pub(super) fn stop(&mut self, timer: Timer) {
        if let Some(slot) = self.0.get_mut(timer as usize) {
            *slot = None;
        }
    }

    pub(super) fn runs(&self, timer: Timer) -> bool {
        self.end_of(timer).is_some()
    }

    pub(super) fn end_of(&self, timer: Timer) -> Option<Instant> {
        self.0.get(timer as usize).copied().flatten()
    }

    /// Stops and returns all that have run out.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<Timer> {
        let over = |timer: &Timer| {
            self.0.get_mut(*timer as usize).is_some_and(|at| at.take_if(|at| *at <= now).is_some())
        };
        Timer::ALL.into_iter().filter(over).collect()
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.0.iter().flatten().min().copied()
    }
}

/// `span` after `now`, as far as the clock reaches.
pub(super) fn after(now: Instant, span: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
    now.checked_add(span).or_else(|| now.checked_add(FAR)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn each_timer_has_a_place_of_its_own_and_runs_out_once() {
        let now = Instant::now();
        let mut timers = Timers::default();
        for timer in Timer::ALL {
            timers.set(timer, now);
        }
        assert_eq!(timers.expire(now), Timer::ALL);
        assert_eq!(timers.expire(now), []);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn only_a_timer_that_runs_is_brought_forward_and_never_put_off() {
        let now = Instant::now();
        let later = after(now, Duration::from_secs(1));
        let mut timers = Timers::default();
        timers.bring_forward(Timer::Heartbeat, now);
        assert_eq!(timers.next(), None);
        timers.set(Timer::Heartbeat, later);
        timers.bring_forward(Timer::Heartbeat, after(later, Duration::from_secs(1)));
        assert_eq!(timers.next(), Some(later));
        timers.bring_forward(Timer::Heartbeat, now);
        assert_eq!(timers.next(), Some(now));
    }
}
