//! Why there is no plan, and why a member's metadata cannot be read.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// Why an assigner makes no plan.
///
/// The leader's `on_assign_error` decides what becomes of the group: by default every member keeps what it
/// validly claims, with the error beside it, and the leader asks for another round.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssignError {
    /// Topics that have to agree do not.
    #[error("inconsistent topics: {0}")]
    Inconsistent(String),
    /// Topics that belong together have different numbers of partitions; all that do are here, with these.
    #[error("topics that belong together differ in their partition counts: {}", counts(.0))]
    CountsDiffer(Vec<(Arc<str>, usize)>),
    /// Topics that members subscribe to do not exist, and no plan can be made without them.
    #[error("missing topics: {}", .0.join(", "))]
    MissingTopics(Vec<Arc<str>>),
    /// Nothing is wrong, but now is no time to move anything.
    #[error("keep the current assignment and try again after {retry_after:?}")]
    KeepCurrent {
        /// How long to wait before the next round; at least a second.
        retry_after: Duration,
    },
    /// A member's metadata is needed and cannot be read; from `require_metadata()?`.
    #[error("metadata of member `{member}`: {error}")]
    Metadata {
        /// The member's id.
        member: String,
        /// What is wrong with it.
        error: MetadataError,
    },
    /// A part of a [`PerTopicAssigner`](super::PerTopicAssigner) makes no plan, so that there is none.
    #[error("`{part}`: {error}")]
    Part {
        /// The part's name.
        part: String,
        /// Why it makes none.
        #[source]
        error: Box<Self>,
    },
    /// Anything else.
    #[error(transparent)]
    Other(#[from] Box<dyn Error + Send + Sync>),
}

impl AssignError {
    /// Anything else, from a text or from an error.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }

    /// The same, as that of a part.
    pub(super) fn of_part(self, part: &str) -> Self {
        Self::Part { part: part.to_owned(), error: Box::new(self) }
    }
}

fn counts(topics: &[(Arc<str>, usize)]) -> String {
    let counts = topics.iter().map(|(topic, count)| format!("{topic}={count}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// Why what a member tells the leader cannot be read.
///
/// One such member stops nobody: the assigner meets the error as that member's `metadata()` and decides.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// None was sent: another client, or another library.
    #[error("none was sent")]
    Missing,
    /// Written with a codec that this program does not have.
    #[error("written with codec {codec}, which this program does not read")]
    OtherCodec {
        /// The codec's number: 0 raw, 1 bincode 2, 3 JSON, 4 parts.
        codec: u8,
    },
    /// Written by a newer assigner, or by an older one whose shape is forgotten.
    #[error("written as version {theirs}; this program is at version {ours}")]
    OtherVersion {
        /// The version of whoever wrote it.
        theirs: u16,
        /// The version of the assigner that reads.
        ours: u16,
    },
    /// Longer, or announced to be longer, than metadata may be.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// The most that is read.
        limit: usize,
    },
    /// It ends before it is complete.
    #[error("cut short")]
    TooShort,
    /// It does not fit the type.
    #[error("unreadable: {0}")]
    Undecodable(String),
}

impl MetadataError {
    /// An unreadable one, with as much of the reason as fits a log line.
    pub(crate) fn undecodable(reason: impl std::fmt::Display) -> Self {
        // Decoders quote what they read, and what they read is the other member's choice.
        Self::Undecodable(reason.to_string().chars().take(200).collect())
    }
}
