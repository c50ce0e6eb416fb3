//! An assigner over typed metadata: whoever has more threads gets more partitions.
//!
//! Start it twice, with different numbers of threads, against a topic `orders`:
//!
//!     cargo run --example custom_assigner -- localhost:9092 8
//!     cargo run --example custom_assigner -- localhost:9092 4

use std::env;
use std::error::Error;

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
};
use kafka_group::{Event, GroupMember};
use serde::{Deserialize, Serialize};

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
                plan.load(member) * 1000
                    / member.metadata().map_or(1, |capacity| capacity.threads.max(1))
            });
            if let Some(member) = least {
                plan.give(member, partition);
            }
        }
        Ok(plan)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let servers = args.next().unwrap_or_else(|| "localhost:9092".into());
    let threads = args.next().map_or(Ok(4), |threads| threads.parse())?;

    let mut member = GroupMember::builder()
        .bootstrap_servers(servers)
        .group_id("custom-assigner-example")
        .subscribe(["orders"])
        .assigner(LeastLoaded { threads })
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
            Event::Assigned(assigned) => println!("{threads} threads have {:?}", assigned.all()),
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
    fn twice_the_threads_get_twice_the_partitions() {
        let group = GroupSubscription::builder()
            .topic("orders", 12)
            .member("a", ["orders"], Capacity { threads: 8 })
            .member("b", ["orders"], Capacity { threads: 4 })
            .build();
        let plan = LeastLoaded { threads: 8 }.assign(&group).unwrap();
        assert_eq!((plan.by_name()["a"].len(), plan.by_name()["b"].len()), (8, 4));
    }
}
