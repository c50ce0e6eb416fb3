//! Partitions as ranges: what eager members had before, in few bytes.

use std::ops::Range;

use crate::subscription::reading::Names;
use crate::subscription::writer::Writer;
use crate::types::{PartitionRanges, RangesBuilder};
use crate::wire::{Layout, ReadError, Reader};

pub(super) fn write_ranges(writer: &mut Writer, partitions: &PartitionRanges) {
    writer.compact_count(partitions.topic_count());
    for (topic, ranges) in partitions.by_topic() {
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

pub(super) fn read_ranges(
    reader: &mut Reader,
    names: &mut Names,
) -> Result<PartitionRanges, ReadError> {
    let topics = reader.count(Layout::Compact, 2)?.unwrap_or(0);
    let mut ranges = RangesBuilder::with_capacity(topics, topics);
    for _ in 0..topics {
        let name = names.read(reader, Layout::Compact)?;
        ranges.next_topic(name, names.has_risen());
        let mut from = 0;
        for _ in 0..reader.count(Layout::Compact, 2)?.ok_or(ReadError::Null)? {
            let range = read_range(reader, from)?;
            from = range.end;
            ranges.range(range);
        }
    }
    Ok(ranges.finish())
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
