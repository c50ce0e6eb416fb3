//! An idle member: no thread of its own, little heap, few wakeups.

use std::io::{BufRead, BufReader, Lines, Write as _};
use std::ops::Range;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use kafka_group::Client;
use kafka_group::testing::FakeBroker;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::{SOON, alone, client, heap, joined, member, settled, threads, threads_are};

/// Where the broker's process is told to be one.
const BROKER: &str = "KAFKA_GROUP_TEST_IS_BROKER";

/// A fake broker in a process of its own, so that its heap is not counted.
struct Elsewhere {
    process: Child,
    /// Open, so that it can go on to write.
    _told: Lines<BufReader<ChildStdout>>,
    servers: String,
}

impl Elsewhere {
    fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "idle::broker_in_another_process", "--nocapture", "--test-threads=1"])
            .env(BROKER, "yes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(process.stdout.take().unwrap()).lines();
        let servers = told.by_ref().map_while(Result::ok);
        let servers = servers.filter_map(|line| Some(line.split_once("servers=")?.1.to_owned()));
        let servers = { servers }.next().expect("a broker");
        Self { process, _told: told, servers }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}

/// The other process's part: a broker until its standard input ends. By itself it is no test.
#[test]
fn broker_in_another_process() {
    if std::env::var_os(BROKER).is_none() {
        return;
    }
    let broker = FakeBroker::start([("orders", 10)]).unwrap();
    println!("servers={}", broker.bootstrap_servers());
    std::io::stdout().flush().unwrap();
    drop(std::io::stdin().lines().map_while(Result::ok).last());
}

/// Groups of ten members with a partition each, every one with an application that does what it is told.
async fn members(client: &Client, groups: Range<usize>, applications: &mut JoinSet<()>) {
    let mut handles = Vec::new();
    for group in groups {
        let name = format!("group-{group}");
        for _ in 0..10 {
            let mut member = joined(member(client, &name)).await;
            handles.push(member.handle());
            applications.spawn(async move { while let Ok(Some(_)) = member.next().await {} });
        }
    }
    for handle in handles {
        let mut status = handle.status();
        let one_each = status.wait_for(|status| status.assignment.len() == 1);
        timeout(SOON, one_each).await.expect("in time").expect("a member");
    }
}

/// Until what a round leaves behind is gone: buffers, threads of the job pool.
async fn at_rest() {
    sleep(Duration::from_millis(2500)).await;
}

#[tokio::test]
async fn an_idle_member_has_no_thread_and_less_than_64_kib_of_heap() {
    let _alone = alone();
    let broker = Elsewhere::start();
    let client = client(&broker.servers);
    let mut applications = JoinSet::new();
    members(&client, 0..10, &mut applications).await;
    at_rest().await;
    let before = heap::bytes();
    members(&client, 10..110, &mut applications).await;
    at_rest().await;
    let per_member = (heap::bytes() - before) / 1000;
    println!("an idle member has {per_member} bytes of heap");
    assert_eq!(threads(), ["kafka-group"], "one for the client, none for its members");
    assert!(per_member < 64 * 1024, "{per_member} bytes");
    drop(client);
    applications.shutdown().await;
    threads_are(&[]).await;
}

#[tokio::test]
async fn an_idle_member_is_polled_at_most_four_times_a_heartbeat() {
    let _alone = alone();
    let broker = FakeBroker::start([("orders", 10)]).unwrap();
    let client = client(&broker.bootstrap_servers());
    let mut one =
        [joined(member(&client, "indexers").heartbeat_interval(Duration::from_millis(100))).await];
    settled(&mut one, 10).await;
    at_rest().await;
    let handle = one[0].handle();
    let count = || (handle.driver_polls(), handle.status().borrow().counters.heartbeats);
    let (polls, beats) = count();
    at_rest().await;
    let (polls, beats) = (count().0 - polls, count().1 - beats);
    println!("{polls} polls for {beats} heartbeats");
    assert!(beats >= 10, "{beats}");
    assert!(polls <= 4 * beats, "{polls} polls for {beats} heartbeats");
    drop((client, handle, one));
    threads_are(&[]).await;
}
