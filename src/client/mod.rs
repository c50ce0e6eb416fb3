//! I/O. Requests to the right broker: connections, metadata, coordinators.
//!
//! ```text
//! Client ─┬─ metadata ────┐
//!         ├─ coordinator ─┼─ brokers ─ pool ─ connection ─ link ─ (transport)
//!         └─ offsets ─────┘
//! ```
//!
//! A `link` moves frames over one stream; a `connection` speaks one broker's versions over it; the `pool` keeps them by
//! broker and lane; `brokers` knows whom to ask when any will do.

mod backoff;
#[cfg(feature = "consumer")]
mod bridge;
mod brokers;
mod connection;
mod coordinator;
mod error;
mod groups;
mod home;
mod link;
#[cfg(feature = "sasl")]
mod login;
mod metadata;
mod offsets;
mod options;
mod pool;
mod port;
mod session;
mod speaker;
#[cfg(test)]
mod tests;
mod throttle;
#[cfg(feature = "sasl")]
mod tokens;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub(crate) use backoff::Backoff;
#[cfg(feature = "consumer")]
pub(crate) use bridge::TokenBridge;
pub(crate) use error::passes;
pub use error::{Attempt, ClientError, ConnectionError};
pub(crate) use groups::GroupNature;
pub(crate) use metadata::{Interest, Topics};
pub use options::{ClientOptions, PROPERTIES};
pub(crate) use pool::Lane;

use self::brokers::{Brokers, address};
use self::connection::Connection;
use self::coordinator::Coordinators;
use self::home::Home;
use self::metadata::{Metadata, Refresher};
use self::pool::{Broker, Pool, PoolOptions};
#[cfg(feature = "consumer")]
use self::session::Authenticate;
use crate::security::Security;
use crate::transport::{Connect, network};
pub use crate::transport::{ConnectError, InvalidAddress};
use crate::types::{Cluster, Node, NodeId};
pub use crate::wire::{ApiKey, ErrorCode, FrameError, NoInstanceId, Unsupported, VersionRange};
use crate::wire::{Request, Versions};

/// The way to a cluster, shared by any number of members. Cheap to clone.
///
/// Its connections, and the members that use it, run on one thread of its own, so that an application which blocks its
/// runtime loses no heartbeat. The thread ends with the last clone; dropping that waits for nothing.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    options: ClientOptions,
    #[cfg(feature = "consumer")]
    security: Security,
    #[cfg(feature = "consumer")]
    login: Option<Arc<dyn Authenticate>>,
    brokers: Arc<Brokers>,
    metadata: Metadata,
    coordinators: Coordinators,
    seeds: AtomicU64,
    lanes: AtomicU64,
    home: Home,
}

/// Who is to be asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Target<'a> {
    /// The coordinator of a group, found if need be, and forgotten when it cannot be reached.
    Coordinator(&'a str),
    /// This broker.
    Node(NodeId),
    /// Any broker.
    #[cfg(test)]
    Any,
}

impl Client {
    /// Checks the options and starts the thread. Connects to nobody yet: that is for whoever needs an answer.
    pub fn new(options: ClientOptions) -> Result<Self, ClientError> {
        let security = options.protection()?;
        let network = network(&security)?;
        Self::with_network(options, security, network)
    }

    /// As `new`, secured as the options say, over another network.
    pub(crate) fn with_network(
        options: ClientOptions,
        security: Security,
        network: Arc<dyn Connect>,
    ) -> Result<Self, ClientError> {
        let bootstrap = options.check()?;
        let login = session::login(&security)?;
        for warning in security.warnings() {
            tracing::warn!("{warning}");
        }
        let home = Home::new(options.runtime.clone())?;
        let seed = options.jitter_seed.unwrap_or_else(|| fastrand::u64(..));
        let (publish, cluster) = watch::channel(Arc::default());
        let brokers = Arc::new(Brokers {
            pool: Pool::new(PoolOptions::new(&options, network, login.clone(), seed, &home)),
            bootstrap,
            cluster,
            backoff: (options.retry_backoff, options.retry_backoff_max),
            seed,
            runtime: home.runtime.clone(),
        });
        let (metadata, refreshing) = Metadata::new(Refresher {
            brokers: Arc::clone(&brokers),
            publish,
            max_age: options.metadata_max_age,
            request_timeout: options.request_timeout,
            api_timeout: options.api_timeout,
            ended: home.ended.clone(),
        });
        home.runtime.spawn(refreshing);
        let coordinators = Coordinators::default();
        let (seeds, lanes) = (AtomicU64::new(seed), AtomicU64::new(0));
        Ok(Self(Arc::new(Inner {
            options,
            #[cfg(feature = "consumer")]
            security,
            #[cfg(feature = "consumer")]
            login,
            brokers,
            metadata,
            coordinators,
            seeds,
            lanes,
            home,
        })))
    }

