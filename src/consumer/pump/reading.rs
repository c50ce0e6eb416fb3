//! What the pump's thread reads, and how far it is.

use std::collections::HashMap;
use std::sync::Arc;

use crate::consumer::ledger::Epoch;
use crate::types::TopicPartition;

/// Where the reading of a partition starts, and in which ownership.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::consumer) struct Start {
    pub(in crate::consumer) epoch: Epoch,
    pub(in crate::consumer) offset: i64,
}

/// The partitions that are read, with the next offset of each: enough to begin anew with all of them.
#[derive(Debug, Default)]
pub(super) struct Reading(HashMap<Arc<str>, HashMap<i32, Start>>);

impl Reading {
    pub(super) fn start(&mut self, starts: impl IntoIterator<Item = (TopicPartition, Start)>) {
        for (at, start) in starts {
            self.0.entry(at.shared_topic()).or_default().insert(at.partition(), start);
        }
    }

    pub(super) fn stop<'a>(&mut self, stop: impl IntoIterator<Item = &'a TopicPartition>) {
        for at in stop {
            if let Some(partitions) = self.0.get_mut(at.topic()) {
                partitions.remove(&at.partition());
            }
        }
        self.0.retain(|_, partitions| !partitions.is_empty());
    }

    /// Goes on behind a record. Says whose it is; nobody's if the partition is not read.
    pub(super) fn advance(
        &mut self,
        topic: &str,
        partition: i32,
        offset: i64,
    ) -> Option<(TopicPartition, Epoch)> {
        let name = self.0.get_key_value(topic).map(|(name, _)| Arc::clone(name))?;
        let reading = self.0.get_mut(topic)?.get_mut(&partition)?;
        reading.offset = offset + 1;
        Some((TopicPartition::new(name, partition), reading.epoch))
    }

    pub(super) fn epoch(&self, topic: &str, partition: i32) -> Option<Epoch> {
        Some(self.0.get(topic)?.get(&partition)?.epoch)
    }

    pub(super) fn epochs(&self) -> impl Iterator<Item = (TopicPartition, Epoch)> {
        self.iter().map(|(at, start)| (at, start.epoch))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (TopicPartition, Start)> {
        self.0.iter().flat_map(|(topic, partitions)| {
            let at = |number: &i32| TopicPartition::new(Arc::clone(topic), *number);
            partitions.iter().map(move |(number, start)| (at(number), *start))
        })
    }
}
