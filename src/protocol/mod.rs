//! Pure. What a group shares out, apart from how its members agree.
//!
//! The membership machine runs the group protocol and knows nothing of topics; a [`GroupProtocol`] knows what is
//! shared out and nothing of heartbeats. The "consumer" protocol is one implementation (`subscription`); a worker
//! pool and an election are others.

mod cause;
mod holding;
mod work;

pub use cause::Cause;
pub use holding::Holding;
pub use work::{
    Change, DescribeJob, Facts, JobError, Joined, Joining, LeadJob, Led, LedMember, Needs, Plan,
    Rejoin,
};

/// What the members of a group share out among them, and in which bytes they say so.
///
/// All methods are called by the task that drives the member, so they are quick and never block. What runs the
/// application's code is returned as a job, a value that is run elsewhere.
///
/// One round, in order: [`before_join`](Self::before_join), then (when what it named has been given up)
/// [`describe`](Self::describe), JoinGroup, on the leader [`lead`](Self::lead), SyncGroup, [`joined`](Self::joined).
pub trait GroupProtocol: Send + 'static {
    /// What a member holds of the group's work between rounds.
    type Held: Holding;

    /// What the application is to be told beyond what it gains and loses.
    type Notice: Send + 'static;

    /// Kafka: `protocol_type`. All members of a group have the same.
    fn protocol_type(&self) -> &str;

    /// What must be given up before the next JoinGroup: everything in an eager round.
    fn before_join(&mut self, held: &Self::Held, cause: &Cause) -> Self::Held;

    /// Which protocols this member speaks, and what it says to a leader under each: asked once a round, and its bytes
    /// frozen until that round's SyncGroup is answered, because the broker takes other bytes for a change.
    fn describe(&mut self, joining: Joining<'_, Self::Held>) -> DescribeJob;

    /// The leader's work: what must be known first, and what is then to be computed.
    fn lead(&mut self, led: Led) -> (Needs, LeadJob);

    /// What the plan gives this member. Bytes that cannot be read, or that say nothing, change as little as they can.
    fn joined(&mut self, joined: Joined<'_, Self::Held>) -> Change<Self::Held, Self::Notice>;
}
