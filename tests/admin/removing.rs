//! Members are taken out.

use std::time::Duration;

use kafka_group::admin::{
    Admin, AdminError, GroupType, MemberKey, RemoveOptions, RemoveOutcome, RemovedMember,
};
use kafka_group::client::ClientError;
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::{MemberId, NodeId};
use kafka_group::{ApiKey, LeavePolicy};
use tokio::time::Instant;

use crate::answers::{described_consumers, listed_as};
use crate::harness::{
    App, GROUP, admin, cluster, eventually, member, options, seen, start, static_members,
};

fn instances<const N: usize>(ids: [&str; N]) -> [MemberKey; N] {
    ids.map(MemberKey::instance_id)
}

fn both(instance_id: &str, member_id: &str) -> MemberKey {
    MemberKey::Both { instance_id: instance_id.to_owned(), member_id: MemberId::new(member_id) }
}

fn outcomes(removed: &[RemovedMember]) -> Vec<RemoveOutcome> {
    removed.iter().map(|removed| removed.outcome).collect()
}

async fn remove<const N: usize>(
    admin: &Admin,
    ids: [&str; N],
) -> Result<Vec<RemovedMember>, AdminError> {
    admin.remove_members(GROUP, instances(ids), RemoveOptions::default()).await
}

/// A static member that closed and one that goes on.
async fn one_of_two(cluster: &FakeCluster) -> App {
    let mut apps = static_members(cluster, ["stays", "gone"]).await;
    apps.pop().unwrap().close().await;
    apps.pop().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_static_member_that_is_gone_is_removed_and_the_others_take_over_at_once() {
    let cluster = cluster();
    let stays = one_of_two(&cluster).await;
    let admin = admin(&cluster).await;
    let before = Instant::now();
    let removed = remove(&admin, ["gone"]).await.unwrap();
    assert_eq!(removed[0].key, MemberKey::instance_id("gone"));
    assert_eq!(outcomes(&removed), [RemoveOutcome::Removed]);
    stays.holds(12).await;
    assert!(before.elapsed() < Duration::from_secs(3), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn one_unknown_among_many_stops_nobody() {
    let cluster = cluster();
    let apps = static_members(&cluster, ["a", "b", "c"]).await;
    let ids = [apps[0].id(), apps[1].id()];
    let entries = [
        MemberKey::instance_id("nobody"),
        both("a", &ids[1]),
        both("a", &ids[0]),
        MemberKey::member_id(ids[1].as_str()),
        MemberKey::instance_id("C"),
    ];
    let admin = admin(&cluster).await;
    let removed =
        admin.remove_members(GROUP, entries.clone(), RemoveOptions::default()).await.unwrap();
    assert_eq!(removed.iter().map(|one| one.key.clone()).collect::<Vec<_>>(), entries);
    use RemoveOutcome::{Fenced, Removed, Unknown};
    assert_eq!(outcomes(&removed), [Unknown, Fenced, Removed, Removed, Unknown]);
}

#[tokio::test(start_paused = true)]
async fn a_dynamic_member_has_no_instance_id_to_be_removed_by() {
    let cluster = cluster();
    let app = App::start(member(&cluster)).await;
    let id = app.id();
    assert_eq!(
        outcomes(&remove(&admin(&cluster).await, [&*id]).await.unwrap()),
        [RemoveOutcome::Unknown]
    );
    app.holds(12).await;
}

#[tokio::test(start_paused = true)]
async fn a_thousand_members_are_one_request_with_a_reason() {
    let cluster = cluster();
    let _stays = one_of_two(&cluster).await;
    let admin = admin(&cluster).await;
    let ids: Vec<_> =
        (0..1000).map(|number| MemberKey::instance_id(format!("n-{number}"))).collect();
    let ids = ids.into_iter().chain([MemberKey::instance_id("gone")]);
    let options = RemoveOptions::default().reason("scaled down");
    let removed = admin.remove_members(GROUP, ids, options).await.unwrap();
    let count = |wanted| removed.iter().filter(|one| one.outcome == wanted).count();
    assert_eq!((count(RemoveOutcome::Unknown), count(RemoveOutcome::Removed)), (1000, 1));
    let asked = seen(&cluster, ApiKey::LeaveGroup);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].reason.as_deref(), Some("scaled down"));
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_is_named_twice_is_asked_for_once() {
    let cluster = cluster();
    let _stays = one_of_two(&cluster).await;
    let removed = remove(&admin(&cluster).await, ["gone", "nobody", "gone"]).await.unwrap();
    assert_eq!(outcomes(&removed), [RemoveOutcome::Removed, RemoveOutcome::Unknown]);
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused_before_anything_is_sent() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    let long = "x".repeat(250);
    for (group, entries, said) in [
        (GROUP, vec![], "no member to remove was named".to_owned()),
        ("", instances(["a"]).to_vec(), "the name of a group is empty".to_owned()),
        (GROUP, instances([""]).to_vec(), "instance id `` is empty".to_owned()),
        (
            GROUP,
            instances(["a", "b c"]).to_vec(),
            "instance id `b c` holds ' '; allowed are letters, digits, `.`, `_` and `-`".to_owned(),
        ),
        (
            GROUP,
            instances([&*long]).to_vec(),
            format!("instance id `{long}` has more than 249 characters"),
        ),
        (GROUP, vec![MemberKey::member_id("")], "a member id is empty".to_owned()),
    ] {
        let error = admin.remove_members(group, entries, RemoveOptions::default()).await;
        assert_eq!(error, Err(AdminError::Invalid(said)));
    }
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty());
}

#[tokio::test(start_paused = true)]
async fn no_group_an_empty_one_and_one_that_the_broker_manages_are_told_apart() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    assert_eq!(remove(&admin, ["a"]).await, Err(AdminError::NoSuchGroup(GROUP.to_owned())));

    let app =
        App::start(member(&cluster).group_instance_id("a").leave_policy(LeavePolicy::Leave)).await;
    app.close().await;
    assert_eq!(cluster.group_state(GROUP).as_deref(), Some("Empty"));
    assert_eq!(outcomes(&remove(&admin, ["a"]).await.unwrap()), [RemoveOutcome::Unknown]);

    let not_found = |_: &_| Verdict::Error(ErrorCode::GroupIdNotFound);
    cluster.control(ApiKey::DescribeGroups, 1, not_found);
    let listed = listed_as("consumer");
    cluster.control(ApiKey::ListGroups, 1, move |_| Verdict::Garbage(listed.clone()));
    let error = remove(&admin, ["a"]).await;
    let group_type = GroupType::Consumer;
    assert_eq!(error, Err(AdminError::NotClassic { group: GROUP.to_owned(), group_type }));
}

