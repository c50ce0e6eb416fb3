//! The real tier: members of ours against a real Kafka.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "consumer")]
mod consuming;
mod harness;
mod joining;
#[cfg(feature = "consumer")]
mod victim;
