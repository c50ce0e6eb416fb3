//! Commits under way: what was to be stored, and who waits for it.

use std::collections::BTreeMap;
use std::mem;

use tokio::sync::oneshot;

use crate::error::CommitError;
use crate::membership::{CommitEnd, CommitId};
use crate::types::{Offsets, Partitions, TopicPartition};
use crate::wire::api::OffsetCommitResponse;
use crate::wire::{ApiKey, ErrorCode, Recovery, recovery};

/// Commits that have not ended.
#[derive(Debug, Default)]
pub(super) struct Commits {
    last: u64,
    under_way: BTreeMap<CommitId, Commit>,
}

#[derive(Debug)]
struct Commit {
    offsets: Offsets,
    /// Of which no part has ended yet.
    open: Offsets,
    /// What the last answer refused.
    refused: Vec<(TopicPartition, ErrorCode)>,
    /// The worst that a part ended with.
    error: Option<CommitError>,
    reply: oneshot::Sender<Result<(), CommitError>>,
}

impl Commits {
    /// Takes a commit on; the machine decides when it is sent.
    pub(super) fn begin(
        &mut self,
        offsets: Offsets,
        reply: oneshot::Sender<Result<(), CommitError>>,
    ) -> CommitId {
        self.last += 1;
        let id = CommitId(self.last);
        let open = offsets.clone();
        self.under_way
            .insert(id, Commit { offsets, open, refused: Vec::new(), error: None, reply });
        id
    }

    /// What was to be stored.
    pub(super) fn offsets(&self, id: CommitId) -> Offsets {
        self.under_way.get(&id).map(|commit| commit.offsets.clone()).unwrap_or_default()
    }

    /// Keeps what became of each partition; says what the answer means for the membership.
    pub(super) fn answered(&mut self, id: CommitId, response: OffsetCommitResponse) -> ErrorCode {
        let codes = response.partitions;
        let telling = codes.iter().map(|(_, code)| *code).max_by_key(|code| weight(*code));
        if let Some(commit) = self.under_way.get_mut(&id) {
            // A part may be sent again: its last answer counts.
            commit.refused.retain(|(known, _)| codes.iter().all(|(at, _)| at != known));
            commit.refused.extend(codes.into_iter().filter(|(_, code)| !code.is_none()));
        }
        telling.unwrap_or_default()
    }

    /// A part of a commit has ended; the last one ends the commit. Gives back what was not stored.
    pub(super) fn part_ended(
        &mut self,
        id: CommitId,
        part: impl Fn(&Offsets) -> Offsets,
        end: CommitEnd,
    ) -> Offsets {
        let Some(commit) = self.under_way.get_mut(&id) else {
            return Offsets::new();
        };
        let part = part(&commit.open);
        commit.open.retain(|partition, _| !part.contains_key(partition));
        let partitions = || part.keys().cloned().collect::<Partitions>();
        let error = match end {
            CommitEnd::Answered => None,
            CommitEnd::NoLongerOwned => Some(CommitError::NoLongerOwned(partitions())),
            CommitEnd::NotOwned => Some(CommitError::NotOwned(partitions())),
            CommitEnd::StandsBy => Some(CommitError::StandsBy(partitions())),
            CommitEnd::Refused(code) => Some(CommitError::RefusedWhole(code)),
            CommitEnd::TimedOut => Some(CommitError::TimedOut),
            CommitEnd::Closed => Some(CommitError::Closed),
            CommitEnd::TooMany => Some(CommitError::TooMany),
        };
        let stored = error.is_none();
        commit.error = commit.error.take().or(error);
        if commit.open.is_empty() {
            if let Some(commit) = self.under_way.remove(&id) {
                commit.finish();
            }
        }
        if stored { Offsets::new() } else { part }
    }

    /// Ends everything that is left, and says what was not stored.
    pub(super) fn close_all(&mut self) -> Offsets {
        let mut left = Offsets::new();
        for (_, mut commit) in mem::take(&mut self.under_way) {
            left.append(&mut commit.open);
            commit.error = Some(CommitError::Closed);
            commit.finish();
        }
        left
    }
}

impl Commit {
    fn finish(self) {
        let result = match (self.error, self.refused.is_empty()) {
            (Some(error), _) => Err(error),
            (None, false) => Err(CommitError::Refused(self.refused)),
            (None, true) => Ok(()),
        };
        // Nobody waits if the future was dropped.
        drop(self.reply.send(result));
    }
}

/// How much a partition's code says: most, what concerns the membership; then what may pass; least, what is the
/// partition's own affair.
fn weight(code: ErrorCode) -> u8 {
    match recovery(ApiKey::OffsetCommit, code) {
        Recovery::Proceed => 0,
        Recovery::Report => 1,
        Recovery::Retry => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a commit of three partitions comes to, answered with these codes.
    fn commit(answers: &[[ErrorCode; 3]]) -> (ErrorCode, Result<(), CommitError>) {
        let partition = |number| TopicPartition::new("orders", number);
        let offsets: Offsets = (0..3).map(|number| (partition(number), 7.into())).collect();
        let (reply, mut answer) = oneshot::channel();
        let mut commits = Commits::default();
        let id = commits.begin(offsets, reply);
        let mut telling = ErrorCode::None;
        for codes in answers {
            let partitions = (0..).map(partition).zip(*codes).collect();
            telling =
                commits.answered(id, OffsetCommitResponse { partitions, ..Default::default() });
        }
        commits.part_ended(id, Offsets::clone, CommitEnd::Answered);
        (telling, answer.try_recv().unwrap())
    }

    #[test]
    fn partitions_that_were_refused_are_told_with_their_codes() {
        use ErrorCode as E;
        let refused = |number, code| (TopicPartition::new("orders", number), code);
        assert_eq!(commit(&[[E::None; 3]]), (E::None, Ok(())));
        let denied = E::TopicAuthorizationFailed;
        assert_eq!(
            commit(&[[E::None, denied, E::None]]),
            (denied, Err(CommitError::Refused(vec![refused(1, denied)])))
        );
    }

    #[test]
    fn what_a_second_try_stores_was_not_refused() {
        use ErrorCode as E;
        let missing = E::UnknownTopicOrPartition;
        assert_eq!(commit(&[[E::None, E::None, missing], [E::None; 3]]), (E::None, Ok(())));
    }

    #[test]
    fn the_code_that_says_most_about_the_membership_is_passed_on() {
        use ErrorCode as E;
        let (telling, _) = commit(&[[E::TopicAuthorizationFailed, E::IllegalGeneration, E::None]]);
        assert_eq!(telling, E::IllegalGeneration);
    }
}
