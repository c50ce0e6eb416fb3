//! What an application is told.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Instant;

use serde::de::DeserializeOwned;

use super::mailbox::Release;
use crate::assign::{FewCopies, MetadataError, read_told};
use crate::membership::{LossCause, RevocationId};
use crate::protocol::Cause;
use crate::subscription::Told;
use crate::types::{Generation, MemberId, Partitions};

/// What happened to a member, from `GroupMember::next`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A round has ended: what is new, and what is held in all. Said once a round, also when nothing is new.
    Assigned(Assigned),
    /// Must be given up: finish, commit, and ask for the next event, which lets go. Or hold it, see [`Revoked`].
    Revoked(Revoked),
    /// Gone already. Stop, and do not commit: another member may have it by now.
    Lost(Lost),
    /// The leader could not plan; every member keeps what it validly had. The group tries again by itself.
    ///
    /// Where nothing can be published, not even that (a group record that is too large, a member of another client whose
    /// partitions are not known), the leader leaves for a while, and hears this alone.
    AssignFailed(AssignFailed),
    /// Topics that are subscribed to and do not exist. Said once each time the list changes; the member waits for them.
    MissingTopics(Vec<Arc<str>>),
    /// The assignment held partitions of topics that are not subscribed to. They were not taken, and a round that
    /// puts it right has been asked for.
    Unwanted(Partitions),
    /// Topics that are subscribed to and may not be described: DESCRIBE (and READ) on them is needed. Said once each time
    /// the list changes.
    UnauthorizedTopics(Vec<Arc<str>>),
    /// What the leader wrote to this member could not be read. Nothing was changed by it.
    UnreadableAssignment(Arc<str>),
    /// This member leads, and could not read what these members wrote. They were given nothing.
    UnreadableMembers(Vec<(MemberId, Arc<str>)>),
    /// This member leads, and fewer members subscribe to these topics than there are to be copies of a partition: all of
    /// them have each. Said with each such plan.
    FewCopies(Vec<FewCopies>),
    /// The group's other members speak none of our protocols. Joining is tried again for `default.api.timeout.ms`,
    /// since old members may leave; then `next()` returns an error.
    NoCommonProtocol,
    /// The coordinator refuses heartbeats for lack of authorisation. Said once; after a session everything is lost.
    Unauthorized,
    /// A broker does not let us in any more, or we do not trust it: a password that was changed, a certificate that has
    /// expired. Said once; tried again without haste until a session is over, and then `next()` returns
    /// [`Error::Authentication`](crate::Error::Authentication).
    ///
    /// A `Consumer` says it of rdkafka's connections, too, which go to brokers that the membership has no need of: once
    /// for each broker while it lasts, when the membership has not met the same within a third of a session. That ends
    /// nothing.
    Denied(Arc<str>),
    /// An event that was there was not asked for within `max.poll.interval.ms`, so the member gave its place up; it joins
    /// again now.
    Stalled,
    /// This static member has joined with an id that another member id had until then: its own last life, mostly. If
    /// that lives, it is thrown out now. Said once, at the start, where the coordinator tells it (DESCRIBE on the group).
    TookOver {
        /// What the first process with this id called itself, see [`InstanceHolder`](crate::types::InstanceHolder).
        /// Kafka: `client.id`.
        client_id: String,
        /// The address that the first process with this id came from, as the broker sees it.
        host: String,
        /// The id that the coordinator had given the former holder.
        member_id: MemberId,
        /// `HOST/PID` of the former holder, if it was of this crate and the group was not rebalancing.
        process: Option<String>,
    },
    /// What a hook of the application did wrong: a `Gather` that failed, metadata that panicked. The round went on.
    HookFailed(String),
}

/// Why a plan was not made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AssignFailed {
    pub(crate) by: Arc<str>,
    pub(crate) message: Arc<str>,
}

impl AssignFailed {
    /// The leader that could not plan: its instance id, or else its member id.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// What its assigner said.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// What a member gained in a round, and what it holds now.
pub struct Assigned {
    pub(crate) added: Partitions,
    pub(crate) held: Partitions,
    pub(crate) standbys: Partitions,
    pub(crate) generation: Generation,
    pub(crate) leads: bool,
    pub(crate) told: Option<Told>,
}

impl Assigned {
    /// What is new.
    pub fn partitions(&self) -> &Partitions {
        &self.added
    }

