//! Kafka group membership with assigners that the application writes.

#![cfg_attr(docsrs, feature(doc_auto_cfg))]

mod membership;
pub mod protocol;
#[cfg(any(test, feature = "test-util"))]
pub mod testing;
pub mod types;
mod wire;
