//! Spreads the partitions that are far behind over the members.
//!
//! How far behind a partition is only the brokers know, so the leader asks them before it plans: that is what `Gather`
//! is for. Start it several times against a topic `orders`:
//!
//!     cargo run --example lag_aware -- localhost:9092

use std::collections::BTreeMap;
use std::env;
use std::error::Error;

use async_trait::async_trait;
use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, StickyPlanner,
};
use kafka_group::{BoxError, Event, Gather, GroupMember, GroupReader, Topics};

/// How many records of each partition are not processed yet, by topic and partition.
type Lag = BTreeMap<String, BTreeMap<i32, i64>>;

/// Asks the brokers how far behind the group is.
struct GatherLag;

#[async_trait]
impl Gather for GatherLag {
    type Output = Lag;

    async fn gather(&self, topics: &Topics, reader: &GroupReader) -> Result<Lag, BoxError> {
        let committed = reader.committed(topics.partitions()).await?;
        let begins = reader.beginning_offsets(topics.partitions()).await?;
        let ends = reader.end_offsets(topics.partitions()).await?;
        let mut lag = Lag::new();
        for (partition, end) in ends {
            let begin = begins.get(&partition).copied().unwrap_or(0);
            // Where nothing is committed yet, everything is ahead.
            let next = committed.get(&partition).map_or(begin, |at| at.offset.max(begin));
            let of_topic = lag.entry(partition.topic().to_owned()).or_default();
            of_topic.insert(partition.partition(), (end - next).max(0));
        }
        Ok(lag)
    }
}

/// Gives each member as many partitions as any sticky assigner would, and each its part of the lag.
struct LagAware;

impl PartitionAssigner for LagAware {
    fn name(&self) -> &str {
        "lag-aware"
    }

    // Lag changes by itself. Told as metadata, it would make every heartbeat's worth of it a rebalance.
    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        // None if the brokers could not be asked: then all partitions weigh the same.
        let lag = group.gathered::<Lag>();
        let planner = StickyPlanner::new().weight(|partition| {
            let of_topic = lag.and_then(|lag| lag.get(partition.topic()));
            of_topic.and_then(|lag| lag.get(&partition.number())).map_or(0.0, |lag| *lag as f64)
        });
        Ok(planner.plan(group))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let servers = env::args().nth(1).unwrap_or_else(|| "localhost:9092".into());
    let mut member = GroupMember::builder()
        .bootstrap_servers(servers)
        .group_id("lag-aware-example")
        .subscribe(["orders"])
        .assigner(LagAware)
        .gather(GatherLag)
        .join()
        .await?;

    let handle = member.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = handle.leave().await;
        }
    });
    while let Some(event) = member.next().await? {
        match event {
            Event::Assigned(assigned) => println!("working on {:?}", assigned.all()),
            Event::Revoked(revoked) => println!("giving up {:?}", revoked.partitions()),
            other => println!("{other:?}"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_far_behind_do_not_go_to_one_member() {
        let lag = Lag::from([("orders".to_owned(), BTreeMap::from([(0, 900), (2, 900), (3, 10)]))]);
        let group = GroupSubscription::builder()
            .topic("orders", 4)
            .member("a", ["orders"], ())
            .member("b", ["orders"], ())
            .gathered(lag)
            .build();
        let plan = LagAware.assign(&group).unwrap().by_name();
        for member in ["a", "b"] {
            let behind = [0, 2].iter().filter(|number| plan[member].contains("orders", **number));
            assert_eq!((behind.count(), plan[member].len()), (1, 2), "{plan:?}");
        }
    }

    #[cfg(feature = "test-util")]
    #[test]
    fn it_is_sound_and_balances_and_moves_least() {
        use kafka_group::testing::AssignerCheck;

        let check = AssignerCheck::new(|_| LagAware).gathered(|partitions| {
            let mut lag = Lag::new();
            for partition in partitions.iter() {
                let behind = i64::from(partition.partition() % 3) * 1000;
                let of_topic = lag.entry(partition.topic().to_owned()).or_default();
                of_topic.insert(partition.partition(), behind);
            }
            lag
        });
        let report = check.run();
        report.assert_sound();
        assert!(report.is_balanced() && report.moves_least(), "{report}");
    }
}
