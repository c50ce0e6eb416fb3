//! Records that were read and not yet handed out. Pure.

use std::collections::VecDeque;

use super::record::Record;

/// A queue that is full by count or by weight, whichever comes first.
///
/// Small on purpose: librdkafka reads ahead (`queued.max.messages.kbytes`), and this only carries from its thread to
/// the application's.
#[derive(Debug)]
pub(super) struct Queue {
    records: VecDeque<Record>,
    weight: usize,
    limits: Limits,
}

/// How much waits at the most. One record always fits, however heavy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) records: usize,
    pub(super) bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { records: 2000, bytes: 4 * 1024 * 1024 }
    }
}

impl Queue {
    pub(super) fn new(limits: Limits) -> Self {
        Self { records: VecDeque::new(), weight: 0, limits }
    }

    /// Whether another record may be read.
    pub(super) fn has_room(&self) -> bool {
        self.records.len() < self.limits.records && self.weight < self.limits.bytes
    }

    /// Whether it is down to half: reading begins again here, so that reader and taker do not wake each other for
    /// every record.
    pub(super) fn is_half_empty(&self) -> bool {
        self.records.len() <= self.limits.records / 2 && self.weight <= self.limits.bytes / 2
    }

    pub(super) fn push(&mut self, record: Record) {
        self.weight += record.weight();
        self.records.push_back(record);
    }

    pub(super) fn pop(&mut self) -> Option<Record> {
        let record = self.records.pop_front()?;
        self.weight -= record.weight();
        Some(record)
    }

    /// Puts back what was just taken.
    pub(super) fn put_back(&mut self, record: Record) {
        self.weight += record.weight();
        self.records.push_front(record);
    }

    /// Drops what `keep` does not keep.
    pub(super) fn retain(&mut self, keep: impl Fn(&Record) -> bool) {
        self.records.retain(keep);
        self.weight = self.records.iter().map(Record::weight).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::ledger::Epoch;
    use crate::types::TopicPartition;

    fn record(offset: i64) -> Record {
        Record::sample(&TopicPartition::new("orders", 0), offset, Epoch::default())
    }

    #[test]
    fn it_is_full_by_count() {
        let mut queue = Queue::new(Limits { records: 2, bytes: usize::MAX });
        queue.push(record(0));
        assert!(queue.has_room());
        queue.push(record(1));
        assert!(!queue.has_room());
    }

    #[test]
    fn it_is_full_by_weight_and_one_record_always_fits() {
        let mut queue = Queue::new(Limits { records: 9, bytes: 1 });
        assert!(queue.has_room());
        queue.push(record(0));
        assert!(!queue.has_room());
        assert_eq!(queue.pop().map(|record| record.offset()), Some(0));
        assert!(queue.has_room());
    }

    #[test]
    fn what_is_dropped_weighs_nothing() {
        let mut queue = Queue::new(Limits { records: 9, bytes: 1 });
        queue.push(record(0));
        queue.push(record(1));
        queue.retain(|record| record.offset() == 7);
        assert!(queue.has_room());
        assert!(queue.pop().is_none());
    }
}
