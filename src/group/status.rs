//! Where a member stands, at a glance.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::settings::Settings;
use crate::assign::RebalanceProtocol;
use crate::error::Error;
use crate::membership::MemberState;
use crate::protocol::Cause;
use crate::types::{Generation, GroupInstanceId, MemberId};

/// Where a member stands. A snapshot: what follows from it may be over when it is read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status<H> {
    /// Kafka: `group.id`.
    pub group_id: Arc<str>,
    /// Kafka: `member.id`; empty before the first round.
    pub member_id: MemberId,
    /// Kafka: `group.instance.id`.
    pub group_instance_id: Option<GroupInstanceId>,
    /// Where the member is in a round.
    pub state: MemberState,
    /// The generation it is part of.
    pub generation: Generation,
    /// The protocol that the broker chose.
    pub protocol: Option<String>,
    /// What happens to what is held when a round begins: cooperative only if every assigner that is listed allows it.
    pub rebalance_protocol: RebalanceProtocol,
    /// Who leads that generation.
    pub leader: MemberId,
    /// Whether it leads that generation.
    pub is_leader: bool,
    /// What is held.
    pub assignment: H,
    /// Until when what is held is certainly ours: the send time of the last good heartbeat plus the session timeout.
    pub owned_until: Option<Instant>,
    /// The last round that ended.
    pub last_round: Option<Round<H>>,
    /// What has happened so far.
    pub counters: Counters,
    /// How the membership ended, if it has.
    pub ended: Option<Result<(), Error>>,
}

/// A round: what caused it, and where its time went.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Round<H> {
    /// The generation that came of it.
    pub generation: Generation,
    /// Why it began.
    pub cause: Cause,
    /// Giving up what had to be given up before JoinGroup, and waiting for commits.
    pub revoke: Duration,
    /// From JoinGroup until its answer: the other members' time, mostly.
    pub join: Duration,
    /// Planning, on the leader: metadata, `Gather`, the assigner.
    pub plan: Option<Duration>,
    /// From SyncGroup until its answer.
    pub sync: Duration,
    /// How many members the group has, on the leader.
    pub members: Option<usize>,
    /// What is held now, and was not when the round began.
    pub gained: H,
    /// What was held when the round began, and is not now.
    pub gave_up: H,
}

/// What has happened to a member so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Counters {
    /// Rounds that ended with a plan. Kafka: `rebalance-total`.
    pub rebalances: u64,
    /// Rounds that had to begin again. Kafka: `failed-rebalance-total`.
    pub failed_rebalances: u64,
    /// Heartbeats sent. Kafka: `heartbeat-total`.
    pub heartbeats: u64,
    /// Commits sent. Kafka: `commit-total`.
    pub commits: u64,
    /// Times that something was lost rather than revoked.
    pub losses: u64,
}

impl<H: Default> Status<H> {
    pub(crate) fn new(settings: &Settings, rebalance_protocol: RebalanceProtocol) -> Self {
        Self {
            group_id: Arc::from(settings.group_id.as_str()),
            member_id: MemberId::default(),
            group_instance_id: settings.group_instance_id.clone(),
            state: MemberState::Unjoined,
            generation: Generation::NONE,
            protocol: None,
            rebalance_protocol,
            leader: MemberId::default(),
            is_leader: false,
            assignment: H::default(),
            owned_until: None,
            last_round: None,
            counters: Counters::default(),
            ended: None,
        }
    }
}
