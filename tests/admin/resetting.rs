//! Offsets are reset and forgotten.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use kafka_group::ApiKey;
use kafka_group::admin::{
    Adjusted, Admin, AdminError, GroupType, OffsetReset, OffsetResetOptions, OffsetResetPlan,
    OffsetSelection, ResetTo, Unresettable,
};
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::{NodeId, TopicError, TopicPartition};

use crate::answers::listed_as;
use crate::harness::{App, GROUP, admin, cluster, member, seen, start, static_members};

fn orders(number: i32) -> TopicPartition {
    TopicPartition::new("orders", number)
}

/// "orders" has records 10 to 99; nobody is in the group, which has committed 30 in partition 0 and 50 in 1.
async fn behind(cluster: &FakeCluster) -> Admin {
    cluster.set_start_offset("orders", 10);
    cluster.set_end_offset("orders", 100);
    let app = App::start(member(cluster)).await;
    app.holds(12).await;
    let offsets = [(orders(0), 30.into()), (orders(1), 50.into())].into();
    app.handle.commit(offsets).await.unwrap();
    app.close().await;
    admin(cluster).await
}

async fn plan(admin: &Admin, which: OffsetSelection, to: ResetTo) -> OffsetResetPlan {
    admin.plan_offset_reset(GROUP, which, to, OffsetResetOptions::default()).await.unwrap()
}

/// Partition, what is committed, what would be.
fn rows(plan: &OffsetResetPlan) -> Vec<(i32, Option<i64>, Result<i64, Unresettable>)> {
    let row = |reset: &OffsetReset| (reset.partition.partition(), reset.committed, reset.to);
    plan.partitions.iter().map(row).collect()
}

fn adjusted(plan: &OffsetResetPlan) -> Vec<Option<Adjusted>> {
    plan.partitions.iter().map(|reset| reset.adjusted).collect()
}

/// What is committed in partitions 0 and 1.
fn committed(cluster: &FakeCluster) -> [Option<i64>; 2] {
    let committed = cluster.committed(GROUP);
    [0, 1].map(|number| committed.get(&orders(number)).map(|committed| committed.offset))
}

#[tokio::test(start_paused = true)]
async fn offsets_are_reset_to_where_they_should_be() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    cluster.set_time("orders", 1_000_000, 40);
    let time = |seconds| ResetTo::Time(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    for (to, expected) in [
        (ResetTo::Earliest, [10, 10]),
        (ResetTo::Latest, [100, 100]),
        (ResetTo::Current, [30, 50]),
        (ResetTo::Offset(77), [77, 77]),
        (ResetTo::ShiftBy(5), [35, 55]),
        (ResetTo::ShiftBy(-20), [10, 30]),
        (time(999), [40, 40]),
        (time(1_000), [40, 40]),
        (ResetTo::Each([(orders(0), 31), (orders(1), 32)].into()), [31, 32]),
    ] {
        let plan = plan(&admin, OffsetSelection::all(), to).await;
        let before = committed(&cluster);
        assert_eq!(rows(&plan), [(0, Some(30), Ok(expected[0])), (1, Some(50), Ok(expected[1]))]);
        assert_eq!((adjusted(&plan), before), (vec![None; 2], [Some(30), Some(50)]), "a dry run");
        let done = admin.reset_offsets(&plan).await.unwrap();
        assert_eq!(done, [(orders(0), Ok(expected[0])), (orders(1), Ok(expected[1]))]);
        assert_eq!(committed(&cluster), expected.map(Some));
        let back = BTreeMap::from([(orders(0), 30), (orders(1), 50)]);
        let back = plan_each(&admin, back).await;
        admin.reset_offsets(&back).await.unwrap();
    }
}

async fn plan_each(admin: &Admin, offsets: BTreeMap<TopicPartition, i64>) -> OffsetResetPlan {
    plan(admin, OffsetSelection::all(), ResetTo::Each(offsets)).await
}

#[tokio::test(start_paused = true)]
async fn what_a_partition_does_not_have_is_moved_to_its_nearer_end_and_said_so() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    cluster.set_time("orders", 1_000, 40);
    use Adjusted::{BeforeTheStart, BehindTheEnd, NoLaterRecord};
    let later = ResetTo::Time(SystemTime::UNIX_EPOCH + Duration::from_secs(2));
    for (to, expected, why) in [
        (ResetTo::Offset(9), 10, BeforeTheStart(9)),
        (ResetTo::Offset(-5), 10, BeforeTheStart(-5)),
        (ResetTo::Offset(101), 100, BehindTheEnd(101)),
        (ResetTo::ShiftBy(i64::MAX), 100, BehindTheEnd(i64::MAX)),
        (ResetTo::ShiftBy(i64::MIN), 10, BeforeTheStart(i64::MIN + 30)),
        (later, 100, NoLaterRecord),
        (ResetTo::Ago(Duration::from_secs(60)), 100, NoLaterRecord),
    ] {
        let plan = plan(&admin, OffsetSelection::all().partitions("orders", [0]), to).await;
        assert_eq!(rows(&plan), [(0, Some(30), Ok(expected))]);
        assert_eq!(adjusted(&plan), [Some(why)]);
    }
    assert_eq!(BeforeTheStart(9).to_string(), "9 is before the start");
}

