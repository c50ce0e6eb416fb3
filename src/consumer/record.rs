//! Records, as the application is given them.

use std::fmt;

use bytes::Bytes;

use super::ledger::Epoch;
use crate::types::TopicPartition;

/// A record that was read from a partition of ours. It owns its bytes, so it may go to any task.
#[derive(Clone)]
pub struct Record {
    pub(super) place: Place,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) key: Option<Bytes>,
    pub(super) value: Option<Bytes>,
    pub(super) headers: Vec<Header>,
}

/// Where a record is, and in which ownership of the partition it was read: what a mark needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) partition: TopicPartition,
    pub(super) offset: i64,
    pub(super) leader_epoch: Option<i32>,
    pub(super) epoch: Epoch,
}

/// When a record was written, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Timestamp {
    /// When its producer made it. Kafka: `message.timestamp.type=CreateTime`.
    CreateTime(i64),
    /// When the broker took it. Kafka: `message.timestamp.type=LogAppendTime`.
    LogAppendTime(i64),
}

/// A header of a record. Names may repeat.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value; a header may have none.
    pub value: Option<Bytes>,
}

/// What a record weighs beside its bytes: its fields, and its part of a queue.
const FIELDS: usize = size_of::<Record>();

impl Record {
    /// The topic's name.
    pub fn topic(&self) -> &str {
        self.place.partition.topic()
    }

    /// The partition's number.
    pub fn partition(&self) -> i32 {
        self.place.partition.partition()
    }

    /// Topic and partition.
    pub fn topic_partition(&self) -> &TopicPartition {
        &self.place.partition
    }

    /// Its place in the partition. Offsets may have gaps: compaction and transactions leave them.
    pub fn offset(&self) -> i64 {
        self.place.offset
    }

    /// The epoch of the leader that it was read from, if known (KIP-320). Committed with its mark.
    pub fn leader_epoch(&self) -> Option<i32> {
        self.place.leader_epoch
    }

    /// When it was written; very old formats do not say.
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    /// Its key.
    pub fn key(&self) -> Option<&Bytes> {
        self.key.as_ref()
    }

    /// Its value; `None` is a tombstone in a compacted topic.
    pub fn value(&self) -> Option<&Bytes> {
        self.value.as_ref()
    }

    /// Its headers, in order.
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// How many bytes it keeps in memory, near enough to bound a queue by.
    pub(super) fn weight(&self) -> usize {
        let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let headers = self.headers.iter();
        let headers =
            headers.map(|header| size_of::<Header>() + header.name.len() + length(&header.value));
        FIELDS + length(&self.key) + length(&self.value) + headers.sum::<usize>()
    }
}

impl Timestamp {
    /// Milliseconds since 1970.
    pub fn millis(self) -> i64 {
        match self {
            Self::CreateTime(millis) | Self::LogAppendTime(millis) => millis,
        }
    }
}

impl fmt::Debug for Record {
    /// Where it is and how large, not what is in it: logs are no place for data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("partition", &self.place.partition)
            .field("offset", &self.place.offset)
            .field("key_bytes", &self.key.as_ref().map(Bytes::len))
            .field("value_bytes", &self.value.as_ref().map(Bytes::len))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Record {
    /// A record of ten bytes.
    pub(super) fn sample(partition: &TopicPartition, offset: i64, epoch: Epoch) -> Self {
        Self {
            place: Place::sample(partition, offset, epoch),
            timestamp: None,
            key: None,
            value: Some(Bytes::from_static(b"ten bytes!")),
            headers: Vec::new(),
        }
    }
}

#[cfg(test)]
impl Place {
    pub(super) fn sample(partition: &TopicPartition, offset: i64, epoch: Epoch) -> Self {
        Self { partition: partition.clone(), offset, leader_epoch: None, epoch }
    }
}
