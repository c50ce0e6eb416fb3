//! Partitions as ranges: what eager members had before, in few bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::subscription::writer::Writer;
use crate::types::Partitions;
use crate::wire::{Layout, ReadError, Reader};

/// Partitions of topics as runs of numbers.
///
/// Read from another member it stays so: six bytes can claim two thousand million partitions, and only
/// [`within`](Self::within) what exists are they ever written out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct PartitionRanges {
    /// Ascending ranges, none empty.
    topics: BTreeMap<Arc<str>, Vec<Range<u32>>>,
}

impl PartitionRanges {
    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// What of these partitions is in it.
    pub(crate) fn among(&self, partitions: &Partitions) -> Partitions {
        let mut among = partitions.clone();
        among.retain(|topic, number| {
            let ranges = self.topics.get(topic).map_or(&[][..], |ranges| ranges);
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            // The first range that ends behind it.
            let next = ranges.partition_point(|range| range.end <= number);
            ranges.get(next).is_some_and(|range| range.start <= number)
        });
        among
    }

    /// What is in it of topics that have so many partitions; of other topics nothing.
    pub(crate) fn within(&self, count_of: impl Fn(&str) -> Option<u32>) -> Partitions {
        let mut partitions = Partitions::new();
        for (topic, ranges) in &self.topics {
            let Some(count) = count_of(topic) else { continue };
            let numbers = ranges.iter().flat_map(|range| range.start..range.end.min(count));
            partitions.insert_all(topic, numbers.filter_map(|number| i32::try_from(number).ok()));
        }
        partitions
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.compact_count(self.topics.len());
        for (topic, ranges) in &self.topics {
            writer.compact_string(topic);
            writer.compact_count(ranges.len());
            let mut from = 0;
            for range in ranges {
                writer.uvarint(range.start - from);
                writer.uvarint(range.end - range.start - 1);
                from = range.end;
            }
        }
    }

    /// Of two entries of one topic the first counts: what is claimed is then no more than what exists.
    pub(super) fn read(reader: &mut Reader) -> Result<Self, ReadError> {
        let mut topics = BTreeMap::new();
        for _ in 0..reader.count(Layout::Compact, 2)?.unwrap_or(0) {
            let topic = reader.string(Layout::Compact)?;
            let mut from = 0;
            let ranges = reader.array(Layout::Compact, 2, |reader| {
                let range = read_range(reader, from)?;
                from = range.end;
                Ok(range)
            })?;
            topics.entry(topic).or_insert(ranges);
        }
        Ok(Self { topics })
    }
}

/// A range is written as the gap before it and its length less one: ranges that touch are one, and none is empty.
fn read_range(reader: &mut Reader, from: u32) -> Result<Range<u32>, ReadError> {
    let gap = reader.uvarint()?;
    let length = reader.uvarint()?;
    let end = u64::from(from) + u64::from(gap) + u64::from(length) + 1;
    match (u32::try_from(end), i32::try_from(end)) {
        (Ok(end), Ok(_)) => Ok(from + gap..end),
        _ => Err(ReadError::Count(i64::try_from(end).unwrap_or(i64::MAX))),
    }
}

impl From<&Partitions> for PartitionRanges {
    fn from(partitions: &Partitions) -> Self {
        let topics =
            partitions.by_topic().map(|(topic, numbers)| (Arc::clone(topic), runs(numbers)));
        Self { topics: topics.filter(|(_, ranges)| !ranges.is_empty()).collect() }
    }
}

/// The runs in sorted numbers.
fn runs(numbers: &[i32]) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for number in numbers.iter().filter_map(|number| u32::try_from(*number).ok()) {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}