#[tokio::test(start_paused = true)]
async fn longer_ago_than_there_was_time_is_the_first_record_with_one() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    cluster.set_time("orders", 1_000, 40);
    let plan = plan(&admin, OffsetSelection::all(), ResetTo::Ago(Duration::MAX)).await;
    assert_eq!(rows(&plan)[0].2, Ok(40));
}

#[tokio::test(start_paused = true)]
async fn a_topic_is_all_of_its_partitions_and_some_are_those_that_are_named() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    let all = plan(&admin, OffsetSelection::all().topic("orders"), ResetTo::Earliest).await;
    assert_eq!(all.partitions.len(), 12);
    assert_eq!(rows(&all)[11], (11, None, Ok(10)));
    let some = OffsetSelection::all().partitions("orders", [7, 1]);
    let shifted = plan(&admin, some.clone(), ResetTo::ShiftBy(1)).await;
    let nothing = Unresettable::NothingCommitted;
    assert_eq!(rows(&shifted), [(1, Some(50), Ok(51)), (7, None, Err(nothing))]);
    assert_eq!(nothing.to_string(), "nothing is committed that could be shifted");
    let kept = plan(&admin, some, ResetTo::Current).await;
    assert_eq!(rows(&kept), [(1, Some(50), Ok(50)), (7, None, Ok(100))]);
    assert_eq!(adjusted(&kept), [None, Some(Adjusted::NothingCommitted)]);
    let done = admin.reset_offsets(&shifted).await.unwrap();
    assert_eq!(done, [(orders(1), Ok(51)), (orders(7), Err(nothing))]);
}

#[tokio::test(start_paused = true)]
async fn a_partition_or_topic_that_does_not_exist_is_said_so() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    let unknown = Unresettable::Refused(ErrorCode::UnknownTopicOrPartition);
    let which = OffsetSelection::all().partitions("orders", [1, 99]).partitions("no", [0]);
    let plan = plan(&admin, which, ResetTo::Earliest).await;
    assert_eq!(
        rows(&plan),
        [(0, None, Err(unknown)), (1, Some(50), Ok(10)), (99, None, Err(unknown))]
    );
    let whole = OffsetSelection::all().topic("no");
    let options = OffsetResetOptions::default();
    let planned = admin.plan_offset_reset(GROUP, whole, ResetTo::Latest, options).await;
    let topic = |why| AdminError::Topic { topic: "no".to_owned(), why };
    let error = topic(TopicError::Missing);
    assert_eq!(error.to_string(), "topic `no` does not exist");
    assert!(!error.is_out_of_reach() && topic(TopicError::NotAuthorized).is_out_of_reach());
    assert_eq!(planned, Err(error));
}

#[tokio::test(start_paused = true)]
async fn a_group_with_members_is_left_alone_and_says_who_is_in_it() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    let _app = static_members(&cluster, ["pod"]).await;
    let plan = plan(&admin, OffsetSelection::all(), ResetTo::Earliest).await;
    assert_eq!(plan.members[0].name, "pod");
    let error = admin.reset_offsets(&plan).await.unwrap_err();
    let said = "group `indexers` is not empty: pod (kafka-group at 127.0.0.1)";
    assert_eq!(error.to_string(), said);
    assert_eq!(error, AdminError::NotEmpty { group: GROUP.to_owned(), members: plan.members });
    assert_eq!(committed(&cluster), [Some(30), Some(50)]);
}

#[tokio::test(start_paused = true)]
async fn a_group_that_does_not_exist_is_made_only_where_that_is_asked_for() {
    let cluster = cluster();
    cluster.set_end_offset("orders", 100);
    let admin = admin(&cluster).await;
    let which = || OffsetSelection::all().partitions("orders", [0]);
    let options = OffsetResetOptions::default();
    let planned = admin.plan_offset_reset(GROUP, which(), ResetTo::Latest, options).await;
    assert_eq!(planned, Err(AdminError::NoSuchGroup(GROUP.to_owned())));
    let options = options.create_group(true);
    let plan = admin.plan_offset_reset(GROUP, which(), ResetTo::Latest, options).await.unwrap();
    assert!(plan.creates_group);
    assert_eq!(cluster.group_state(GROUP), None);
    admin.reset_offsets(&plan).await.unwrap();
    assert_eq!(committed(&cluster), [Some(100), None]);
}

