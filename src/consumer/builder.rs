//! Says what a consumer is to be.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rdkafka::ClientConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use super::Consumer;
use super::hand_over::HandOver;
use super::listener::{Listening, RebalanceListener};
use super::pump::{Context, Pump, Signal};
use super::queue::Limits;
use super::reset::{AutoOffsetReset, Known};
use super::security::secure;
use super::task::{Parts, Task};
use crate::assign::PartitionAssigner;
use crate::client::Client;
use crate::error::Error;
use crate::group::{DataPlane, Gather, GroupMemberBuilder, LeavePolicy, OnFenced, TakeOver};
use crate::security::Security;
use crate::subscription::OnAssignError;

/// Says what a [`Consumer`] is to be: all that a [`GroupMemberBuilder`] says, and where and how to read.
///
/// [`set`](Self::set) takes librdkafka's consumer properties, too (`fetch.min.bytes`, `queued.max.messages.kbytes`).
#[derive(Default)]
#[must_use = "a builder does nothing until it joins"]
pub struct ConsumerBuilder {
    member: GroupMemberBuilder,
    listener: Option<Arc<dyn RebalanceListener>>,
}

/// Reading.
impl ConsumerBuilder {
    /// Where to start where nothing is committed. Kafka: `auto.offset.reset`. Default: `latest`.
    pub fn auto_offset_reset(self, reset: AutoOffsetReset) -> Self {
        self.set("auto.offset.reset", reset.name())
    }

    /// Whether `recv()` marks what the call before returned. Kafka: `enable.auto.commit`. Default: false, unlike
    /// Kafka's. The trap: a record that was handed to another task is marked before it is processed.
    pub fn enable_auto_commit(self, enable: bool) -> Self {
        self.set("enable.auto.commit", enable.to_string())
    }

    /// How often marks are committed. Kafka: `auto.commit.interval.ms`. Default 5 s.
    pub fn auto_commit_interval(self, interval: Duration) -> Self {
        self.set("auto.commit.interval.ms", interval.as_millis().to_string())
    }

    /// Who hears of rebalances. Default: nobody.
    pub fn rebalance_listener(mut self, listener: impl RebalanceListener) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Checks the options, reaches the cluster and the group's coordinator, and starts the consumer.
    ///
    /// As [`GroupMemberBuilder::join`]: an error means that there is no member, and what JoinGroup refuses is the first
    /// result of [`recv`](Consumer::recv). Cancel safe: dropping the future leaves nothing behind.
    pub async fn join(mut self) -> Result<Consumer, Error> {
        let plane = self.member.take_data_plane()?;
        let reset = plane.auto_offset_reset.parse();
        let reset: AutoOffsetReset =
            reset.map_err(|problem: &str| Error::option("auto.offset.reset", problem))?;
        let room = Arc::new(Signal::default());
        let hand_over = Arc::new(HandOver::new(Limits::default(), Arc::clone(&room)));
        let client = self.member.take_client()?;
        let mut config = config(&plane, reset);
        secure(&mut config, client.security())?;
        // First, since librdkafka says by itself what is wrong with its properties, and nobody has joined yet.
        let (context, denied) = Context::new(client.token_bridge());
        let pump = Pump::start(config, context, Arc::clone(&hand_over), room).await?;
        let member = self.member.join().await?;
        let handle = member.handle();
        let runtime = Handle::try_current();
        let runtime = runtime.unwrap_or_else(|_| handle.client().runtime().clone());
        let task = Task::new(Parts {
            member,
            pump,
            denied,
            session: plane.session_timeout,
            hand_over: Arc::clone(&hand_over),
            listening: Listening::new(self.listener, &runtime),
            reset,
            known: Known::new(plane.selection, &handle.cluster()),
            interval: plane.auto_commit_interval,
            close_timeout: plane.close_timeout,
        });
        let task = handle.client().spawn(task.run());
        Ok(Consumer {
            status: handle.status(),
            handle,
            hand_over,
            marks: plane.enable_auto_commit,
            close_timeout: plane.close_timeout,
            task: Some(task),
        })
    }
}

