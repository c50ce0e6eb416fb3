//! Heartbeats hold whatever the application does. In real time: what blocks here blocks for real.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, RangeAssigner,
};
use kafka_group::testing::{FakeBroker, Verdict};
use kafka_group::{ApiKey, Event, GroupMember, GroupMemberBuilder};
use tokio::time::timeout;

use crate::harness::{longest_gap, ms, offsets, seen};

const SESSION: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(20);
const BLOCKED: Duration = Duration::from_secs(3);

fn broker() -> FakeBroker {
    FakeBroker::start([("orders", 4)]).unwrap()
}

/// A member on a thread of its own, as applications have it.
fn member(broker: &FakeBroker) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(broker.bootstrap_servers())
        .group_id("indexers")
        .subscribe(["orders"])
        .session_timeout(SESSION)
        .max_poll_interval(Duration::from_secs(30))
}

async fn assigned(member: &mut GroupMember) -> kafka_group::Assigned {
    let wait = async {
        loop {
            match member.next().await.expect("no error").expect("not the end") {
                Event::Assigned(assigned) => return assigned,
                Event::Lost(lost) => panic!("{lost:?}"),
                _ => {}
            }
        }
    };
    timeout(SOON, wait).await.expect("an assignment in time")
}

/// Blocks this thread, and whatever runtime runs on it.
fn block() {
    let (_never, wait) = std::sync::mpsc::channel::<()>();
    wait.recv_timeout(BLOCKED).unwrap_err();
}

/// Nobody was expelled, and the broker saw no gap as long as the session. A heartbeat or a round counts.
fn held(broker: &FakeBroker) {
    let alive: Vec<_> = broker
        .requests()
        .into_iter()
        .filter(|it| matches!(it.api, ApiKey::Heartbeat | ApiKey::JoinGroup | ApiKey::SyncGroup))
        .collect();
    let gap = longest_gap(&alive);
    assert!(gap < SESSION, "{gap:?} without a sign of life");
    assert!(
        alive.last().unwrap().at - alive[0].at > BLOCKED - SESSION,
        "not watched for long enough"
    );
    assert_eq!(broker.members("indexers").len(), 1);
}

/// Range, but it takes its time; only once.
struct Slow {
    range: RangeAssigner,
    blocked: Arc<AtomicBool>,
}

impl PartitionAssigner<()> for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription<()>) -> Result<GroupAssignment, AssignError> {
        if !self.blocked.swap(true, Ordering::Relaxed) {
            block();
        }
        self.range.assign(group)
    }
}

#[tokio::test]
async fn an_assigner_may_block() {
    let (broker, blocked) = (broker(), Arc::new(AtomicBool::new(false)));
    let slow = Slow { range: RangeAssigner::default(), blocked: Arc::clone(&blocked) };
    let mut ann = timeout(SOON, member(&broker).assigner(slow).join()).await.unwrap().unwrap();
    let assigned = assigned(&mut ann).await;
    assert!(blocked.load(Ordering::Relaxed));
    assert_eq!(assigned.all().len(), 4);
    held(&broker);
}

#[tokio::test]
async fn the_application_may_block_its_only_thread() {
    let broker = broker();
    let range = member(&broker).assigner(RangeAssigner::default());
    let mut ann = timeout(SOON, range.join()).await.unwrap().unwrap();
    assigned(&mut ann).await;
    block();
    held(&broker);
    assert!(timeout(ms(100), ann.next()).await.is_err(), "nothing has happened");
}

#[tokio::test]
async fn the_application_may_block_while_it_is_to_give_partitions_up() {
    let broker = broker();
    let range = || member(&broker).assigner(RangeAssigner::default());
    let mut ann = timeout(SOON, range().join()).await.unwrap().unwrap();
    assigned(&mut ann).await;
    let mut bob = timeout(SOON, range().join()).await.unwrap().unwrap();
    let Ok(Ok(Some(Event::Revoked(_)))) = timeout(SOON, ann.next()).await else {
        panic!("no revocation")
    };
    block();
    let (anns, bobs) = tokio::join!(assigned(&mut ann), assigned(&mut bob));
    assert_eq!((anns.all().len(), bobs.all().len()), (2, 2));
}

#[tokio::test]
async fn a_commit_and_metadata_may_be_held_back() {
    let broker = broker();
    let range = member(&broker).assigner(RangeAssigner::default());
    let mut ann = timeout(SOON, range.join()).await.unwrap().unwrap();
    let all = assigned(&mut ann).await;
    for api in [ApiKey::OffsetCommit, ApiKey::Metadata] {
        broker.control(api, usize::MAX, |_| Verdict::Hold);
    }
    let handle = ann.handle();
    let parts = (handle.clone(), handle.clone());
    let waiting = [
        tokio::spawn(async move { drop(parts.0.commit(offsets(&all, 7)).await) }),
        tokio::spawn(async move { drop(parts.1.refresh_metadata().await) }),
    ];
    assert!(timeout(BLOCKED, ann.next()).await.is_err(), "nothing happens");
    held(&broker);
    assert_eq!(seen(&broker, ApiKey::OffsetCommit).len(), 1);
    waiting.iter().for_each(|task| task.abort());
    broker.clear_control();
    broker.release();
}

#[tokio::test]
async fn everything_at_once_expels_nobody() {
    let (broker, blocked) = (broker(), Arc::new(AtomicBool::new(false)));
    let slow = Slow { range: RangeAssigner::default(), blocked };
    let mut ann = timeout(SOON, member(&broker).assigner(slow).join()).await.unwrap().unwrap();
    block();
    let all = assigned(&mut ann).await;
    broker.control(ApiKey::OffsetCommit, 1, |_| Verdict::Hold);
    broker.control(ApiKey::Metadata, 1, |_| Verdict::Hold);
    let handle = ann.handle();
    let commit = tokio::spawn(async move { handle.commit(offsets(&all, 7)).await });
    assert!(timeout(ms(200), ann.next()).await.is_err());
    block();
    held(&broker);
    broker.release();
    assert_eq!(timeout(SOON, commit).await.unwrap().unwrap(), Ok(()));
}