/// The broker tells of a group of the new protocol so many times.
fn new_protocol(cluster: &FakeCluster, times: usize) {
    cluster.control(ApiKey::ListGroups, times, |_| Verdict::Garbage(listed_as("consumer")));
    let described = described_consumers();
    let tell = move |_: &_| Verdict::Garbage(described.clone());
    cluster.control(ApiKey::ConsumerGroupDescribe, times, tell);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_takes_nobody_out_of_a_group_of_the_new_protocol_is_not_believed_that_they_left()
 {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    let group_type = GroupType::Consumer;
    let error = Err(AdminError::NotClassic { group: GROUP.to_owned(), group_type });
    new_protocol(&cluster, 1);
    assert_eq!(remove(&admin, ["pod"]).await, error);
    new_protocol(&cluster, 2);
    let options = RemoveOptions::default;
    assert_eq!(admin.remove_all_members(GROUP, options()).await, error);
    new_protocol(&cluster, 1);
    assert_eq!(outcomes(&remove(&admin, ["nobody"]).await.unwrap()), [RemoveOutcome::Unknown]);
}

#[tokio::test(start_paused = true)]
async fn all_are_looked_for_first_where_that_is_asked_for() {
    let cluster = cluster();
    let apps = static_members(&cluster, ["a", "b"]).await;
    let admin = admin(&cluster).await;
    let options = || RemoveOptions::default().require_all(true);
    let b = apps[1].id();
    let entries = [
        MemberKey::instance_id("a"),
        MemberKey::instance_id("c"),
        MemberKey::member_id(b.as_str()),
        both("a", &b),
    ];
    let missing = vec![entries[1].clone(), entries[3].clone()];
    let error = admin.remove_members(GROUP, entries, options()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("not in group `{GROUP}`: c, a ({b})"));
    assert_eq!(error, AdminError::NotMembers { group: GROUP.to_owned(), missing });
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty());

    let removed = admin.remove_members(GROUP, instances(["a", "b"]), options()).await.unwrap();
    assert_eq!(outcomes(&removed), [RemoveOutcome::Removed; 2]);
}

