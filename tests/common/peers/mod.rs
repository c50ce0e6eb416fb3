//! Members of other clients, for mixed groups.

mod java;

pub(crate) use java::{JavaEvent, JavaMember, Partitions, assignor};
