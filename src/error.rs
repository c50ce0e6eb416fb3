//! What can go wrong, and what it did to the membership.

use std::time::Duration;

use crate::types::{GroupInstanceId, InstanceHolder, MemberId, Partitions};
use crate::wire::{ApiKey, ErrorCode};

/// Why an operation of a member failed.
///
/// Each variant says what happened to the membership. An error from `join()` means that there is none; one from
/// `next()` means that it is over and that everything held is lost; one from a handle's method changes nothing
/// unless it says so.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option is missing, malformed, out of range or at odds with another. Nothing was sent.
    #[error("{property}: {problem}")]
    InvalidOption {
        /// The option, by Kafka's property name where it has one.
        property: &'static str,
        /// What is wrong with it.
        problem: String,
    },

    /// No broker of the list could be spoken to. Nothing was joined.
    #[error("no broker could be reached: {0}")]
    Unreachable(String),

    /// A broker does not trust us, or we not it: TLS or SASL failed, and says which property to look at. From `join()`:
    /// nothing was joined. Later: it lasted for a whole session, so the membership is over.
    #[error("not let in: {0}")]
    Authentication(String),

    /// The coordinator of the group could not be found in time. Nothing was joined, or the member goes on looking.
    #[error("the coordinator of group `{group}` was not found within {within:?}: {problem}")]
    NoCoordinator {
        /// Kafka: `group.id`.
        group: String,
        /// How long it was looked for. Kafka: `default.api.timeout.ms`.
        within: Duration,
        /// What the last attempt met.
        problem: String,
    },

    /// The broker refuses the group to this user: READ and DESCRIBE on the group are needed. The membership is over.
    #[error(
        "not authorised for group `{group}` ({api:?}): READ and DESCRIBE on the group are needed"
    )]
    GroupAuthorization {
        /// Kafka: `group.id`.
        group: String,
        /// The request that was refused.
        api: ApiKey,
    },

    /// Another process joined with our `group.instance.id`, and the coordinator believes the newer one. The
    /// membership is over; retrying at once would throw the other one out.
    #[error(
        "group `{group}` fenced instance id `{group_instance_id}`{} on {refused:?}: {} has joined with the same \
         group.instance.id, most likely a second copy of this one (an overlap during a deployment, or a duplicated \
         configuration)",
        in_brackets(member_id),
        holder.as_ref().map_or_else(|| "another process".to_owned(), ToString::to_string)
    )]
    FencedInstanceId {
        /// Kafka: `group.id`.
        group: String,
        /// The id that is used twice.
        group_instance_id: GroupInstanceId,
        /// The member id under which we had it; empty if the coordinator had given us none yet.
        member_id: MemberId,
        /// The request that was refused.
        refused: ApiKey,
        /// The newer one, where the coordinator told in time.
        holder: Option<Box<InstanceHolder>>,
    },

    /// Another process has our `group.instance.id`, and [`TakeOver`](crate::TakeOver) says that it is not to be thrown
    /// out. Nothing was joined, and the other one noticed nothing.
    #[error(
        "instance id `{group_instance_id}` of group `{group}` is held by {holder}, and take.over forbids to throw it out: \
         stop that process, remove the member (`kafka-group remove-members`), wait until its session ends, or join with \
         another group.instance.id"
    )]
    InstanceIdHeld {
        /// Kafka: `group.id`.
        group: String,
        /// The id that is taken.
        group_instance_id: GroupInstanceId,
        /// Who has it.
        holder: Box<InstanceHolder>,
    },

    /// The broker is too old for `group.instance.id`. Nothing was joined.
    #[error(
        "static membership needs {api:?} v{needed}, and the broker has at most v{offered}: unset group.instance.id, \
         or allow `degrade_to_dynamic`"
    )]
    StaticMembershipUnsupported {
        /// The API that is too old.
        api: ApiKey,
        /// The version that carries instance ids.
        needed: i16,
        /// The broker's newest.
        offered: i16,
    },

    /// The other members of the group speak none of our protocols, or the group is of another type, and it stayed so
    /// for `default.api.timeout.ms`. The membership is over; the group was not disturbed.
    #[error(
        "group `{group}` has no protocol in common with ours ({} of type `{protocol_type}`): {}",
        ours.join(", "),
        theirs.as_deref().unwrap_or("its members have other assigners, or it is a group of another type")
    )]
    NoCommonProtocol {
        /// Kafka: `group.id`.
        group: String,
        /// The type of group that we joined as.
        protocol_type: String,
        /// The protocols that we offered.
        ours: Vec<String>,
        /// What the group is, where its coordinator told.
        theirs: Option<String>,
    },

    /// The group has `group.max.size` members. The membership is over.
    ///
    /// A broker refuses a static member that restarts, too: it counts the old entry, and then the new one. Before this is
    /// said, that entry's session was waited for. Set `group.max.size` above the number of static members.
    #[error(
        "group `{group}` is full (group.max.size): a member must leave, be removed (`kafka-group remove-members`) or stay \
         away for longer than its session{}",
        group_instance_id.as_ref().map_or_else(String::new, |id| format!(
            "; if static member `{id}` is in it from before a restart, removing that entry by its instance id makes room \
             at once"
        ))
    )]
    GroupFull {
        /// Kafka: `group.id`.
        group: String,
        /// Which static member we are, if we are one.
        group_instance_id: Option<GroupInstanceId>,
    },

    /// The group runs the new protocol (KIP-848): the broker assigns, and no assigner of ours would be asked. The
    /// membership is over.
    #[error(
        "group `{0}` is managed by the broker (group.protocol=consumer, KIP-848): no client-side assigner is asked"
    )]
    GroupManagedByBroker(String),

    /// The broker refuses `session.timeout.ms`; its bounds are `group.min.session.timeout.ms` and
    /// `group.max.session.timeout.ms`. The membership is over.
    #[error(
        "the broker refuses session.timeout.ms = {} ms: its bounds are group.min.session.timeout.ms (6 s by default) and \
         group.max.session.timeout.ms (30 min by default)",
        .0.as_millis()
    )]
    SessionTimeoutRefused(Duration),

    /// The coordinator refused a request, and trying again will not help. The membership is over.
    #[error("the coordinator refused {api:?}: {code}")]
    Refused {
        /// The request.
        api: ApiKey,
        /// The answer.
        code: ErrorCode,
    },

    /// This member led and could not plan, and its policy is to end. It has left, so that another plans.
    #[error("the assigner failed: {0}")]
    AssignFailed(String),

    /// An answer, or the plan of another member, fits nothing we asked. The membership is over.
    #[error("a broker's answer fits no request of ours: {0}")]
    Inconsistent(String),

    /// The broker cannot carry a request that this member needs. The membership is over.
    #[error("the broker cannot do what is needed: {0}")]
    Unsupported(String),

    /// It was not done in time; the membership goes on.
    #[error("{what} took longer than {within:?}")]
    TimedOut {
        /// What was asked for.
        what: &'static str,
        /// How long it was waited for.
        within: Duration,
    },

    /// The membership is over: it was left, closed or dropped, or it ended with an error that was told before.
    #[error("the membership is over")]
    Closed,

    /// The data plane failed. The membership goes on unless it is told otherwise.
    #[error("librdkafka: {0}")]
    DataPlane(String),

    /// Nothing is committed for these partitions, and `auto.offset.reset` is `none`. They are assigned and not read; the
    /// membership goes on. `RebalanceListener::assigned` may say where to start.
    #[error("no offset is committed for {0:?}, and auto.offset.reset is none")]
    NoCommittedOffset(Partitions),

    /// A commit failed.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl Error {
    /// Whether trying the same again may help.
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::NoCoordinator { .. } | Self::TimedOut { .. } => true,
            Self::Commit(error) => error.is_retriable(),
            _ => false,
        }
    }

    /// Names the option that is wrong.
    pub(crate) fn option(property: &'static str, problem: impl Into<String>) -> Self {
        Self::InvalidOption { property, problem: problem.into() }
    }
}