    /// How it reaches its cluster.
    pub fn options(&self) -> &ClientOptions {
        &self.0.options
    }

    /// Sends a request and reads its answer. What the answer says, an error code among others, is the caller's.
    ///
    /// The deadline bounds all of it: finding the coordinator, connecting, waiting. A connection that had ended while
    /// nobody used it is opened again unseen; once the broker may have seen the request, its loss is an error.
    ///
    /// On a member's own lane a deadline that passes closes the connection: a parked request may never be answered, and
    /// nothing behind it would be. Cancel safe: a request that has begun to be written is written to its end, and its
    /// answer is dropped; on a member's own lane the next request gets a new connection.
    pub(crate) async fn send<R: Request + Sync>(
        &self,
        to: Target<'_>,
        lane: Lane,
        request: R,
        deadline: Instant,
    ) -> Result<R::Response, ClientError> {
        let mut outcome = self.try_to_send(to, lane, &request, deadline).await;
        // Ended between being chosen and being written to: once is bad luck, twice is told.
        if matches!(&outcome, Err(error) if error.was_not_sent_on_an_open_connection()) {
            outcome = self.try_to_send(to, lane, &request, deadline).await;
        }
        if matches!((&outcome, lane), (Err(ClientError::TimedOut { .. }), Lane::Member(_))) {
            self.close_lane(lane);
        }
        outcome
    }

    async fn try_to_send<R: Request + Sync>(
        &self,
        to: Target<'_>,
        lane: Lane,
        request: &R,
        deadline: Instant,
    ) -> Result<R::Response, ClientError> {
        match to {
            #[cfg(test)]
            Target::Any => {
                let (_, connection) = self.0.brokers.any(lane, None, deadline).await?;
                connection.call(request, deadline).await
            }
            Target::Node(id) => self.send_to(&self.node(id)?, lane, request, deadline).await,
            Target::Coordinator(group) => {
                let node = self.coordinator(group, deadline).await?;
                let outcome = self.send_to(&node, lane, request, deadline).await;
                self.forget_if_lost(group, node.id, &outcome);
                outcome
            }
        }
    }

    /// Asks the coordinator of a group, and says who that was. Unlike the deadline, which bounds the search for it, the
    /// answer is waited for no longer than `request.timeout.ms`. Cancel safe.
    pub(crate) async fn ask_coordinator<R: Request + Sync>(
        &self,
        group: &str,
        lane: Lane,
        request: R,
        deadline: Instant,
    ) -> Result<(Node, R::Response), ClientError> {
        let node = self.coordinator(group, deadline).await?;
        let patience = deadline.min(self.request_deadline());
        let outcome = self.send(Target::Node(node.id), lane, request, patience).await;
        self.forget_if_lost(group, node.id, &outcome);
        Ok((node, outcome?))
    }

    fn forget_if_lost<T>(&self, group: &str, node: NodeId, outcome: &Result<T, ClientError>) {
        if matches!(outcome, Err(error) if error.has_lost_the_broker()) {
            self.forget_coordinator(group, node);
        }
    }

    async fn send_to<R: Request + Sync>(
        &self,
        node: &Node,
        lane: Lane,
        request: &R,
        deadline: Instant,
    ) -> Result<R::Response, ClientError> {
        let connection = self.connection(node, lane, deadline).await?;
        connection.call(request, deadline).await
    }

    async fn connection(
        &self,
        node: &Node,
        lane: Lane,
        deadline: Instant,
    ) -> Result<Connection, ClientError> {
        let broker = Broker::Node(node.id);
        self.0.brokers.pool.connection(&broker, &address(node), lane, deadline).await
    }

    /// A broker that is known: one that coordinates a group, or that the last metadata named.
    fn node(&self, id: NodeId) -> Result<Node, ClientError> {
        let coordinator = self.0.coordinators.node(id);
        let known = || self.0.brokers.cluster.borrow().node(id).cloned();
        coordinator.or_else(known).ok_or(ClientError::UnknownNode(id))
    }

