//! Whom to ask when any broker will do.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::backoff::Backoff;
use super::connection::Connection;
use super::pool::{Broker, Lane, Pool};
use super::{Attempt, ClientError, ConnectionError};
use crate::transport::{Address, ConnectError};
use crate::types::{Cluster, Node};

/// How long one silent broker keeps us from trying the next one as well.
const PATIENCE: Duration = Duration::from_secs(1);

/// Counts how often in a row we were hung up on at once. A broker that is going down does so once or twice; a port that
/// wants TLS or SASL does it for ever.
#[derive(Debug, Default)]
pub(super) struct Suspicion(u32);

impl Suspicion {
    const ENOUGH: u32 = 3;

    /// Notes how a try ended; says whether it is no accident any more.
    pub(super) fn is_confirmed_by(&mut self, hung_up: bool) -> bool {
        self.0 = if hung_up { self.0 + 1 } else { 0 };
        self.0 >= Self::ENOUGH
    }
}

/// The brokers that are known, and those to begin with.
pub(crate) struct Brokers {
    pub(crate) pool: Arc<Pool>,
    pub(crate) bootstrap: Vec<Address>,
    pub(crate) cluster: watch::Receiver<Arc<Cluster>>,
    /// First and longest wait between two rounds of tries.
    pub(crate) backoff: (Duration, Duration),
    pub(crate) seed: u64,
    pub(crate) runtime: Handle,
}

impl Brokers {
    /// A connection to some broker: a known one, or, where none of them answers, one of the bootstrap list. `avoid` is
    /// taken only if no other known broker answers.
    ///
    /// Tries go on, round after round, until the deadline. They end before it if no address speaks Kafka at all, and as
    /// soon as none is left and one broker does not trust us, or we not it.
    /// Cancel safe.
    pub(crate) async fn any(
        &self,
        lane: Lane,
        avoid: Option<&Broker>,
        deadline: Instant,
    ) -> Result<(Broker, Connection), ClientError> {
        let mut backoff = self.retry_backoff();
        let mut suspicion = Suspicion::default();
        loop {
            let attempts = match self.round(lane, avoid, deadline).await {
                Ok(found) => return Ok(found),
                Err(attempts) => attempts,
            };
            let denied = attempts.iter().any(|attempt| attempt.cause.is_denial());
            let hung_up = attempts.iter().all(|attempt| attempt.cause.is_suspect());
            let hopeless = suspicion.is_confirmed_by(hung_up)
                || denied
                || attempts.iter().all(|attempt| attempt.cause.is_permanent());
            let pause = backoff.pause();
            if hopeless || Instant::now() + pause >= deadline {
                return Err(ClientError::Unreachable { attempts: attempts.into() });
            }
            sleep(pause).await;
        }
    }

    /// An answer as it is; but where the broker hung up without a word, its port is looked at for why, until the
    /// deadline. Cancel safe.
    pub(super) async fn explained<T>(
        &self,
        broker: &Broker,
        answer: Result<T, ClientError>,
        deadline: Instant,
    ) -> Result<T, ClientError> {
        let address = match broker {
            Broker::Bootstrap(address) => Some(address.clone()),
            Broker::Node(id) => self.cluster.borrow().node(*id).map(address),
        };
        match (answer, address) {
            (Err(ClientError::Disconnected { broker, cause, sent }), Some(address)) => {
                let explained = timeout_at(deadline, self.pool.explain(&address, cause.clone()));
                let cause = explained.await.unwrap_or(cause);
                Err(ClientError::Disconnected { broker, cause, sent })
            }
            (answer, _) => answer,
        }
    }

    /// Waits between repeated requests.
    pub(crate) fn retry_backoff(&self) -> Backoff {
        let (first, most) = self.backoff;
        Backoff::new(first, most, self.seed)
    }

    /// Tries everyone once: the next one when the last one failed, or has been silent for a while. But credentials that
    /// one broker refuses are not carried to the next.
    async fn round(
        &self,
        lane: Lane,
        avoid: Option<&Broker>,
        deadline: Instant,
    ) -> Result<(Broker, Connection), Vec<Attempt>> {
        let mut untried = self.candidates(lane, avoid).into_iter().peekable();
        let mut trying = JoinSet::new();
        let mut attempts = Vec::new();
        loop {
            if let Some((broker, address)) = untried.next() {
                if let Some(connection) = self.pool.ready(&broker, lane) {
                    return Ok((broker, connection));
                }
                let pool = Arc::clone(&self.pool);
                let attempt = async move {
                    let outcome = pool.connection(&broker, &address, lane, deadline).await;
                    outcome
                        .map(|connection| (broker, connection))
                        .map_err(|error| failed(&address, error))
                };
                trying.spawn_on(attempt, &self.runtime);
            }
            tokio::select! {
                tried = trying.join_next() => match tried {
                    Some(Ok(Ok(found))) => return Ok(found),
                    Some(Ok(Err(attempt))) => {
                        let refused = attempt.cause.is_refusal();
                        attempts.push(attempt);
                        if refused {
                            return Err(attempts);
                        }
                    }
                    Some(Err(_ended_with_its_runtime)) => {}
                    None if untried.peek().is_none() => return Err(attempts),
                    None => {}
                },
                () = sleep(PATIENCE), if untried.peek().is_some() => {}
            }
        }
    }

    /// Everyone, in the order of hope: known brokers before the bootstrap list, connected ones before others, those
    /// that failed just now after them, and whom to avoid behind. Those who are equal are shuffled.
    fn candidates(&self, lane: Lane, avoid: Option<&Broker>) -> Vec<(Broker, Address)> {
        let cluster = Arc::clone(&self.cluster.borrow());
        let mut dice = fastrand::Rng::with_seed(self.seed ^ cluster.nodes().len() as u64);
        let mut known: Vec<_> =
            cluster.nodes().map(|node| (Broker::Node(node.id), address(node))).collect();
        dice.shuffle(&mut known);
        known.sort_by_cached_key(|(broker, _)| {
            let ready = self.pool.ready(broker, lane).is_some();
            (avoid == Some(broker), self.pool.is_ailing(broker), !ready)
        });
        let mut rest = self.bootstrap.clone();
        rest.retain(|address| known.iter().all(|(_, other)| other != address));
        dice.shuffle(&mut rest);
        known.extend(rest.into_iter().map(|address| (Broker::Bootstrap(address.clone()), address)));
        known
    }
}

/// Where a node listens.
pub(crate) fn address(node: &Node) -> Address {
    Address::new(Arc::clone(&node.host), node.port)
}

fn failed(address: &Address, error: ClientError) -> Attempt {
    let cause = match error {
        ClientError::Disconnected { cause, .. } => cause,
        _ => ConnectionError::Connect(ConnectError::TimedOut),
    };
    Attempt { broker: address.to_string().into(), cause }
}
