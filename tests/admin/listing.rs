//! Groups are listed, and whether those are all.

use std::time::Duration;

use bytes::Bytes;
use kafka_group::ApiKey;
use kafka_group::admin::{GroupState, GroupType, ListOptions, Visibility};
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::NodeId;
use tokio::time::Instant;

use crate::answers::may;
use crate::harness::{App, admin, member, seen, start, static_members};

/// Groups "g-0" to "g-4" of one member each, on three brokers.
async fn five_groups() -> (FakeCluster, Vec<App>) {
    let cluster = start(FakeCluster::builder().nodes(3));
    let mut apps = Vec::new();
    for number in 0..5 {
        let group = format!("g-{number}");
        cluster.move_coordinator(&group, NodeId(number % 3 + 1));
        apps.push(App::start(member(&cluster).group_id(group)).await);
    }
    (cluster, apps)
}

#[tokio::test(start_paused = true)]
async fn all_brokers_are_asked_for_their_groups() {
    let (cluster, apps) = five_groups().await;
    for app in apps {
        app.close().await;
    }
    let admin = admin(&cluster).await;
    let list = admin.list_groups(ListOptions::default()).await.unwrap();
    assert_eq!(list.failed, []);
    let groups: Vec<_> =
        list.groups.iter().map(|group| (group.group_id.as_str(), group.coordinator.0)).collect();
    assert_eq!(groups, [("g-0", 1), ("g-1", 2), ("g-2", 3), ("g-3", 1), ("g-4", 2)]);
    let first = &list.groups[0];
    assert_eq!(first.protocol_type, "consumer");
    assert_eq!(first.state, Some(GroupState::Empty));
    assert_eq!(first.group_type, Some(GroupType::Classic));
}

