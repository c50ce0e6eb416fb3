//! What groups have committed, and how far they are.

use kafka_group::ApiKey;
use kafka_group::admin::{AdminError, GroupLag, GroupType};
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::{Offsets, TopicPartition};

use crate::answers::listed_as;
use crate::harness::{App, GROUP, admin, cluster, member, start, static_members};

fn at(positions: &[(&str, i32, i64)]) -> Offsets {
    let positions = positions.iter();
    positions
        .map(|(topic, number, offset)| (TopicPartition::new(*topic, *number), (*offset).into()))
        .collect()
}

/// Partition, committed, end, lag, member.
fn row(
    lag: &GroupLag,
    number: i32,
) -> (Option<i64>, Result<i64, ErrorCode>, Option<i64>, Option<&str>) {
    let found = lag.partitions.iter().find(|found| found.partition.partition() == number).unwrap();
    let committed = found.committed.as_ref().map(|committed| committed.offset);
    (committed, found.end, found.lag(), found.member.as_deref())
}

/// A group that has all of "orders", and committed in two partitions.
async fn behind(cluster: &FakeCluster) -> App {
    cluster.set_end_offset("orders", 100);
    let app = static_members(cluster, ["pod"]).await.remove(0);
    app.handle.commit(at(&[("orders", 0, 30), ("orders", 11, 101)])).await.unwrap();
    app
}

#[tokio::test(start_paused = true)]
async fn the_lag_is_what_lies_between_the_commit_and_the_end() {
    let cluster = cluster();
    let _app = behind(&cluster).await;
    let lag = admin(&cluster).await.lag(GROUP).await.unwrap();
    assert_eq!((lag.group_id.as_str(), lag.partitions.len(), lag.total()), (GROUP, 12, 70));
    assert_eq!(row(&lag, 0), (Some(30), Ok(100), Some(70), Some("pod")));
    assert_eq!(row(&lag, 1), (None, Ok(100), None, Some("pod")), "nothing committed");
    assert_eq!(row(&lag, 11), (Some(101), Ok(100), Some(0), Some("pod")), "never negative");
}

#[tokio::test(start_paused = true)]
async fn everything_committed_is_told_also_of_a_group_that_nobody_is_in() {
    let cluster = cluster();
    behind(&cluster).await.handle.leave().await.unwrap();
    let admin = admin(&cluster).await;
    let committed = admin.committed(GROUP).await.unwrap();
    assert_eq!(committed, at(&[("orders", 0, 30), ("orders", 11, 101)]));
    let lag = admin.lag(GROUP).await.unwrap();
    assert_eq!(row(&lag, 0), (Some(30), Ok(100), Some(70), None));
    assert_eq!(lag.partitions.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_group_has_no_lag_and_nothing_committed() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    assert_eq!(admin.lag(GROUP).await, Err(AdminError::NoSuchGroup(GROUP.to_owned())));
    assert_eq!(admin.committed(GROUP).await, Ok(Offsets::new()));
}

#[tokio::test(start_paused = true)]
async fn a_group_that_the_broker_manages_has_a_lag_without_members() {
    let cluster = cluster();
    let _app = behind(&cluster).await;
    cluster.control(ApiKey::DescribeGroups, 1, |_| Verdict::Error(ErrorCode::GroupIdNotFound));
    cluster.control(ApiKey::ListGroups, 1, |_| Verdict::Garbage(listed_as("consumer")));
    let lag = admin(&cluster).await.lag(GROUP).await.unwrap();
    assert_eq!(row(&lag, 0), (Some(30), Ok(100), Some(70), None));
}

#[tokio::test(start_paused = true)]
async fn a_group_that_shares_records_has_no_lag_that_could_be_told() {
    let cluster = cluster();
    cluster.control(ApiKey::ListGroups, 1, |_| Verdict::Garbage(listed_as("share")));
    let (group, group_type) = (GROUP.to_owned(), GroupType::Share);
    let expected = AdminError::NotClassic { group, group_type };
    assert_eq!(admin(&cluster).await.lag(GROUP).await, Err(expected));
}

#[tokio::test(start_paused = true)]
async fn a_topic_that_is_gone_is_said_so_and_stops_no_other() {
    let cluster = start(FakeCluster::builder().topic("old", 1));
    let app = App::start(member(&cluster).subscribe(["orders", "old"])).await;
    app.holds(13).await;
    app.handle.commit(at(&[("orders", 0, 0), ("old", 0, 7)])).await.unwrap();
    app.handle.leave().await.unwrap();
    cluster.delete_topic("old");
    let lag = admin(&cluster).await.lag(GROUP).await.unwrap();
    let [old, orders] = lag.partitions.as_slice() else { panic!("{lag:?}") };
    assert_eq!((old.end, old.lag()), (Err(ErrorCode::UnknownTopicOrPartition), None));
    assert_eq!((orders.end, orders.lag()), (Ok(0), Some(0)));
}

#[tokio::test(start_paused = true)]
async fn whoever_may_not_see_the_offsets_is_told_what_is_needed() {
    let cluster = cluster();
    let refuse = |_: &_| Verdict::Error(ErrorCode::GroupAuthorizationFailed);
    cluster.control(ApiKey::OffsetFetch, 1, refuse);
    let (group, api) = (GROUP.to_owned(), ApiKey::OffsetFetch);
    let error = AdminError::NotAuthorized { group, api, needed: "DESCRIBE" };
    assert_eq!(admin(&cluster).await.committed(GROUP).await, Err(error));
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_is_loading_is_waited_for() {
    let cluster = cluster();
    let _app = behind(&cluster).await;
    let loading = |_: &_| Verdict::Error(ErrorCode::CoordinatorLoadInProgress);
    cluster.control(ApiKey::OffsetFetch, 3, loading);
    assert_eq!(admin(&cluster).await.committed(GROUP).await.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_older_broker_tells_offsets_or_says_that_it_is_too_old() {
    for version in 1..=8 {
        let cluster = start(FakeCluster::builder().max_version(ApiKey::OffsetFetch, version));
        let _app = behind(&cluster).await;
        let committed = admin(&cluster).await.committed(GROUP).await;
        let counted = committed.map(|committed| committed.len());
        let too_old = AdminError::TooOld("reading all offsets of a group needs Kafka 0.10.2");
        assert_eq!(counted, if version > 1 { Ok(2) } else { Err(too_old) }, "{version}");
    }
}