/// What librdkafka is told.
fn config(plane: &DataPlane, reset: AutoOffsetReset) -> ClientConfig {
    let mut config = ClientConfig::new();
    for (property, value) in &plane.properties {
        config.set(property, value);
    }
    config
        .set("bootstrap.servers", &plane.servers)
        .set("group.id", &plane.group_id)
        .set("client.id", &plane.client_id)
        .set("auto.offset.reset", reset.rdkafka_name());
    config
}

/// Membership: see [`GroupMemberBuilder`].
impl ConsumerBuilder {
    fn member(mut self, change: impl FnOnce(GroupMemberBuilder) -> GroupMemberBuilder) -> Self {
        self.member = change(self.member);
        self
    }

    /// Brokers to begin with. Kafka: `bootstrap.servers`.
    pub fn bootstrap_servers(self, servers: impl Into<String>) -> Self {
        self.member(|member| member.bootstrap_servers(servers))
    }

    /// The group. Kafka: `group.id`.
    pub fn group_id(self, id: impl Into<String>) -> Self {
        self.member(|member| member.group_id(id))
    }

    /// Makes the member static (KIP-345). Kafka: `group.instance.id`. Default: none, a dynamic member.
    pub fn group_instance_id(self, id: impl Into<String>) -> Self {
        self.member(|member| member.group_instance_id(id))
    }

    /// Which member of its process this is, where a process has several. See [`GroupMemberBuilder::instance_index`].
    pub fn instance_index(self, index: u32) -> Self {
        self.member(|member| member.instance_index(index))
    }

    /// What this member does when another process has joined with its `group.instance.id`. Default: it ends with an
    /// error.
    pub fn on_fenced(self, policy: OnFenced) -> Self {
        self.member(|member| member.on_fenced(policy))
    }

    /// Whether this member may throw out whoever has its `group.instance.id` when it starts. Default: always.
    pub fn take_over(self, policy: TakeOver) -> Self {
        self.member(|member| member.take_over(policy))
    }

    /// What brokers write into their logs. Kafka: `client.id`. Default: `kafka-group`.
    pub fn client_id(self, id: impl Into<String>) -> Self {
        self.member(|member| member.client_id(id))
    }

    /// Where this member runs; librdkafka then reads from a replica near by, where brokers allow it (KIP-392). Kafka:
    /// `client.rack`. Default: not said.
    pub fn client_rack(self, rack: impl Into<String>) -> Self {
        self.member(|member| member.client_rack(rack))
    }

    /// TLS and SASL, for membership and for rdkafka: see [`GroupMemberBuilder::security`]. What rdkafka was built without
    /// is refused, with the name of the cargo feature. Default: PLAINTEXT.
    pub fn security(self, security: Security) -> Self {
        self.member(|member| member.security(security))
    }

    /// Subscribes to these topics.
    pub fn subscribe<T: Into<String>>(self, topics: impl IntoIterator<Item = T>) -> Self {
        self.member(|member| member.subscribe(topics))
    }

    /// Subscribes to all topics whose name matches, now and later.
    pub fn subscribe_pattern(self, pattern: impl Into<String>) -> Self {
        self.member(|member| member.subscribe_pattern(pattern))
    }

    /// Adds an assigner, the most preferred first. At least one.
    pub fn assigner<T, A>(self, assigner: A) -> Self
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
        A: PartitionAssigner<T>,
    {
        self.member(|member| member.assigner(assigner))
    }

    /// How long the group waits for a silent member. Kafka: `session.timeout.ms`. Default 45 s.
    pub fn session_timeout(self, timeout: Duration) -> Self {
        self.member(|member| member.session_timeout(timeout))
    }

    /// How often to beat. Kafka: `heartbeat.interval.ms`. Default: by the group's size.
    pub fn heartbeat_interval(self, interval: Duration) -> Self {
        self.member(|member| member.heartbeat_interval(interval))
    }

    /// How long a rebalance waits for this member to give partitions up. Kafka: `max.poll.interval.ms`. Default 5 min.
    pub fn max_poll_interval(self, interval: Duration) -> Self {
        self.member(|member| member.max_poll_interval(interval))
    }

    /// How long a broker may take to answer. Kafka: `request.timeout.ms`. Default 30 s.
    pub fn request_timeout(self, timeout: Duration) -> Self {
        self.member(|member| member.request_timeout(timeout))
    }