/// Why offsets were not committed. The membership goes on, unless an event says otherwise.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// These partitions are not ours; nothing was sent. The broker would have accepted it, and overwritten their
    /// owner's offsets.
    #[error("not assigned to this member: {0:?}")]
    NotOwned(Partitions),

    /// This member stands by for these partitions: it has a copy, another member the first one. Nothing was sent. All
    /// copies would write the one offset that the group has for a partition, each over the others'.
    #[error(
        "this member stands by for {0:?}, and whoever has the first copy commits under the group's id: keep a standby's \
         position in a store of its own, or let each role be a group with an id of its own"
    )]
    StandsBy(Partitions),

    /// Of these partitions no such offset can be stored; nothing was sent. A broker would store a negative one, from which
    /// nobody can read on, and hangs up on a text that is longer than a request can carry.
    #[error("of {partitions:?}, {problem}")]
    Invalid {
        /// Whose offsets they are.
        partitions: Partitions,
        /// What is wrong with them.
        problem: &'static str,
    },

    /// These partitions moved before their offsets were committed; whoever owns them reads on from the last commit.
    #[error("no longer assigned to this member: {0:?}")]
    NoLongerOwned(Partitions),

    /// The coordinator refused these partitions' offsets, and trying again will not help.
    #[error("refused: {0:?}")]
    Refused(Vec<(crate::types::TopicPartition, ErrorCode)>),

    /// The coordinator refused the commit as a whole.
    #[error("the coordinator refused the commit: {0}")]
    RefusedWhole(ErrorCode),

    /// No answer in time: the offsets may or may not have been stored. Committing again is safe.
    #[error("not answered in time")]
    TimedOut,

    /// Too many commits wait already: the coordinator is slower than the application. Nothing was sent.
    #[error("too many commits wait already")]
    TooMany,

    /// The membership is over.
    #[error("the membership is over")]
    Closed,
}

impl CommitError {
    /// Whether committing the same again may help.
    pub fn is_retriable(&self) -> bool {
        matches!(self, Self::TimedOut | Self::TooMany)
    }
}

fn in_brackets(member_id: &MemberId) -> String {
    match member_id.is_empty() {
        true => String::new(),
        false => format!(" (member id {member_id})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_fenced_before_it_has_a_member_id_does_not_speak_of_one() {
        let fenced = |member_id: &str| {
            let error = Error::FencedInstanceId {
                group: "g".to_owned(),
                group_instance_id: GroupInstanceId::new("pod").unwrap(),
                member_id: MemberId::new(member_id),
                refused: ApiKey::JoinGroup,
                holder: None,
            };
            error.to_string()
        };
        let begin = "group `g` fenced instance id `pod` on JoinGroup: another process has joined";
        assert!(fenced("").starts_with(begin), "{}", fenced(""));
        let begin = "group `g` fenced instance id `pod` (member id pod-1) on JoinGroup: another";
        assert!(fenced("pod-1").starts_with(begin), "{}", fenced("pod-1"));
    }
}
