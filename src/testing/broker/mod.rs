//! A fake broker, and a cluster of them, behind TCP ports of this machine.

mod apis;
mod builder;
mod codec;
mod script;
mod server;
mod state;
mod topology;

use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::coordinator::Loss;
use crate::types::{MemberId, NodeId, Offsets};
use crate::wire::ApiKey;

pub use builder::FakeClusterBuilder;
pub use script::{SeenRequest, Verdict};

use state::Shared;

/// Brokers without Kafka, for tests of members: groups, offsets and metadata are as Kafka 4.4 has them, records there
/// are none.
///
/// They listen on the loopback and speak Kafka's protocol, with one [`FakeCoordinator`](super::FakeCoordinator)
/// behind them. A test can move and kill coordinators ([`move_coordinator`](Self::move_coordinator),
/// [`stop`](Self::stop)), script faults ([`control`](Self::control)) and read what was asked
/// ([`requests`](Self::requests)). Dropping the cluster ends it, with its thread and its connections.
///
/// One thing is stricter than Kafka: an instance id that Kafka's clients refuse, such as `..`, is answered
/// INVALID_REQUEST.
///
/// ```
/// use kafka_group::testing::FakeCluster;
///
/// let cluster = FakeCluster::builder().nodes(3).topic("orders", 6).start()?;
/// assert_eq!(cluster.bootstrap_servers().split(',').count(), 3);
/// # Ok::<_, std::io::Error>(())
/// ```
pub struct FakeCluster {
    shared: Arc<Shared>,
    host: Host,
}

/// Where a cluster runs.
enum Host {
    Thread { stop: Option<oneshot::Sender<()>>, thread: Option<JoinHandle<()>> },
    Task(AbortHandle),
}

impl FakeCluster {
    /// Sets a cluster up, of one broker unless told otherwise.
    pub fn builder() -> FakeClusterBuilder {
        FakeClusterBuilder::new()
    }

    /// The brokers' addresses, as `bootstrap.servers` wants them.
    pub fn bootstrap_servers(&self) -> String {
        let addresses: Vec<_> = self
            .shared
            .lock()
            .topology
            .nodes()
            .map(|node| format!("{}:{}", node.host, node.port))
            .collect();
        addresses.join(",")
    }

    /// One broker's address, if there is this broker.
    pub fn address(&self, node: NodeId) -> Option<String> {
        self.shared.lock().topology.node(node).map(|node| format!("{}:{}", node.host, node.port))
    }

    /// Creates a topic, or sets how many partitions it has. Clients learn of it from their next Metadata.
    pub fn set_partitions(&self, topic: &str, partitions: i32) {
        let mut state = self.shared.lock();
        state.topology.set_partitions(topic, partitions);
        state.topics_changed();
    }

    /// Deletes a topic. Created again it has another id.
    pub fn delete_topic(&self, topic: &str) {
        let mut state = self.shared.lock();
        state.topology.delete_topic(topic);
        state.topics_changed();
    }

    /// Sets the offset at which all partitions of a topic end, as ListOffsets tells it. They start at 0.
    pub fn set_end_offset(&self, topic: &str, offset: i64) {
        self.shared.lock().topology.set_end_offset(topic, offset);
    }

    /// Sets the offset at which all partitions of a topic start, as after records were deleted. They start at 0.
    pub fn set_start_offset(&self, topic: &str, offset: i64) {
        self.shared.lock().topology.set_start_offset(topic, offset);
    }

    /// Gives the record at an offset of all partitions of a topic a time, in milliseconds since 1970: whoever asks for
    /// that time, or one after the record before it, is told its offset. Other records have none.
    pub fn set_time(&self, topic: &str, millis: i64, offset: i64) {
        self.shared.lock().topology.set_time(topic, millis, offset);
    }

    /// Decides what becomes of the next `requests` of an API. A later call waits until those are through.
    pub fn control(
        &self,
        api: ApiKey,
        requests: usize,
        verdict: impl FnMut(&SeenRequest) -> Verdict + Send + 'static,
    ) {
        self.shared.lock().scripts.add(api, requests, Box::new(verdict));
    }

    /// Takes back what [`control`](Self::control) has set and no request has used up.
    pub fn clear_control(&self) {
        self.shared.lock().scripts.clear();
    }

    /// Serves the requests that are on [`Verdict::Hold`] now.
    pub fn release(&self) {
        self.shared.released.send_modify(|calls| *calls += 1);
    }

