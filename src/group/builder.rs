//! Says what a member is to be.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use super::gather::{Erased, Gather, Gatherer};
use super::join;
use super::member::GroupMember;
use super::options::Options;
use super::take_over::TakeOver;
use crate::assign::{ErasedAssigner, PartitionAssigner, UnfitAssigner};
use crate::client::Client;
use crate::error::Error;
use crate::membership::{LeavePolicy, OnFenced};
use crate::security::Security;
use crate::subscription::{OnAssignError, Selection};

/// Says what a [`GroupMember`] is to be. Four things have no default: the brokers (or a [`Client`]), the group, topics,
/// and at least one assigner.
///
/// Every option is also reached by its property name, [`set`](Self::set); everything is checked by
/// [`join`](Self::join), before anything is sent.
#[derive(Default)]
#[must_use = "a builder does nothing until it joins"]
pub struct GroupMemberBuilder {
    pub(super) options: Options,
    pub(super) topics: Vec<String>,
    pub(super) pattern: Option<String>,
    pub(super) assigners: Vec<Result<ErasedAssigner, UnfitAssigner>>,
    pub(super) gatherer: Option<Arc<dyn Gatherer>>,
    pub(super) on_assign_error: OnAssignError,
    pub(super) allow_migration: bool,
    pub(super) client: Option<Client>,
    pub(super) runtime: Option<Handle>,
}

impl GroupMemberBuilder {
    /// Brokers to begin with, `host:port` with commas between; all are tried. Kafka: `bootstrap.servers`.
    pub fn bootstrap_servers(mut self, servers: impl Into<String>) -> Self {
        self.options.set("bootstrap.servers", &servers.into());
        self
    }

    /// The group. Kafka: `group.id`.
    pub fn group_id(mut self, id: impl Into<String>) -> Self {
        self.options.group_id = Some(id.into());
        self
    }

    /// Makes the member static: it keeps its place when it restarts within its session (KIP-345).
    ///
    /// Every process needs its own: a second process with the same id throws the first one out. 1 to 249 characters from
    /// `[a-zA-Z0-9._-]`, or a [`GroupInstanceId`](crate::types::GroupInstanceId) that the host or the environment
    /// gives. Kafka: `group.instance.id`. Default: none, a dynamic member.
    pub fn group_instance_id(mut self, id: impl Into<String>) -> Self {
        self.options.group_instance_id = Some(id.into());
        self
    }

    /// Which member of its process this is, where a process has several: `-` and the index are put behind
    /// `group.instance.id`, or else behind `client.id`, which makes the member static. Neither set is an error, since the
    /// default `client.id` is the same in all processes.
    ///
    /// The trap: what is set must differ from process to process all the same. Ours, as a property
    /// `group.instance.index`. Default: none.
    pub fn instance_index(mut self, index: u32) -> Self {
        self.options.instance_index = Some(index);
        self
    }

    /// What this member does when another process has joined with its `group.instance.id`. Ours, as a property
    /// `fenced.retry.delay.ms`, which is [`OnFenced::RetryAfter`]. Default: it ends with an error.
    pub fn on_fenced(mut self, policy: OnFenced) -> Self {
        self.options.on_fenced = policy;
        self
    }

    /// Whether this member may throw out whoever has its `group.instance.id` when it starts. Ours, as a property
    /// `take.over`: `always`, `same-host` or `after-session`, with which `join()` may take a session. Default: always,
    /// as Kafka's clients do.
    pub fn take_over(mut self, policy: TakeOver) -> Self {
        self.options.take_over = policy;
        self
    }

