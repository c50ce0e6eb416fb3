//! Rounds, cooperative and put off, as applications meet them.

use std::sync::atomic::{AtomicUsize, Ordering};

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, RangeAssigner,
    RebalanceProtocol, StickyAssigner, StickyPlanner,
};
use kafka_group::testing::{FakeCluster, SeenRequest, Verdict};
use kafka_group::{ApiKey, Event, GroupMember, GroupMemberBuilder, MemberHandle};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::harness::{
    assigned, bare, count, eventually, idle, ms, next, offsets, one_broker, pass, seen, soon,
};

/// A cooperative member with all times at their defaults.
fn sticky(cluster: &FakeCluster) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(cluster.bootstrap_servers())
        .group_id("indexers")
        .subscribe(["orders"])
        .assigner(StickyAssigner::default())
        .runtime(Handle::current())
}

#[tokio::test(start_paused = true)]
async fn what_stays_is_never_revoked_and_what_moves_stands_still_for_a_moment() {
    let cluster = one_broker();
    let mut ann = soon(sticky(&cluster).join()).await.unwrap();
    let all = assigned(&mut ann, 4).await;

    let began = Instant::now();
    let mut bob = soon(sticky(&cluster).join()).await.unwrap();
    let anns = async {
        let Event::Revoked(revoked) = next(&mut ann).await else { panic!("not revoked") };
        let (moved, at) = (revoked.partitions().clone(), Instant::now());
        drop(revoked);
        let Event::Assigned(kept) = next(&mut ann).await else { panic!("not assigned") };
        (moved, at, kept)
    };
    let bobs = async { (assigned(&mut bob, 2).await, Instant::now()) };
    let ((moved, given_up, kept), (got, taken)) = tokio::join!(anns, bobs);
    assert_eq!((&moved, got.partitions()), (got.all(), &moved));
    assert!(kept.partitions().is_empty() && kept.all() == &all.all().difference(&moved));
    assert!(taken - given_up < ms(150), "{:?} without an owner", taken - given_up);
    assert!(began.elapsed() < ms(600), "{:?} until it has settled", began.elapsed());
    assert_eq!(got.generation().0, all.generation().0 + 2);

    let mut told = idle(&mut ann, ms(60_000)).await;
    told.extend(idle(&mut bob, ms(60_000)).await);
    assert!(matches!(&told[..], [] | [Event::Assigned(_)]), "a third round: {told:?}");
    assert_eq!(ann.handle().status().borrow().generation, got.generation());
}

