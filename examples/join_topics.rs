//! Joins two topics by key: each order with its payment.
//!
//! Both topics must have been written with the same partitioner, and should have equally many partitions: then an order
//! and its payment have one partition number, and `CoPartitionAssigner` gives both partitions to one member. Start it
//! as often as you like; end it with ctrl-c.
//!
//!     cargo run --example join_topics -- localhost:9092 orders payments

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::sync::{Arc, Mutex, PoisonError};

use kafka_group::assign::CoPartitionAssigner;
use kafka_group::types::Offsets;
use kafka_group::{
    Assigned, AutoOffsetReset, Consumer, Error, Lost, RebalanceListener, Record, Revoked,
};

/// What was read of the partitions of one number: per key the orders and the payments.
type Table = HashMap<Vec<u8>, [Option<String>; 2]>;

/// By partition number. What is joined lies with one member, so no table is needed anywhere else.
#[derive(Clone, Default)]
struct Tables(Arc<Mutex<BTreeMap<i32, Table>>>);

impl Tables {
    /// Adds one side of a pair, and returns the pair if it is whole now.
    fn add(&self, record: &Record, side: usize) -> Option<[String; 2]> {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = tables
            .entry(record.partition())
            .or_default()
            .entry(record.key()?.to_vec())
            .or_default();
        pair[side] = Some(String::from_utf8_lossy(record.value()?).into_owned());
        let [order, payment] = pair;
        Some([order.clone()?, payment.clone()?])
    }

    fn forget(&self, numbers: impl Iterator<Item = i32>) {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.for_each(|number| drop(tables.remove(&number)));
    }
}

/// Tables live as long as their partitions are here, and are read anew where those go.
#[async_trait::async_trait]
impl RebalanceListener for Tables {
    async fn assigned(&self, assigned: &Assigned) -> Option<Offsets> {
        println!("joining {:?}", assigned.all());
        let from_the_beginning =
            assigned.partitions().iter().map(|partition| (partition, 0.into()));
        Some(from_the_beginning.collect())
    }

    async fn revoked(&self, revoked: &Revoked) {
        self.forget(revoked.partitions().iter().map(|partition| partition.partition()));
    }

    async fn lost(&self, lost: &Lost) {
        self.forget(lost.partitions().iter().map(|partition| partition.partition()));
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let argument =
        |at: usize, default: &str| env::args().nth(at).unwrap_or_else(|| default.to_owned());
    let topics = [argument(2, "orders"), argument(3, "payments")];
    let tables = Tables::default();
    let mut consumer = Consumer::builder()
        .bootstrap_servers(argument(1, "localhost:9092"))
        .group_id("join-topics-example")
        .subscribe(topics.clone())
        .assigner(CoPartitionAssigner::default().group(topics.clone()))
        .rebalance_listener(tables.clone())
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .join()
        .await?;

    let handle = consumer.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = handle.close().await;
        }
    });
    while let Some(record) = consumer.recv().await? {
        let side = usize::from(record.topic() != topics[0]);
        if let Some([order, payment]) = tables.add(&record, side) {
            println!("{}: {order} is paid by {payment}", record.partition());
        }
    }
    Ok(())
}
