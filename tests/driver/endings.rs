//! The end, asked for in every state: in time, with LeaveGroup where the group knows us, and with what was left undone.

use std::time::Duration;

use kafka_group::testing::{FakeCluster, Verdict};
use kafka_group::types::{NodeId, Offsets};
use kafka_group::{ApiKey, Error, Event, GroupMember, LeavePolicy};
use tokio::time::Instant;

use crate::harness::{
    SESSION, assigned, count, eventually, idle, member, ms, next, offsets, one_broker, pass, seen,
    soon,
};

const CLOSE: Duration = Duration::from_secs(4);

async fn joined(cluster: &FakeCluster) -> GroupMember {
    soon(member(cluster).close_timeout(CLOSE).join()).await.unwrap()
}

/// Closes the member, and finds nobody in the group.
async fn closes(cluster: &FakeCluster, ann: GroupMember, case: &str) {
    let began = Instant::now();
    assert_eq!(soon(ann.close()).await, Ok(Offsets::new()), "{case}");
    let took = began.elapsed();
    assert!(took <= CLOSE + ms(50), "{case}: took {took:?}");
    eventually(case, || cluster.members("indexers").is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_stable_member_leaves() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    closes(&cluster, ann, "stable").await;
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_waits_for_its_id_gives_it_back() {
    let cluster = one_broker();
    cluster.control(ApiKey::JoinGroup, 1, |_| Verdict::Delay(ms(500)));
    let ann = joined(&cluster).await;
    eventually("a join", || count(&cluster, ApiKey::JoinGroup) == 1).await;
    closes(&cluster, ann, "before the id").await;
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1);
    assert_eq!(count(&cluster, ApiKey::JoinGroup), 1);
}

#[tokio::test(start_paused = true)]
async fn a_member_whose_id_never_comes_does_not_wait_for_ever() {
    let cluster = one_broker();
    cluster.control(ApiKey::JoinGroup, 1, |_| Verdict::Hold);
    let ann = joined(&cluster).await;
    eventually("a join", || count(&cluster, ApiKey::JoinGroup) == 1).await;
    closes(&cluster, ann, "no id").await;
}

#[tokio::test(start_paused = true)]
async fn a_member_that_has_an_id_and_no_place_yet_gives_the_id_back() {
    let cluster = one_broker();
    let mut joins = 0;
    cluster.control(ApiKey::JoinGroup, 2, move |_| {
        joins += 1;
        if joins == 2 { Verdict::Hold } else { Verdict::Pass }
    });
    let ann = joined(&cluster).await;
    eventually("a join", || count(&cluster, ApiKey::JoinGroup) == 2).await;
    let pending = seen(&cluster, ApiKey::JoinGroup)[1].member_id.clone();
    closes(&cluster, ann, "pending id").await;
    assert_eq!(seen(&cluster, ApiKey::LeaveGroup)[0].member_id, pending);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_is_parked_in_a_join_leaves() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let bob = joined(&cluster).await;
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    let _hold = revoked.hold();
    let began = Instant::now();
    soon(bob.close()).await.unwrap();
    assert!(began.elapsed() <= CLOSE);
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1);
    assert_eq!(cluster.members("indexers").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_is_parked_in_a_sync_leaves() {
    let cluster = one_broker();
    cluster.control(ApiKey::SyncGroup, 1, |_| Verdict::Hold);
    let ann = joined(&cluster).await;
    eventually("a sync", || count(&cluster, ApiKey::SyncGroup) == 1).await;
    closes(&cluster, ann, "syncing").await;
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_is_giving_partitions_up_leaves_when_they_are_let_go() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let _bob = joined(&cluster).await;
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    let hold = revoked.hold();
    let began = Instant::now();
    let let_go = async {
        pass(ms(1000)).await;
        drop(hold);
    };
    let (closed, ()) = tokio::join!(ann.close(), let_go);
    assert_eq!(closed, Ok(Offsets::new()));
    assert!((ms(1000)..CLOSE).contains(&began.elapsed()));
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1);
}

#[tokio::test(start_paused = true)]
async fn partitions_that_are_never_let_go_do_not_hold_the_end_up() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let _bob = joined(&cluster).await;
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    let _hold = revoked.hold();
    let began = Instant::now();
    soon(ann.close()).await.unwrap();
    assert!(began.elapsed() <= CLOSE + ms(50), "{:?}", began.elapsed());
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1);
}

#[tokio::test(start_paused = true)]
async fn a_member_without_a_coordinator_ends_in_time() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    cluster.stop(NodeId(1));
    let began = Instant::now();
    soon(ann.close()).await.unwrap();
    assert!(began.elapsed() <= CLOSE + ms(50), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_member_whose_leave_is_not_answered_ends_in_time() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    cluster.control(ApiKey::LeaveGroup, usize::MAX, |_| Verdict::Hold);
    let began = Instant::now();
    soon(ann.close()).await.unwrap();
    assert!(began.elapsed() <= CLOSE + ms(50), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_application_that_asks_for_nothing_does_not_hold_the_end_up() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let began = Instant::now();
    soon(ann.handle().close()).await.unwrap();
    assert!(began.elapsed() <= CLOSE + ms(50), "{:?}", began.elapsed());
    eventually("it has left all the same", || cluster.members("indexers").is_empty()).await;
    assert!(matches!(next(&mut ann).await, Event::Lost(lost) if lost.partitions().len() == 4));
    assert!(matches!(soon(ann.next()).await, Ok(None)));
}

#[tokio::test(start_paused = true)]
async fn a_loop_sees_the_end_that_its_handle_asks_for() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let handle = ann.handle();
    let ending = tokio::spawn(async move { handle.leave().await });
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    assert_eq!(revoked.partitions().len(), 4);
    assert!(matches!(soon(ann.next()).await, Ok(None)));
    assert_eq!(soon(ending).await.unwrap(), Ok(Offsets::new()));
    assert!(matches!(soon(ann.handle().leave()).await, Err(Error::Closed)));
}

