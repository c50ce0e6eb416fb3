//! A broker that lets us in no more: a password that was changed, a certificate that has expired.

use std::sync::Arc;
use std::time::Instant;

use super::{Ended, Event, Failure, Membership};
use crate::protocol::Holding;

/// Since when no broker has let us in, and when the application was told so.
#[derive(Debug, Default)]
pub(super) struct Denials {
    since: Option<Instant>,
    told: Option<Instant>,
}

impl<H: Holding> Membership<H> {
    /// Said once, tried again for as long as a session, and then the end: whoever administers the cluster may be in the
    /// midst of a change, and connections that are open are not asked again. For everything else it is a connection that
    /// could not be had.
    pub(super) fn let_in<T>(
        &mut self,
        now: Instant,
        answer: Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Err(Failure::Denied(message)) = answer else { return answer };
        if self.ended.is_none() && self.ending.is_none() {
            self.denied(now, message);
        }
        Err(Failure::Disconnected)
    }

    fn denied(&mut self, now: Instant, message: Arc<str>) {
        let session = self.config.session_timeout;
        let passed = |at: Instant| now.saturating_duration_since(at);
        let since = *self.denials.since.get_or_insert(now);
        if passed(since) >= session {
            return self.fail(now, Ended::Denied { message: message.to_string() });
        }
        // While one connection is denied another may still be served, time and again.
        if self.denials.told.is_none_or(|told| passed(told) > 2 * session) {
            self.denials.told = Some(now);
            self.tell(now, Event::Denied(message));
        }
    }

    /// A broker has answered a request of ours.
    pub(super) fn was_let_in(&mut self) {
        self.denials.since = None;
    }
}