    /// What brokers write into their logs, and count quotas by. Kafka: `client.id`. Default: `kafka-group`.
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.options.set("client.id", &id.into());
        self
    }

    /// Where this member runs, in the words of `broker.rack`. Kafka: `client.rack`. Default: not said.
    pub fn client_rack(mut self, rack: impl Into<String>) -> Self {
        self.options.set("client.rack", &rack.into());
        self
    }

    /// TLS and SASL. Kafka: `security.protocol`, `ssl.*` and `sasl.*`, which [`set`](Self::set) takes as well, but not
    /// both. Default: PLAINTEXT. Not together with a [`client`](Self::client), which has its own.
    pub fn security(mut self, security: Security) -> Self {
        self.options.security = Some(security);
        self
    }

    /// Subscribes to these topics. They need not exist yet: the member waits for them, and says so once.
    pub fn subscribe<T: Into<String>>(mut self, topics: impl IntoIterator<Item = T>) -> Self {
        self.topics.extend(topics.into_iter().map(Into::into));
        self
    }

    /// Subscribes to all topics whose name matches, now and later. Internal topics never match; the pattern is not
    /// anchored unless it says so (`^orders\..*`).
    pub fn subscribe_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.pattern = Some(pattern.into());
        self
    }

    /// Adds an assigner, the most preferred first. At least one. All members of a group need one in common: change a
    /// live group by listing the new one before the old, and dropping the old in a second deployment.
    pub fn assigner<T, A>(mut self, assigner: A) -> Self
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
        A: PartitionAssigner<T>,
    {
        self.assigners.push(ErasedAssigner::new(assigner));
        self
    }

    /// How long the group waits for a silent member. Kafka: `session.timeout.ms`. Default 45 s; the broker's bounds are
    /// 6 s to 30 min by its default. For a static member, also how long a restart may take.
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.options.session_timeout = timeout;
        self
    }

    /// How often to beat. Kafka: `heartbeat.interval.ms`. Default: by the group's size, from 300 ms in small groups to
    /// 3 s in large ones, and never more than a third of the session. Shorter is quicker to notice a rebalance.
    pub fn heartbeat_interval(mut self, interval: Duration) -> Self {
        self.options.heartbeat_interval = Some(interval);
        self
    }

    /// How long the group waits for members to give up what they have when it rebalances, and for this application to
    /// ask for an event that is there. Kafka: `max.poll.interval.ms`, which is the rebalance timeout. Default 5 min.
    ///
    /// Unlike Java's, it says nothing of an application that hangs while nothing happens in the group: heartbeats go on.
    pub fn max_poll_interval(mut self, interval: Duration) -> Self {
        self.options.max_poll_interval = interval;
        self
    }

    /// How long a broker may take to answer. Kafka: `request.timeout.ms`. Default 30 s.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.options.request_timeout = timeout;
        self
    }

    /// How long `join()` tries to reach the cluster, and a member to find common ground with its group. Kafka:
    /// `default.api.timeout.ms`. Default 60 s.
    pub fn default_api_timeout(mut self, timeout: Duration) -> Self {
        self.options.default_api_timeout = timeout;
        self
    }

    /// How late new topics and partitions are noticed. Kafka: `metadata.max.age.ms`. Default 5 min.
    pub fn metadata_max_age(mut self, age: Duration) -> Self {
        self.options.metadata_max_age = age;
        self
    }

    /// How long ending may take, the application's part included. Default 30 s.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.options.close_timeout = timeout;
        self
    }

    /// How long this member, when it leads, waits for more joiners before it plans for some who came: forty members
    /// that start within seconds then cost a few generations, and not forty. Use it where deployments start many members
    /// at once, above all eager ones. At most four delays in a row, however many keep coming. The trap: an eager group
    /// stands still meanwhile. A member that leaves or changes is not waited for. Ours, as a property
    /// `settle.delay.ms`: 0 to a quarter of `max.poll.interval.ms`. Default: 0, plan at once.
    pub fn settle_delay(mut self, delay: Duration) -> Self {
        self.options.settle_delay = delay;
        self
    }

    /// Whether closing leaves the group (KIP-1092). Default: a dynamic member leaves, a static one stays.
    pub fn leave_policy(mut self, policy: LeavePolicy) -> Self {
        self.options.leave_policy = policy;
        self
    }

    /// What this member does, as leader, when its assigner fails. Default: everyone keeps what they have, and the group
    /// tries again.
    pub fn on_assign_error(mut self, policy: OnAssignError) -> Self {
        self.on_assign_error = policy;
        self
    }

    /// I/O that the leader does before its assigner runs.
    pub fn gather(mut self, gather: impl Gather) -> Self {
        self.gatherer = Some(Arc::new(Erased(gather)));
        self
    }

    /// Allows commits for partitions that are not assigned to this member. The broker checks nothing: their owner's
    /// offsets are overwritten. Default: refused.
    pub fn allow_foreign_commits(mut self) -> Self {
        self.options.allow_foreign_commits = true;
        self
    }

    /// Writes no user data, so that the first consumer of the new protocol takes the group over (KIP-848). Its assigners
    /// are then not asked any more. Default: false, and a new-protocol consumer is refused by the broker.
    pub fn allow_migration(mut self, allow: bool) -> Self {
        self.allow_migration = allow;
        self
    }

    /// Joins as a dynamic member where the broker is too old for `group.instance.id` (below Kafka 2.3). Default: an error.
    pub fn degrade_to_dynamic(mut self) -> Self {
        self.options.degrade_to_dynamic = true;
        self
    }

    /// Shares connections, metadata and thread with other members. Takes the place of `bootstrap.servers`.
    pub fn client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    /// Runs member and connections on this runtime instead of a thread of their own: for tests with paused time. The
    /// trap: a runtime that the application blocks beats no more.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Sets an option by Kafka's property name, see [`PROPERTIES`](crate::PROPERTIES). What is wrong with it is said by
    /// `join()`.
    ///
    /// `partition.assignment.strategy` chooses among what [`assigner`](Self::assigner) gave and Kafka's own, by protocol
    /// name or Java's class name; without it, all that were given are listed.
    pub fn set(mut self, property: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.options.set(property.as_ref(), value.as_ref());
        self
    }

    /// Sets many options by Kafka's property names, as [`set`](Self::set) does. A Java consumer's file is taken but for
    /// what has no meaning here, such as `key.deserializer`: the error names all of it.
    pub fn from_properties<K: AsRef<str>, V: AsRef<str>>(
        mut self,
        properties: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        for (property, value) in properties {
            self.options.set(property.as_ref(), value.as_ref());
        }
        self
    }

    /// Checks the options, reaches the cluster and the group's coordinator, and starts the member.
    ///
    /// An error means that there is no member: bad options and what FindCoordinator and Metadata refuse at once, a
    /// cluster out of reach after `default.api.timeout.ms`, an instance id that [`take_over`](Self::take_over) says to
    /// leave alone. What JoinGroup refuses is the first result of `next()`,
    /// since the broker may take minutes to answer it. Cancel safe: dropping the future leaves nothing behind.
    pub async fn join(self) -> Result<GroupMember, Error> {
        join::join(self).await
    }

    /// What is subscribed to, checked.
    pub(super) fn selection(&self) -> Result<Selection, Error> {
        match (&self.pattern, self.topics.is_empty()) {
            (Some(_), false) => {
                Err(Error::option("subscribe", "takes topics or a pattern, not both"))
            }
            (Some(pattern), true) => join::pattern(pattern),
            (None, _) => join::topics(self.topics.clone()),
        }
    }
}

impl fmt::Debug for GroupMemberBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupMemberBuilder")
            .field("group_id", &self.options.group_id)
            .field("topics", &self.topics)
            .field("pattern", &self.pattern)
            .finish_non_exhaustive()
    }
}
