//! What the application has yet to be told, in order.

use std::collections::VecDeque;

use super::{Event, LossCause, RevocationId};
use crate::protocol::Holding;

/// Events that wait for the application. A loss overtakes them, and takes the place of what it makes untrue.
///
/// Bounded by what may follow what: neighbouring assignments and all losses are merged, one revocation is under way
/// at a time, and the rest is said once.
#[derive(Debug)]
pub(super) struct Events<H> {
    queue: VecDeque<Event<H>>,
    /// The first one is with the driver, and not taken yet.
    given: bool,
}

impl<H: Holding> Events<H> {
    pub(super) fn new() -> Self {
        Self { queue: VecDeque::new(), given: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next event, unless the last one was not taken yet.
    pub(super) fn give(&mut self) -> Option<Event<H>> {
        let event = self.queue.front().filter(|_| !self.given)?.clone();
        self.given = true;
        Some(event)
    }

    /// The application took what was given.
    pub(super) fn taken(&mut self) {
        if std::mem::take(&mut self.given) {
            self.queue.pop_front();
        }
    }

    pub(super) fn push(&mut self, event: Event<H>) {
        let last_is_given = self.given && self.queue.len() == 1;
        match (self.queue.back_mut(), event) {
            (
                Some(Event::Assigned { added, held, standby, generation, leads }),
                Event::Assigned {
                    added: more,
                    held: all,
                    standby: by,
                    generation: newer,
                    leads: lead,
                },
            ) if !last_is_given => {
                added.add(&more);
                (*held, *standby, *generation, *leads) = (all, by, newer, lead);
            }
            (_, event) => self.queue.push_back(event),
        }
    }

    /// Pushes an event that is not to be said twice.
    pub(super) fn push_once(&mut self, event: Event<H>) {
        if !self.queue.contains(&event) {
            self.queue.push_back(event);
        }
    }

    /// A revocation was released before it was taken.
    pub(super) fn withdraw(&mut self, revocation: RevocationId) {
        let other =
            |event: &Event<H>| !matches!(event, Event::Revoked { id, .. } if *id == revocation);
        self.retain(other);
    }

    /// Part of what is held is gone: it was not given up in time.
    pub(super) fn lost_part(&mut self, lost: H, cause: LossCause) {
        self.retain(|event| !matches!(event, Event::Revoked { .. }));
        for event in &mut self.queue {
            if let Event::Assigned { added, held, standby, .. } = event {
                added.remove(&lost);
                held.remove(&lost);
                standby.remove(&lost);
            }
        }
        self.push_loss(lost, cause);
    }

    /// Everything is gone: no assignment or revocation that waits is true any more.
    pub(super) fn lost_all(&mut self, lost: H, cause: LossCause) {
        self.retain(|event| !matches!(event, Event::Revoked { .. } | Event::Assigned { .. }));
        self.push_loss(lost, cause);
    }

    fn push_loss(&mut self, more: H, cause: LossCause) {
        if more.is_empty() {
            return;
        }
        self.given = false;
        let losses = self.queue.iter_mut().find_map(|event| match event {
            Event::Lost { lost, .. } => Some(lost),
            _ => None,
        });
        match losses {
            Some(lost) => lost.add(&more),
            None => self.queue.push_front(Event::Lost { lost: more, cause }),
        }
    }

    fn retain(&mut self, keep: impl Fn(&Event<H>) -> bool) {
        if self.queue.front().is_some_and(|first| !keep(first)) {
            self.given = false;
        }
        self.queue.retain(keep);
    }
}
