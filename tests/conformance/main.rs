//! Each rule of the group protocol, as a scenario that runs unchanged against `FakeBroker` and against a real Kafka.
//!
//! A scenario says what it expects, and everything that a broker answers in it is written down; where the two
//! transcripts differ, the fake is wrong.

#[path = "../common/mod.rs"]
mod common;

mod broker;
mod member;
mod run;
mod wire;

mod connections;
mod deleting;
mod describe;
mod failover;
mod join;
mod leave;
mod liveness;
mod offsets;
mod phases;
mod protocols;
mod restarts;
mod small;
mod statics;
mod sync;
mod triggers;
