//! A static group of five under load, each of which restarts: nobody notices, and the records least of all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kafka_group::assign::{RangeAssigner, StickyAssigner};
use kafka_group::{
    AutoOffsetReset, Consumer, ConsumerBuilder, MemberHandle, OnFenced, Status, types,
};
use tokio::task::JoinHandle;

use crate::common::{Kafka, unique};
use crate::consuming::{Seen, produce, read};
use crate::harness::SOON;

const NAMES: [&str; 5] = ["ann", "bob", "cid", "dan", "eve"];
const PARTITIONS: i32 = 10;

/// Five processes on one topic.
struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
    seen: Seen,
    assigner: fn(ConsumerBuilder) -> ConsumerBuilder,
}

/// A process that reads.
struct Process {
    handle: MemberHandle,
    reading: JoinHandle<usize>,
}

impl Group {
    fn new(assigner: fn(ConsumerBuilder) -> ConsumerBuilder) -> Self {
        let (kafka, id, topic) = (Kafka::shared(), unique("group"), unique("topic"));
        kafka.admin().create_topic(&topic, PARTITIONS, 1);
        Self { kafka, id, topic, seen: Seen::default(), assigner }
    }

    async fn start(&self, name: &str) -> Process {
        self.start_with(name, OnFenced::Fail).await
    }

    async fn start_with(&self, name: &str, on_fenced: OnFenced) -> Process {
        let builder = Consumer::builder()
            .on_fenced(on_fenced)
            .bootstrap_servers(self.kafka.bootstrap())
            .group_id(&self.id)
            .group_instance_id(name)
            .subscribe([&self.topic])
            .auto_offset_reset(AutoOffsetReset::Earliest)
            .auto_commit_interval(Duration::from_millis(200))
            .set("fetch.wait.max.ms", "50");
        let consumer = (self.assigner)(builder).join().await.unwrap();
        Process { handle: consumer.handle(), reading: read(consumer, self.seen.clone()) }
    }

    /// Writes without a pause until it is told to stop; says how many records that were.
    fn load(&self, stop: Arc<AtomicBool>) -> JoinHandle<usize> {
        let (bootstrap, topic) = (self.kafka.bootstrap(), self.topic.clone());
        tokio::spawn(async move {
            let mut written = 0;
            while !stop.load(Ordering::Relaxed) {
                produce(bootstrap, &topic, PARTITIONS, 1000).await;
                written += 1000;
            }
            written
        })
    }
}

impl Process {
    fn status(&self) -> Status<types::Partitions> {
        self.handle.status().borrow().clone()
    }

    /// Closes as a process does that is asked to stop; everything that it read is committed.
    async fn close(self) {
        self.handle.close().await.unwrap();
        assert_eq!(self.reading.await.unwrap(), 0, "the last commit was acknowledged");
    }
}

/// Waits until each of the five has its two partitions, in one generation.
async fn settled(processes: &[Process]) -> types::Generation {
    let settled = async {
        loop {
            let all: Vec<_> = processes.iter().map(Process::status).collect();
            let generation = all[0].generation;
            let is_settled = |one: &Status<types::Partitions>| {
                one.generation == generation && one.assignment.len() == 2
            };
            if all.iter().all(is_settled) {
                return generation;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, settled).await.expect("they settle")
}

async fn each_restarts_in_turn(assigner: fn(ConsumerBuilder) -> ConsumerBuilder) {
    let group = Group::new(assigner);
    let mut processes = Vec::new();
    for name in NAMES {
        processes.push(group.start(name).await);
    }
    let generation = settled(&processes).await;
    let rounds: Vec<u64> = processes.iter().map(|it| it.status().counters.rebalances).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let load = group.load(Arc::clone(&stop));

    let mut leaders = 0;
    for (at, name) in NAMES.into_iter().enumerate() {
        let old = processes.remove(0);
        let before = old.status();
        leaders += usize::from(before.is_leader);
        assert_eq!(before.counters.rebalances, rounds[at], "{name} was disturbed");
        old.close().await;
        processes.push(group.start(name).await);
        assert_eq!(settled(&processes).await, generation);
        let after = processes[NAMES.len() - 1].status();
        assert_eq!(after.assignment, before.assignment);
        assert_eq!(after.is_leader, before.is_leader);
        assert_eq!(after.counters.rebalances, 1);
    }
    assert_eq!(leaders, 1);

    stop.store(true, Ordering::Relaxed);
    let written = load.await.unwrap();
    group.seen.reaches(written).await;
    for process in processes {
        let status = process.status();
        assert_eq!((status.generation, status.counters.rebalances), (generation, 1));
        process.close().await;
    }
    assert_eq!((group.seen.count(), group.seen.repeated()), (written, 0));
    let committed: i64 = group.kafka.admin().committed(&group.id).values().sum();
    assert_eq!(committed, i64::try_from(written).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_static_members_restart_in_turn_under_load_and_nothing_is_lost_or_read_twice() {
    each_restarts_in_turn(|builder| builder.assigner(RangeAssigner::default())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_cooperative_static_members_restart_in_turn_under_load_and_nothing_is_lost_or_read_twice()
 {
    each_restarts_in_turn(|builder| builder.assigner(StickyAssigner::default())).await;
}

/// Two processes with one id, of which the newer one goes away: what each has not committed, the other reads again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_consumer_that_may_come_back_reads_on_where_the_other_one_stopped() {
    let group = Group::new(|builder| builder.assigner(RangeAssigner::default()));
    let retry = OnFenced::RetryAfter(Duration::from_secs(5));
    let older = group.start_with("ann", retry).await;
    let produce = |records| produce(group.kafka.bootstrap(), &group.topic, PARTITIONS, records);
    produce(1000).await;
    group.seen.reaches(1000).await;
    older.handle.ready(SOON).await.unwrap();

    let newer = group.start("ann").await;
    produce(1000).await;
    group.seen.reaches(2000).await;
    let mut status = older.handle.status();
    let has_lost = status.wait_for(|status| status.counters.losses > 0);
    let counters = tokio::time::timeout(SOON, has_lost).await.expect("in time").unwrap().counters;
    assert_eq!((counters.losses, counters.rebalances), (1, 1), "it lost all, once, and waits");
    newer.close().await;

    produce(1000).await;
    group.seen.reaches(3000).await;
    let status = older.status();
    assert_eq!((status.generation.0, status.counters.rebalances), (1, 2));
    older.close().await;
    let committed: i64 = group.kafka.admin().committed(&group.id).values().sum();
    assert_eq!((group.seen.count(), committed), (3000, 3000));
}
