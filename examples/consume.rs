//! Reads a topic as a member of a group, at least once: `cargo run --example consume -- localhost:9092 orders`.
//!
//! Run it several times at once, and the copies share the topic's partitions. Give each a third argument of its own
//! (`indexer-1`, `indexer-2`) and a copy that restarts within 45 s keeps its partitions, without a rebalance. End it
//! with ctrl-c.

use std::env;

use kafka_group::assign::{RangeAssigner, RoundRobinAssigner};
use kafka_group::{AutoOffsetReset, Consumer, Error, Record};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt().init();
    let argument = |at: usize| env::args().nth(at);
    let brokers = argument(1).or_else(|| env::var("KAFKA_BOOTSTRAP_SERVERS").ok());
    let mut consumer = Consumer::builder()
        .bootstrap_servers(brokers.unwrap_or_else(|| "localhost:9092".to_owned()))
        .group_id("consume-example")
        .subscribe([argument(2).unwrap_or_else(|| "orders".to_owned())])
        .assigner(RangeAssigner::default())
        .assigner(RoundRobinAssigner::default())
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .set("fetch.wait.max.ms", "100"); // A property of librdkafka's.
    if let Some(id) = argument(3) {
        consumer = consumer.group_instance_id(id);
    }
    let mut consumer = consumer.join().await?;

    // The loop ends when somebody asks the membership to: here, ctrl-c. What is marked is committed by then.
    let handle = consumer.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            println!("closing: {:?}", handle.close().await);
        }
    });

    while let Some(record) = consumer.recv().await? {
        process(&record).await;
        // Committed within five seconds, before the partition goes to another member, and at the end.
        consumer.mark_processed(&record);
    }
    let uncommitted = consumer.close().await?;
    println!("left uncommitted: {uncommitted:?}");
    Ok(())
}

async fn process(record: &Record) {
    let text = record.value().map(|value| String::from_utf8_lossy(value));
    println!("{} @ {}: {}", record.topic_partition(), record.offset(), text.unwrap_or_default());
}
