//! A static member of this crate, all options at their defaults.

use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::{AutoOffsetReset, Consumer};
use tokio::time::Instant;

use super::{PATIENCE, Plan};

/// From the call of `join()` until the first record. It commits nothing, and stays in the group when it closes.
pub(crate) fn run(plan: &Plan<'_>) -> Duration {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(async {
        let began = Instant::now();
        let mut consumer = Consumer::builder()
            .bootstrap_servers(plan.bootstrap)
            .group_id(plan.group)
            .group_instance_id("restarts")
            .subscribe([plan.topic])
            .assigner(RangeAssigner::default())
            .auto_offset_reset(AutoOffsetReset::Earliest)
            .join()
            .await
            .expect("the cluster is there");
        let first = tokio::time::timeout(PATIENCE, consumer.recv()).await;
        first.expect("in time").expect("no error").expect("a record");
        let took = began.elapsed();
        let generation = consumer.handle().group_metadata().generation;
        assert_eq!(generation.0, 1, "a restart is no rebalance");
        consumer.close().await.expect("it closes");
        took
    })
}
