//! What a member does about an error code: the one place that decides it.

use super::{ApiKey, ErrorCode};

/// What a member does about an error.
///
/// Whether the answer is about the member as it is now, is asked first: an error of an earlier generation is not
/// acted on, except `Fatal` of JoinGroup and SyncGroup.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Recovery {
    /// Nothing went wrong, or nothing that matters to the membership.
    Proceed,
    /// The same request again, after a back-off, for the partitions that have this code; FindCoordinator to another
    /// broker. Bounded by whoever asked: a commit of a topic that is gone is never accepted, a heartbeat goes on until
    /// the session is over.
    Retry,
    /// JoinGroup again with the same member id; what is held stays held until the round says otherwise. `now`:
    /// without a back-off. To a heartbeat it is a success for the timers, and starts a round only if none is under way.
    Rejoin { now: bool },
    /// JoinGroup again with the id that came with the answer (KIP-394), at once. An answer without an id (librdkafka's
    /// mock) asks for the same request again, after a back-off.
    RejoinWithGivenId,
    /// As `Rejoin` after a back-off, but the generation is over: what was held is lost.
    RejoinLost,
    /// JoinGroup again without a member id: what was held is lost. The first time in a row without a back-off.
    Reset,
    /// As `Reset`, but always after a back-off: the broker is not where it will be.
    ResetAfterBackoff,
    /// Find the coordinator again; then the same request (Heartbeat, OffsetCommit, OffsetFetch, LeaveGroup) or
    /// JoinGroup with the same member id (JoinGroup, SyncGroup). What is held stays held.
    Rediscover,
    /// The membership ends.
    Fatal,
    /// The group has no protocol that all support: tried again for a while, then fatal.
    NoCommonProtocol,
    /// The group is full: as its policy says.
    GroupFull,
    /// The commit fails; the same one may succeed once the round that is under way has ended.
    CommitAfterRejoin,
    /// Nothing is committed for this partition, or in this group.
    NoOffset,
    /// Whoever asked is told, for the partitions that have this code or for the whole; the membership goes on.
    Report,
}

/// The tables of the protocol, once: what `code` in an answer to `api` asks of a member.
pub(crate) fn recovery(api: ApiKey, code: ErrorCode) -> Recovery {
    if code.is_none() {
        return Recovery::Proceed;
    }
    match api {
        ApiKey::JoinGroup => join_group(code),
        ApiKey::SyncGroup => sync_group(code),
        ApiKey::Heartbeat => heartbeat(code),
        ApiKey::LeaveGroup => leave_group(code),
        ApiKey::OffsetCommit => offset_commit(code),
        ApiKey::OffsetFetch => offset_fetch(code),
        ApiKey::FindCoordinator => find_coordinator(code),
        ApiKey::DescribeGroups
        | ApiKey::ListGroups
        | ApiKey::ConsumerGroupDescribe
        | ApiKey::DeleteGroups
        | ApiKey::OffsetDelete => administration(code),
        ApiKey::Metadata | ApiKey::ListOffsets | ApiKey::ApiVersions | ApiKey::DescribeCluster => {
            cluster(code)
        }
        // A connection's affair: no member asks.
        ApiKey::SaslHandshake | ApiKey::SaslAuthenticate => Recovery::Report,
    }
}

fn join_group(code: ErrorCode) -> Recovery {
    match code {
        ErrorCode::MemberIdRequired => Recovery::RejoinWithGivenId,
        ErrorCode::UnknownMemberId => Recovery::Reset,
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => Recovery::Rediscover,
        ErrorCode::InconsistentGroupProtocol => Recovery::NoCommonProtocol,
        ErrorCode::GroupMaxSizeReached => Recovery::GroupFull,
        ErrorCode::FencedMemberEpoch | ErrorCode::StaleMemberEpoch | ErrorCode::GroupIdNotFound => {
            Recovery::ResetAfterBackoff
        }
        // Classic members are never told the last one; whoever is, shares the instance id with another.
        ErrorCode::FencedInstanceId | ErrorCode::UnreleasedInstanceId => Recovery::Fatal,
        ErrorCode::InvalidSessionTimeout
        | ErrorCode::InvalidGroupId
        | ErrorCode::GroupAuthorizationFailed
        | ErrorCode::UnsupportedVersion => Recovery::Fatal,
        // RebalanceInProgress here: the broker could not replicate the group in time, or has converted it (KIP-848)
        // while we were parked. The id is still good, as it is after everything that no table knows.
        _ => Recovery::Rejoin { now: false },
    }
}

