//! What is known of the groups that are watched, and what has changed of late.

use std::collections::VecDeque;
use std::time::Duration;

use super::changes::{Change, between, first};
use super::clock::Time;
use super::seen::{GroupSeen, Look};
use crate::admin::AdminError;
use crate::cli::outcome::{Outcome, failure, worse};

/// So many changes are remembered.
const MOST_CHANGES: usize = 20;

/// All groups at one time.
#[derive(Debug)]
pub(super) struct View {
    pub(super) groups: Vec<GroupView>,
    /// When was looked last.
    pub(super) time: Time,
    pub(super) interval: Duration,
    /// The last changes but those of lag, the newest last.
    pub(super) recent: VecDeque<Happened>,
}

/// A group.
#[derive(Clone, Debug)]
pub(super) struct GroupView {
    pub(super) name: String,
    /// What was seen last.
    pub(super) seen: Option<GroupSeen>,
    /// When that was.
    seen_at: Time,
    /// Why it was not seen now.
    pub(super) trouble: Option<Trouble>,
}

/// Why a group is not seen.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    /// When it was seen last; if it never was, when that was found.
    pub(super) since: Time,
    pub(super) error: AdminError,
}

/// A change, of a group, at a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Happened {
    pub(super) time: Time,
    /// The group's place.
    pub(super) group: usize,
    pub(super) change: Change,
}

impl View {
    pub(super) fn new(groups: &[String], interval: Duration) -> Self {
        let unseen = |name: &String| GroupView {
            name: name.clone(),
            seen: None,
            seen_at: Time::default(),
            trouble: None,
        };
        let groups = groups.iter().map(unseen).collect();
        Self { groups, time: Time::default(), interval, recent: VecDeque::new() }
    }

    /// Takes what a look found; gives what has changed.
    pub(super) fn update(&mut self, looks: Vec<Look>, time: Time) -> Vec<Happened> {
        self.time = time;
        let mut happened = Vec::new();
        for ((view, look), group) in self.groups.iter_mut().zip(looks).zip(0..) {
            let changes = view.update(look, time);
            happened.extend(changes.into_iter().map(|change| Happened { time, group, change }));
        }
        let told =
            happened.iter().filter(|happened| !matches!(happened.change, Change::Lag { .. }));
        self.recent.extend(told.cloned());
        while self.recent.len() > MOST_CHANGES {
            self.recent.pop_front();
        }
        happened
    }

    /// What came of the last look.
    pub(super) fn outcome(&self) -> Outcome {
        let troubles = self.groups.iter().filter_map(|group| group.trouble.as_ref());
        troubles.map(|trouble| failure(&trouble.error)).fold(Outcome::Done, worse)
    }
}

impl GroupView {
    fn update(&mut self, look: Look, time: Time) -> Vec<Change> {
        match look {
            Ok(seen) => {
                let again = self.trouble.take().filter(|_| self.seen.is_some());
                let again = again.map(|trouble| Change::SeenAgain(time.since(trouble.since)));
                let changes = match &self.seen {
                    Some(before) => between(before, &seen),
                    None => first(&seen),
                };
                (self.seen, self.seen_at) = (Some(seen), time);
                again.into_iter().chain(changes).collect()
            }
            Err(error) => {
                // Of a group that does not exist nothing is left to be seen.
                if matches!(error, AdminError::NoSuchGroup(_)) {
                    self.seen = None;
                }
                let known = self.trouble.take();
                // Of a broker that is away each try may end in another way.
                let is_new = known.as_ref().is_none_or(|known| {
                    std::mem::discriminant(&known.error) != std::mem::discriminant(&error)
                });
                let change = is_new.then(|| Change::Unseen(error.to_string()));
                let last = if self.seen.is_some() { self.seen_at } else { time };
                let since = known.map_or(last, |known| known.since);
                self.trouble = Some(Trouble { since, error });
                change.into_iter().collect()
            }
        }
    }
}