#[tokio::test(start_paused = true)]
async fn whoever_leaves_between_the_look_and_the_removal_is_gone() {
    let cluster = cluster();
    let _stays = one_of_two(&cluster).await;
    let admin = admin(&cluster).await;
    cluster.control(ApiKey::LeaveGroup, 1, |_| Verdict::Hold);
    let removing = {
        let admin = admin.clone();
        let options = RemoveOptions::default().require_all(true);
        tokio::spawn(async move { admin.remove_members(GROUP, instances(["gone"]), options).await })
    };
    eventually("it is asked", || seen(&cluster, ApiKey::LeaveGroup).len() == 1).await;
    let gone = cluster.members(GROUP).into_iter().find(|id| id.as_str().starts_with("gone"));
    cluster.remove_member(GROUP, &gone.unwrap());
    cluster.release();
    assert_eq!(outcomes(&removing.await.unwrap().unwrap()), [RemoveOutcome::Gone]);
}

#[tokio::test(start_paused = true)]
async fn a_removal_whose_answer_was_lost_is_asked_for_again_and_says_so() {
    let cluster = cluster();
    let stays = one_of_two(&cluster).await;
    let request_timeout = Duration::from_secs(5);
    let admin = Admin::connect(options(&cluster).request_timeout(request_timeout)).await.unwrap();
    // The first is acted on when it is given up already, and the second after it.
    cluster.control(ApiKey::LeaveGroup, 1, |_| Verdict::Delay(Duration::from_secs(6)));
    cluster.control(ApiKey::LeaveGroup, 1, |_| Verdict::Delay(Duration::from_secs(2)));
    let removed = remove(&admin, ["gone"]).await.unwrap();
    assert_eq!(outcomes(&removed), [RemoveOutcome::Gone]);
    assert_eq!(seen(&cluster, ApiKey::LeaveGroup).len(), 2);
    stays.holds(12).await;
}

