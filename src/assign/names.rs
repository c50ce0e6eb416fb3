//! Which assigners may be used at all, and whose name is whose.

use std::any::TypeId;

use super::codec::CodecError;
use super::{
    CoPartitionAssigner, EagerStickyAssigner, RangeAssigner, RedundantAssigner, RoundRobinAssigner,
    StickyAssigner,
};

/// Why an assigner cannot be used at all; told when the member is built.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitAssigner {
    /// It has no name.
    #[error("an assigner has an empty name")]
    NoName,
    /// Its name does not fit into JoinGroup.
    #[error("the name of an assigner has {len} bytes, of at most 32767")]
    NameTooLong {
        /// Its length.
        len: usize,
    },
    /// Its name is one that Kafka's own assigners have; foreign members would plan something else under it.
    #[error("the name `{name}` belongs to an assigner of Kafka; a custom one needs its own")]
    KafkasName {
        /// The name.
        name: String,
    },
    /// It allows no way of rebalancing.
    #[error("assigner `{name}` lists no rebalance protocol")]
    NoProtocol {
        /// Its name.
        name: String,
    },
    /// The pattern of topics that it would be for is no regular expression.
    #[error("pattern `{pattern}`: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// There are 255 rules already.
    #[error("more than 255 assigners in one")]
    TooManyParts,
    /// Its codec cannot write its metadata.
    #[error("the codec of assigner `{name}`: {error}")]
    Codec {
        /// Its name.
        name: String,
        /// What is wrong with it.
        error: CodecError,
    },
}

/// The names of the assigners that other clients bring along.
const KAFKAS_NAMES: [&str; 4] = ["range", "roundrobin", "sticky", "cooperative-sticky"];

/// Whether foreign members of a group would run their own assigner under this name.
pub(crate) fn is_kafkas_name(name: &str) -> bool {
    KAFKAS_NAMES.contains(&name)
}

/// Whether this type is one of the crate's own assigners.
pub(crate) fn is_builtin<A: 'static>() -> bool {
    let builtins = [
        TypeId::of::<RangeAssigner>(),
        TypeId::of::<RoundRobinAssigner>(),
        TypeId::of::<StickyAssigner>(),
        TypeId::of::<EagerStickyAssigner>(),
        TypeId::of::<CoPartitionAssigner>(),
        TypeId::of::<RedundantAssigner>(),
    ];
    builtins.contains(&TypeId::of::<A>())
}
