//! A fake cluster, groups on it in one line, and an administrator. Time is virtual: all share one runtime, whose clock
//! runs on as soon as nobody has anything to do.

use std::time::Duration;

use kafka_group::admin::Admin;
use kafka_group::assign::RangeAssigner;
use kafka_group::client::ClientOptions;
use kafka_group::testing::{FakeCluster, FakeClusterBuilder, SeenRequest};
use kafka_group::{ApiKey, GroupMember, GroupMemberBuilder, MemberHandle};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// The group of most tests.
pub(crate) const GROUP: &str = "indexers";

/// Longer than anything takes.
const SOON: Duration = Duration::from_secs(200);

/// A broker with a topic "orders" of twelve partitions.
pub(crate) fn cluster() -> FakeCluster {
    start(FakeCluster::builder())
}

/// The same, set up further.
pub(crate) fn start(builder: FakeClusterBuilder) -> FakeCluster {
    builder.topic("orders", 12).start_on_this_runtime().unwrap()
}

pub(crate) fn options(cluster: &FakeCluster) -> ClientOptions {
    ClientOptions::new(cluster.bootstrap_servers()).runtime(Handle::current())
}

pub(crate) async fn admin(cluster: &FakeCluster) -> Admin {
    Admin::connect(options(cluster)).await.unwrap()
}

/// A member in the making, on range.
pub(crate) fn member(cluster: &FakeCluster) -> GroupMemberBuilder {
    plain(cluster).assigner(RangeAssigner::default())
}

/// The same without an assigner.
pub(crate) fn plain(cluster: &FakeCluster) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(cluster.bootstrap_servers())
        .group_id(GROUP)
        .subscribe(["orders"])
        .session_timeout(Duration::from_secs(30))
        .heartbeat_interval(Duration::from_secs(1))
        .runtime(Handle::current())
}

/// An application that takes whatever its member is told.
pub(crate) struct App {
    pub(crate) handle: MemberHandle,
    task: JoinHandle<()>,
}

impl App {
    pub(crate) async fn start(builder: GroupMemberBuilder) -> Self {
        let mut member = builder.join().await.unwrap();
        let handle = member.handle();
        let task = tokio::spawn(async move { while let Ok(Some(_)) = member.next().await {} });
        let app = Self { handle, task };
        app.handle.ready(SOON).await.unwrap();
        app
    }

    pub(crate) fn id(&self) -> String {
        self.handle.status().borrow().member_id.to_string()
    }

    /// Waits until it holds so many partitions.
    pub(crate) async fn holds(&self, count: usize) {
        let mut status = self.handle.status();
        let holds = status.wait_for(|status| status.assignment.len() == count);
        tokio::time::timeout(SOON, holds).await.expect("in time").unwrap();
    }

    /// Closes: a static member stays registered.
    pub(crate) async fn close(self) {
        self.handle.close().await.unwrap();
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Static members of the group, each with its part of "orders".
pub(crate) async fn static_members<const N: usize>(
    cluster: &FakeCluster,
    ids: [&str; N],
) -> Vec<App> {
    let mut apps = Vec::new();
    for id in ids {
        apps.push(App::start(member(cluster).group_instance_id(id)).await);
    }
    for app in &apps {
        app.holds(12 / N).await;
    }
    apps
}

/// Waits until the cluster is as it should be.
pub(crate) async fn eventually(what: &str, mut look: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !look() {
        assert!(Instant::now() < deadline, "never: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// What was asked of this API.
pub(crate) fn seen(cluster: &FakeCluster, api: ApiKey) -> Vec<SeenRequest> {
    cluster.requests().into_iter().filter(|request| request.api == api).collect()
}
