//! What a member of type "consumer" is told beyond what it gains and loses.

use std::sync::Arc;

use super::envelope::Told;
use crate::assign::FewCopies;
use crate::types::{InstanceHolder, MemberId, Partitions};

/// Something the application should hear of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum ConsumerNotice {
    /// The leader could not plan: everyone keeps what they validly had, and it tries again.
    AssignFailed {
        /// The leader: its instance id, or else its member id.
        by: Arc<str>,
        message: Arc<str>,
    },
    /// What the leader's assigner said to this member, in the generation just joined.
    Told(Told),
    /// Topics subscribed to that do not exist. Said when the list changes, so empty when all of them exist at last.
    MissingTopics(Vec<Arc<str>>),
    /// Topics subscribed to that we may not describe. Said when the list changes.
    UnauthorizedTopics(Vec<Arc<str>>),
    /// The assignment held these though their topics are not subscribed to; they were not taken.
    Unwanted(Partitions),
    /// Our part of the plan could not be read; nothing was changed.
    UnreadableAssignment(Arc<str>),
    /// On the leader: members whose subscriptions could not be read, and why. They were given nothing.
    UnreadableMembers(Vec<(MemberId, Arc<str>)>),
    /// On the leader: members that got nothing though there are partitions enough.
    IdleMembers(Vec<MemberId>),
    /// On the leader: topics with fewer copies of each partition than the assigner makes, for want of members.
    FewCopies(Vec<FewCopies>),
    /// This member has its instance id from this one, which is fenced if it lives.
    TookOver(InstanceHolder),
    /// The application's `Gather` failed; the plan was made without it.
    GatherFailed(Arc<str>),
    /// `metadata()` of this assigner failed; what it last said was sent again.
    MetadataFailed { assigner: Arc<str>, message: Arc<str> },
}
