//! The real tier: members of ours against a real Kafka.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "../common/mod.rs"]
mod common;

mod assigners;
mod assigning;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "consumer")]
mod consuming;
#[cfg(feature = "consumer")]
mod cooperative;
mod coordinator;
mod copies;
mod ending;
mod foreign;
mod harness;
mod joining;
#[cfg(feature = "consumer")]
mod librdkafka;
#[cfg(feature = "consumer")]
mod mixed;
#[cfg(feature = "consumer")]
mod moving;
mod pieces;
mod refusals;
mod removing;
mod resetting;
#[cfg(all(feature = "tls", feature = "sasl"))]
mod secure;
mod seen;
mod settling;
mod r#static;
#[cfg(feature = "consumer")]
mod static_load;
mod static_rolling;
mod topics;
#[cfg(feature = "consumer")]
mod victim;
#[cfg(feature = "cli")]
#[path = "../support/watching.rs"]
mod watching;
