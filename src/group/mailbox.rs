//! One place for the next event, between the task that drives a member and the application that asks.
//!
//! Not a channel: an event that was not taken may be replaced (what was assigned can be lost before anybody looked),
//! and asking is itself a sign, since it gives up what was revoked.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::error::Error;
use crate::membership::RevocationId;

/// How many notices wait at the most; the oldest goes first.
const NOTICES: usize = 64;

/// Where a driver leaves events, and an application takes them.
#[derive(Debug)]
pub(crate) struct Mailbox<E> {
    state: Mutex<State<E>>,
    arrived: Notify,
    signalled: Notify,
}

#[derive(Debug)]
struct State<E> {
    /// One, while the membership lasts.
    events: VecDeque<(Number, E)>,
    /// Of the event that was left last.
    last: Number,
    notices: VecDeque<E>,
    /// How the membership ended: an error is told once, then `None` for ever.
    ended: Option<Option<Error>>,
    asking: bool,
    signs: Signs,
}

/// Counts the events that were left. An application that takes one while the driver replaces it has taken the old
/// one, and only the number tells.
pub(crate) type Number = u64;

/// What the application did since the driver last looked.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Signs {
    /// It took this event.
    pub(crate) taken: Option<Number>,
    /// It asks for the next.
    pub(crate) asked: bool,
    /// It gave up what was revoked.
    pub(crate) released: Option<RevocationId>,
    /// It has dropped the member.
    pub(crate) deserted: bool,
}

/// Gives up what was revoked: the application's side, whatever the events are.
pub(crate) trait Release: Send + Sync {
    fn release(&self, id: RevocationId);
}

impl<E: Send> Release for Mailbox<E> {
    fn release(&self, id: RevocationId) {
        self.lock().signs.released = Some(id);
        self.signalled.notify_one();
    }
}

impl<E> Mailbox<E> {
    pub(crate) fn new() -> Self {
        let state = State {
            events: VecDeque::new(),
            last: 0,
            notices: VecDeque::new(),
            ended: None,
            asking: false,
            signs: Signs::default(),
        };
        Self { state: Mutex::new(state), arrived: Notify::new(), signalled: Notify::new() }
    }

    /// Leaves an event, in place of one that was not taken. The driver's side.
    pub(crate) fn put(&self, event: E) -> Number {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        state.events.clear();
        state.events.push_back((number, event));
        drop(state);
        self.arrived.notify_one();
        number
    }

    /// Leaves an event behind the one that was not taken, when no other will replace it. The driver's side.
    pub(crate) fn put_behind(&self, event: E) {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        state.events.push_back((number, event));
        drop(state);
        self.arrived.notify_one();
    }

    /// Leaves a notice behind the event. The driver's side.
    pub(crate) fn notice(&self, notice: E) {
        let mut state = self.lock();
        if state.notices.len() == NOTICES {
            state.notices.pop_front();
        }
        state.notices.push_back(notice);
        drop(state);
        self.arrived.notify_one();
    }

    /// Says that nothing more comes. What is left is still delivered. The driver's side.
    pub(crate) fn end(&self, error: Option<Error>) {
        let mut state = self.lock();
        if state.ended.is_none() {
            state.ended = Some(error);
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// What the application did since this was last asked. The driver's side.
    pub(crate) fn signs(&self) -> Signs {
        mem::take(&mut self.lock().signs)
    }

    /// Waits until the application has done something. Cancel safe. The driver's side.
    pub(crate) async fn signalled(&self) {
        self.signalled.notified().await;
    }

    /// Says that the application asks for the next event. The application's side.
    pub(crate) fn ask(&self) {
        let mut state = self.lock();
        if !mem::replace(&mut state.asking, true) {
            state.signs.asked = true;
            drop(state);
            self.signalled.notify_one();
        }
    }

    /// Says that nobody will ask any more. The application's side.
    pub(crate) fn desert(&self) {
        self.lock().signs.deserted = true;
        self.signalled.notify_one();
    }

    /// The next event; `None` when the membership is over. Cancel safe. The application's side.
    pub(crate) async fn take(&self) -> Result<Option<E>, Error> {
        loop {
            if let Some(taken) = self.try_take() {
                return taken;
            }
            self.arrived.notified().await;
        }
    }

    fn try_take(&self) -> Option<Result<Option<E>, Error>> {
        let mut state = self.lock();
        if let Some((number, event)) = state.events.pop_front() {
            state.asking = false;
            state.signs.taken = Some(number);
            drop(state);
            self.signalled.notify_one();
            return Some(Ok(Some(event)));
        }
        if let Some(notice) = state.notices.pop_front() {
            state.asking = false;
            return Some(Ok(Some(notice)));
        }
        let ended = state.ended.as_mut()?;
        Some(ended.take().map_or(Ok(None), Err))
    }

    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_event_that_nobody_took_gives_way_to_the_next() {
        let mailbox = Mailbox::new();
        mailbox.put("assigned");
        let lost = mailbox.put("lost");
        assert_eq!(mailbox.take().await, Ok(Some("lost")));
        assert_eq!(mailbox.signs().taken, Some(lost));
    }

    #[tokio::test]
    async fn an_event_that_was_taken_while_it_was_replaced_is_not_mistaken_for_its_successor() {
        let mailbox = Mailbox::new();
        let assigned = mailbox.put("assigned");
        assert_eq!(mailbox.take().await, Ok(Some("assigned")));
        let lost = mailbox.put("lost");
        assert_eq!(mailbox.signs().taken, Some(assigned));
        assert_ne!(assigned, lost);
    }

    #[tokio::test]
    async fn an_error_is_told_once_and_after_everything_else() {
        let mailbox = Mailbox::new();
        mailbox.notice("late");
        mailbox.end(Some(Error::Closed));
        mailbox.end(None);
        assert_eq!(mailbox.take().await, Ok(Some("late")));
        assert_eq!(mailbox.take().await, Err(Error::Closed));
        assert_eq!(mailbox.take().await, Ok(None));
    }

    #[tokio::test]
    async fn asking_twice_is_one_sign() {
        let mailbox = Mailbox::<()>::new();
        mailbox.ask();
        assert!(mailbox.signs().asked);
        mailbox.ask();
        assert_eq!(mailbox.signs(), Signs::default());
    }

    #[test]
    fn notices_are_bounded_and_the_newest_stay() {
        let mailbox = Mailbox::new();
        for number in 0..NOTICES + 2 {
            mailbox.notice(number);
        }
        assert_eq!(mailbox.try_take(), Some(Ok(Some(2))));
    }
}
