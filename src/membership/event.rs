//! What the machine tells the application.

use std::sync::Arc;
use std::time::Instant;

use crate::protocol::Cause;
use crate::types::{Generation, GroupInstanceId};
use crate::wire::{ApiKey, ErrorCode};

/// Where a member stands. The names are Kafka's own.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum MemberState {
    /// Not in the group, or not any more.
    #[default]
    Unjoined,
    /// A round has begun: JoinGroup is about to be sent, or is sent and not answered.
    PreparingRebalance,
    /// JoinGroup is answered, SyncGroup is not.
    CompletingRebalance,
    /// The plan is known.
    Stable,
}

/// Pairs a revocation with its release.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct RevocationId(pub(crate) u64);

/// What happened to what is held.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event<H> {
    /// A round has ended: `added` is new, `held` is everything, `standby` what of it somebody else commits. Said once a
    /// round, also when nothing is new.
    Assigned { added: H, held: H, standby: H, generation: Generation, leads: bool },
    /// To be given up until `deadline`, by a release with this id; offsets may still be committed.
    Revoked { id: RevocationId, revoked: H, deadline: Instant, cause: Cause },
    /// Gone already: another member may have it by now. Replaces an undelivered `Assigned`, an unfinished `Revoked`.
    Lost { lost: H, cause: LossCause },
    /// No protocol is common to all members: tried again until the API timeout.
    NoCommonProtocol,
    /// The coordinator refuses the group to us; kept trying until the session ends.
    Unauthorized,
    /// A broker does not trust us, or we not it; and why. Kept trying until the session ends.
    Denied(Arc<str>),
    /// An event has been waiting for longer than the rebalance timeout.
    Stalled,
    /// The membership is over.
    Ended(Ended),
}

/// Why what was held is lost.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LossCause {
    /// The coordinator does not know us any more: the session or a round ended without us, or we were removed.
    Expelled,
    /// The generation we held it in is over.
    GenerationOver,
    /// A session has passed since the last heartbeat that was answered.
    SessionExpired,
    /// It was not given up by the deadline of its revocation.
    NotReleased,
    /// Another process joined with our `group.instance.id`.
    Fenced,
    /// The application did not ask for events for longer than `max.poll.interval.ms`.
    Stalled,
    /// The membership ended.
    Closed,
}

/// How a membership ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Ended {
    /// As asked: the member left, or stays registered until its session ends.
    Closed { left: bool },
    /// Another process joined with our instance id.
    Fenced { group_instance_id: GroupInstanceId, refused: ApiKey },
    /// The coordinator refused for good.
    Refused { api: ApiKey, code: ErrorCode },
    /// No broker has let us in for a whole session.
    Denied { message: String },
    /// No protocol in common with the group's other members for as long as was to be tried.
    NoCommonProtocol,
    /// The group has as many members as it may, and it stayed so.
    GroupFull,
    /// The group is run by the broker (KIP-848): nobody plans on the client side.
    ManagedByBroker,
    /// The answer fits no question: the protocol type or name is not ours.
    Inconsistent { what: String },
    /// The plan failed, and the policy says to end.
    PlanFailed { message: String },
    /// The broker cannot carry what this member needs.
    Unsupported { message: String },
}
