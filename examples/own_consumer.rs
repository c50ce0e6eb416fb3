//! An application that keeps its own rdkafka consumer, and lets a `GroupMember` say what that one reads:
//! `cargo run --example own_consumer -- localhost:9092 orders`.
//!
//! Call on the rdkafka consumer: `incremental_assign` with offsets, `incremental_unassign`, `resume`, `recv`. Never call
//! `subscribe` (it would join the group as a second member), `commit` or `store_offset` (refused: that consumer is no
//! member), and turn its automatic commits off.

use std::env;
use std::error::Error;
use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::types::{Offsets, Partitions, TopicPartition};
use kafka_group::{Event, GroupMember, offsets_to_list};
use rdkafka::consumer::{Consumer, StreamConsumer};
use rdkafka::{ClientConfig, Message};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let brokers = env::args().nth(1).unwrap_or_else(|| "localhost:9092".to_owned());
    let topic = env::args().nth(2).unwrap_or_else(|| "orders".to_owned());
    let consumer: StreamConsumer = ClientConfig::new()
        .set("bootstrap.servers", &brokers)
        .set("group.id", "own-consumer-example") // The group's own: librdkafka assigns nothing without one.
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false")
        .set("auto.offset.reset", "earliest") // For offsets that are not there any more.
        .create()?;
    let member = GroupMember::builder().bootstrap_servers(brokers).group_id("own-consumer-example");
    let mut member = member.subscribe([topic]).assigner(RangeAssigner::default()).join().await?;
    let handle = member.handle();
    let mut processed = Offsets::new();
    let mut commit = tokio::time::interval(Duration::from_secs(5));

    loop {
        tokio::select! {
            event = member.next() => match event? {
                Some(Event::Assigned(assigned)) => {
                    let mut starts = handle.committed(assigned.partitions().iter()).await?;
                    for partition in assigned.partitions().iter() {
                        starts.entry(partition).or_insert_with(|| 0.into());
                    }
                    // With explicit offsets: without, librdkafka would look for committed ones by itself.
                    let list = offsets_to_list(&starts)?;
                    consumer.incremental_assign(&list)?;
                    consumer.resume(&list)?; // A pause would outlive an assignment.
                }
                Some(Event::Revoked(revoked)) => {
                    consumer.incremental_unassign(&revoked.partitions().into())?;
                    let theirs = take(&mut processed, revoked.partitions());
                    handle.commit(theirs).await?; // Asking for the next event gives them up.
                }
                Some(Event::Lost(lost)) => {
                    consumer.incremental_unassign(&lost.partitions().into())?;
                    take(&mut processed, lost.partitions()); // Too late to commit.
                }
                Some(other) => println!("{other:?}"),
                None => return Ok(()),
            },
            message = consumer.recv() => {
                let message = message?;
                println!("{}-{} @ {}", message.topic(), message.partition(), message.offset());
                let at = TopicPartition::new(message.topic(), message.partition());
                processed.insert(at, (message.offset() + 1).into());
            }
            _ = commit.tick() => if let Err(error) = handle.commit(processed.clone()).await {
                println!("not committed now: {error}");
            },
        }
    }
}

/// Takes out the offsets of these partitions.
fn take(offsets: &mut Offsets, partitions: &Partitions) -> Offsets {
    let (theirs, others) = std::mem::take(offsets)
        .into_iter()
        .partition(|(at, _)| partitions.contains(at.topic(), at.partition()));
    *offsets = others;
    theirs
}
