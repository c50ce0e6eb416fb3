//! Many members that start together, and how many rounds they cost.

use std::time::Duration;

use kafka_group::GroupMember;
use kafka_group::assign::StickyAssigner;
use kafka_group::testing::FakeCluster;
use kafka_group::types::Generation;
use tokio::task::JoinSet;

use crate::harness::{bare, eventually, ms, pass, soon};

const MEMBERS: usize = 40;

/// Starts forty members, one after the other within four seconds; the generation in which all have their partition.
async fn start_all(settle_delay: Duration) -> Generation {
    let cluster =
        FakeCluster::builder().topic("orders", MEMBERS as i32).start_on_this_runtime().unwrap();
    let mut loops = JoinSet::new();
    let mut handles = Vec::new();
    for _ in 0..MEMBERS {
        let member = bare(&cluster).heartbeat_interval(ms(300)).settle_delay(settle_delay);
        let member = soon(member.assigner(StickyAssigner::default()).join()).await.unwrap();
        handles.push(member.handle());
        loops.spawn(take_everything(member));
        pass(ms(100)).await;
    }
    eventually("each has its partition", || {
        handles.iter().all(|handle| handle.status().borrow().assignment.len() == 1)
    })
    .await;
    handles[0].group_metadata().generation
}

async fn take_everything(mut member: GroupMember) {
    while soon(member.next()).await.is_ok_and(|event| event.is_some()) {}
}

#[tokio::test(start_paused = true)]
async fn forty_members_that_start_together_cost_a_few_rounds_where_the_leader_waits_for_them() {
    let (hasty, patient) = (start_all(ms(0)).await, start_all(ms(1500)).await);
    assert!(patient.0 <= 6, "{patient}");
    assert!(hasty.0 > 2 * patient.0, "{hasty} without waiting, {patient} with it");
}
