//! What travels inside JoinGroup and SyncGroup of type "consumer": Kafka's Subscription and Assignment.
//!
//! Written in one form (version 3), read in every form that clients have been seen to write: KIP-429 (owned partitions),
//! KIP-792 (generation), KIP-881 (rack).

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::reading::{Names, Reading};
use super::writer::Writer;
use crate::types::{Generation, PartitionRanges, Partitions, RangesBuilder};
use crate::wire::{Layout, ReadError, Reader};

/// The version that we write: the highest that Kafka knows.
const VERSION: i16 = 3;

/// What a member wants, as its leader reads it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Subscription {
    /// Sorted, each once.
    pub(crate) topics: Arc<[Arc<str>]>,
    /// Null and zero length are the same to a reader.
    pub(crate) user_data: Option<Bytes>,
    /// What the member has kept; empty in eager rounds.
    pub(crate) owned: PartitionRanges,
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
        write_ranges(&mut writer, &self.owned);
        writer.i32(self.generation.0);
        writer.nullable_string(self.rack.as_deref());
        writer.finish()
    }

    /// Reads any version.
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn decode(bytes: Bytes) -> Result<Self, ReadError> {
        Self::read(bytes, &mut Reading::default())
    }

    /// Reads any version, beside those of other members. Fields that the bytes end before are not there: kafka-go and
    /// @platformatic/kafka write version 1 without owned partitions. Bytes after the fields we know are left alone.
    pub(crate) fn read(bytes: Bytes, reading: &mut Reading) -> Result<Self, ReadError> {
        let mut reader = Reader::new(bytes);
        let version = read_version(&mut reader)?;
        let Reading { names, topics, .. } = reading;
        let topics = topics.read(&mut reader, |reader| read_topics(reader, names))?;
        let user_data = read_user_data(&mut reader)?;
        let mut subscription = Self { topics, user_data, ..Self::default() };
        if version >= 1 && !reader.is_empty() {
            subscription.owned = read_ranges(&mut reader, names)?;
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
    #[cfg(test)]
    pub(crate) fn encode(&self) -> Bytes {
        let topics = self.partitions.by_topic();
        let lists = topics.map(|(topic, numbers)| (topic, numbers.iter().copied()));
        encode_assignment(lists, self.partitions.len(), self.user_data.as_deref())
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

/// An assignment of so many partitions, by topic. One entry a topic, sorted: franz-go, Sarama, kafka-go and KafkaJS keep
/// only the last entry of a topic. Even an empty assignment has bytes: Java throws on none.
pub(super) fn encode_assignment<'a, N: ExactSizeIterator<Item = i32>>(
    topics: impl Iterator<Item = (&'a Arc<str>, N)>,
    partitions: usize,
    user_data: Option<&[u8]>,
) -> Bytes {
    let mut writer = Writer::default();
    // Enough where topics have names like most and few partitions are of one.
    writer.reserve(64 + partitions * 24 + user_data.map_or(0, <[u8]>::len));
    writer.i16(VERSION);
    write_lists(&mut writer, topics);
    writer.nullable_bytes(user_data);
    writer.finish()
}

/// Topics with their partitions, from ranges.
pub(super) fn write_ranges(writer: &mut Writer, partitions: &PartitionRanges) {
    writer.count(partitions.topic_count());
    for (topic, ranges) in partitions.by_topic() {
        let numbers = ranges.iter().flat_map(Range::clone).filter_map(|n| i32::try_from(n).ok());
        writer.string(topic);
        writer.count(numbers.clone().count());
        numbers.for_each(|number| writer.i32(number));
    }
}

/// Topics with their partitions: Kafka's layout of everything that is owned or assigned.
pub(super) fn write_lists<'a, N: ExactSizeIterator<Item = i32>>(
    writer: &mut Writer,
    topics: impl Iterator<Item = (&'a Arc<str>, N)>,
) {
    let count = writer.gap();
    let mut written = 0;
    for (topic, numbers) in topics {
        writer.string(topic);
        writer.count(numbers.len());
        numbers.for_each(|number| writer.i32(number));
        written += 1;
    }
    writer.fill(count, written);
}

fn read_topics(reader: &mut Reader, names: &mut Names) -> Result<Arc<[Arc<str>]>, ReadError> {
    let mut topics = reader
        .nullable_array(Layout::Classic, 2, |reader| names.read(reader, Layout::Classic))?
        .unwrap_or_default();
    topics.sort_unstable();
    topics.dedup();
    Ok(topics.into())
}

/// Merges the entries of one topic (librdkafka writes several), and drops numbers that no partition has.
pub(super) fn read_ranges(
    reader: &mut Reader,
    names: &mut Names,
) -> Result<PartitionRanges, ReadError> {
    let topics = reader.count(Layout::Classic, 6)?.unwrap_or(0);
    // A topic takes six bytes at least and a partition four.
    let mut ranges = RangesBuilder::with_capacity(topics, topics);
    for _ in 0..topics {
        let name = names.read(reader, Layout::Classic)?;
        ranges.next_topic(name, names.has_risen());
        let numbers = reader.count(Layout::Classic, 4)?.unwrap_or(0);
        let (numbers, _) = reader.peek().split_at_checked(numbers * 4).ok_or(ReadError::Short)?;
        for number in numbers.chunks_exact(4) {
            ranges.number(number.try_into().map_or(-1, i32::from_be_bytes));
        }
        let read = numbers.len();
        reader.skip(read)?;
    }
    Ok(ranges.finish())
}

fn read_partitions(reader: &mut Reader) -> Result<Partitions, ReadError> {
    let ranges = read_ranges(reader, &mut Names::default())?;
    Ok(ranges.within(|_| Some(u32::MAX)))
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