fn sync_group(code: ErrorCode) -> Recovery {
    match code {
        ErrorCode::RebalanceInProgress => Recovery::Rejoin { now: true },
        ErrorCode::UnknownMemberId | ErrorCode::GroupIdNotFound => Recovery::Reset,
        ErrorCode::IllegalGeneration => Recovery::RejoinLost,
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => Recovery::Rediscover,
        ErrorCode::UnreleasedInstanceId
        | ErrorCode::FencedMemberEpoch
        | ErrorCode::StaleMemberEpoch => Recovery::ResetAfterBackoff,
        ErrorCode::FencedInstanceId
        | ErrorCode::InconsistentGroupProtocol
        | ErrorCode::InvalidGroupId
        | ErrorCode::GroupAuthorizationFailed
        | ErrorCode::UnsupportedVersion => Recovery::Fatal,
        // UnknownServerError is what a group record over the broker's limit turns into. The broker starts the next
        // round by itself and keeps the ids: whoever gives up here is expelled.
        _ => Recovery::Rejoin { now: false },
    }
}

fn heartbeat(code: ErrorCode) -> Recovery {
    match code {
        ErrorCode::RebalanceInProgress => Recovery::Rejoin { now: true },
        ErrorCode::UnknownMemberId => Recovery::Reset,
        ErrorCode::IllegalGeneration => Recovery::RejoinLost,
        ErrorCode::FencedInstanceId => Recovery::Fatal,
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => Recovery::Rediscover,
        // GroupAuthorizationFailed too: permissions come back, and JoinGroup is fatal if they do not.
        _ => Recovery::Retry,
    }
}

/// For a member's own leaving. An administrator reads the codes himself.
fn leave_group(code: ErrorCode) -> Recovery {
    match code {
        // Gone already, or about to be: the session sees to it.
        ErrorCode::UnknownMemberId | ErrorCode::CoordinatorLoadInProgress => Recovery::Proceed,
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => Recovery::Rediscover,
        _ => Recovery::Report,
    }
}

fn offset_commit(code: ErrorCode) -> Recovery {
    match code {
        ErrorCode::UnknownMemberId => Recovery::Reset,
        ErrorCode::IllegalGeneration
        | ErrorCode::GroupIdNotFound
        | ErrorCode::StaleMemberEpoch
        | ErrorCode::FencedMemberEpoch => Recovery::RejoinLost,
        ErrorCode::RebalanceInProgress => Recovery::CommitAfterRejoin,
        ErrorCode::FencedInstanceId => Recovery::Fatal,
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => Recovery::Rediscover,
        // The second may have been applied: committing again does no harm.
        ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::RequestTimedOut
        | ErrorCode::UnknownTopicOrPartition
        | ErrorCode::UnknownTopicId => Recovery::Retry,
        _ => Recovery::Report,
    }
}

fn offset_fetch(code: ErrorCode) -> Recovery {
    match code {
        ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::RequestTimedOut
        | ErrorCode::UnstableOffsetCommit => Recovery::Retry,
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => Recovery::Rediscover,
        ErrorCode::GroupIdNotFound
        | ErrorCode::UnknownTopicOrPartition
        | ErrorCode::UnknownTopicId => Recovery::NoOffset,
        _ => Recovery::Report,
    }
}

fn find_coordinator(code: ErrorCode) -> Recovery {
    match code {
        // The first is usual on a fresh cluster, for as long as it takes to create the offsets topic.
        ErrorCode::CoordinatorNotAvailable
        | ErrorCode::CoordinatorLoadInProgress
        | ErrorCode::NotCoordinator
        | ErrorCode::LeaderNotAvailable
        | ErrorCode::NotLeaderOrFollower
        | ErrorCode::UnknownTopicOrPartition
        | ErrorCode::RequestTimedOut => Recovery::Retry,
        _ => Recovery::Fatal,
    }
}

