//! What a leader remembers of its own planning.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::envelope::PlanFailure;
use super::notice::ConsumerNotice;
use crate::assign::{AssignError, AssignFailure};
use crate::protocol::JobError;
use crate::types::Generation;

/// What a job of the leader's found out, beside the bytes that it made.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) generation: Generation,
    /// Partitions of the topics of all members, as the plan had them; 0 where a topic was missing.
    pub(super) counts: BTreeMap<Arc<str>, u32>,
    pub(super) failed: bool,
    /// Nothing was planned: the plan of an earlier process stands.
    pub(super) skipped: bool,
    pub(super) notices: Vec<ConsumerNotice>,
}

/// The leader's trouble, in words and numbers that travel.
#[derive(Debug)]
pub(super) struct Trouble {
    code: u8,
    message: String,
    /// When the assigner itself wants to be asked again.
    retry_after: Option<Duration>,
}

impl Trouble {
    /// Goes down to every member.
    pub(super) fn tell(&self, by: &str) -> PlanFailure {
        PlanFailure { code: self.code, by: by.into(), message: self.message.as_str().into() }
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// When to try again, after so many failures in a row before this one.
    pub(super) fn again_after(&self, failures: u32) -> Duration {
        let backoff = Duration::from_secs(1 << failures.min(6)).min(Duration::from_secs(60));
        self.retry_after.map_or(backoff, in_peace)
    }
}

impl From<AssignFailure> for Trouble {
    fn from(failure: AssignFailure) -> Self {
        let (code, retry_after) = match &failure {
            AssignFailure::Refused(error) => code(error),
            AssignFailure::Panicked(_) => (6, None),
            AssignFailure::TimedOut { .. } => (7, None),
            AssignFailure::Invalid(_) => (8, None),
        };
        Self { code, message: cut(failure.to_string()), retry_after }
    }
}

/// The wait for a round that an assigner wants, by its own words or in the envelope of a leader: however often it is
/// wanted at once, a group does more than rebalance.
pub(super) fn in_peace(wait: Duration) -> Duration {
    wait.max(Duration::from_secs(1))
}

/// The number of a refusal, and when the assigner wants to be asked again.
fn code(error: &AssignError) -> (u8, Option<Duration>) {
    match error {
        AssignError::Inconsistent(_) | AssignError::CountsDiffer(_) => (1, None),
        AssignError::MissingTopics(_) => (2, None),
        AssignError::KeepCurrent { retry_after } => (3, Some(*retry_after)),
        AssignError::Metadata { .. } => (4, None),
        AssignError::Part { error, .. } => code(error),
        _ => (5, None),
    }
}

impl From<&JobError> for Trouble {
    fn from(error: &JobError) -> Self {
        let code = match error {
            JobError::Panicked(_) => 6,
            JobError::TimedOut | JobError::Hanging => 7,
            JobError::StepDown(_) | JobError::Fail(_) => 5,
        };
        Self { code, message: cut(format!("the assigner {error}")), retry_after: None }
    }
}

/// The message goes to every member in one record of bounded size.
fn cut(message: String) -> String {
    const LONGEST: usize = 500;
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => message[..end].to_owned(),
        None => message,
    }
}
