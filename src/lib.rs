//! Kafka group membership with assigners that the application writes.

#![cfg_attr(docsrs, feature(doc_auto_cfg))]

mod transport;
pub mod types;
mod wire;
