//! The connections to each broker, by what they may wait for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::backoff::Backoff;
use super::connection::{Connection, ConnectionOptions};
use super::home::Home;
use super::session::Authenticate;
use super::{ClientError, ClientOptions, ConnectionError, port};
use crate::transport::{Address, Connect};
use crate::types::NodeId;

/// What a request may have to wait behind. A broker answers one request of a connection at a time, so those that must
/// not wait for each other travel apart.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Lane {
    /// Heartbeats and leaves: never behind anything slow.
    Heartbeat,
    /// Commits and offset fetches, in order.
    Commit,
    /// Metadata and the rest.
    Metadata,
    /// JoinGroup and SyncGroup of one member: parked for as long as the group takes.
    Member(u64),
}

/// Who is at the other end.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Broker {
    /// A broker that Metadata or FindCoordinator named.
    Node(NodeId),
    /// Whoever answers at one of `bootstrap.servers`.
    Bootstrap(Address),
}

/// How connections are opened.
pub(crate) struct PoolOptions {
    pub(crate) network: Arc<dyn Connect>,
    pub(crate) connection: ConnectionOptions,
    pub(crate) backoff: (Duration, Duration),
    pub(crate) seed: u64,
    pub(crate) runtime: Handle,
}

/// Opens connections when they are asked for, keeps them, and waits between tries.
pub(crate) struct Pool {
    options: PoolOptions,
    state: Mutex<State>,
}

struct State {
    slots: HashMap<Place, Slot>,
    /// Of brokers whose last try failed.
    ailing: HashMap<Broker, Ailing>,
    /// As each broker last said.
    dice: fastrand::Rng,
}

/// Where a connection is kept: a shared lane has one for each broker, a member's lane has one, to its coordinator.
type Place = (Lane, Option<Broker>);

/// A connection that is open, being opened, or could not be opened.
struct Slot {
    broker: Broker,
    address: Address,
    opened: watch::Receiver<Opened>,
    opening: AbortHandle,
}

/// None while it is being opened.
type Opened = Option<Result<Connection, ConnectionError>>;

struct Ailing {
    backoff: Backoff,
    not_before: Instant,
    /// Why it does not let us in, or we not it. What one connection was told all would be, so until the next try no
    /// other asks.
    denied: Option<ConnectionError>,
}

impl PoolOptions {
    /// As the client's options say.
    pub(super) fn new(
        options: &ClientOptions,
        network: Arc<dyn Connect>,
        login: Option<Arc<dyn Authenticate>>,
        seed: u64,
        home: &Home,
    ) -> Self {
        let connection = ConnectionOptions {
            client_id: options.client_id.as_str().into(),
            max_frame_size: options.max_frame_size,
            max_idle: options.connections_max_idle,
            max_versions: options.max_versions.clone(),
            setup_timeout: options.connection_setup_timeout,
            login,
        };
        let backoff = (options.reconnect_backoff, options.reconnect_backoff_max);
        Self { network, connection, backoff, seed, runtime: home.runtime.clone() }
    }
}

impl Pool {
    pub(crate) fn new(options: PoolOptions) -> Arc<Self> {
        let state = State {
            slots: HashMap::new(),
            ailing: HashMap::new(),
            dice: fastrand::Rng::with_seed(options.seed),
        };
        Arc::new(Self { options, state: Mutex::new(state) })
    }

    /// The connection of `lane` to `broker`, opened if there is none that can be used.
    ///
    /// Cancel safe: a connection that is being opened goes on being opened, for whoever asks next.
    pub(crate) async fn connection(
        self: &Arc<Self>,
        broker: &Broker,
        address: &Address,
        lane: Lane,
        deadline: Instant,
    ) -> Result<Connection, ClientError> {
        let mut opened = self.slot(broker, address, lane);
        let waited = timeout_at(deadline, opened.wait_for(Option::is_some)).await;
        let peer = || address.to_string().into();
        let Ok(outcome) = waited else {
            return Err(ClientError::TimedOut { api: None, broker: Some(peer()) });
        };
        let outcome = outcome.ok().and_then(|outcome| outcome.clone());
        outcome
            .unwrap_or(Err(ConnectionError::Dropped))
            .map_err(|cause| ClientError::Disconnected { broker: peer(), cause, sent: false })
    }

    /// The connection of `lane` to `broker`, if it is open and can be used.
    pub(crate) fn ready(&self, broker: &Broker, lane: Lane) -> Option<Connection> {
        let state = self.state();
        let slot = state.slots.get(&place(lane, broker))?;
        let open = slot.connection()?;
        (slot.broker == *broker && usable(&open, lane)).then_some(open)
    }

    /// Whether the last try failed, and the next one has to wait.
    pub(crate) fn is_ailing(&self, broker: &Broker) -> bool {
        let now = Instant::now();
        self.state().ailing.get(broker).is_some_and(|ailing| ailing.not_before > now)
    }

    /// Closes the connections of a lane, whoever waits on them.
    pub(crate) fn close_lane(&self, lane: Lane) {
        self.state().slots.retain(|(kept, _), slot| {
            let keep = *kept != lane;
            if !keep {
                slot.close();
            }
            keep
        });
    }

