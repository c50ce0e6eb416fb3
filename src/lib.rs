//! Kafka group membership with assigners that the application writes.

#![cfg_attr(docsrs, feature(doc_auto_cfg))]

pub mod assign;
pub mod client;
mod error;
mod group;
mod membership;
pub mod protocol;
mod subscription;
#[cfg(any(test, feature = "test-util"))]
pub mod testing;
mod transport;
pub mod types;
mod wire;