    /// How long `join()` tries to reach the cluster. Kafka: `default.api.timeout.ms`. Default 60 s.
    pub fn default_api_timeout(self, timeout: Duration) -> Self {
        self.member(|member| member.default_api_timeout(timeout))
    }

    /// How late new topics and partitions are noticed. Kafka: `metadata.max.age.ms`. Default 5 min.
    pub fn metadata_max_age(self, age: Duration) -> Self {
        self.member(|member| member.metadata_max_age(age))
    }

    /// How long ending may take, the application's part included. Default 30 s.
    pub fn close_timeout(self, timeout: Duration) -> Self {
        self.member(|member| member.close_timeout(timeout))
    }

    /// How long this member, when it leads, waits for more joiners before it plans for some who came. Default: not at
    /// all. See [`GroupMemberBuilder::settle_delay`].
    pub fn settle_delay(self, delay: Duration) -> Self {
        self.member(|member| member.settle_delay(delay))
    }

    /// Whether closing leaves the group (KIP-1092). Default: a dynamic member leaves, a static one stays.
    pub fn leave_policy(self, policy: LeavePolicy) -> Self {
        self.member(|member| member.leave_policy(policy))
    }

    /// What this member does, as leader, when its assigner fails. Default: everyone keeps what they have.
    pub fn on_assign_error(self, policy: OnAssignError) -> Self {
        self.member(|member| member.on_assign_error(policy))
    }

    /// I/O that the leader does before its assigner runs.
    pub fn gather(self, gather: impl Gather) -> Self {
        self.member(|member| member.gather(gather))
    }

    /// Allows commits for partitions that are not assigned to this member. Default: refused.
    pub fn allow_foreign_commits(self) -> Self {
        self.member(|member| member.allow_foreign_commits())
    }

    /// Writes no user data, so that consumers of the new protocol take the group over (KIP-848). Default: false.
    pub fn allow_migration(self, allow: bool) -> Self {
        self.member(|member| member.allow_migration(allow))
    }

    /// Joins as a dynamic member where the broker is too old for `group.instance.id`. Default: an error.
    pub fn degrade_to_dynamic(self) -> Self {
        self.member(|member| member.degrade_to_dynamic())
    }

    /// Shares connections, metadata and thread with other members. Takes the place of `bootstrap.servers`.
    pub fn client(self, client: Client) -> Self {
        self.member(|member| member.client(client))
    }

    /// Runs membership and connections on this runtime instead of a thread of their own. For tests.
    pub fn runtime(self, runtime: Handle) -> Self {
        self.member(|member| member.runtime(runtime))
    }

    /// Sets an option by Kafka's or librdkafka's property name. What is wrong with it is said by `join()`. See
    /// [`GroupMemberBuilder::set`].
    pub fn set(self, property: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.member(|member| member.set(property, value))
    }

    /// Sets many options by Kafka's or librdkafka's property names. See [`GroupMemberBuilder::from_properties`].
    pub fn from_properties<K: AsRef<str>, V: AsRef<str>>(
        self,
        properties: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.member(|member| member.from_properties(properties))
    }
}

impl fmt::Debug for ConsumerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsumerBuilder").field("member", &self.member).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::RangeAssigner;

    /// What `join()` says of a property, without any broker.
    async fn refused(property: &str, value: &str) -> String {
        let builder = Consumer::builder()
            .bootstrap_servers("127.0.0.1:1")
            .group_id("indexers")
            .subscribe(["orders"])
            .assigner(RangeAssigner::default())
            .set(property, value);
        match builder.join().await {
            Err(Error::InvalidOption { property, problem }) => format!("{property}: {problem}"),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_property_that_nobody_knows_is_an_option_that_is_wrong() {
        let said = refused("sesion.timeout.ms", "7000").await;
        assert_eq!(
            said,
            "property: `sesion.timeout.ms` (is `session.timeout.ms` meant?) is neither this crate's nor librdkafka's"
        );
    }

    #[tokio::test]
    async fn a_value_that_librdkafka_refuses_is_an_option_that_is_wrong() {
        let said = refused("fetch.min.bytes", "many").await;
        assert!(said.starts_with("property: `fetch.min.bytes`: "), "{said}");
    }
}