    /// Lets go of what is of no more use: connections that have ended, and, where `bootstrapped`, those that were only
    /// needed to find the brokers. Requests on them are still answered.
    pub(crate) fn prune(&self, bootstrapped: bool) {
        let now = Instant::now();
        let mut state = self.state();
        state.slots.retain(|_, slot| {
            let needed = !(bootstrapped && matches!(slot.broker, Broker::Bootstrap(_)));
            slot.is_opening()
                || (needed && slot.connection().is_some_and(|open| open.is_usable(now)))
        });
        state.ailing.retain(|_, ailing| ailing.not_before > now);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the slot, or begins to fill one.
    fn slot(
        self: &Arc<Self>,
        broker: &Broker,
        address: &Address,
        lane: Lane,
    ) -> watch::Receiver<Opened> {
        let mut state = self.state();
        let place = place(lane, broker);
        if let Some(slot) = state.slots.get(&place) {
            if slot.serves(broker, address, lane) {
                return slot.opened.clone();
            }
            // A broker that has a second JoinGroup of a member never answers the first, nor anything behind it. The
            // shared lanes' requests in flight may still be answered: they keep their connection until they are.
            if matches!(lane, Lane::Member(_)) {
                slot.close();
            }
        }
        let not_before = match state.ailing.get_mut(broker).map(Ailing::next) {
            Some(Err(denied)) => return watch::channel(Some(Err(denied))).1,
            next => next.and_then(Result::ok),
        };
        let (publish, opened) = watch::channel(None);
        let open = Arc::clone(self).open(broker.clone(), address.clone(), not_before, publish);
        let opening = self.options.runtime.spawn(open).abort_handle();
        let slot = Slot {
            broker: broker.clone(),
            address: address.clone(),
            opened: opened.clone(),
            opening,
        };
        state.slots.insert(place, slot);
        opened
    }

    /// The task that opens one connection.
    async fn open(
        self: Arc<Self>,
        broker: Broker,
        address: Address,
        not_before: Option<Instant>,
        publish: watch::Sender<Opened>,
    ) {
        if let Some(not_before) = not_before {
            sleep_until(not_before).await;
        }
        let outcome = self.try_to_open(&address).await;
        self.note(&broker, &outcome);
        publish.send_replace(Some(outcome));
    }

    async fn try_to_open(&self, address: &Address) -> Result<Connection, ConnectionError> {
        let PoolOptions { network, connection, runtime, .. } = &self.options;
        let deadline = Instant::now() + connection.setup_timeout;
        let stream = match network.connect(address, deadline).await {
            Ok(stream) => stream,
            Err(error) => return Err(self.explain(address, error.into()).await),
        };
        Connection::open(stream, address.to_string().into(), connection, runtime, deadline).await
    }

    /// What happened; where the port hung up without a word, it is looked at. Cancel safe.
    pub(super) async fn explain(
        &self,
        address: &Address,
        happened: ConnectionError,
    ) -> ConnectionError {
        let explained = port::explain(&happened, address, &self.options).await;
        explained.map_or(happened, ConnectionError::Connect)
    }

    /// Remembers how a try went.
    fn note(&self, broker: &Broker, outcome: &Result<Connection, ConnectionError>) {
        let mut state = self.state();
        let State { ailing, dice, .. } = &mut *state;
        match outcome {
            Ok(connection) => {
                tracing::debug!(broker = %connection.peer(), "connected");
                ailing.remove(broker);
            }
            Err(cause) => {
                tracing::debug!(?broker, %cause, "no connection");
                let (first, most) = self.options.backoff;
                let ailing = ailing.entry(broker.clone()).or_insert_with(|| Ailing {
                    backoff: Backoff::new(first, most, dice.u64(..)),
                    not_before: Instant::now(),
                    denied: None,
                });
                ailing.denied = cause.is_denial().then(|| cause.clone());
                ailing.not_before = Instant::now() + ailing.backoff.pause();
            }
        }
    }
}

fn place(lane: Lane, broker: &Broker) -> Place {
    match lane {
        Lane::Member(_) => (lane, None),
        _ => (lane, Some(broker.clone())),
    }
}

/// On a member's own lane nothing may be sent behind a request for which nobody waits any more.
fn usable(open: &Connection, lane: Lane) -> bool {
    let blocked = matches!(lane, Lane::Member(_)) && open.is_abandoned();
    open.is_usable(Instant::now()) && !blocked
}

impl Ailing {
    /// When the next try may be made; where we were denied, by whoever asks first, and the rest hear what was said.
    fn next(&mut self) -> Result<Instant, ConnectionError> {
        let now = Instant::now();
        match &self.denied {
            Some(denied) if now < self.not_before => return Err(denied.clone()),
            Some(_) => self.not_before = now + self.backoff.pause(),
            None => return Ok(self.not_before),
        }
        Ok(now)
    }
}

impl Slot {
    /// Whether it is, or will be, what is asked for. Brokers are moved, so the address counts.
    fn serves(&self, broker: &Broker, address: &Address, lane: Lane) -> bool {
        self.broker == *broker
            && self.address == *address
            && (self.is_opening() || self.connection().is_some_and(|open| usable(&open, lane)))
    }

    fn is_opening(&self) -> bool {
        self.opened.borrow().is_none() && self.opened.has_changed().is_ok()
    }

    fn connection(&self) -> Option<Connection> {
        self.opened.borrow().as_ref()?.as_ref().ok().cloned()
    }

    fn close(&self) {
        self.opening.abort();
        if let Some(open) = self.connection() {
            open.close();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.opening.abort();
    }
}
