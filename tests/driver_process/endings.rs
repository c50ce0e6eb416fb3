//! Nothing is left afterwards: no task that speaks to a broker, no thread.

use std::sync::mpsc;
use std::time::Duration;

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
};
use kafka_group::testing::{FakeBroker, Verdict};
use kafka_group::{ApiKey, Event};
use tokio::time::{sleep, timeout};

use crate::{SOON, alone, client, joined, member, settled, threads_are};

#[tokio::test]
async fn nothing_is_left_of_members_that_left() {
    let _alone = alone();
    let broker = FakeBroker::start([("orders", 10)]).unwrap();
    let client = client(&broker.bootstrap_servers());
    let mut two = [joined(member(&client, "one")).await, joined(member(&client, "two")).await];
    settled(&mut two, 10).await;
    let [one, two] = two;
    drop(client);
    one.leave().await.unwrap();
    two.close().await.unwrap();
    threads_are(&[]).await;
    assert!(broker.members("one").is_empty() && broker.members("two").is_empty());
}

#[tokio::test]
async fn nothing_is_left_of_a_member_that_was_dropped_in_any_state() {
    let _alone = alone();
    for api in [ApiKey::JoinGroup, ApiKey::SyncGroup, ApiKey::Heartbeat] {
        let broker = FakeBroker::start([("orders", 10)]).unwrap();
        broker.control(api, usize::MAX, |_| Verdict::Hold);
        let client = client(&broker.bootstrap_servers());
        let member = member(&client, "indexers").heartbeat_interval(Duration::from_millis(50));
        let one = joined(member.close_timeout(Duration::from_secs(2))).await;
        drop(client);
        let wait = async {
            while !broker.requests().iter().any(|request| request.api == api) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, wait).await.expect("a request");
        drop(one);
        threads_are(&[]).await;
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_join_that_was_broken_off() {
    let _alone = alone();
    let broker = FakeBroker::start([("orders", 10)]).unwrap();
    broker.control(ApiKey::FindCoordinator, usize::MAX, |_| Verdict::Hold);
    let client = client(&broker.bootstrap_servers());
    let joining = member(&client, "indexers").join();
    drop(client);
    assert!(timeout(Duration::from_millis(300), joining).await.is_err());
    threads_are(&[]).await;
}

/// Hangs until the other end of the channel is dropped.
struct Hangs(std::sync::Mutex<mpsc::Receiver<()>>);

impl PartitionAssigner<()> for Hangs {
    fn name(&self) -> &str {
        "hangs"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription<()>) -> Result<GroupAssignment, AssignError> {
        let _ended = self.0.lock().unwrap().recv();
        Ok(group.plan())
    }
}

#[tokio::test]
async fn of_an_assigner_that_hangs_its_thread_is_left_until_it_ends() {
    let _alone = alone();
    let broker = FakeBroker::start([("orders", 10)]).unwrap();
    let client = client(&broker.bootstrap_servers());
    let (release, hold) = mpsc::channel();
    let builder = kafka_group::GroupMember::builder()
        .client(client.clone())
        .group_id("indexers")
        .subscribe(["orders"])
        .max_poll_interval(Duration::from_secs(2))
        .session_timeout(Duration::from_secs(1))
        .close_timeout(Duration::from_secs(2))
        .assigner(Hangs(hold.into()));
    let mut one = joined(builder).await;
    drop(client);
    let failed = async {
        loop {
            if let Event::AssignFailed(failed) = one.next().await.unwrap().unwrap() {
                return failed;
            }
        }
    };
    let failed = timeout(SOON, failed).await.expect("the failure is told");
    assert!(failed.message().contains("deadline"), "{}", failed.message());
    timeout(SOON, one.leave()).await.expect("in time").unwrap();
    threads_are(&["kafka-group-job"]).await;
    drop(release);
    threads_are(&[]).await;
}
