//! Members are chosen by what they are known for, and looked at before they are removed.

use std::time::Duration;

use kafka_group::admin::{
    Admin, AdminError, Life, MemberFilter, MemberKey, MemberSelection, RemovalPlan,
    RemovalPlanOptions, RemoveOptions, RemoveOutcome, SignOfLife,
};
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::{MemberId, NodeId, TopicPartition};
use kafka_group::{ApiKey, MemberHandle};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::answers::{described, listed_as, wrote};
use crate::harness::{App, GROUP, admin, cluster, member, seen, start, static_members};

fn pattern(pattern: &str) -> MemberFilter {
    MemberFilter::new().instance_id_pattern(pattern).unwrap()
}

async fn plan(admin: &Admin, which: impl Into<MemberSelection>) -> RemovalPlan {
    admin.plan_removal(GROUP, which, RemovalPlanOptions::default()).await.unwrap()
}

fn names(plan: &RemovalPlan) -> Vec<&str> {
    plan.members.iter().map(|planned| planned.member.name()).collect()
}

/// "pod-1" and "pod-2" of the client "search", "job-1" of "batch", and a dynamic member of "batch".
async fn apps(cluster: &FakeCluster) -> Vec<App> {
    let mut apps = Vec::new();
    for (id, client) in [("pod-1", "search"), ("pod-2", "search"), ("job-1", "batch")] {
        apps.push(App::start(member(cluster).group_instance_id(id).client_id(client)).await);
    }
    apps.push(App::start(member(cluster).client_id("batch")).await);
    for app in &apps {
        app.holds(3).await;
    }
    apps
}

#[tokio::test(start_paused = true)]
async fn members_are_chosen_by_instance_id_pattern_client_id_and_host() {
    let cluster = cluster();
    let apps = apps(&cluster).await;
    let (admin, dynamic) = (admin(&cluster).await, apps[3].id());
    let here = || MemberFilter::new().client_host("127.0.0.1");
    for (filter, expected) in [
        (pattern("pod-.*"), vec!["pod-1", "pod-2"]),
        (pattern("pod"), vec![]),
        (pattern("POD-1"), vec![]),
        (MemberFilter::new().client_id("batch"), vec!["job-1", &*dynamic]),
        (pattern(".*-1").client_id("search"), vec!["pod-1"]),
        (here(), vec!["job-1", "pod-1", "pod-2", &*dynamic]),
        (here().client_id("search").client_id("batch"), vec!["job-1", "pod-1", "pod-2", &*dynamic]),
        (MemberFilter::new().client_host("10.0.0.1"), vec![]),
    ] {
        let plan = plan(&admin, filter).await;
        assert_eq!((names(&plan), plan.missing.len()), (expected, 0));
    }
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty(), "a plan removes nobody");
}

