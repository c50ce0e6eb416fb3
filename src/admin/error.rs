//! What can go wrong when groups are looked at or changed from outside.

use super::kind::GroupType;
use super::present::{InOneLine, Present};
use super::remove::MemberKey;
use crate::client::ClientError;
use crate::types::TopicError;
use crate::wire::{ApiKey, ErrorCode};

/// Why an operation on a group could not be done.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// What was asked for makes no sense. Nothing was sent.
    #[error("{0}")]
    Invalid(String),
    /// The group does not exist: nobody has joined it, and it has no offsets.
    #[error("there is no group `{0}`")]
    NoSuchGroup(String),
    /// The group runs another protocol than the classic one: its members are managed by the broker.
    #[error(
        "group `{group}` is of type {group_type}: its members are managed by the broker, and nothing of the classic \
         protocol applies to them"
    )]
    NotClassic {
        /// Kafka: `group.id`.
        group: String,
        /// What it is.
        group_type: GroupType,
    },
    /// This user may not do that.
    #[error("not authorised for {api:?}: {needed} on group `{group}` is needed")]
    NotAuthorized {
        /// Kafka: `group.id`.
        group: String,
        /// The request that was refused.
        api: ApiKey,
        /// The operation that an ACL must allow.
        needed: &'static str,
    },
    /// The broker cannot remove by instance id, or several members in one request. Nobody was removed.
    #[error(
        "removing by instance id, or several members at once, needs LeaveGroup v3 (Kafka 2.4), and the broker has at most \
         v{offered}: that removes one by one, and by member id alone (`RemoveOptions::one_by_one`, `--one-by-one`)"
    )]
    BatchUnsupported {
        /// The newest version of LeaveGroup that the broker and we have in common.
        offered: i16,
    },
    /// The broker is too old for what was asked.
    #[error("{0}")]
    TooOld(&'static str),
    /// Not all were members when it was looked ([`RemoveOptions::require_all`](super::RemoveOptions::require_all)).
    /// Nobody was removed.
    #[error("not in group `{group}`: {}", Listed(.missing))]
    NotMembers {
        /// Kafka: `group.id`.
        group: String,
        /// Those that were not found.
        missing: Vec<MemberKey>,
    },
    /// Somebody is in the group, and the broker does this to empty groups alone. Nothing was done.
    #[error("group `{group}` is not empty: {}", InOneLine(.members))]
    NotEmpty {
        /// Kafka: `group.id`.
        group: String,
        /// Who is in it; empty where that is not told, or where they had left when it was looked.
        members: Vec<Present>,
    },
    /// A topic that is named cannot be looked at. Nothing was done.
    #[error("topic `{topic}` {why}")]
    Topic {
        /// Its name.
        topic: String,
        /// What is wrong with it.
        why: TopicError,
    },
    /// The brokers were not reached, did not answer, or refused.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl AdminError {
    /// Whether no broker could be asked, or the one that was asked does not let this user do it: what the caller
    /// wanted is not at fault.
    pub fn is_out_of_reach(&self) -> bool {
        match self {
            Self::NotAuthorized { .. } => true,
            Self::Topic { why, .. } => *why == TopicError::NotAuthorized,
            Self::Client(ClientError::InvalidOption { .. }) => false,
            Self::Client(_) => true,
            _ => false,
        }
    }

    /// What went wrong with a request about a group that needs this operation.
    pub(super) fn of(group: &str, needed: &'static str, error: ClientError) -> Self {
        match error {
            ClientError::Refused { api, code: ErrorCode::GroupAuthorizationFailed, .. } => {
                // Finding the coordinator is describing the group.
                let needed = if api == ApiKey::FindCoordinator { "DESCRIBE" } else { needed };
                Self::NotAuthorized { group: group.to_owned(), api, needed }
            }
            error => Self::Client(error),
        }
    }
}

/// Members in one line.
struct Listed<'a>(&'a [MemberKey]);

impl std::fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, key) in self.0.iter().enumerate() {
            write!(f, "{}{key}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