#[tokio::test(start_paused = true)]
async fn it_works_while_the_group_rebalances() {
    let cluster = cluster();
    let stays = one_of_two(&cluster).await;
    // A newcomer: the round waits for the one that is gone, for as long as its rebalance timeout.
    let newcomer = tokio::spawn(App::start(member(&cluster).group_instance_id("new")));
    eventually("a round", || cluster.group_state(GROUP).as_deref() == Some("PreparingRebalance"))
        .await;
    let before = Instant::now();
    let removed = remove(&admin(&cluster).await, ["gone"]).await.unwrap();
    assert_eq!(outcomes(&removed), [RemoveOutcome::Removed]);
    let newcomer = newcomer.await.unwrap();
    newcomer.holds(6).await;
    stays.holds(6).await;
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_group_that_is_loaded_and_a_coordinator_that_moves_are_waited_for() {
    let cluster = start(FakeCluster::builder().nodes(3));
    let stays = one_of_two(&cluster).await;
    let admin = admin(&cluster).await;
    remove(&admin, ["nobody"]).await.unwrap();
    let from = cluster.coordinator(GROUP).unwrap();
    cluster.move_coordinator(GROUP, NodeId(from.0 % 3 + 1));
    let removed = remove(&admin, ["gone"]).await.unwrap();
    assert_eq!(outcomes(&removed), [RemoveOutcome::Removed]);
    stays.holds(12).await;
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_is_killed_is_looked_for() {
    let cluster = start(FakeCluster::builder().nodes(3));
    let stays = one_of_two(&cluster).await;
    let admin = admin(&cluster).await;
    remove(&admin, ["nobody"]).await.unwrap();
    cluster.stop(cluster.coordinator(GROUP).unwrap());
    assert_eq!(outcomes(&remove(&admin, ["gone"]).await.unwrap()), [RemoveOutcome::Removed]);
    stays.holds(12).await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_coordinator_ends_with_the_timeout() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    cluster.control(ApiKey::LeaveGroup, 1000, |_| {
        Verdict::Error(ErrorCode::CoordinatorLoadInProgress)
    });
    let before = Instant::now();
    let options = RemoveOptions::default().timeout(Duration::from_secs(5));
    let error = admin.remove_members(GROUP, instances(["a"]), options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("LeaveGroup of group `{GROUP}` was refused: CoordinatorLoadInProgress (14)")
    );
    assert!(error.is_out_of_reach());
    let took = before.elapsed();
    assert!(took <= Duration::from_secs(5) && took > Duration::from_secs(3), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_may_not_is_told_what_is_needed() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    let refuse = |api| {
        cluster.control(api, 1, |_| Verdict::Error(ErrorCode::GroupAuthorizationFailed));
    };
    for (api, needed) in [(ApiKey::FindCoordinator, "DESCRIBE"), (ApiKey::LeaveGroup, "READ")] {
        refuse(api);
        let error = remove(&admin, ["a"]).await.unwrap_err();
        assert_eq!(error, AdminError::NotAuthorized { group: GROUP.to_owned(), api, needed });
        assert!(error.is_out_of_reach());
    }
}

#[tokio::test(start_paused = true)]
async fn a_broker_too_old_for_batches_removes_one_by_one_where_that_is_allowed() {
    let cluster = start(FakeCluster::builder().max_version(ApiKey::LeaveGroup, 2));
    let apps = [App::start(member(&cluster)).await, App::start(member(&cluster)).await];
    let entries = apps.each_ref().map(|app| MemberKey::member_id(app.id()));
    let admin = admin(&cluster).await;
    let too_old = Err(AdminError::BatchUnsupported { offered: 2 });
    let one_by_one = || RemoveOptions::default().one_by_one(true);
    let options = RemoveOptions::default();
    assert_eq!(admin.remove_members(GROUP, entries.clone(), options.clone()).await, too_old);
    assert_eq!(remove(&admin, ["a"]).await, too_old);
    assert_eq!(admin.remove_members(GROUP, instances(["a"]), one_by_one()).await, too_old);
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty());

    let [first, second] = entries;
    let removed = admin.remove_members(GROUP, [first.clone()], options).await.unwrap();
    assert_eq!(outcomes(&removed), [RemoveOutcome::Removed]);
    let removed = admin.remove_members(GROUP, [first, second], one_by_one()).await.unwrap();
    assert_eq!(outcomes(&removed), [RemoveOutcome::Unknown, RemoveOutcome::Removed]);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_out_of_reach_is_said_to_be_when_connecting() {
    let cluster = cluster();
    let options = options(&cluster).api_timeout(Duration::from_secs(2));
    cluster.stop(NodeId(1));
    let error = Admin::connect(options).await.unwrap_err();
    assert!(matches!(error, AdminError::Client(ClientError::Unreachable { .. })), "{error}");
    assert!(error.is_out_of_reach());
}

#[tokio::test(start_paused = true)]
async fn all_are_removed_in_one_request_static_ones_by_instance_id() {
    let cluster = cluster();
    let [dynamic, fixed] = [
        App::start(member(&cluster)).await,
        App::start(member(&cluster).group_instance_id("pod")).await,
    ];
    fixed.holds(6).await;
    let (admin, id) = (admin(&cluster).await, dynamic.id());
    let removed = admin.remove_all_members(GROUP, RemoveOptions::default()).await.unwrap();
    let mut keys: Vec<_> = removed.iter().map(|removed| removed.key.clone()).collect();
    keys.sort();
    assert_eq!(keys, [MemberKey::instance_id("pod"), MemberKey::member_id(id)]);
    assert_eq!(outcomes(&removed), [RemoveOutcome::Removed; 2]);
    assert_eq!(seen(&cluster, ApiKey::LeaveGroup).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_empty_group_has_nobody_to_remove_and_no_group_is_an_error() {
    let cluster = cluster();
    let admin = admin(&cluster).await;
    let all = async || admin.remove_all_members(GROUP, RemoveOptions::default()).await;
    assert_eq!(all().await, Err(AdminError::NoSuchGroup(GROUP.to_owned())));
    App::start(member(&cluster)).await.close().await;
    assert_eq!(all().await, Ok(vec![]));
    assert_eq!(seen(&cluster, ApiKey::LeaveGroup).len(), 1, "that of the member itself");
}
