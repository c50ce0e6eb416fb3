//! Members of other clients, for mixed groups.

mod java;
mod tool;

pub(crate) use java::{JavaEvent, JavaMember, Partitions, assignor};
pub(crate) use tool::consumer_groups;