    /// What was asked so far, in order; of very many requests the last 100,000.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.lock().scripts.seen()
    }

    /// Forgets what was asked so far.
    pub fn forget_requests(&self) {
        self.shared.lock().scripts.forget();
    }

    /// The broker that coordinates a group; none while all are down.
    pub fn coordinator(&self, group_id: &str) -> Option<NodeId> {
        self.shared.lock().topology.coordinator(group_id).map(|node| node.id)
    }

    /// Hands a group over to another broker, in good order: parked requests are answered NOT_COORDINATOR, and a
    /// generation whose plan has not come yet is forgotten.
    pub fn move_coordinator(&self, group_id: &str, node: NodeId) {
        self.shared.with_coordinator(|state, now| {
            state.topology.set_coordinator(group_id, node);
            state.coordinator.fail_over_group(now, group_id, Loss::HandedOver);
        });
    }

    /// Kills a broker: its connections are closed, its port refuses, and the groups it coordinated are found at
    /// another, if one is up.
    pub fn stop(&self, node: NodeId) {
        self.shared.with_coordinator(|state, now| {
            state.topology.set_up(node, false);
            for group_id in state.topology.orphan(node) {
                state.coordinator.fail_over_group(now, &group_id, Loss::Killed);
            }
        });
        self.live(node, false);
    }

    /// Starts a broker that was stopped, on its old port. Groups do not come back to it by themselves.
    pub fn start(&self, node: NodeId) {
        self.shared.lock().topology.set_up(node, true);
        self.live(node, true);
    }

    /// Closes every connection to a broker, which goes on: what a network does.
    pub fn disconnect(&self, node: NodeId) {
        if let Some(life) = self.shared.lives.get(&node) {
            life.send_modify(|life| *life += 2);
        }
    }

    /// The state of a group, by Kafka's name; none if there is no such group.
    pub fn group_state(&self, group_id: &str) -> Option<String> {
        self.shared.lock().coordinator.describe(group_id).map(|group| group.state)
    }

    /// The members of a group.
    pub fn members(&self, group_id: &str) -> Vec<MemberId> {
        let group = self.shared.lock().coordinator.describe(group_id);
        group.into_iter().flat_map(|group| group.members).map(|member| member.member_id).collect()
    }

    /// What a group has committed.
    pub fn committed(&self, group_id: &str) -> Offsets {
        self.shared.lock().coordinator.committed(group_id)
    }

    /// Takes a member out as an administrator would; it learns so from its next request.
    pub fn remove_member(&self, group_id: &str, member_id: &MemberId) {
        self.shared.with_coordinator(|state, now| {
            state.coordinator.remove_member(now, group_id, member_id)
        });
    }

    fn live(&self, node: NodeId, up: bool) {
        if let Some(life) = self.shared.lives.get(&node) {
            life.send_if_modified(|life| {
                let changes = (*life % 2 == 1) != up;
                *life += u64::from(changes);
                changes
            });
        }
    }
}

impl Drop for FakeCluster {
    fn drop(&mut self) {
        match &mut self.host {
            Host::Task(task) => task.abort(),
            Host::Thread { stop, thread } => {
                drop(stop.take());
                if let Some(Err(_)) = thread.take().map(JoinHandle::join) {
                    tracing::error!("the thread of a fake cluster has panicked");
                }
            }
        }
    }
}

impl fmt::Debug for FakeCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeCluster")
            .field("bootstrap_servers", &self.bootstrap_servers())
            .finish_non_exhaustive()
    }
}

/// A [`FakeCluster`] of one broker.
#[derive(Debug)]
pub struct FakeBroker(FakeCluster);

impl FakeBroker {
    /// Starts a broker with these topics, on a thread of its own.
    ///
    /// # Errors
    ///
    /// No port on the loopback, or no thread, is to be had.
    pub fn start<'a>(topics: impl IntoIterator<Item = (&'a str, i32)>) -> io::Result<Self> {
        let builder =
            topics.into_iter().fold(FakeCluster::builder(), |builder, (name, partitions)| {
                builder.topic(name, partitions)
            });
        builder.start().map(Self)
    }
}

impl Deref for FakeBroker {
    type Target = FakeCluster;

    fn deref(&self) -> &FakeCluster {
        &self.0
    }
}

#[cfg(test)]
mod tests;
