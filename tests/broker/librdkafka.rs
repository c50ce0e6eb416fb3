//! A consumer of librdkafka as a member of a group.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

use crate::common::peers::Partitions;

/// It is polled until it is dropped, which is to leave the group.
pub(crate) struct RdMember {
    consumer: Arc<BaseConsumer>,
    ends: Arc<AtomicBool>,
    polling: Option<JoinHandle<()>>,
}

impl RdMember {
    /// Starts a consumer with these assignors (`partition.assignment.strategy`).
    pub(crate) fn start(bootstrap: &str, group: &str, topic: &str, assignors: &str) -> Self {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", bootstrap)
            .set("group.id", group)
            .set("partition.assignment.strategy", assignors)
            .set("session.timeout.ms", "6000")
            .set("heartbeat.interval.ms", "300")
            .set("enable.auto.commit", "false")
            .create()
            .unwrap();
        consumer.subscribe(&[topic]).unwrap();
        let (consumer, ends) = (Arc::new(consumer), Arc::new(AtomicBool::new(false)));
        let polling = thread::spawn({
            let (consumer, ends) = (Arc::clone(&consumer), Arc::clone(&ends));
            move || {
                while !ends.load(Ordering::Relaxed) {
                    let _ = consumer.poll(Duration::from_millis(50));
                }
            }
        });
        Self { consumer, ends, polling: Some(polling) }
    }

    /// What it owns now.
    pub(crate) fn assignment(&self) -> Partitions {
        let owned = self.consumer.assignment().unwrap();
        owned.elements().iter().map(|at| (at.topic().to_owned(), at.partition())).collect()
    }

    /// Commits this offset for everything it owns.
    pub(crate) fn commit(&self, offset: i64) {
        let mut list = TopicPartitionList::new();
        for (topic, partition) in self.assignment() {
            list.add_partition_offset(&topic, partition, Offset::Offset(offset)).unwrap();
        }
        self.consumer.commit(&list, CommitMode::Sync).unwrap();
    }
}

impl Drop for RdMember {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let _ = self.polling.take().map(JoinHandle::join);
    }
}

/// A member of whatever client.
pub(crate) trait Peer {
    /// What it owns; nothing while it does not know.
    fn owned(&self) -> Partitions;
}

impl Peer for RdMember {
    fn owned(&self) -> Partitions {
        self.assignment()
    }
}

impl Peer for crate::common::JavaMember {
    fn owned(&self) -> Partitions {
        self.assignment()
    }
}

impl Peer for crate::harness::App {
    fn owned(&self) -> Partitions {
        let all = self.now().map(|got| got.all).unwrap_or_default();
        all.iter().map(|at| (at.topic().to_owned(), at.partition())).collect()
    }
}

/// Waits until a group's members own `total` partitions between them, each once and each member some, by `protocol`.
pub(crate) fn share(
    kafka: &crate::common::Kafka,
    group: &str,
    peers: &[&dyn Peer],
    total: usize,
    protocol: &str,
) {
    let mut last = Vec::new();
    let shared = crate::common::wait::poll(crate::harness::SOON, || {
        last = peers.iter().map(|peer| peer.owned()).collect::<Vec<_>>();
        let once = last.iter().flatten().collect::<BTreeSet<_>>().len();
        let complete = once == total && last.iter().map(BTreeSet::len).sum::<usize>() == total;
        let settled = complete && last.iter().all(|owned| !owned.is_empty());
        let described = settled.then(|| kafka.admin().describe_group(group))?;
        let by = described.protocol_data.as_str() == protocol;
        (by && described.members.len() == peers.len()).then_some(())
    });
    assert!(shared.is_some(), "{total} partitions by {protocol}: {last:#?}");
}
