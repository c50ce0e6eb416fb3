//! Who gets what: the assigner, the group that it sees, the plan that it makes.
//!
//! An assigner is a pure function of the group. It sees a [`GroupSubscription`], in which members, topics and
//! partitions are small copyable views, and fills a [`GroupAssignment`]. What only the crate can do well is not
//! its business: bytes, claims of earlier generations, withholding what somebody still holds, a panic.
//!
//! ```
//! use kafka_group::assign::{AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner};
//! use serde::{Deserialize, Serialize};
//!
//! /// Gives each partition to whoever is least busy for its size, counting what it was just given.
//! struct LeastLoaded { threads: usize }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Capacity { threads: usize }
//!
//! impl PartitionAssigner<Capacity> for LeastLoaded {
//!     fn name(&self) -> &str { "least-loaded" }
//!
//!     /// What this member tells the leader, once a round. Equal input, equal bytes.
//!     fn metadata(&self, _local: &LocalMember<'_>) -> Capacity { Capacity { threads: self.threads } }
//!
//!     /// Runs on the leader alone. Pure: no clock, no randomness, no I/O.
//!     fn assign(&self, group: &GroupSubscription<Capacity>) -> Result<GroupAssignment, AssignError> {
//!         let mut plan = group.plan();
//!         for partition in group.partitions() {
//!             let least = group.subscribers(partition.topic()).min_by_key(|member| {
//!                 plan.load(member) * 1000 / member.metadata().map_or(1, |capacity| capacity.threads.max(1))
//!             });
//!             if let Some(member) = least {
//!                 plan.give(member, partition);
//!             }
//!         }
//!         Ok(plan)
//!     }
//! }
//!
//! // Its test:
//! let group = GroupSubscription::builder().topic("orders", 12)
//!     .member("a", ["orders"], Capacity { threads: 8 })
//!     .member("b", ["orders"], Capacity { threads: 4 }).build();
//! let plan = LeastLoaded { threads: 8 }.assign(&group)?;
//! assert_eq!(plan.by_name()["a"].len(), 8);
//! # Ok::<(), AssignError>(())
//! ```

mod build;
mod builder;
mod claimants;
mod claims;
mod codec;
mod copartition;
mod erased;
mod error;
#[cfg(test)]
mod free;
mod index;
mod layout;
mod local;
mod model;
mod names;
mod per_topic;
mod plan;
mod rack_aware;
mod range;
mod record;
mod redundant;
mod refs;
mod round_robin;
mod run;
mod solver;
mod sticky;
mod sticky_planner;
mod sticky_problem;
mod sticky_rounds;
mod validate;
mod view;
mod withhold;
#[cfg(any(test, feature = "cli", feature = "test-util"))]
mod worth;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use build::{MemberInput, ModelBuilder};
pub use builder::GroupSubscriptionBuilder;
pub use codec::{CodecError, MetadataCodec};
pub use copartition::{CoPartitionAssigner, CoPartitionUnit, CoPartitionUnits};
pub(crate) use erased::{ErasedAssigner, MetadataPayload, read_told};
pub use error::{AssignError, MetadataError};
pub use index::{MemberIndex, PartitionIndex};
pub(crate) use layout::TopicInput;
pub use local::LocalMember;
pub(crate) use model::{MemberEntry, Model};
pub use names::UnfitAssigner;
pub use per_topic::{Parts, PerTopicAssigner};
pub use plan::GroupAssignment;
pub(crate) use plan::MemberLists;
pub use rack_aware::RackAwareAssigner;
pub use range::RangeAssigner;
pub(crate) use record::{MemberBytes, RECORD_LIMIT, check_record};
pub use redundant::RedundantAssigner;
pub use refs::{MemberRef, PartitionRef, Subscribers, TopicRef};
pub use round_robin::RoundRobinAssigner;
pub use run::AssignFailure;
#[cfg(feature = "cli")]
pub(crate) use run::{check_plan, try_assign};
pub(crate) use run::{panic_message, run_assign};
pub use sticky::{EagerStickyAssigner, StickyAssigner};
pub use sticky_planner::{Racks, StickyPlanner};
pub use validate::{FewCopies, InvalidPlan};
pub use view::{GroupSubscription, MissingTopic};
pub(crate) use withhold::keep_claims;
#[cfg(any(test, feature = "cli", feature = "test-util"))]
pub(crate) use worth::Worth;
#[cfg(feature = "cli")]
pub(crate) use worth::{Copies, Handover, is_near};

