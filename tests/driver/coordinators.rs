//! Coordinators that die and move, and brokers of other ages.

use kafka_group::testing::{FakeCluster, Verdict};
use kafka_group::types::NodeId;
use kafka_group::{ApiKey, Error, Event, GroupMember};

use crate::harness::{
    SESSION, assigned, bare, count, eventually, idle, member, ms, next, offsets, seen, soon,
    three_brokers,
};

fn others(cluster: &FakeCluster) -> NodeId {
    let now = cluster.coordinator("indexers").unwrap();
    NodeId(now.0 % 3 + 1)
}

fn kill(cluster: &FakeCluster) {
    cluster.stop(cluster.coordinator("indexers").unwrap());
}

async fn stable(cluster: &FakeCluster) -> GroupMember {
    let mut ann = soon(member(cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    ann
}

/// Kills the coordinator when it has read a request of `api`, which it then never answers.
async fn killed_with(api: ApiKey) {
    let cluster = three_brokers();
    cluster.control(api, 1, |_| Verdict::Hold);
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    eventually("a request to die with", || count(&cluster, api) > 0).await;
    kill(&cluster);
    cluster.release();
    assigned(&mut ann, 4).await;
    assert!(idle(&mut ann, SESSION * 2).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_may_die_before_it_answers_a_join() {
    killed_with(ApiKey::JoinGroup).await;
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_may_die_before_it_answers_a_sync() {
    killed_with(ApiKey::SyncGroup).await;
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_dies_in_peace_costs_nothing() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    let before = ann.handle().group_metadata();
    kill(&cluster);
    assert!(idle(&mut ann, SESSION * 3).await.is_empty());
    assert_eq!(ann.handle().group_metadata(), before);
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_dies_while_partitions_are_given_up_costs_nothing_either() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    kill(&cluster);
    drop(revoked);
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_dies_with_a_member_parked_costs_nothing_either() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    let hold = revoked.hold();
    assert!(idle(&mut bob, ms(2000)).await.is_empty(), "parked");
    kill(&cluster);
    drop(hold);
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_its_coordinator_dies_with_is_made_at_the_next() {
    let cluster = three_brokers();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    cluster.control(ApiKey::OffsetCommit, 1, |_| Verdict::Hold);
    let (handle, wanted) = (ann.handle(), offsets(&all, 7));
    let commit = tokio::spawn({
        let wanted = wanted.clone();
        async move { handle.commit(wanted).await }
    });
    eventually("a commit", || count(&cluster, ApiKey::OffsetCommit) > 0).await;
    kill(&cluster);
    cluster.release();
    assert_eq!(soon(commit).await.unwrap(), Ok(()));
    assert_eq!(cluster.committed("indexers"), wanted);
}

#[tokio::test(start_paused = true)]
async fn a_group_that_is_handed_over_is_followed_without_an_event() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    let new = others(&cluster);
    cluster.move_coordinator("indexers", new);
    cluster.forget_requests();
    assert!(idle(&mut ann, SESSION * 2).await.is_empty());
    let beats = seen(&cluster, ApiKey::Heartbeat);
    assert!(beats.last().is_some_and(|beat| beat.node == new));
    assert!(beats.iter().filter(|beat| beat.node != new).count() <= 1, "{beats:?}");
}

#[tokio::test(start_paused = true)]
async fn a_group_that_is_handed_over_while_it_gathers_gathers_at_the_new_coordinator() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    let mut bob = soon(member(&cluster).join()).await.unwrap();
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    let hold = revoked.hold();
    assert!(idle(&mut bob, ms(2000)).await.is_empty(), "parked");
    cluster.move_coordinator("indexers", others(&cluster));
    drop(hold);
    tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_names_the_old_coordinator_for_a_while_is_asked_again() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    let (old, new) = (cluster.coordinator("indexers").unwrap(), others(&cluster));
    cluster.move_coordinator("indexers", new);
    // The new one does not know yet that it is.
    cluster
        .control(ApiKey::Heartbeat, 4, |_| Verdict::Error(kafka_group::ErrorCode::NotCoordinator));
    cluster.forget_requests();
    assert!(idle(&mut ann, SESSION * 2).await.is_empty());
    let asked = seen(&cluster, ApiKey::FindCoordinator);
    assert!((3..=12).contains(&asked.len()), "with back-off: {}", asked.len());
    assert_ne!(old, new);
}

#[tokio::test(start_paused = true)]
async fn all_brokers_may_be_gone_for_a_while() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    (1..=3).for_each(|node| cluster.stop(NodeId(node)));
    let Event::Lost(_) = next(&mut ann).await else { panic!("nothing lost") };
    assert!(idle(&mut ann, SESSION * 5).await.is_empty());
    (1..=3).for_each(|node| cluster.start(NodeId(node)));
    assigned(&mut ann, 4).await;
}

#[tokio::test(start_paused = true)]
async fn connections_that_are_cut_time_and_again_cost_nothing() {
    let cluster = three_brokers();
    let mut ann = stable(&cluster).await;
    for _ in 0..20 {
        (1..=3).for_each(|node| cluster.disconnect(NodeId(node)));
        assert!(idle(&mut ann, ms(1300)).await.is_empty());
    }
}

fn capped(api: ApiKey, version: i16) -> FakeCluster {
    let cluster = FakeCluster::builder().topic("orders", 4).max_version(api, version);
    cluster.start_on_this_runtime().unwrap()
}

async fn lives(cluster: &FakeCluster, case: &str) {
    let mut ann = soon(member(cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;
    assert_eq!(soon(ann.handle().commit(offsets(&all, 7))).await, Ok(()), "{case}");
    let committed = soon(ann.handle().committed(all.all().iter())).await;
    assert_eq!(committed, Ok(offsets(&all, 7)), "{case}");
    assert!(idle(&mut ann, SESSION).await.is_empty(), "{case}");
    soon(ann.leave()).await.unwrap();
    assert!(cluster.members("indexers").is_empty(), "{case}");
}

#[tokio::test(start_paused = true)]
async fn brokers_of_every_age_are_spoken_to_in_their_newest_version() {
    for (api, oldest, newest) in [
        (ApiKey::JoinGroup, 1, 9),
        (ApiKey::SyncGroup, 0, 5),
        (ApiKey::Heartbeat, 0, 4),
        (ApiKey::LeaveGroup, 0, 5),
        (ApiKey::OffsetCommit, 2, 9),
        (ApiKey::OffsetFetch, 1, 9),
        (ApiKey::FindCoordinator, 0, 6),
        (ApiKey::Metadata, 1, 13),
        (ApiKey::ApiVersions, 0, 4),
    ] {
        for version in oldest..=newest {
            let cluster = capped(api, version);
            let case = format!("{api:?} {version}");
            lives(&cluster, &case).await;
            let asked = seen(&cluster, api);
            assert!(asked.iter().all(|request| request.version <= version), "{case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reason_is_given_to_brokers_that_take_one() {
    for version in 2..=9 {
        let cluster = capped(ApiKey::JoinGroup, version);
        let mut ann = soon(member(&cluster).join()).await.unwrap();
        assigned(&mut ann, 4).await;
        let given = seen(&cluster, ApiKey::JoinGroup).iter().all(|join| join.reason.is_some());
        assert_eq!(given, version >= 8, "JoinGroup {version}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_broker_without_an_api_that_is_needed_is_not_joined_for_ever() {
    let cluster = capped(ApiKey::SyncGroup, -1);
    let ended = match soon(member(&cluster).join()).await {
        Ok(mut ann) => crate::harness::error(&mut ann).await,
        Err(error) => error,
    };
    assert!(matches!(ended, Error::Unsupported(_)), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn an_instance_id_on_a_broker_too_old_for_it_is_an_error_that_says_which_version_is_missing()
{
    for (api, newest, needed) in [
        (ApiKey::JoinGroup, 4, 5),
        (ApiKey::SyncGroup, 2, 3),
        (ApiKey::Heartbeat, 2, 3),
        (ApiKey::OffsetCommit, 6, 7),
    ] {
        let cluster = capped(api, newest);
        let refused = soon(member(&cluster).group_instance_id("ann").join()).await;
        let Err(Error::StaticMembershipUnsupported { api: which, needed: wanted, offered }) =
            refused
        else {
            panic!("{api:?}: {refused:?}")
        };
        assert_eq!((which, wanted, offered), (api, needed, newest));
        assert_eq!(count(&cluster, ApiKey::JoinGroup), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_member_that_may_degrade_joins_as_a_dynamic_one_and_leaves_as_one() {
    let cluster = capped(ApiKey::JoinGroup, 4);
    let degraded = member(&cluster).group_instance_id("ann").degrade_to_dynamic();
    let mut ann = soon(degraded.join()).await.unwrap();
    assigned(&mut ann, 4).await;
    assert_eq!(ann.handle().group_metadata().group_instance_id, None);
    soon(ann.close()).await.unwrap();
    assert!(cluster.members("indexers").is_empty());
}

#[tokio::test(start_paused = true)]
async fn static_members_work_at_the_oldest_version_that_has_them() {
    let cluster = capped(ApiKey::JoinGroup, 5);
    let ann = || member(&cluster).group_instance_id("ann");
    let mut first = soon(ann().join()).await.unwrap();
    let generation = assigned(&mut first, 4).await.generation();
    soon(first.close()).await.unwrap();
    let mut second = soon(ann().join()).await.unwrap();
    assert_eq!(assigned(&mut second, 4).await.generation(), generation);
}

#[tokio::test(start_paused = true)]
async fn members_prefer_what_is_listed_first_and_say_what_was_chosen() {
    let cluster = three_brokers();
    let both = || {
        bare(&cluster)
            .assigner(kafka_group::assign::RoundRobinAssigner::default())
            .assigner(kafka_group::assign::RangeAssigner::default())
    };
    let mut ann = soon(both().join()).await.unwrap();
    assigned(&mut ann, 4).await;
    assert_eq!(ann.handle().status().borrow().protocol.as_deref(), Some("roundrobin"));
}
