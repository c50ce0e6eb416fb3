//! What passes between the task that drives a member and a group's protocol.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Cause;
use crate::types::{Cluster, Generation, GroupInstanceId, MemberId};
use crate::wire::api::JoinedMember;

/// What is known when a member is about to join.
#[derive(Debug)]
pub struct Joining<'a, H> {
    /// What is still held, after what had to be given up was.
    pub held: &'a H,
    /// The generation in which `held` was given; [`Generation::NONE`] after a loss.
    pub generation: Generation,
    /// The id of the last round, or empty.
    pub member_id: &'a MemberId,
    /// Why there is a round.
    pub cause: &'a Cause,
    /// Changes when other bytes are wanted, though nothing else has changed: the broker answers a follower that
    /// rejoins with unchanged bytes at once, without a rebalance.
    pub nonce: u64,
}

/// The leader's view of a group that has joined.
#[derive(Clone, Debug)]
pub struct Led {
    /// The generation to plan for.
    pub generation: Generation,
    /// The protocol that the broker chose.
    pub protocol: String,
    /// This member.
    pub member_id: MemberId,
    /// Everyone, this member included.
    pub members: Vec<LedMember>,
    /// The plan stands, and what is computed is not published: look after the group's topics (KIP-814).
    pub skip_assignment: bool,
}

/// A member, as its leader sees it.
#[derive(Clone, Debug)]
pub struct LedMember {
    /// Kafka: `member.id`.
    pub member_id: MemberId,
    /// Kafka: `group.instance.id`. Text, since the broker does not check it.
    pub group_instance_id: Option<String>,
    /// What the member said. Written by somebody else: read it with care.
    pub metadata: Bytes,
}

impl From<JoinedMember> for LedMember {
    fn from(member: JoinedMember) -> Self {
        let JoinedMember { member_id, group_instance_id, metadata, .. } = member;
        Self { member_id, group_instance_id, metadata }
    }
}

/// What a leader must know before it can plan.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Needs {
    /// Topics whose partitions must be known and fresh.
    pub topics: BTreeSet<Arc<str>>,
    /// Whether what is known of them is not fresh enough, however young it is: somebody knows more.
    pub afresh: bool,
    /// Whether the application's `Gather` is wanted.
    pub gather: bool,
}

/// What a leader knows.
#[derive(Clone)]
pub struct Facts {
    /// The cluster after the refresh, or as last known where that failed.
    pub cluster: Arc<Cluster>,
    /// What the application's `Gather` found.
    pub gathered: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Facts")
            .field("cluster", &self.cluster)
            .field("gathered", &self.gathered.is_some())
            .finish()
    }
}

/// Runs the application's code to say what this member tells a leader: protocol names with bytes, best first.
pub type DescribeJob = Box<dyn FnOnce() -> Result<Vec<(String, Bytes)>, JobError> + Send>;

/// Runs the application's code to plan.
pub type LeadJob = Box<dyn FnOnce(Facts) -> Result<Plan, JobError> + Send>;

/// What the leader publishes: bytes for every member.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    /// One entry a member of the group, none empty.
    pub assignments: Vec<(MemberId, Bytes)>,
    /// When the leader is to ask for another round: the plan was not what the assigner wanted.
    pub again_after: Option<Duration>,
}

/// Why a job ended without a result.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The application's code panicked; the text is its message.
    #[error("panicked: {0}")]
    Panicked(String),
    /// It did not end by its deadline, and was abandoned.
    #[error("did not end by its deadline")]
    TimedOut,
    /// An earlier job of this member still hangs.
    #[error("an earlier job of this member still hangs")]
    Hanging,
    /// Nothing can be published: this leader must go, so that another plans.
    #[error("{0}")]
    StepDown(String),
    /// As `StepDown`, and this member ends with the error.
    #[error("{0}")]
    Fail(String),
}

/// The answer to SyncGroup.
#[derive(Debug)]
pub struct Joined<'a, H> {
    /// The generation that now is.
    pub generation: Generation,
    /// The protocol that the broker chose.
    pub protocol: &'a str,
    /// This member.
    pub member_id: &'a MemberId,
    /// This member's instance id, if it is static.
    pub group_instance_id: Option<&'a GroupInstanceId>,
    /// Whether this member leads the generation.
    pub leads: bool,
    /// What is held now.
    pub held: &'a H,
    /// Our part of the plan, written by the leader: read it with care. May be empty.
    pub assignment: Bytes,
}

/// What an assignment changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change<H, N> {
    /// To be given up first.
    pub revoke: H,
    /// To be taken up then.
    pub add: H,
    /// What is held from then on and not committed: somebody else holds it too, and commits.
    pub standby: H,
    /// A further round is needed, for this reason, once `revoke` has been given up.
    pub rejoin: Option<Rejoin>,
    /// How often to beat from now on, where the plan told the group's size.
    pub heartbeat_interval: Option<Duration>,
    /// Another round follows this one: how often to beat, for a moment, so as not to be the last to hear of it.
    pub hurried_interval: Option<Duration>,
    /// What to tell the application.
    pub notices: Vec<N>,
}

/// A further round that an assignment asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rejoin {
    /// Why.
    pub cause: Cause,
    /// How long from now.
    pub after: Duration,
}
