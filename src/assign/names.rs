//! Whose name is whose.

use std::any::TypeId;

use super::{RangeAssigner, RoundRobinAssigner};

/// The names of the assigners that other clients bring along.
const KAFKAS_NAMES: [&str; 4] = ["range", "roundrobin", "sticky", "cooperative-sticky"];

/// Whether foreign members of a group would run their own assigner under this name.
pub(crate) fn is_kafkas_name(name: &str) -> bool {
    KAFKAS_NAMES.contains(&name)
}

/// Whether this type is one of the crate's own assigners.
pub(crate) fn is_builtin<A: 'static>() -> bool {
    [TypeId::of::<RangeAssigner>(), TypeId::of::<RoundRobinAssigner>()].contains(&TypeId::of::<A>())
}