#[tokio::test(start_paused = true)]
async fn what_was_not_committed_in_time_is_given_back() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    let all = assigned(&mut ann, 4).await;
    cluster.control(ApiKey::OffsetCommit, usize::MAX, |_| Verdict::Hold);
    let handle = ann.handle();
    let wanted = offsets(&all, 7);
    let commit = tokio::spawn({
        let wanted = wanted.clone();
        async move { handle.commit(wanted).await }
    });
    eventually("a commit", || count(&cluster, ApiKey::OffsetCommit) > 0).await;
    assert_eq!(soon(ann.close()).await, Ok(wanted));
    assert!(soon(commit).await.unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn what_is_committed_while_ending_is_stored() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    let all = assigned(&mut ann, 4).await;
    let handle = ann.handle();
    let ending = tokio::spawn({
        let handle = handle.clone();
        async move { handle.close().await }
    });
    let Event::Revoked(_) = next(&mut ann).await else { panic!("no revocation") };
    assert_eq!(soon(handle.commit(offsets(&all, 9))).await, Ok(()));
    assert!(matches!(soon(ann.next()).await, Ok(None)));
    assert_eq!(soon(ending).await.unwrap(), Ok(Offsets::new()));
    assert_eq!(cluster.committed("indexers"), offsets(&all, 9));
}

#[tokio::test(start_paused = true)]
async fn a_static_member_stays_when_it_closes_and_goes_when_it_leaves() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    assigned(&mut ann, 4).await;
    soon(ann.close()).await.unwrap();
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 0);
    assert_eq!(cluster.members("indexers").len(), 1);
    let mut ann = soon(member(&cluster).group_instance_id("ann").join()).await.unwrap();
    assigned(&mut ann, 4).await;
    soon(ann.leave()).await.unwrap();
    assert!(cluster.members("indexers").is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_policy_decides_whether_closing_leaves() {
    let cluster = one_broker();
    let remain = member(&cluster).leave_policy(LeavePolicy::Remain);
    let mut ann = soon(remain.join()).await.unwrap();
    assigned(&mut ann, 4).await;
    soon(ann.close()).await.unwrap();
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 0);
    let leave = member(&cluster).group_instance_id("bob").leave_policy(LeavePolicy::Leave);
    let mut bob = soon(leave.join()).await.unwrap();
    assigned(&mut bob, 4).await;
    soon(bob.close()).await.unwrap();
    assert_eq!(count(&cluster, ApiKey::LeaveGroup), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_member_leaves_in_the_background_though_a_handle_lives_on() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let handle = ann.handle();
    drop(ann);
    eventually("it has left", || cluster.members("indexers").is_empty()).await;
    eventually("it has ended", || handle.status().borrow().ended.is_some()).await;
    assert!(matches!(soon(handle.rejoin("too late")).await, Err(Error::Closed)));
}

#[tokio::test(start_paused = true)]
async fn dropping_a_member_with_events_unseen_leaves_at_once() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let mut bob = joined(&cluster).await;
    eventually("a rebalance", || {
        cluster.group_state("indexers").as_deref() == Some("PreparingRebalance")
    })
    .await;
    pass(SESSION / 5).await;
    let began = Instant::now();
    drop(ann);
    assigned(&mut bob, 4).await;
    assert!(began.elapsed() < ms(1500), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn dropping_a_member_in_any_state_leaves_nothing_in_the_group() {
    for api in [ApiKey::JoinGroup, ApiKey::SyncGroup, ApiKey::Heartbeat] {
        let cluster = one_broker();
        cluster.control(api, 1, |_| Verdict::Delay(ms(700)));
        let ann = joined(&cluster).await;
        eventually("a request", || count(&cluster, api) > 0).await;
        drop(ann);
        pass(ms(6000)).await;
        assert!(cluster.members("indexers").is_empty(), "{api:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_join_that_is_broken_off_leaves_nothing_behind() {
    let cluster = one_broker();
    cluster.control(ApiKey::Metadata, usize::MAX, |_| Verdict::Hold);
    let joining = member(&cluster).join();
    assert!(tokio::time::timeout(ms(500), joining).await.is_err());
    cluster.forget_requests();
    pass(SESSION * 10).await;
    assert!(cluster.requests().is_empty(), "{:?}", cluster.requests());
}

#[tokio::test(start_paused = true)]
async fn asking_after_the_end_is_asking_for_nothing() {
    let cluster = one_broker();
    let mut ann = joined(&cluster).await;
    assigned(&mut ann, 4).await;
    let handle = ann.handle();
    let (ended, _) =
        tokio::join!(handle.leave(), async { while let Ok(Some(_)) = soon(ann.next()).await {} });
    assert_eq!(ended, Ok(Offsets::new()));
    cluster.forget_requests();
    for _ in 0..3 {
        assert!(matches!(soon(ann.next()).await, Ok(None)));
    }
    pass(SESSION * 3).await;
    assert!(cluster.requests().iter().all(|request| request.group_id.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_member_that_left_can_come_back_at_once() {
    let cluster = one_broker();
    for _ in 0..3 {
        let mut ann = joined(&cluster).await;
        assigned(&mut ann, 4).await;
        assert!(idle(&mut ann, ms(100)).await.is_empty());
        soon(ann.leave()).await.unwrap();
    }
}
