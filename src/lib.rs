//! Kafka group membership with assigners that the application writes.

#![cfg_attr(docsrs, feature(doc_auto_cfg))]

pub mod assign;
mod membership;
pub mod protocol;
mod subscription;
pub mod types;
mod wire;