#[tokio::test(start_paused = true)]
async fn a_commit_of_what_stays_goes_through_a_round_that_takes_its_time() {
    let cluster = one_broker();
    cluster.set_partitions("customers", 1);
    let mut ann = soon(sticky(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(sticky(&cluster).join()).await.unwrap();
    let (anns, _) = tokio::join!(assigned(&mut ann, 2), assigned(&mut bob, 2));

    let slow = bob.handle().group_metadata().member_id;
    let is_slow = move |join: &SeenRequest| join.member_id.as_ref() == Some(&slow);
    cluster.forget_requests();
    cluster.control(ApiKey::JoinGroup, 10, move |join| match is_slow(join) {
        true => Verdict::Hold,
        false => Verdict::Pass,
    });
    let reads_another = sticky(&cluster).subscribe(["customers"]);
    let mut carl = soon(reads_another.join()).await.unwrap();
    let own = ann.handle().group_metadata().member_id;
    let joins = || {
        let joins = seen(&cluster, ApiKey::JoinGroup);
        joins.iter().any(|join| join.member_id.as_ref() == Some(&own))
    };
    eventually("ann's JoinGroup waits for bob's", joins).await;

    let commit = tokio::spawn({
        let (handle, wanted) = (ann.handle(), offsets(&anns, 7));
        async move { handle.commit(wanted).await }
    });
    pass(ms(20_000)).await;
    assert!(!commit.is_finished());
    assert_eq!(count(&cluster, ApiKey::OffsetCommit), 0, "it would meet the next generation");
    cluster.release();
    assigned(&mut carl, 1).await;
    assert_eq!(soon(commit).await.unwrap(), Ok(()));
    assert_eq!(cluster.committed("indexers"), offsets(&anns, 7));
    let told = idle(&mut ann, ms(1000)).await;
    assert!(!told.iter().any(|event| matches!(event, Event::Revoked(_))), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_member_that_is_slow_to_sync_costs_no_rounds_without_end() {
    let cluster = one_broker();
    let mut ann = soon(sticky(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let slow = soon(sticky(&cluster).client_id("slow").join()).await.unwrap();
    cluster.control(ApiKey::SyncGroup, 1000, |sync| match sync.client_id == "slow" {
        true => Verdict::Delay(ms(2000)),
        false => Verdict::Pass,
    });
    let mut members = vec![ann, slow];
    for _ in 0..3 {
        members.push(soon(sticky(&cluster).join()).await.unwrap());
    }
    let handles: Vec<_> = members.iter().map(GroupMember::handle).collect();
    for mut member in members {
        tokio::spawn(
            async move { while member.next().await.is_ok_and(|event| event.is_some()) {} },
        );
    }
    let held = |handle: &MemberHandle| handle.status().borrow().assignment.len();
    eventually("four partitions have four owners", || {
        let held: Vec<usize> = handles.iter().map(held).collect();
        held.iter().sum::<usize>() == 4 && held.iter().all(|held| *held <= 1)
    })
    .await;
    pass(ms(20_000)).await;
    let generation = handles[0].group_metadata().generation;
    assert!(generation.0 <= 6, "{generation}");
}

/// Moves nothing at first when somebody has come, and plans anew once a minute.
#[derive(Default)]
struct Reluctant {
    asked_of_two: AtomicUsize,
}

impl PartitionAssigner for Reluctant {
    fn name(&self) -> &str {
        "reluctant"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let is_first = || self.asked_of_two.fetch_add(1, Ordering::Relaxed) == 0;
        if group.members().count() == 2 && is_first() {
            return Err(AssignError::KeepCurrent { retry_after: ms(20_000) });
        }
        let mut plan = StickyAssigner::default().assign(group)?;
        plan.rebalance_after(ms(60_000));
        Ok(plan)
    }
}

#[tokio::test(start_paused = true)]
async fn an_assigner_that_wants_to_keep_things_as_they_are_is_asked_again_when_it_said() {
    let cluster = one_broker();
    let reluctant = || bare(&cluster).assigner(Reluctant::default());
    let mut ann = soon(reluctant().join()).await.unwrap();
    assigned(&mut ann, 4).await;

    let mut bob = soon(reluctant().join()).await.unwrap();
    assigned(&mut bob, 0).await;
    let kept = Instant::now();
    let anns = async {
        let told = idle(&mut ann, ms(18_000)).await;
        let failed = told.iter().any(|event| matches!(event, Event::AssignFailed(_)));
        let revoked = told.iter().any(|event| matches!(event, Event::Revoked(_)));
        assert!(failed && !revoked, "{told:?}");
        assigned(&mut ann, 2).await
    };
    tokio::join!(anns, assigned(&mut bob, 2));
    let waited = kept.elapsed();
    assert!((ms(19_000)..ms(24_000)).contains(&waited), "{waited:?}");
}

/// Never content: wants another round at once, by a plan or without.
struct Restless {
    plans: bool,
}

impl PartitionAssigner for Restless {
    fn name(&self) -> &str {
        "restless"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        if !self.plans {
            return Err(AssignError::KeepCurrent { retry_after: ms(0) });
        }
        let mut plan = StickyAssigner::default().assign(group)?;
        plan.rebalance_after(ms(0));
        Ok(plan)
    }
}

#[tokio::test(start_paused = true)]
async fn an_assigner_that_wants_another_round_at_once_has_one_a_second() {
    for plans in [true, false] {
        let cluster = one_broker();
        let mut ann = soon(bare(&cluster).assigner(Restless { plans }).join()).await.unwrap();
        idle(&mut ann, ms(10_000)).await;
        let generation = ann.handle().group_metadata().generation.0;
        assert!((8..=12).contains(&generation), "{generation} with plans: {plans}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_wants_another_is_followed_by_one_in_its_time() {
    let cluster = one_broker();
    let mut ann = soon(bare(&cluster).assigner(Reluctant::default()).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let before = ann.handle().group_metadata().generation;
    for minute in 1..4 {
        idle(&mut ann, ms(61_000)).await;
        assert_eq!(ann.handle().group_metadata().generation.0, before.0 + minute);
    }
}

#[tokio::test(start_paused = true)]
async fn the_status_says_whether_rounds_are_cooperative() {
    let cluster = one_broker();
    let cooperative = bare(&cluster).assigner(StickyAssigner::default());
    let eager =
        bare(&cluster).assigner(StickyAssigner::default()).assigner(RangeAssigner::default());
    for (builder, expected) in
        [(cooperative, RebalanceProtocol::Cooperative), (eager, RebalanceProtocol::Eager)]
    {
        let member = soon(builder.join()).await.unwrap();
        assert_eq!(member.handle().status().borrow().rebalance_protocol, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn kafkas_sticky_assigners_are_known_by_name() {
    let cluster = one_broker();
    for (name, expected) in [
        ("cooperative-sticky", "cooperative-sticky"),
        ("org.apache.kafka.clients.consumer.CooperativeStickyAssignor", "cooperative-sticky"),
        ("sticky", "sticky"),
        ("org.apache.kafka.clients.consumer.StickyAssignor", "sticky"),
    ] {
        let named = bare(&cluster).group_id(name).set("partition.assignment.strategy", name);
        let mut member = soon(named.join()).await.unwrap();
        assigned(&mut member, 4).await;
        assert_eq!(member.handle().status().borrow().protocol.as_deref(), Some(expected));
    }
}

/// Says nearly as much as may be said, so that nothing has room beside it in the group's record.
struct Talkative;

impl PartitionAssigner<String> for Talkative {
    fn name(&self) -> &str {
        "talkative"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> String {
        "x".repeat(1_048_500)
    }

    fn assign(&self, group: &GroupSubscription<String>) -> Result<GroupAssignment, AssignError> {
        Ok(StickyPlanner::new().plan(group))
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_can_publish_nothing_says_why_each_time_it_leaves() {
    let cluster = one_broker();
    let mut ann = soon(bare(&cluster).assigner(Talkative).join()).await.unwrap();
    for time in 1..=2 {
        let told = next(&mut ann).await;
        let Event::AssignFailed(failed) = &told else { panic!("time {time}: {told:?}") };
        let why = failed.message();
        assert!(why.contains("the group's record would take about"), "time {time}: {why}");
    }
    assert!(count(&cluster, ApiKey::LeaveGroup) >= 1);
}
