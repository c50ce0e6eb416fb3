//! Shares a topic out by the members' sizes, and moves no more than that takes.
//!
//! Each member says how many threads it has. Start it several times against a topic `orders`, with different numbers:
//! whoever comes gets its share, and what the others keep goes on meanwhile.
//!
//!     cargo run --example capacity_aware -- localhost:9092 8
//!     cargo run --example capacity_aware -- localhost:9092 2

use std::env;
use std::error::Error;

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, MemberRef, PartitionAssigner,
    StickyPlanner,
};
use kafka_group::{Event, GroupMember};
use serde::{Deserialize, Serialize};

/// Gives each member partitions in proportion to its threads.
struct CapacityAware {
    threads: u32,
}

/// What each member tells the leader. Later versions are appended; members of both understand each other then.
#[derive(Serialize, Deserialize)]
enum Size {
    V1 { threads: u32 },
}

impl PartitionAssigner<Size> for CapacityAware {
    fn name(&self) -> &str {
        "capacity-aware"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> Size {
        Size::V1 { threads: self.threads }
    }

    fn assign(&self, group: &GroupSubscription<Size>) -> Result<GroupAssignment, AssignError> {
        // The planner balances load by capacity, exactly, and among the balanced plans it moves least.
        Ok(StickyPlanner::new().capacity(threads).plan(group))
    }
}

/// A member that cannot be understood is as good as one with a single thread: it gets little, and not nothing.
fn threads(member: MemberRef<'_, Size>) -> u32 {
    match member.metadata() {
        Ok(Size::V1 { threads }) => (*threads).max(1),
        Err(_) => 1,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let servers = args.next().unwrap_or_else(|| "localhost:9092".into());
    let threads = args.next().map_or(Ok(4), |threads| threads.parse())?;

    let mut member = GroupMember::builder()
        .bootstrap_servers(servers)
        .group_id("capacity-aware-example")
        .subscribe(["orders"])
        .assigner(CapacityAware { threads })
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
            Event::Assigned(assigned) => {
                println!(
                    "{threads} threads, {} partitions: {:?}",
                    assigned.all().len(),
                    assigned.all()
                );
            }
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
    fn a_newcomer_gets_what_its_threads_are_worth_and_nothing_else_moves() {
        let group = GroupSubscription::builder()
            .topic("orders", 12)
            .member("large", ["orders"], Size::V1 { threads: 8 })
            .owns((0..12).map(|number| ("orders", number)), 7)
            .member("small", ["orders"], Size::V1 { threads: 4 })
            .build();
        let plan = CapacityAware { threads: 8 }.assign(&group).unwrap();
        assert_eq!((plan.by_name()["large"].len(), plan.by_name()["small"].len()), (8, 4));
    }

    #[cfg(feature = "test-util")]
    #[test]
    fn it_is_sound() {
        use kafka_group::testing::AssignerCheck;

        let threads_of = |member| 1 + member as u32 % 3;
        let report =
            AssignerCheck::new(|member| CapacityAware { threads: threads_of(member) }).run();
        report.assert_sound();
        println!("{report}");
    }
}
