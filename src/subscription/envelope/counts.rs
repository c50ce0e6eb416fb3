//! Partition counts by topic.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::subscription::reading::Names;
use crate::subscription::writer::Writer;
use crate::wire::{Layout, ReadError, Reader};

/// How many partitions topics have, as somebody knows it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct TopicCounts(pub(crate) Arc<BTreeMap<Arc<str>, u32>>);

impl TopicCounts {
    pub(super) fn write(&self, writer: &mut Writer) {
        writer.compact_count(self.0.len());
        for (topic, count) in self.0.iter() {
            writer.compact_string(topic);
            writer.uvarint(*count);
        }
    }

    pub(super) fn read(reader: &mut Reader, names: &mut Names) -> Result<Self, ReadError> {
        let entries = reader.array(Layout::Compact, 2, |reader| {
            Ok((names.read(reader, Layout::Compact)?, reader.uvarint()?))
        })?;
        Ok(Self(Arc::new(entries.into_iter().collect())))
    }
}
