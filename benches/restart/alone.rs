//! rdkafka without a group's members: `assign()` of all partitions, all options at their defaults.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};
use tokio::time::Instant;

use super::{PARTITIONS, PATIENCE, Plan};

/// Where reading starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// Where the group has committed, as a consumer that restarts does: the coordinator is found and asked.
    Stored,
    /// At an offset that the program knows by itself: nobody is asked.
    Known,
}

/// From the first call until the first record.
pub(crate) fn run(plan: &Plan<'_>, start: Start) -> Duration {
    let began = Instant::now();
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", plan.bootstrap)
        .set("group.id", plan.group)
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .create()
        .expect("good options");
    let offset = match start {
        Start::Stored => Offset::Stored,
        Start::Known => Offset::Offset(1),
    };
    let mut partitions = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        partitions.add_partition_offset(plan.topic, partition, offset).expect("an offset");
    }
    consumer.assign(&partitions).expect("partitions can be assigned");
    while began.elapsed() < PATIENCE {
        if let Some(first) = consumer.poll(Duration::from_millis(100)) {
            first.expect("no error");
            return began.elapsed();
        }
    }
    panic!("no record within {PATIENCE:?}");
}
