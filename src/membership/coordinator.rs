//! Whether there is a coordinator to talk to.

use std::time::Instant;

use super::timers::{Timer, after};
use super::{Ended, Failure, Membership, Output, RequestId};
use crate::protocol::Holding;
use crate::wire::{ApiKey, ErrorCode, Recovery, recovery};

/// What is known of the coordinator. Who it is, is the driver's to know.
#[derive(Debug, Default)]
pub(super) enum Coordinator {
    /// Nothing, or nothing good.
    #[default]
    Unknown,
    /// It is looked for.
    Sought(RequestId),
    /// It was found, and has not disappointed us since.
    Known,
}

impl<H: Holding> Membership<H> {
    pub(super) fn may_send(&self) -> bool {
        matches!(self.coordinator, Coordinator::Known)
    }

    pub(super) fn advance_coordinator(&mut self) {
        let idle = matches!(self.coordinator, Coordinator::Unknown);
        if !idle || !self.started || self.timers.runs(Timer::Coordinator) {
            return;
        }
        self.lookups = self.lookups.saturating_add(1);
        let id = self.next_request();
        self.coordinator = Coordinator::Sought(id);
        self.outputs.push_back(Output::FindCoordinator { id });
    }

    pub(super) fn on_coordinator(
        &mut self,
        now: Instant,
        id: RequestId,
        found: Result<(), Failure>,
    ) {
        if !matches!(self.coordinator, Coordinator::Sought(sought) if sought == id) {
            return;
        }
        match found {
            Ok(()) => self.coordinator = Coordinator::Known,
            Err(Failure::Refused(code)) => self.on_lookup_refused(now, code),
            Err(Failure::Unsupported(message)) => self.fail(now, Ended::Unsupported { message }),
            Err(_) => self.look_later(now),
        }
    }

    fn on_lookup_refused(&mut self, now: Instant, code: ErrorCode) {
        let is_fatal = recovery(ApiKey::FindCoordinator, code) == Recovery::Fatal;
        if is_fatal && self.owned_until().is_none() {
            return self.fail_code(now, ApiKey::FindCoordinator, code);
        }
        if code == ErrorCode::GroupAuthorizationFailed {
            self.tell_unauthorized(now);
        }
        self.look_later(now);
    }

    /// It is gone, or is not the coordinator any more. Identity, generation and what is held stay as they are.
    pub(super) fn lose_coordinator(&mut self, now: Instant) {
        if !matches!(self.coordinator, Coordinator::Known) {
            return;
        }
        // The first look goes out at once; one that named a broker which then failed us counts as a try.
        match self.lookups {
            0 => self.coordinator = Coordinator::Unknown,
            _ => self.look_later(now),
        }
    }

    fn look_later(&mut self, now: Instant) {
        self.coordinator = Coordinator::Unknown;
        let (first, max) = (self.config.retry_backoff, self.config.retry_backoff_max);
        let wait = self.jitter.backoff(first, max, self.lookups);
        self.timers.set(Timer::Coordinator, after(now, wait));
    }

    /// The coordinator has answered as one.
    pub(super) fn heard_from_coordinator(&mut self) {
        self.lookups = 0;
    }
}