#[tokio::test(start_paused = true)]
async fn those_that_a_filter_takes_are_removed_in_one_request() {
    let cluster = cluster();
    let mut apps = apps(&cluster).await;
    for app in apps.drain(..2) {
        app.close().await;
    }
    let admin = admin(&cluster).await;
    let options = || RemoveOptions::default().reason("scaled down");
    let filter = pattern("pod-[0-9]+");
    let removed = admin.remove_matching_members(GROUP, filter.clone(), options()).await.unwrap();
    let outcomes: Vec<_> = removed.iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [RemoveOutcome::Removed; 2]);
    apps[0].holds(6).await;
    assert_eq!(admin.remove_matching_members(GROUP, filter, options()).await, Ok(vec![]));
    assert_eq!(seen(&cluster, ApiKey::LeaveGroup).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_empty_filter_is_refused_and_takes_nobody() {
    let cluster = cluster();
    let _apps = static_members(&cluster, ["a"]).await;
    let admin = admin(&cluster).await;
    let error = AdminError::Invalid("no member to remove was named: the filter is empty".into());
    let planned = admin.plan_removal(GROUP, MemberFilter::new(), Default::default()).await;
    assert_eq!(planned, Err(error.clone()));
    let removed =
        admin.remove_matching_members(GROUP, MemberFilter::new(), Default::default()).await;
    assert_eq!(removed, Err(error));
    assert_eq!(cluster.members(GROUP).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_took_an_instance_id_over_since_the_plan_is_left_alone() {
    let cluster = cluster();
    let mut apps = static_members(&cluster, ["pod"]).await;
    let admin = admin(&cluster).await;
    let plan = plan(&admin, pattern("pod")).await;
    apps.remove(0).close().await;
    let newer = App::start(member(&cluster).group_instance_id("pod")).await;
    let removed = admin.remove_members(GROUP, plan.keys(), RemoveOptions::default()).await.unwrap();
    assert_eq!(removed[0].outcome, RemoveOutcome::Fenced);
    newer.holds(12).await;
}

#[tokio::test(start_paused = true)]
async fn those_named_are_found_or_missing_each_once() {
    let cluster = cluster();
    let apps = static_members(&cluster, ["a", "b"]).await;
    let keys = vec![
        MemberKey::instance_id("b"),
        MemberKey::instance_id("nobody"),
        MemberKey::member_id(apps[1].id()),
        MemberKey::instance_id("nobody"),
        MemberKey::Both { instance_id: "a".into(), member_id: MemberId::new("other") },
    ];
    let admin = admin(&cluster).await;
    let planned = plan(&admin, keys.clone()).await;
    assert_eq!((names(&planned), planned.keys()), (vec!["b"], keys[..1].to_vec()));
    assert_eq!(planned.missing, [keys[1].clone(), keys[4].clone()]);
    let all = plan(&admin, MemberSelection::All).await;
    assert_eq!(all.keys(), ["a", "b"].map(MemberKey::instance_id));
}

#[tokio::test(start_paused = true)]
async fn no_group_and_one_that_the_broker_manages_are_errors() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    let all = async || admin.plan_removal(GROUP, MemberSelection::All, Default::default()).await;
    assert_eq!(all().await, Err(AdminError::NoSuchGroup(GROUP.to_owned())));
    let listed = listed_as("consumer");
    cluster.control(ApiKey::ListGroups, 1, move |_| Verdict::Garbage(listed.clone()));
    assert!(matches!(all().await, Err(AdminError::NotClassic { .. })));
}

/// What is known of the lives of all members, who are watched for so long.
async fn lives(cluster: &FakeCluster, seconds: u64) -> Vec<Life> {
    let options = RemovalPlanOptions::default().watch(Duration::from_secs(seconds));
    let plan = admin(cluster).await.plan_removal(GROUP, MemberSelection::All, options).await;
    plan.unwrap().members.iter().map(|planned| planned.life).collect()
}

const UNKNOWN: Life = Life::Unknown { heard_within: Some(Duration::from_secs(30)) };

#[tokio::test(start_paused = true)]
async fn nothing_is_known_of_a_member_but_that_its_session_goes_on() {
    let cluster = cluster();
    let _apps = static_members(&cluster, ["a"]).await;
    assert_eq!(lives(&cluster, 0).await, [UNKNOWN]);
    assert_eq!(lives(&cluster, 10).await, [UNKNOWN]);
    assert_eq!(UNKNOWN.to_string(), "unknown, heard within 30 s");
}

#[tokio::test(start_paused = true)]
async fn nothing_at_all_is_known_of_other_clients_and_while_the_group_rebalances() {
    let cluster = cluster();
    let answer = described("consumer", "range", vec![wrote("java", b"", b"")]);
    cluster.control(ApiKey::DescribeGroups, 1, move |_| Verdict::Garbage(answer.clone()));
    let nothing = Life::Unknown { heard_within: None };
    assert_eq!(lives(&cluster, 0).await, [nothing]);

    let apps = static_members(&cluster, ["a", "b"]).await;
    apps.into_iter().next().unwrap().close().await;
    let _joining = tokio::spawn(App::start(member(&cluster)));
    let waits = || cluster.group_state(GROUP).as_deref() == Some("PreparingRebalance");
    crate::harness::eventually("a round", waits).await;
    let lives = lives(&cluster, 0).await;
    assert!(lives.len() > 1 && lives.iter().all(|life| *life == nothing), "{lives:?}");
}

/// Commits for "orders-0" again and again.
fn committing(handle: MemberHandle) -> JoinHandle<()> {
    tokio::spawn(async move {
        for offset in 0_i64.. {
            let offsets = [(TopicPartition::new("orders", 0), offset.into())].into();
            handle.commit(offsets).await.unwrap();
            sleep(Duration::from_secs(5)).await;
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_member_that_commits_lives() {
    let cluster = cluster();
    let apps = static_members(&cluster, ["a", "b"]).await;
    let all = kafka_group::types::Partitions::from_iter([("orders", 0)]);
    let has = |app: &&App| app.handle.status().borrow().assignment.intersection(&all) == all;
    let at = apps.iter().position(|app| has(&app)).unwrap();
    let committing = committing(apps[at].handle.clone());
    let before = Instant::now();
    let mut expected = [UNKNOWN; 2];
    expected[at] = Life::Seen(SignOfLife::Commits);
    assert_eq!(lives(&cluster, 6).await, expected);
    assert!(before.elapsed() < Duration::from_secs(8), "{:?}", before.elapsed());
    committing.abort();
}

#[tokio::test(start_paused = true)]
async fn watching_ends_as_soon_as_something_was_seen_of_all() {
    let cluster = cluster();
    let apps = static_members(&cluster, ["a"]).await;
    let committing = committing(apps[0].handle.clone());
    let before = Instant::now();
    assert_eq!(lives(&cluster, 600).await, [Life::Seen(SignOfLife::Commits)]);
    assert!(before.elapsed() < Duration::from_secs(8), "{:?}", before.elapsed());
    committing.abort();
}

#[tokio::test(start_paused = true)]
async fn a_member_that_outlives_its_session_lives_and_one_that_does_not_is_gone() {
    let cluster = cluster();
    let mut apps = static_members(&cluster, ["a", "b"]).await;
    apps.pop().unwrap().close().await;
    assert_eq!(lives(&cluster, 40).await, [Life::Seen(SignOfLife::Beats), Life::Gone]);
}

#[tokio::test(start_paused = true)]
async fn a_member_whose_instance_id_is_joined_anew_lives() {
    let cluster = cluster();
    let mut apps = static_members(&cluster, ["a"]).await;
    apps.pop().unwrap().close().await;
    let watching = async { lives(&cluster, 20).await };
    let restarting = async {
        sleep(Duration::from_secs(5)).await;
        App::start(member(&cluster).group_instance_id("a")).await
    };
    let (lives, _app) = tokio::join!(watching, restarting);
    assert_eq!(lives, [Life::Seen(SignOfLife::Joins)]);
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_moves_says_nothing_of_sessions_and_one_that_is_away_of_nobody() {
    let cluster = start(FakeCluster::builder().nodes(3));
    let mut apps = static_members(&cluster, ["a"]).await;
    apps.pop().unwrap().close().await;
    let from = cluster.coordinator(GROUP).unwrap();
    let moving = async {
        sleep(Duration::from_secs(20)).await;
        cluster.move_coordinator(GROUP, NodeId(from.0 % 3 + 1));
    };
    let (known, ()) = tokio::join!(lives(&cluster, 40), moving);
    assert_eq!(known, [UNKNOWN], "it has got a new session there");

    let refuse = |_: &_| Verdict::Error(ErrorCode::GroupAuthorizationFailed);
    cluster.control(ApiKey::OffsetFetch, 1, refuse);
    let before = Instant::now();
    assert_eq!(lives(&cluster, 5).await, [UNKNOWN]);
    assert!(before.elapsed() < Duration::from_secs(5));
}
