//! What members do to their process: heap, threads, wakeups, the log. One test at a time, since all look at the same.

mod endings;
#[path = "../driver/harness.rs"]
#[allow(dead_code, reason = "the tests of the log use a part of it")]
mod harness;
mod heap;
mod idle;
mod tracing;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::{Client, Event, GroupMember, GroupMemberBuilder};
use tokio::time::{sleep, timeout};

const SOON: Duration = Duration::from_secs(60);

/// Nobody else is looking for as long as this lives: tests have a runtime each, so that waiting blocks nobody.
struct Alone {
    _turn: MutexGuard<'static, ()>,
}

fn alone() -> Alone {
    static TURN: Mutex<()> = Mutex::new(());
    Alone { _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner) }
}

fn client(servers: &str) -> Client {
    Client::new(kafka_group::client::ClientOptions::new(servers)).unwrap()
}

fn member(client: &Client, group: &str) -> GroupMemberBuilder {
    GroupMember::builder()
        .client(client.clone())
        .group_id(group)
        .subscribe(["orders"])
        .assigner(RangeAssigner::default())
}

async fn joined(builder: GroupMemberBuilder) -> GroupMember {
    timeout(SOON, builder.join()).await.expect("in time").expect("a member")
}

/// Takes events until there has been none for a while and the group has settled.
async fn settled(members: &mut [GroupMember], partitions: usize) {
    for member in members.iter_mut() {
        loop {
            let event = timeout(SOON, member.next()).await.expect("in time");
            match event.expect("no error").expect("not the end") {
                Event::Assigned(assigned) if assigned.all().len() == partitions => break,
                _ => {}
            }
        }
    }
}

/// The names of this process's threads that are the crate's.
fn threads() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .filter(|name| name.starts_with("kafka-group"))
        .collect();
    names.sort();
    names
}

/// Waits until the crate has these threads and no others.
async fn threads_are(expected: &[&str]) {
    let wait = async {
        while threads() != expected {
            sleep(Duration::from_millis(20)).await;
        }
    };
    let outcome = timeout(Duration::from_secs(10), wait).await;
    assert!(outcome.is_ok(), "{:?} and not {expected:?}", threads());
}
