//! Topics that appear, and how many rounds they cost.

use kafka_group::assign::RangeAssigner;
use kafka_group::testing::FakeCluster;
use kafka_group::{GroupMember, GroupMemberBuilder};
use tokio::runtime::Handle;

use crate::harness::{assigned, ms, one_broker, pass, soon};

/// A member with a client of its own, which looks at the cluster every five minutes.
fn by_pattern(cluster: &FakeCluster) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(cluster.bootstrap_servers())
        .group_id("indexers")
        .subscribe_pattern("^orders")
        .assigner(RangeAssigner::default())
        .runtime(Handle::current())
}

#[tokio::test(start_paused = true)]
async fn who_subscribes_to_a_pattern_looks_again_before_it_joins_so_that_one_round_is_enough() {
    let cluster = one_broker();
    let mut ann = soon(by_pattern(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(by_pattern(&cluster).join()).await.unwrap();
    let (before, _) = tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));

    pass(ms(500)).await;
    cluster.set_partitions("orders-abroad", 2);
    ann.handle().refresh_metadata().await.unwrap();
    let (after, _) = tokio::join!(assigned(&mut ann, 3), assigned(&mut bob, 3));
    assert_eq!(after.generation().0, before.generation().0 + 1);
}
