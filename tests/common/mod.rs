//! What the tests against a real Kafka share: the cluster, a small admin client, members of other clients.
//!
//! A test binary says `mod common;` and uses what it needs:
//!
//! ```ignore
//! let kafka = Kafka::shared();                                    // one node, shared by the whole process
//! let three = own_cluster!(Kafka::three());                       // three nodes to kill, one test at a time
//! let slow = own_cluster!(Kafka::private(&Settings::new(1).set("group.max.size", "2")));
//! ```

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of this")]

pub(crate) mod kafka;
pub(crate) mod peers;
pub(crate) mod wait;

pub(crate) use kafka::{Kafka, Settings, ThreeNodes, own_cluster};
pub(crate) use peers::JavaMember;
pub(crate) use wait::{eventually, unique};