/// No member sends these.
fn administration(code: ErrorCode) -> Recovery {
    match code {
        ErrorCode::CoordinatorLoadInProgress => Recovery::Retry,
        ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => Recovery::Rediscover,
        _ => Recovery::Report,
    }
}

fn cluster(code: ErrorCode) -> Recovery {
    match code {
        ErrorCode::LeaderNotAvailable
        | ErrorCode::NotLeaderOrFollower
        | ErrorCode::UnknownTopicOrPartition
        | ErrorCode::UnknownTopicId
        | ErrorCode::RequestTimedOut => Recovery::Retry,
        _ => Recovery::Report,
    }
}

#[cfg(test)]
mod tests {
    use super::Recovery::*;
    use super::*;

    fn walk(api: ApiKey, rows: &[(&[i16], Recovery)]) {
        for (codes, expected) in rows {
            for code in *codes {
                let code = ErrorCode::from(*code);
                assert_eq!(recovery(api, code), *expected, "{code} in an answer to {api:?}");
            }
        }
    }

    #[test]
    fn join_group() {
        walk(
            ApiKey::JoinGroup,
            &[
                (&[0], Proceed),
                (&[79], RejoinWithGivenId),
                (&[25], Reset),
                (&[82], Fatal),
                (&[27, 22, 14], Rejoin { now: false }),
                (&[15, 16], Rediscover),
                (&[23], NoCommonProtocol),
                (&[26, 24, 30], Fatal),
                (&[81], GroupFull),
                (&[35, 111], Fatal),
                (&[110, 113, 69], ResetAfterBackoff),
                (&[42, -1], Rejoin { now: false }),
                (&[999], Rejoin { now: false }),
            ],
        );
    }

    #[test]
    fn sync_group() {
        walk(
            ApiKey::SyncGroup,
            &[
                (&[0], Proceed),
                (&[27], Rejoin { now: true }),
                (&[25], Reset),
                (&[22], RejoinLost),
                (&[82], Fatal),
                (&[15, 16], Rediscover),
                (&[14], Rejoin { now: false }),
                (&[23, 30], Fatal),
                (&[69], Reset),
                (&[42, 6, -1], Rejoin { now: false }),
                (&[111, 110, 113], ResetAfterBackoff),
                (&[999], Rejoin { now: false }),
            ],
        );
    }

    #[test]
    fn heartbeat() {
        walk(
            ApiKey::Heartbeat,
            &[
                (&[0], Proceed),
                (&[27], Rejoin { now: true }),
                (&[25], Reset),
                (&[22], RejoinLost),
                (&[82], Fatal),
                (&[15, 16], Rediscover),
                (&[14, 30, 24, -1, 999], Retry),
            ],
        );
    }

    #[test]
    fn leave_group() {
        walk(
            ApiKey::LeaveGroup,
            &[
                (&[0, 25, 14], Proceed),
                (&[82], Report),
                (&[15, 16], Rediscover),
                (&[30, 35, 999], Report),
            ],
        );
    }

    #[test]
    fn offset_commit() {
        walk(
            ApiKey::OffsetCommit,
            &[
                (&[0], Proceed),
                (&[25], Reset),
                (&[22], RejoinLost),
                (&[27], CommitAfterRejoin),
                (&[82], Fatal),
                (&[14], Retry),
                (&[15, 16], Rediscover),
                (&[7, 3, 100], Retry),
                (&[12, 28, 29, 30, 24], Report),
                (&[113, 69], RejoinLost),
                (&[111, 999], Report),
            ],
        );
    }

    #[test]
    fn offset_fetch() {
        walk(
            ApiKey::OffsetFetch,
            &[
                (&[0], Proceed),
                (&[14, 7, 88], Retry),
                (&[15, 16], Rediscover),
                (&[30, 29], Report),
                (&[69, 3, 100], NoOffset),
                (&[25, 113, 22, 999], Report),
            ],
        );
    }

    #[test]
    fn find_coordinator() {
        walk(
            ApiKey::FindCoordinator,
            &[(&[0], Proceed), (&[15, 14], Retry), (&[30, 24, 35, 999], Fatal), (&[7, 5], Retry)],
        );
    }
}