#[tokio::test(start_paused = true)]
async fn groups_are_listed_by_state_type_and_protocol_type() {
    let (cluster, mut apps) = five_groups().await;
    apps.pop().unwrap().close().await;
    let admin = admin(&cluster).await;
    let count = async |options: ListOptions| admin.list_groups(options).await.unwrap().groups.len();
    let all = ListOptions::default;
    assert_eq!(count(all().states([GroupState::Empty])).await, 1);
    assert_eq!(count(all().states([GroupState::Empty, GroupState::Dead])).await, 1);
    assert_eq!(count(all().types([GroupType::Classic])).await, 5);
    assert_eq!(count(all().types([GroupType::Consumer])).await, 0);
    assert_eq!(count(all().protocol_types(["consumer"])).await, 5);
    assert_eq!(count(all().protocol_types(["connect", ""])).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_does_not_tell_is_named_beside_the_rest() {
    let (cluster, _apps) = five_groups().await;
    let admin = admin(&cluster).await;
    cluster.control(ApiKey::ListGroups, 3, |seen| match seen.node {
        NodeId(2) => Verdict::Error(ErrorCode::UnknownServerError),
        NodeId(3) => Verdict::Close,
        _ => Verdict::Pass,
    });
    let list = admin.list_groups(ListOptions::default()).await.unwrap();
    assert_eq!(list.groups.len(), 2);
    let failed: Vec<_> = list.failed.iter().map(|(node, _)| node.0).collect();
    assert_eq!(failed, [2, 3]);
    assert_eq!(
        list.failed[0].1.to_string(),
        "ListGroups of broker 2 was refused: UnknownServerError (-1)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_is_loading_groups_is_asked_again_until_time_is_up() {
    let (cluster, _apps) = five_groups().await;
    let admin = admin(&cluster).await;
    let loading = |_: &_| Verdict::Error(ErrorCode::CoordinatorLoadInProgress);
    cluster.control(ApiKey::ListGroups, 5, loading);
    let list = admin.list_groups(ListOptions::default()).await.unwrap();
    assert_eq!((list.groups.len(), list.failed.len()), (5, 0));

    cluster.control(ApiKey::ListGroups, 10_000, loading);
    let before = Instant::now();
    let options = ListOptions::default().timeout(Duration::from_secs(5));
    let list = admin.list_groups(options).await.unwrap();
    assert_eq!((list.groups.len(), list.failed.len()), (0, 3));
    assert!(before.elapsed() <= Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_list_says_whether_it_is_whole() {
    let (cluster, _apps) = five_groups().await;
    let admin = admin(&cluster).await;
    let list = admin.list_groups(ListOptions::default()).await.unwrap();
    assert_eq!(list.visibility, Visibility::All);
    assert_eq!(seen(&cluster, ApiKey::DescribeCluster).len(), 1, "one broker is enough");
    const DESCRIBE: i32 = 1 << 8;
    for (operations, visibility) in [
        (DESCRIBE, Visibility::All),
        (!DESCRIBE & i32::MAX, Visibility::OnlyDescribable),
        (0, Visibility::OnlyDescribable),
        (i32::MIN, Visibility::Unknown),
    ] {
        cluster.control(ApiKey::DescribeCluster, 1, move |_| Verdict::Garbage(may(operations)));
        let list = admin.list_groups(ListOptions::default()).await.unwrap();
        assert_eq!((list.visibility, list.groups.len()), (visibility, 5), "{operations:b}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_does_not_say_whether_the_list_is_whole_still_lists() {
    let (cluster, _apps) = five_groups().await;
    let admin = admin(&cluster).await;
    for verdict in [
        Verdict::Close,
        Verdict::Error(ErrorCode::UnknownServerError),
        Verdict::Garbage(Bytes::from_static(b"\0")),
        Verdict::Hold,
    ] {
        let said = verdict.clone();
        cluster.control(ApiKey::DescribeCluster, 1, move |_| said.clone());
        let list = admin.list_groups(ListOptions::default()).await.unwrap();
        assert_eq!((list.groups.len(), list.failed.len()), (5, 0), "{verdict:?}");
        assert_eq!(list.visibility, Visibility::Unknown, "{verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_broker_that_lists_its_groups_says_whether_the_list_is_whole() {
    let (cluster, _apps) = five_groups().await;
    let admin = admin(&cluster).await;
    cluster.control(ApiKey::ListGroups, 3, |seen| match seen.node {
        NodeId(2) => Verdict::Delay(Duration::from_secs(1)),
        _ => Verdict::Close,
    });
    let list = admin.list_groups(ListOptions::default()).await.unwrap();
    assert_eq!((list.failed.len(), list.visibility), (2, Visibility::All));
    let asked = seen(&cluster, ApiKey::DescribeCluster);
    assert_eq!(asked.iter().map(|seen| seen.node).collect::<Vec<_>>(), [NodeId(2)]);
}

#[tokio::test(start_paused = true)]
async fn an_old_broker_is_not_asked_what_it_does_not_know_and_loses_no_connection() {
    let cluster = start(FakeCluster::builder().max_version(ApiKey::DescribeCluster, -1));
    let _apps = static_members(&cluster, ["a"]).await;
    let admin = admin(&cluster).await;
    for _ in 0..2 {
        let list = admin.list_groups(ListOptions::default()).await.unwrap();
        assert_eq!((list.visibility, list.groups.len()), (Visibility::Unknown, 1));
    }
    assert_eq!(seen(&cluster, ApiKey::DescribeCluster), []);
    let listed = seen(&cluster, ApiKey::ListGroups);
    assert_eq!(listed[0].connection, listed[1].connection);
}

#[tokio::test(start_paused = true)]
async fn an_older_broker_lists_what_it_can() {
    for version in 0..=5 {
        let cluster = start(FakeCluster::builder().max_version(ApiKey::ListGroups, version));
        let _apps = static_members(&cluster, ["a"]).await;
        let admin = admin(&cluster).await;
        let list = admin.list_groups(ListOptions::default()).await.unwrap();
        let group = &list.groups[0];
        assert_eq!(group.state.is_some(), version >= 4, "{version}");
        assert_eq!(group.group_type.is_some(), version >= 5, "{version}");
        let classic = ListOptions::default().types([GroupType::Classic]);
        assert_eq!(admin.list_groups(classic).await.unwrap().groups.len(), 1, "{version}");
        let stable = ListOptions::default().states([GroupState::Stable]);
        let list = admin.list_groups(stable).await.unwrap();
        assert_eq!(list.failed.is_empty(), version >= 4, "{version}");
    }
}