#[tokio::test(start_paused = true)]
async fn nothing_to_reset_is_no_request() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    cluster.forget_requests();
    let plan = plan_each(&admin, BTreeMap::new()).await;
    assert_eq!(admin.reset_offsets(&plan).await, Ok(vec![]));
    assert!(seen(&cluster, ApiKey::OffsetCommit).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_group_that_the_broker_manages_is_reset_and_one_that_shares_is_not() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    let pretend = |name: &'static str| {
        cluster.control(ApiKey::DescribeGroups, 1, |_| Verdict::Error(ErrorCode::GroupIdNotFound));
        cluster.control(ApiKey::ListGroups, 1, move |_| Verdict::Garbage(listed_as(name)));
    };
    let planned = async || {
        let options = OffsetResetOptions::default();
        admin.plan_offset_reset(GROUP, OffsetSelection::all(), ResetTo::Latest, options).await
    };
    pretend("streams");
    assert_eq!(planned().await.unwrap().partitions.len(), 2);
    pretend("share");
    let group_type = GroupType::Share;
    assert_eq!(
        planned().await,
        Err(AdminError::NotClassic { group: GROUP.to_owned(), group_type })
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_may_not_is_told_what_is_needed_and_a_busy_coordinator_is_waited_for() {
    let cluster = start(FakeCluster::builder().nodes(3));
    let admin = behind(&cluster).await;
    let plan = plan(&admin, OffsetSelection::all(), ResetTo::Earliest).await;
    let answer = |code| cluster.control(ApiKey::OffsetCommit, 1, move |_| Verdict::Error(code));
    answer(ErrorCode::GroupAuthorizationFailed);
    let error = admin.reset_offsets(&plan).await.unwrap_err();
    let said = "not authorised for OffsetCommit: READ on group `indexers` is needed";
    assert_eq!((error.to_string().as_str(), error.is_out_of_reach()), (said, true));

    answer(ErrorCode::TopicAuthorizationFailed);
    let done = admin.reset_offsets(&plan).await.unwrap();
    let refused = Err(Unresettable::NotAuthorized { needed: "READ" });
    assert_eq!(done, [(orders(0), refused), (orders(1), refused)]);

    answer(ErrorCode::CoordinatorLoadInProgress);
    let from = cluster.coordinator(GROUP).unwrap();
    cluster.move_coordinator(GROUP, NodeId(from.0 % 3 + 1));
    assert_eq!(admin.reset_offsets(&plan).await.unwrap()[0].1, Ok(10));
}

#[tokio::test(start_paused = true)]
async fn offsets_are_forgotten() {
    let cluster = cluster();
    let admin = behind(&cluster).await;
    let which = OffsetSelection::all().partitions("orders", [0, 7]);
    let planned = admin.plan_offset_deletion(GROUP, which).await.unwrap();
    assert_eq!(planned.into_keys().collect::<Vec<_>>(), [orders(0)]);
    let named = [orders(99), orders(0), orders(7)];
    let deleted = admin.delete_offsets(GROUP, named).await.unwrap();
    let unknown = Err(ErrorCode::UnknownTopicOrPartition);
    assert_eq!(deleted, [(orders(0), Ok(())), (orders(7), Ok(())), (orders(99), unknown)]);
    assert_eq!(committed(&cluster), [None, Some(50)]);
    assert_eq!(seen(&cluster, ApiKey::OffsetDelete).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_members_subscribe_to_is_kept_and_what_they_do_not_is_forgotten() {
    let cluster = start(FakeCluster::builder().topic("old", 1));
    let app = App::start(member(&cluster).subscribe(["orders", "old"])).await;
    app.holds(13).await;
    let old = TopicPartition::new("old", 0);
    let offsets = [(orders(0), 1.into()), (old.clone(), 1.into())].into();
    app.handle.commit(offsets).await.unwrap();
    app.close().await;
    let _app = App::start(member(&cluster)).await;
    let deleted = admin(&cluster).await.delete_offsets(GROUP, [old.clone(), orders(0)]).await;
    let subscribed = Err(ErrorCode::GroupSubscribedToTopic);
    assert_eq!(deleted, Ok(vec![(old, Ok(())), (orders(0), subscribed)]));
}

#[tokio::test(start_paused = true)]
async fn forgetting_fails_as_a_whole_where_it_must() {
    let cluster = cluster();
    let app = admin(&cluster).await;
    let forget = async || app.delete_offsets(GROUP, [orders(0)]).await;
    assert_eq!(forget().await, Err(AdminError::NoSuchGroup(GROUP.to_owned())));
    let nothing = app.delete_offsets(GROUP, []).await;
    let said = "no partition to forget was named".to_owned();
    assert_eq!(nothing, Err(AdminError::Invalid(said)));
    let answer = |code| cluster.control(ApiKey::OffsetDelete, 1, move |_| Verdict::Error(code));
    answer(ErrorCode::GroupAuthorizationFailed);
    let error = forget().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "not authorised for OffsetDelete: DELETE on group `indexers` is needed"
    );
    answer(ErrorCode::NonEmptyGroup);
    let error = forget().await.unwrap_err();
    assert_eq!(error.to_string(), "group `indexers` is not empty: who they are is not told");

    let old = start(FakeCluster::builder().max_version(ApiKey::OffsetDelete, -1));
    let forgot = admin(&old).await.delete_offsets(GROUP, [orders(0)]).await;
    assert_eq!(forgot, Err(AdminError::TooOld("deleting offsets needs Kafka 2.4")));
}
