//! A consumer of librdkafka as a member of a group.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _, ConsumerContext, Rebalance};
use rdkafka::{ClientConfig, ClientContext, Message as _, Offset, TopicPartitionList};

use crate::common::peers::Partitions;

/// It is polled until it is dropped, which is to leave the group. What it read is committed when it is revoked.
pub(crate) struct RdMember {
    consumer: Arc<BaseConsumer<Story>>,
    ends: Arc<AtomicBool>,
    polling: Option<JoinHandle<()>>,
}

/// What happened to it.
#[derive(Clone, Default)]
struct Story(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    revoked: Vec<Partitions>,
    read: Vec<(i32, i64)>,
}

impl Story {
    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap()
    }
}

impl ClientContext for Story {}

impl ConsumerContext for Story {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(revoked) = rebalance {
            // An error where nothing was read.
            let _ = consumer.commit_consumer_state(CommitMode::Sync);
            self.lock().revoked.push(set(revoked));
        }
    }
}

impl RdMember {
    /// Starts a consumer with these assignors (`partition.assignment.strategy`).
    pub(crate) fn start(bootstrap: &str, group: &str, topic: &str, assignors: &str) -> Self {
        let consumer: BaseConsumer<Story> = ClientConfig::new()
            .set("bootstrap.servers", bootstrap)
            .set("group.id", group)
            .set("partition.assignment.strategy", assignors)
            .set("session.timeout.ms", "6000")
            .set("heartbeat.interval.ms", "300")
            .set("auto.offset.reset", "earliest")
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .create_with_context(Story::default())
            .unwrap();
        consumer.subscribe(&[topic]).unwrap();
        let (consumer, ends) = (Arc::new(consumer), Arc::new(AtomicBool::new(false)));
        let polling = thread::spawn({
            let (consumer, ends) = (Arc::clone(&consumer), Arc::clone(&ends));
            move || {
                while !ends.load(Ordering::Relaxed) {
                    read(&consumer);
                }
            }
        });
        Self { consumer, ends, polling: Some(polling) }
    }

    /// Leaves the group; says what it has read.
    pub(crate) fn leave(self) -> Vec<(i32, i64)> {
        let story = self.consumer.context().clone();
        drop(self);
        std::mem::take(&mut story.lock().read)
    }

    /// What it has read: partitions and offsets.
    pub(crate) fn read(&self) -> Vec<(i32, i64)> {
        self.consumer.context().lock().read.clone()
    }

    /// What was revoked, each time.
    pub(crate) fn revocations(&self) -> Vec<Partitions> {
        self.consumer.context().lock().revoked.clone()
    }

    /// What it owns now.
    pub(crate) fn assignment(&self) -> Partitions {
        set(&self.consumer.assignment().unwrap())
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

fn read(consumer: &BaseConsumer<Story>) {
    let Some(Ok(message)) = consumer.poll(Duration::from_millis(50)) else { return };
    consumer.context().lock().read.push((message.partition(), message.offset()));
    // Refused where the partition went meanwhile, which polling alone makes it do.
    let _ = consumer.store_offset_from_message(&message);
}

fn set(list: &TopicPartitionList) -> Partitions {
    list.elements().iter().map(|at| (at.topic().to_owned(), at.partition())).collect()
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
