//! How a fake cluster is set up.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::thread;

use tokio::sync::{oneshot, watch};

use super::apis::Apis;
use super::server::{self, Bound};
use super::state::{Clock, Shared};
use super::topology::Topology;
use super::{FakeCluster, Host};
use crate::testing::{CoordinatorSettings, FakeCoordinator};
use crate::types::{Node, NodeId};
use crate::wire::ApiKey;

/// Sets a [`FakeCluster`] up.
#[derive(Clone, Debug)]
#[must_use]
pub struct FakeClusterBuilder {
    racks: Vec<Option<String>>,
    topics: Vec<(String, i32)>,
    caps: Vec<(ApiKey, i16)>,
    settings: CoordinatorSettings,
}

impl FakeClusterBuilder {
    pub(super) fn new() -> Self {
        Self {
            racks: vec![None],
            topics: Vec::new(),
            caps: Vec::new(),
            settings: CoordinatorSettings::default(),
        }
    }

    /// How many brokers there are, numbered from 1. By default one.
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.racks = vec![None; nodes];
        self
    }

    /// One broker in each of these racks (Kafka: `broker.rack`), numbered from 1.
    pub fn racks<R: Into<String>>(mut self, racks: impl IntoIterator<Item = R>) -> Self {
        self.racks = racks.into_iter().map(|rack| Some(rack.into())).collect();
        self
    }

    /// There is this topic, with so many partitions.
    pub fn topic(mut self, name: impl Into<String>, partitions: i32) -> Self {
        self.topics.push((name.into(), partitions));
        self
    }

    /// Of this API no newer version is spoken. Below its oldest version the API is gone: a broker closes the
    /// connection of whoever asks all the same.
    pub fn max_version(mut self, api: ApiKey, version: i16) -> Self {
        self.caps.push((api, version));
        self
    }

    /// How the coordinator behaves.
    pub fn settings(mut self, settings: CoordinatorSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Starts the cluster on a thread of its own, so that it answers while the test's runtime is blocked.
    ///
    /// # Errors
    ///
    /// No port on the loopback, or no thread, is to be had.
    pub fn start(self) -> io::Result<FakeCluster> {
        let (shared, brokers) = self.bind(Clock::System)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let running = Arc::clone(&shared);
        let thread = thread::Builder::new().name("fake-kafka".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = server::run(running, brokers) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(FakeCluster { shared, host: Host::Thread { stop: Some(stop), thread: Some(thread) } })
    }

    /// Starts the cluster on the runtime that this is called on, and on its clock: with
    /// `#[tokio::test(start_paused = true)]` sessions and rebalance timeouts run out in no time.
    ///
    /// # Errors
    ///
    /// No port on the loopback is to be had.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn start_on_this_runtime(self) -> io::Result<FakeCluster> {
        let (shared, brokers) = self.bind(Clock::Tokio)?;
        let task = tokio::spawn(server::run(Arc::clone(&shared), brokers)).abort_handle();
        Ok(FakeCluster { shared, host: Host::Task(task) })
    }

    fn bind(self, clock: Clock) -> io::Result<(Arc<Shared>, Vec<Bound>)> {
        let (mut topology, mut lives, mut brokers) =
            (Topology::default(), BTreeMap::new(), Vec::new());
        for (rack, number) in self.racks.iter().zip(1..) {
            let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
            listener.set_nonblocking(true)?;
            let (node, port) = (NodeId(number), listener.local_addr()?.port());
            topology.add_node(Node {
                id: node,
                host: "127.0.0.1".into(),
                port,
                rack: rack.as_deref().map(Into::into),
            });
            let (sender, life) = watch::channel(1);
            lives.insert(node, sender);
            brokers.push(Bound { node, listener, life });
        }
        for (name, partitions) in &self.topics {
            topology.set_partitions(name, *partitions);
        }
        let mut apis = Apis::default();
        for (api, version) in self.caps {
            apis.cap(api, version);
        }
        let mut coordinator = FakeCoordinator::new(self.settings);
        coordinator.set_topics(topology.partition_counts());
        Ok((Arc::new(Shared::new(coordinator, topology, apis, clock, lives)), brokers))
    }
}