    /// A lane of its own for a new member. Its owner closes it in the end.
    pub(crate) fn member_lane(&self) -> Lane {
        Lane::Member(self.0.lanes.fetch_add(1, Ordering::Relaxed))
    }

    /// Closes a lane's connections at once, whoever waits on them; the next request opens a new one.
    pub(crate) fn close_lane(&self, lane: Lane) {
        self.0.brokers.pool.close_lane(lane);
    }

    /// The coordinator of a group, from memory or from a broker. Cancel safe.
    pub(crate) async fn coordinator(
        &self,
        group: &str,
        deadline: Instant,
    ) -> Result<Node, ClientError> {
        let Inner { coordinators, brokers, options, .. } = &*self.0;
        coordinators.find(brokers, group, options.request_timeout, deadline).await
    }

    /// Forgets the coordinator of a group, if it is still `node`; the next request asks another broker for it.
    pub(crate) fn forget_coordinator(&self, group: &str, node: NodeId) {
        self.0.coordinators.forget(group, node);
    }

    /// Asks for the brokers, `topics`, and all that anybody is interested in. Joins a refresh that runs. Cancel safe.
    pub(crate) async fn refresh_metadata(
        &self,
        topics: Topics,
        deadline: Instant,
    ) -> Result<Arc<Cluster>, ClientError> {
        self.refresh_metadata_older_than(Duration::ZERO, topics, deadline).await
    }

    /// As `refresh_metadata`, but asks nobody if `topics` were asked for no longer than `age` ago. Cancel safe.
    pub(crate) async fn refresh_metadata_older_than(
        &self,
        age: Duration,
        topics: Topics,
        deadline: Instant,
    ) -> Result<Arc<Cluster>, ClientError> {
        self.0.metadata.refresh(topics, age, deadline).await
    }

    /// What is known of the cluster; told of when it changes.
    pub(crate) fn cluster(&self) -> watch::Receiver<Arc<Cluster>> {
        self.0.metadata.cluster()
    }

    /// Registers an interest in topics, until it is dropped. Refreshes nothing by itself.
    pub(crate) fn interest(&self, topics: Topics) -> Interest {
        self.0.metadata.interest(topics)
    }

    /// What a broker speaks; connects to it if it has not said yet. Cancel safe.
    pub(crate) async fn versions_of(
        &self,
        node: &Node,
        deadline: Instant,
    ) -> Result<Arc<Versions>, ClientError> {
        let connection = self.connection(node, Lane::Heartbeat, deadline).await?;
        Ok(Arc::clone(connection.versions()))
    }

    /// When a request that is sent now should have been answered (`request.timeout.ms`).
    pub(crate) fn request_deadline(&self) -> Instant {
        Instant::now() + self.0.options.request_timeout
    }

    /// When an operation of many requests that begins now should be over (`default.api.timeout.ms`).
    pub(crate) fn api_deadline(&self) -> Instant {
        Instant::now() + self.0.options.api_timeout
    }

    /// Waits between repeated requests (`retry.backoff.ms`); each call another sequence.
    pub(crate) fn retry_backoff(&self) -> Backoff {
        let Inner { options, seeds, .. } = &*self.0;
        let seed = seeds.fetch_add(1, Ordering::Relaxed);
        Backoff::new(options.retry_backoff, options.retry_backoff_max, seed)
    }

    /// How its connections are protected.
    #[cfg(feature = "consumer")]
    pub(crate) fn security(&self) -> &Security {
        &self.0.security
    }

    /// The same tokens for rdkafka; none where nobody says who we are.
    #[cfg(feature = "consumer")]
    pub(crate) fn token_bridge(&self) -> Option<TokenBridge> {
        let Inner { login, home, options, .. } = &*self.0;
        let (runtime, within) = (home.runtime.clone(), options.connection_setup_timeout);
        login.as_ref().map(|login| TokenBridge { login: Arc::clone(login), runtime, within })
    }

    /// Runs a task where the client's connections run. A task that holds the client keeps it alive.
    pub(crate) fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.runtime().spawn(task)
    }

    /// Whether that is a runtime of the application's, whose clock may be paused.
    pub(crate) fn shares_its_runtime(&self) -> bool {
        self.0.home.is_shared
    }

    /// Where the client's connections run.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.0.home.runtime
    }
}

impl fmt::Debug for Client {
    /// What is secret among the options is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { options, .. } = &*self.0;
        f.debug_struct("Client")
            .field("bootstrap_servers", &options.bootstrap_servers)
            .field("client_id", &options.client_id)
            .finish_non_exhaustive()
    }
}
