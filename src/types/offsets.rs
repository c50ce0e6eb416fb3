//! Offsets as they are committed.

use std::collections::BTreeMap;

use super::TopicPartition;

/// A position in a partition: the offset of the next record to read, and what was said with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OffsetAndMetadata {
    /// The next record to read.
    pub offset: i64,
    /// The epoch of the partition's leader when the last record was read, if known (KIP-320).
    pub leader_epoch: Option<i32>,
    /// Free text, at most 4096 bytes by the broker's default (`offset.metadata.max.bytes`).
    pub metadata: String,
}

impl OffsetAndMetadata {
    /// A position without epoch and text.
    pub fn new(offset: i64) -> Self {
        Self { offset, leader_epoch: None, metadata: String::new() }
    }
}

impl From<i64> for OffsetAndMetadata {
    fn from(offset: i64) -> Self {
        Self::new(offset)
    }
}

/// Positions by partition, in order.
pub type Offsets = BTreeMap<TopicPartition, OffsetAndMetadata>;
