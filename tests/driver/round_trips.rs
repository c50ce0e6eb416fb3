//! How many requests follow one another until a member has its partitions.

use kafka_group::testing::FakeCluster;
use kafka_group::{ApiKey, Event};

use crate::harness::{assigned, member, ms, next, next_assigned, one_broker, pass, soon};

/// The requests from the first JoinGroup on, without those that nothing waits for.
fn chain(cluster: &FakeCluster) -> Vec<ApiKey> {
    let requests = cluster.requests().into_iter().map(|request| request.api);
    requests
        .skip_while(|api| *api != ApiKey::JoinGroup)
        .filter(|api| *api != ApiKey::Heartbeat)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_dynamic_member_has_its_partitions_after_three_round_trips() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    assert_eq!(chain(&cluster), [ApiKey::JoinGroup, ApiKey::JoinGroup, ApiKey::SyncGroup]);
}

#[tokio::test(start_paused = true)]
async fn a_static_member_has_its_partitions_after_two() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    assigned(&mut ann, 4).await;
    assert_eq!(chain(&cluster), [ApiKey::JoinGroup, ApiKey::SyncGroup]);
}

#[tokio::test(start_paused = true)]
async fn a_static_member_that_comes_back_has_them_after_two_as_well() {
    let cluster = one_broker();
    let ann = || member(&cluster).group_instance_id("ann");
    let mut first = soon(ann().join()).await.unwrap();
    assigned(&mut first, 4).await;
    soon(first.close()).await.unwrap();
    cluster.forget_requests();
    let mut second = soon(ann().join()).await.unwrap();
    assigned(&mut second, 4).await;
    assert_eq!(chain(&cluster), [ApiKey::JoinGroup, ApiKey::SyncGroup]);
}

#[tokio::test(start_paused = true)]
async fn a_leader_looks_at_the_cluster_while_the_group_gathers_and_nobody_waits_for_it() {
    let cluster = one_broker();
    let quick = || member(&cluster).heartbeat_interval(ms(100));
    let mut ann = soon(quick().join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(quick().join()).await.unwrap();
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
    pass(ms(20_000)).await;

    let mut carl = soon(quick().join()).await.unwrap();
    cluster.forget_requests();
    let bob_takes_his_time = async {
        let Event::Revoked(revoked) = next(&mut bob).await else { panic!("no revocation") };
        let hold = revoked.hold();
        tokio::join!(assigned(&mut bob, 1), async {
            pass(ms(500)).await;
            drop(hold);
        });
    };
    let ann_and_carl = async { tokio::join!(next_assigned(&mut ann), next_assigned(&mut carl)) };
    tokio::join!(bob_takes_his_time, ann_and_carl);
    let apis: Vec<ApiKey> = cluster.requests().iter().map(|request| request.api).collect();
    let last = |wanted| apis.iter().rposition(|api| *api == wanted).unwrap();
    assert!(last(ApiKey::Metadata) < last(ApiKey::JoinGroup), "{apis:?}");
    assert_eq!(apis.iter().filter(|api| **api == ApiKey::Metadata).count(), 1);
}
