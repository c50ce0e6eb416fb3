//! A fake cluster, members of it in one line, and waiting for what they say. Time is virtual: the cluster, the members
//! and the test share one runtime, whose clock runs on as soon as nobody has anything to do.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::testing::{FakeCluster, SeenRequest};
use kafka_group::types::Offsets;
use kafka_group::{ApiKey, Assigned, Error, Event, GroupMember, GroupMemberBuilder};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

/// How long anything may take before a test gives up; longer than any timeout of the members.
pub(crate) const SOON: Duration = Duration::from_secs(200);

pub(crate) const SESSION: Duration = Duration::from_secs(10);
pub(crate) const REBALANCE: Duration = Duration::from_secs(30);

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// One broker with a topic "orders" of four partitions.
pub(crate) fn one_broker() -> FakeCluster {
    FakeCluster::builder().topic("orders", 4).start_on_this_runtime().unwrap()
}

/// Three of them.
pub(crate) fn three_brokers() -> FakeCluster {
    FakeCluster::builder().nodes(3).topic("orders", 4).start_on_this_runtime().unwrap()
}

/// A dynamic member of the group "indexers" on range, with short times.
pub(crate) fn member(cluster: &FakeCluster) -> GroupMemberBuilder {
    bare(cluster).assigner(RangeAssigner::default())
}

/// The same without an assigner.
pub(crate) fn bare(cluster: &FakeCluster) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(cluster.bootstrap_servers())
        .group_id("indexers")
        .subscribe(["orders"])
        .session_timeout(SESSION)
        .heartbeat_interval(ms(1000))
        .max_poll_interval(REBALANCE)
        .request_timeout(ms(5000))
        .runtime(Handle::current())
}

/// What `what` gives, in time.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(SOON, what).await.expect("in time")
}

/// The next event, in time.
pub(crate) async fn next(member: &mut GroupMember) -> Event {
    soon(member.next()).await.expect("no error").expect("not the end")
}

/// The error that ends the member, in time, whatever is said before.
pub(crate) async fn error(member: &mut GroupMember) -> Error {
    loop {
        match soon(member.next()).await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the end came without an error"),
            Err(error) => return error,
        }
    }
}

/// Takes events until one is an assignment of so many partitions.
pub(crate) async fn assigned(member: &mut GroupMember, count: usize) -> Assigned {
    loop {
        match next(member).await {
            Event::Assigned(assigned) if assigned.all().len() == count => return assigned,
            _ => {}
        }
    }
}

/// Takes events until one is an assignment.
pub(crate) async fn next_assigned(member: &mut GroupMember) -> Assigned {
    loop {
        if let Event::Assigned(assigned) = next(member).await {
            return assigned;
        }
    }
}

/// Asks for events for so long, and takes them.
pub(crate) async fn idle(member: &mut GroupMember, time: Duration) -> Vec<Event> {
    let mut events = Vec::new();
    let end = Instant::now() + time;
    while let Ok(event) = tokio::time::timeout_at(end, member.next()).await {
        events.push(event.expect("no error").expect("not the end"));
    }
    events
}

/// Waits until the cluster, or whatever `look` looks at, is as it should be.
pub(crate) async fn eventually(what: &str, mut look: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !look() {
        assert!(Instant::now() < deadline, "never: {what}");
        sleep(ms(5)).await;
    }
}

/// Lets virtual time pass.
pub(crate) async fn pass(time: Duration) {
    sleep(time).await;
}

/// What was asked of this API.
pub(crate) fn seen(cluster: &FakeCluster, api: ApiKey) -> Vec<SeenRequest> {
    cluster.requests().into_iter().filter(|request| request.api == api).collect()
}

pub(crate) fn count(cluster: &FakeCluster, api: ApiKey) -> usize {
    seen(cluster, api).len()
}

/// The longest time between two neighbours, for requests of one API.
pub(crate) fn longest_gap(requests: &[SeenRequest]) -> Duration {
    requests.windows(2).map(|pair| pair[1].at - pair[0].at).max().unwrap_or_default()
}

/// Offset `offset` for every partition held.
pub(crate) fn offsets(assigned: &Assigned, offset: i64) -> Offsets {
    assigned.all().iter().map(|at| (at, offset.into())).collect::<BTreeMap<_, _>>()
}
