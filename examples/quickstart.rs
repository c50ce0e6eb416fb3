//! Three members of a group with an assigner of their own, and no broker anywhere: `cargo run --example quickstart`.
//!
//! librdkafka brings a small Kafka of its own for tests, which plays the cluster. Each member tells the leader how
//! many threads it has; the leader gives each as many partitions as it has threads for. Then one leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
};
use kafka_group::{Assigned, AutoOffsetReset, Consumer, RebalanceListener, Revoked};
use rdkafka::ClientConfig;
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{FutureProducer, FutureRecord};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, mpsc};

/// Gives each partition to whoever is least busy for its size, counting what it was just given.
struct LeastLoaded {
    threads: usize,
}

/// What each member tells the leader.
#[derive(Serialize, Deserialize)]
struct Capacity {
    threads: usize,
}

impl PartitionAssigner<Capacity> for LeastLoaded {
    fn name(&self) -> &str {
        "least-loaded"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> Capacity {
        Capacity { threads: self.threads }
    }

    fn assign(&self, group: &GroupSubscription<Capacity>) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        for partition in group.partitions() {
            let least = group.subscribers(partition.topic()).min_by_key(|member| {
                let threads = member.metadata().map_or(1, |capacity| capacity.threads.max(1));
                (plan.load(*member) + 1) * 1000 / threads
            });
            if let Some(member) = least {
                plan.give(member, partition);
            }
        }
        Ok(plan)
    }
}

/// Says aloud what a member is given, and what it gives up.
struct Narrator(&'static str);

#[async_trait::async_trait]
impl RebalanceListener for Narrator {
    async fn assigned(&self, assigned: &Assigned) -> Option<kafka_group::types::Offsets> {
        let leader = if assigned.is_leader() { ", and made the plan" } else { "" };
        println!("  {:<5} has {:?}{leader}", self.0, assigned.all());
        None
    }

    async fn revoked(&self, revoked: &Revoked) {
        println!("  {:<5} gives up {:?}", self.0, revoked.partitions());
    }
}

/// Who has read which record.
type Read = (&'static str, i32, i64);

/// Reads until it is told to leave. Tells `main` who has read what.
async fn member(
    name: &'static str,
    threads: usize,
    brokers: String,
    read: mpsc::UnboundedSender<Read>,
    leave: Arc<Notify>,
) -> Result<(), kafka_group::Error> {
    let mut consumer = Consumer::builder()
        .bootstrap_servers(brokers)
        .group_id("quickstart")
        .client_id(name)
        .subscribe(["orders"])
        .assigner(LeastLoaded { threads })
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .session_timeout(Duration::from_secs(4)) // The mock takes a session, less a second, for a rebalance.
        .auto_commit_interval(Duration::from_millis(100)) // And it takes no commits meanwhile.
        .rebalance_listener(Narrator(name))
        .join()
        .await?;
    loop {
        tokio::select! {
            record = consumer.recv() => match record? {
                Some(record) => {
                    read.send((name, record.partition(), record.offset())).ok();
                    consumer.mark_processed(&record);
                }
                None => return Ok(()),
            },
            () = leave.notified() => break,
        }
    }
    let uncommitted = consumer.leave().await?;
    println!("  {name:<5} has left, with {} offsets uncommitted", uncommitted.len());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let cluster = MockCluster::new(3)?;
    cluster.create_topic("orders", 8, 3)?;
    let brokers = cluster.bootstrap_servers();
    println!("A mock cluster plays Kafka at {brokers}.\n");
    let producer: FutureProducer =
        ClientConfig::new().set("bootstrap.servers", &brokers).create()?;
    let (read, mut reading) = mpsc::unbounded_channel();
    let mut seen = BTreeSet::new();

    println!("Three members join: ann with 4 threads, ben and cleo with 2 each.");
    let mut members = BTreeMap::new();
    for (name, threads) in [("ann", 4), ("ben", 2), ("cleo", 2)] {
        let leave = Arc::new(Notify::new());
        let running = member(name, threads, brokers.clone(), read.clone(), Arc::clone(&leave));
        members.insert(name, (tokio::spawn(running), leave));
    }
    produce(&producer, 400).await?;
    count(&mut reading, &mut seen, 400).await?;

    println!("\nann leaves.");
    if let Some((running, leave)) = members.remove("ann") {
        leave.notify_one();
        running.await??;
    }
    produce(&producer, 400).await?;
    count(&mut reading, &mut seen, 400).await?;

    println!("\nThe others leave, too.");
    for (_, leave) in members.values() {
        leave.notify_one();
    }
    for (running, _) in members.into_values() {
        running.await??;
    }
    Ok(())
}

async fn produce(producer: &FutureProducer, records: usize) -> Result<(), Box<dyn Error>> {
    for number in 0..records {
        let key = number.to_string();
        let record =
            FutureRecord::to("orders").partition((number % 8) as i32).key(&key).payload("1 book");
        let queued = producer.send_result(record).map_err(|(error, _)| error)?;
        if number + 1 == records {
            queued.await?.map_err(|(error, _)| error)?;
        }
    }
    Ok(())
}

/// Waits until so many more records were read, and says by whom. A rebalance may bring some of them twice, since marks
/// are committed now and then; they are counted once.
async fn count(
    reading: &mut mpsc::UnboundedReceiver<Read>,
    seen: &mut BTreeSet<(i32, i64)>,
    records: usize,
) -> Result<(), Box<dyn Error>> {
    let (mut counts, wanted) = (BTreeMap::new(), seen.len() + records);
    while seen.len() < wanted {
        let read = tokio::time::timeout(Duration::from_secs(20), reading.recv()).await?;
        let (name, partition, offset) = read.ok_or("the members have ended")?;
        if seen.insert((partition, offset)) {
            *counts.entry(name).or_insert(0) += 1;
        }
    }
    println!("  {records} records were read: {counts:?}");
    Ok(())
}
