//! What passes between the machine and the task that drives it.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::event::Event;
use crate::protocol::{Cause, Led};
use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::ErrorCode;
use crate::wire::api::{
    HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    LeaveGroupResponse, SyncGroupRequest, SyncGroupResponse,
};

/// Pairs an answer with its request. Answers to requests that are not wanted any more are dropped.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct RequestId(pub(crate) u64);

/// Pairs a result with its work.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct WorkId(pub(crate) u64);

/// A commit of the application's.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct CommitId(pub(crate) u64);

/// Which connection a request goes by; split by what an answer may wait for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Lane {
    /// JoinGroup and SyncGroup, which the broker parks: one connection a member.
    Rounds,
    /// Heartbeats and leaves.
    Heartbeats,
    /// Commits.
    Commits,
}

/// A request to the coordinator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum GroupRequest {
    Join(JoinGroupRequest),
    Sync(SyncGroupRequest),
    Heartbeat(HeartbeatRequest),
    Leave(LeaveGroupRequest),
}

/// Its answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum GroupResponse {
    Join(JoinGroupResponse),
    Sync(SyncGroupResponse),
    Heartbeat(HeartbeatResponse),
    Leave(LeaveGroupResponse),
    /// The commit's code, of those of its partitions the one that says most about the membership.
    Commit(ErrorCode),
}

/// Why there is no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    /// Not by the deadline. The connection is not to be used again.
    TimedOut,
    /// The connection could not be had, or ended.
    Disconnected,
    /// The broker's version of the API cannot carry the request.
    Unsupported(String),
    /// The answer could not be read.
    Unreadable,
    /// A broker does not trust us, or we not it; and why.
    Denied(Arc<str>),
    /// FindCoordinator was answered with an error.
    Refused(ErrorCode),
}

/// Who sends: stamped on everything but JoinGroup.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Identity {
    pub(crate) generation: Generation,
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
}

/// What the driver is to do.
#[derive(Debug)]
pub(crate) enum Output<H> {
    /// Find out who coordinates the group, forgetting what was known; answer with `handle_coordinator`.
    FindCoordinator { id: RequestId },
    /// Send this to the coordinator; answer with `handle_response`, by `deadline` at the latest.
    Send { id: RequestId, lane: Lane, request: GroupRequest, deadline: Instant },
    /// Send this part of a commit, stamped so; answer with `handle_response`.
    Commit { id: RequestId, commit: CommitId, items: H, identity: Identity, deadline: Instant },
    /// This part of a commit has ended.
    CommitEnded { commit: CommitId, items: H, end: CommitEnd },
    /// Close the connection of the rounds and never use it again: an answer on it may never come.
    DropRounds,
    /// Have the group's protocol do this; answer with `handle_…` by the id.
    Work { id: WorkId, work: Work<H> },
    /// Tell the application. The driver says when it was taken (`delivered`); one that is given out before takes the
    /// place of the one that was not taken.
    Event(Event<H>),
}

/// How a part of a commit ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum CommitEnd {
    /// The coordinator has answered, and membership plays no part in it: the answer is the commit's own.
    Answered,
    /// Not ours (any more); another member may have committed since.
    NoLongerOwned,
    /// Never ours.
    NotOwned,
    /// Ours, and another's to commit.
    StandsBy,
    /// The coordinator refused it.
    Refused(ErrorCode),
    /// Not answered in time; it may have been applied.
    TimedOut,
    /// The membership ended first.
    Closed,
    /// Too many commits were waiting already.
    TooMany,
}

/// What the group's protocol is to do, off the machine.
#[derive(Debug)]
pub(crate) enum Work<H> {
    /// What must be given up before JoinGroup? Answer: `handle_release_wanted`.
    BeforeJoin { held: H, cause: Cause },
    /// What do we say? Runs the application's code. Answer: `handle_described`.
    Describe { held: H, generation: Generation, member_id: MemberId, cause: Cause, nonce: u64 },
    /// Plan. Runs the application's code, until `deadline`. Answer: `handle_planned`.
    Lead { led: Led, deadline: Instant },
    /// What does this change? Answer: `handle_change`.
    Join {
        generation: Generation,
        protocol: String,
        member_id: MemberId,
        leads: bool,
        held: H,
        assignment: Bytes,
    },
}