/// Divides the partitions of a group among its members.
///
/// `T` is what each member tells the leader; `()` where nothing needs telling. Members that share a group list a
/// common [`name`](Self::name); the elected leader runs [`assign`](Self::assign). Implement it for one concrete
/// `T`: a blanket implementation would leave open which one is meant.
///
/// Name, version, codec, protocols and coverage are asked once, when the member is built. The other methods run on a
/// thread of the crate and are contained: a panic ends neither process nor membership.
pub trait PartitionAssigner<T = ()>: Send + Sync + 'static
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// The protocol name that members agree on.
    ///
    /// A change of what the plan means is a change of the name. Kafka's own names are refused for an assigner
    /// that is not Kafka's: others in the group would run something else under them.
    fn name(&self) -> &str;

    /// What this member tells the leader, asked once a round.
    ///
    /// Equal input, equal bytes: a `HashMap` inside `T` is not written in a fixed order, a `BTreeMap` is. The
    /// trap: a value that changes by itself (load, lag, time) makes every rejoin a rebalance of the whole group;
    /// it belongs in a `Gather`, which the leader runs. A panic keeps the last good value.
    fn metadata(&self, local: &LocalMember<'_>) -> T;

    /// The plan, made on the leader alone, on a thread of the crate while heartbeats go on.
    ///
    /// Pure: no clock, no randomness, no I/O, nothing remembered from earlier rounds. The plan is the *target*:
    /// what another member still holds is withheld by the crate and given in the round after.
    fn assign(&self, group: &GroupSubscription<T>) -> Result<GroupAssignment, AssignError>;

    /// The version of `T`, written beside it. Default: 0.
    ///
    /// Raise it when `T` changes shape; see [`decode_metadata`](Self::decode_metadata).
    fn version(&self) -> u16 {
        0
    }

    /// Reads what another member wrote, possibly an older or newer program.
    ///
    /// The default reads its own and older versions with [`codec`](Self::codec), and newer ones only if they are
    /// JSON; the rest is [`MetadataError::OtherVersion`], which the plan meets as that member's `metadata()`. The
    /// pattern that works with bincode, where even an added field changes every byte after it, is
    /// `enum Meta { V1(..), V2(..) }` with variants only ever appended.
    fn decode_metadata(&self, version: u16, bytes: &[u8]) -> Result<T, MetadataError> {
        self.codec().decode_version(version, self.version(), bytes)
    }

    /// How `T` is written. Default: bincode where that feature is on, else JSON.
    ///
    /// [`MetadataCodec::Raw`] writes the bytes of `T = Bytes` without any envelope, for agreement with an
    /// assigner written in another language.
    fn codec(&self) -> MetadataCodec {
        MetadataCodec::preferred()
    }

    /// The ways of rebalancing that this assigner allows. Default: both, since the crate does the withholding.
    ///
    /// Rounds are cooperative only if *every* assigner that a member lists allows it.
    fn protocols(&self) -> &[RebalanceProtocol] {
        &[RebalanceProtocol::Cooperative, RebalanceProtocol::Eager]
    }

    /// How often a partition may and must be given. Default: exactly once.
    fn coverage(&self) -> Coverage {
        Coverage::ExactlyOnce
    }
}

/// What members do with their partitions when a round begins (KIP-429).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum RebalanceProtocol {
    /// Everything is given up before joining.
    Eager,
    /// What stays is kept and goes on; what moves costs a second round.
    Cooperative,
}

/// How often a plan gives each partition of each topic that somebody subscribes to.
///
/// Of several holders, whoever the plan names first has the first copy, and alone may commit.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Coverage {
    /// To one member, none left over.
    #[default]
    ExactlyOnce,
    /// To this many different members, or to every subscriber where there are fewer.
    Copies(u16),
    /// To one member or to none.
    AtMostOnce,
    /// To any number of members. Nothing is withheld: two members may hold a partition at one time, or both have the
    /// first copy until the one hears of the other.
    Unchecked,
}

impl Coverage {
    /// How many members may hold a partition at one time.
    pub(crate) fn most_holders(self) -> usize {
        match self {
            Self::ExactlyOnce | Self::AtMostOnce => 1,
            Self::Copies(copies) => usize::from(copies),
            Self::Unchecked => usize::MAX,
        }
    }
}
