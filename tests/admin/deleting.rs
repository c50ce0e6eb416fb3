//! Groups are deleted.

use kafka_group::admin::{Admin, AdminError};
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::{NodeId, TopicPartition};
use kafka_group::{ApiKey, LeavePolicy};

use crate::harness::{App, GROUP, admin, cluster, eventually, member, seen, start, static_members};

async fn delete(admin: &Admin, group: &str) -> Result<(), AdminError> {
    let mut deleted = admin.delete_groups([group]).await;
    assert_eq!((deleted.len(), deleted[0].0.as_str()), (1, group));
    deleted.remove(0).1
}

fn no_such_group() -> Result<(), AdminError> {
    Err(AdminError::NoSuchGroup(GROUP.to_owned()))
}

/// A group whose only member has left.
async fn empty(cluster: &FakeCluster) {
    App::start(member(cluster)).await.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_empty_group_is_deleted_with_what_it_has_committed() {
    let cluster = cluster();
    let app = App::start(member(&cluster)).await;
    app.holds(12).await;
    let partition = TopicPartition::new("orders", 0);
    app.handle.commit([(partition, 7.into())].into()).await.unwrap();
    app.close().await;
    let admin = admin(&cluster).await;
    assert_eq!(admin.committed(GROUP).await.unwrap().len(), 1);
    assert_eq!(delete(&admin, GROUP).await, Ok(()));
    assert_eq!(cluster.group_state(GROUP), None);
    assert_eq!(admin.committed(GROUP).await.unwrap().len(), 0);
    assert_eq!(delete(&admin, GROUP).await, no_such_group());
}

#[tokio::test(start_paused = true)]
async fn a_group_with_members_is_left_alone_and_says_who_is_in_it() {
    let cluster = cluster();
    let _apps = static_members(&cluster, ["pod-1", "pod-2"]).await;
    let error = delete(&admin(&cluster).await, GROUP).await.unwrap_err();
    let AdminError::NotEmpty { group, members } = &error else { panic!("{error}") };
    let names: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!((group.as_str(), names), (GROUP, vec!["pod-1", "pod-2"]));
    let said = "group `indexers` is not empty: pod-1 (kafka-group at 127.0.0.1), pod-2 (";
    assert!(error.to_string().starts_with(said), "{error}");
    assert!(!error.is_out_of_reach());
    assert_eq!(cluster.members(GROUP).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn whoever_is_in_a_group_need_not_be_told() {
    let cluster = cluster();
    let _apps = static_members(&cluster, ["pod"]).await;
    let admin = admin(&cluster).await;
    cluster.control(ApiKey::DescribeGroups, 1, |_| {
        Verdict::Error(ErrorCode::GroupAuthorizationFailed)
    });
    let error = delete(&admin, GROUP).await.unwrap_err();
    assert_eq!(error.to_string(), "group `indexers` is not empty: who they are is not told");
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_be_deleted_stops_no_other() {
    let cluster = start(FakeCluster::builder().nodes(3));
    for number in 0..5 {
        let group = format!("g-{number}");
        cluster.move_coordinator(&group, NodeId(number % 3 + 1));
        App::start(member(&cluster).group_id(group)).await.close().await;
    }
    let lives = App::start(member(&cluster).group_id("g-2")).await;
    let admin = admin(&cluster).await;
    let long = "g".repeat(32_768);
    let deleted = admin.delete_groups(["g-0", "no", "g-1", "g-2", "", "g-0", "g-3", &long]).await;
    let said: Vec<_> = deleted
        .iter()
        .map(|(group, deleted)| match deleted {
            Ok(()) => format!("{group} is gone"),
            Err(error) => error.to_string().split(':').next().unwrap().to_owned(),
        })
        .collect();
    assert_eq!(
        said,
        [
            "g-0 is gone",
            "there is no group `no`",
            "g-1 is gone",
            "group `g-2` is not empty",
            "the name of a group is empty",
            "g-3 is gone",
            "the name of a group is longer than 32767 bytes",
        ]
    );
    assert_eq!(cluster.group_state("g-4").as_deref(), Some("Empty"));
    lives.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_whose_answer_was_lost_is_asked_for_again_and_has_been_done() {
    let cluster = cluster();
    empty(&cluster).await;
    let admin = admin(&cluster).await;
    cluster.control(ApiKey::DeleteGroups, 1, |_| Verdict::Hold);
    let deleting = {
        let admin = admin.clone();
        tokio::spawn(async move { delete(&admin, GROUP).await })
    };
    eventually("it is asked", || seen(&cluster, ApiKey::DeleteGroups).len() == 1).await;
    cluster.control(ApiKey::DeleteGroups, 1, |_| Verdict::Error(ErrorCode::GroupIdNotFound));
    cluster.disconnect(NodeId(1));
    assert_eq!(deleting.await.unwrap(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_moves_or_loads_is_waited_for() {
    let cluster = start(FakeCluster::builder().nodes(3));
    empty(&cluster).await;
    let admin = admin(&cluster).await;
    admin.describe_group(GROUP).await.unwrap();
    let from = cluster.coordinator(GROUP).unwrap();
    cluster.move_coordinator(GROUP, NodeId(from.0 % 3 + 1));
    cluster
        .control(ApiKey::DeleteGroups, 2, |_| Verdict::Error(ErrorCode::CoordinatorLoadInProgress));
    assert_eq!(delete(&admin, GROUP).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn whoever_may_not_is_told_what_is_needed() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    let refuse = |_: &_| Verdict::Error(ErrorCode::GroupAuthorizationFailed);
    cluster.control(ApiKey::DeleteGroups, 1, refuse);
    let error = delete(&admin, GROUP).await.unwrap_err();
    let api = ApiKey::DeleteGroups;
    let expected = AdminError::NotAuthorized { group: GROUP.to_owned(), api, needed: "DELETE" };
    assert_eq!(error, expected);
}

#[tokio::test(start_paused = true)]
async fn every_version_is_spoken_and_a_broker_without_it_is_too_old() {
    for version in -1..=2 {
        let cluster = start(FakeCluster::builder().max_version(ApiKey::DeleteGroups, version));
        let fixed = member(&cluster).group_instance_id("a").leave_policy(LeavePolicy::Leave);
        App::start(fixed).await.close().await;
        let deleted = delete(&admin(&cluster).await, GROUP).await;
        let too_old = AdminError::TooOld("deleting groups needs Kafka 1.1");
        assert_eq!(deleted, if version < 0 { Err(too_old) } else { Ok(()) }, "{version}");
    }
}