    /// Everything that is held now.
    pub fn all(&self) -> &Partitions {
        &self.held
    }

    /// Of what is held, that of which another member has the first copy: this one stands by, and its commits are refused.
    ///
    /// Empty unless the assigner gives a partition to several members, as
    /// [`RedundantAssigner`](crate::assign::RedundantAssigner) does.
    pub fn standbys(&self) -> &Partitions {
        &self.standbys
    }

    /// What this member is to a partition that it holds; none of one that it does not.
    ///
    /// Look again in each round: the first copy goes to a standby when its holder is gone.
    pub fn role(&self, topic: &str, partition: i32) -> Option<Role> {
        let role = match self.standbys.contains(topic, partition) {
            true => Role::Standby,
            false => Role::First,
        };
        self.held.contains(topic, partition).then_some(role)
    }

    /// The generation that this is the plan of.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Whether this member made the plan.
    pub fn is_leader(&self) -> bool {
        self.leads
    }

    /// What the leader's assigner told this member (`plan.tell`), if it told anything.
    pub fn told<U: DeserializeOwned + 'static>(&self) -> Option<Result<U, MetadataError>> {
        self.told.as_ref().map(|told| read_told(told.codec, &told.bytes))
    }
}

impl fmt::Debug for Assigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assigned")
            .field("partitions", &self.added)
            .field("all", &self.held)
            .field("standbys", &self.standbys)
            .field("generation", &self.generation)
            .field("is_leader", &self.leads)
            .finish_non_exhaustive()
    }
}

/// What a member is to a partition that several hold.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Role {
    /// It has the first copy, and alone commits offsets. Whoever is alone with a partition has it, too.
    First,
    /// It has another copy.
    Standby,
}

/// Partitions that must be given up.
///
/// Asking for the next event gives them up, unless somebody [holds](Self::hold) them: then they are given up when
/// the last hold is dropped as well. What is not given up by the [deadline](Self::deadline) is [`Lost`].
pub struct Revoked {
    pub(crate) partitions: Partitions,
    pub(crate) deadline: Instant,
    pub(crate) cause: Cause,
    pub(crate) token: Weak<ReleaseToken>,
    /// In a stream the event itself keeps what it names; elsewhere the member does.
    pub(crate) kept: Option<Arc<ReleaseToken>>,
}

impl Revoked {
    /// What must be given up.
    pub fn partitions(&self) -> &Partitions {
        &self.partitions
    }

    /// When it is lost, given up or not. The rebalance timeout (`max.poll.interval.ms`) after the group was last
    /// known to be at rest, less 5 s or a tenth of it, whichever is smaller.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Why.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Keeps the partitions until the guard is dropped, or the deadline has passed: for work that other tasks finish.
    pub fn hold(&self) -> Hold {
        Hold { _token: self.token.upgrade() }
    }
}

impl fmt::Debug for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revoked")
            .field("partitions", &self.partitions)
            .field("deadline", &self.deadline)
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}

/// Keeps revoked partitions from being given up. `Send`, and outlives the event.
#[must_use = "dropping the hold gives the partitions up"]
pub struct Hold {
    _token: Option<Arc<ReleaseToken>>,
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hold")
    }
}

/// Gives a revocation up when its last owner lets go.
pub(crate) struct ReleaseToken {
    pub(crate) id: RevocationId,
    pub(crate) mailbox: Arc<dyn Release>,
}

impl Drop for ReleaseToken {
    fn drop(&mut self) {
        self.mailbox.release(self.id);
    }
}

/// Partitions that are gone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lost {
    pub(crate) partitions: Partitions,
    pub(crate) cause: LossCause,
}

impl Lost {
    /// What is gone.
    pub fn partitions(&self) -> &Partitions {
        &self.partitions
    }

    /// Why.
    pub fn cause(&self) -> &LossCause {
        &self.cause
    }
}
