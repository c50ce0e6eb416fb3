//! Kafka group membership with assigners that the application writes.

#![cfg_attr(docsrs, feature(doc_auto_cfg))]

pub mod client;
mod transport;
pub mod types;
mod wire;
