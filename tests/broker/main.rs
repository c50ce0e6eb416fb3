//! The real tier: members of ours against a real Kafka.

#[path = "../common/mod.rs"]
mod common;

mod harness;
mod joining;
mod pieces;
