//! Why a round begins.

use std::fmt;
use std::sync::Arc;

use crate::wire::ErrorCode;

/// Why a member asked for a round, or was told of one.
///
/// Its text goes to the broker as the reason of JoinGroup (KIP-800), so it says nothing secret.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// The member is new.
    FirstJoin,
    /// A heartbeat said that the group is rebalancing: somebody joined, left, or changed.
    GroupRebalancing,
    /// The application asked.
    Requested(Arc<str>),
    /// The member's subscription changed while it ran.
    SubscriptionChanged,
    /// Topics or partitions appeared or vanished.
    MetadataChanged,
    /// The plan was made on other metadata than this member's: it restarted with changed metadata (KAFKA-12759).
    PlannedOnOther,
    /// The assignment holds what the member does not want.
    UnwantedAssignment,
    /// Something was given up so that others can have it in a second round (KIP-429).
    FollowUp,
    /// The leader could not plan, and tries again.
    PlanFailed,
    /// The plan said to come back.
    Scheduled,
    /// The coordinator refused the last request, and the remedy is a new round.
    Refused(ErrorCode),
    /// The coordinator did not answer in time, or its connection ended.
    Unanswered,
    /// The application had stopped asking for events, and asks again.
    ProgressResumed,
    /// The member is closing: what it held is given up before it goes.
    Closing,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstJoin => f.write_str("first join"),
            Self::GroupRebalancing => f.write_str("the group is rebalancing"),
            Self::Requested(reason) => f.write_str(reason),
            Self::SubscriptionChanged => f.write_str("the subscription changed"),
            Self::MetadataChanged => f.write_str("topics or partitions changed"),
            Self::PlannedOnOther => f.write_str("the plan was made on other metadata"),
            Self::UnwantedAssignment => {
                f.write_str("the assignment holds what is not subscribed to")
            }
            Self::FollowUp => f.write_str("partitions were given up for others"),
            Self::PlanFailed => f.write_str("the leader could not plan"),
            Self::Scheduled => f.write_str("the plan asked for another round"),
            Self::Refused(code) => write!(f, "the coordinator answered {code}"),
            Self::Unanswered => f.write_str("the coordinator did not answer"),
            Self::ProgressResumed => f.write_str("the application asks for events again"),
            Self::Closing => f.write_str("the member is closing"),
        }
    }
}
