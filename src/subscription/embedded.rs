//! What travels inside JoinGroup and SyncGroup of type "consumer": Kafka's Subscription and Assignment.
//!
//! Written in one form (version 3), read in every form that clients have been seen to write: KIP-429 (owned partitions),
//! KIP-792 (generation), KIP-881 (rack).

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::writer::Writer;
use crate::types::{Generation, Partitions};
use crate::wire::{Layout, ReadError, Reader};

/// The version that we write: the highest that Kafka knows.
const VERSION: i16 = 3;

/// What a member wants, as its leader reads it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Subscription {
    /// Sorted, each once.
    pub(crate) topics: Vec<Arc<str>>,
    /// Null and zero length are the same to a reader.
    pub(crate) user_data: Option<Bytes>,
    /// What the member has kept; empty in eager rounds.
    pub(crate) owned: Partitions,
    /// When `owned` was given.
    pub(crate) generation: Generation,
    /// Kafka: `client.rack`.
    pub(crate) rack: Option<Arc<str>>,
}

/// What a member gets.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) partitions: Partitions,
    /// Null and zero length are the same to a reader, but not to a writer: Sarama keeps what it gets and chokes on zero
    /// length.
    pub(crate) user_data: Option<Bytes>,
}

impl Subscription {
    /// Sorts and deduplicates, so that equal wishes are equal bytes: the broker compares bytes. Nothing is ever
    /// written behind the rack, because Sarama refuses a subscription that goes on there.
    pub(crate) fn encode(&self) -> Bytes {
        let mut topics: Vec<&str> = self.topics.iter().map(AsRef::as_ref).collect();
        topics.sort_unstable();
        topics.dedup();
        let mut writer = Writer::default();
        writer.i16(VERSION);
        writer.count(topics.len());
        for topic in topics {
            writer.string(topic);
        }
        writer.nullable_bytes(self.user_data.as_deref());
        write_partitions(&mut writer, &self.owned);
        writer.i32(self.generation.0);
        writer.nullable_string(self.rack.as_deref());
        writer.finish()
    }

    /// Reads any version. Fields that the bytes end before are not there: kafka-go and @platformatic/kafka write
    /// version 1 without owned partitions. Bytes after the fields we know are left alone.
    pub(crate) fn decode(bytes: Bytes) -> Result<Self, ReadError> {
        let mut reader = Reader::new(bytes);
        let version = read_version(&mut reader)?;
        let mut topics = reader
            .nullable_array(Layout::Classic, 2, |reader| reader.string(Layout::Classic))?
            .unwrap_or_default();
        topics.sort_unstable();
        topics.dedup();
        let user_data = read_user_data(&mut reader)?;
        let mut subscription = Self { topics, user_data, ..Self::default() };
        if version >= 1 && !reader.is_empty() {
            subscription.owned = read_partitions(&mut reader)?;
        }
        if version >= 2 && !reader.is_empty() {
            subscription.generation = read_generation(&mut reader)?;
        }
        if version >= 3 && !reader.is_empty() {
            let rack: Option<Arc<str>> = reader.nullable_string(Layout::Classic)?;
            // librdkafka writes "" for "no rack".
            subscription.rack = rack.filter(|rack| !rack.is_empty());
        }
        Ok(subscription)
    }
}

impl Assignment {
    /// One entry a topic, sorted: franz-go, Sarama, kafka-go and KafkaJS keep only the last entry of a topic. Even an
    /// empty assignment has bytes: Java throws on none.
    pub(crate) fn encode(&self) -> Bytes {
        let mut writer = Writer::default();
        writer.i16(VERSION);
        write_partitions(&mut writer, &self.partitions);
        writer.nullable_bytes(self.user_data.as_deref());
        writer.finish()
    }

    /// Reads any version. No bytes at all are what the broker hands to a member that the leader left out: nothing.
    pub(crate) fn decode(bytes: Bytes) -> Result<Self, ReadError> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut reader = Reader::new(bytes);
        read_version(&mut reader)?;
        let partitions = read_partitions(&mut reader)?;
        let user_data = if reader.is_empty() { None } else { read_user_data(&mut reader)? };
        Ok(Self { partitions, user_data })
    }
}

/// Topics with their partitions: Kafka's layout of everything that is owned or assigned.
pub(super) fn write_partitions(writer: &mut Writer, partitions: &Partitions) {
    let topics: Vec<_> = partitions.by_topic().collect();
    writer.count(topics.len());
    for (topic, numbers) in topics {
        writer.string(topic);
        writer.count(numbers.len());
        for number in numbers {
            writer.i32(*number);
        }
    }
}

/// Merges the entries of one topic (librdkafka writes several), and drops numbers that no partition has.
pub(super) fn read_partitions(reader: &mut Reader) -> Result<Partitions, ReadError> {
    let mut topics: BTreeMap<Arc<str>, Vec<i32>> = BTreeMap::new();
    for _ in 0..reader.count(Layout::Classic, 6)?.unwrap_or(0) {
        let topic = reader.string(Layout::Classic)?;
        let numbers = reader.nullable_array(Layout::Classic, 4, Reader::i32)?.unwrap_or_default();
        topics.entry(topic).or_default().extend(numbers.into_iter().filter(|number| *number >= 0));
    }
    let mut partitions = Partitions::new();
    for (topic, numbers) in topics {
        partitions.insert_all(&topic, numbers);
    }
    Ok(partitions)
}

/// Any negative number means that there is none.
pub(super) fn read_generation(reader: &mut Reader) -> Result<Generation, ReadError> {
    Ok(Generation(reader.i32()?.max(Generation::NONE.0)))
}

/// Versions above ours are read as ours: Kafka promises that what is new stands at the end.
fn read_version(reader: &mut Reader) -> Result<i16, ReadError> {
    let version = reader.i16()?;
    if version < 0 {
        return Err(ReadError::Version(version));
    }
    Ok(version.min(VERSION))
}

fn read_user_data(reader: &mut Reader) -> Result<Option<Bytes>, ReadError> {
    Ok(reader.nullable_bytes(Layout::Classic)?.filter(|bytes| !bytes.is_empty()))
}

#[cfg(test)]
mod tests;
