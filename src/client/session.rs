//! How long a broker believes who we are, and how it is told again (KIP-368).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::speaker::Speaker;
use super::{ClientError, ConnectionError};
use crate::security::{InvalidSecurity, SaslError, Security};
#[cfg(feature = "consumer")]
use crate::security::{Token, TokenError};
use crate::transport::ConnectError;

/// Says who we are over a connection, before anything else is asked on it.
#[async_trait]
pub(crate) trait Authenticate: Send + Sync + 'static {
    /// Authenticates, at the latest by `deadline`; gives how long the broker believes it, if not for ever.
    ///
    /// Not cancel safe: a connection whose authentication was dropped is to be closed.
    async fn authenticate(
        &self,
        speaker: &Speaker,
        deadline: Instant,
    ) -> Result<Option<Duration>, ConnectionError>;

    /// OAUTHBEARER's token, for the other plane; none of other mechanisms. Cancel safe.
    #[cfg(feature = "consumer")]
    async fn token(&self, deadline: Instant) -> Result<Option<Token>, TokenError>;
}

/// Who says who we are, where that is asked.
pub(super) fn login(security: &Security) -> Result<Option<Arc<dyn Authenticate>>, InvalidSecurity> {
    match &security.sasl {
        None => Ok(None),
        #[cfg(feature = "sasl")]
        Some(sasl) => Ok(Some(Arc::new(super::login::Login::new(sasl.clone())))),
        #[cfg(not(feature = "sasl"))]
        Some(_) => Err(security.lacks_feature("SASL", "sasl")),
    }
}

/// What of a session is used before it is renewed: the rest is for clocks that differ, and for the way.
const USED: f64 = 0.85;

/// Kafka lets a session be renewed once a second; what comes sooner is ILLEGAL_SASL_STATE. Sessions become as short as
/// that where a token is about to expire.
const SOONEST: Duration = Duration::from_millis(1100);

/// A connection's session. Requests go out under it; renewing it waits until none is being sent, and lets none be sent.
///
/// Answers may be outstanding meanwhile: the broker works on one request after the other. So a JoinGroup may be parked
/// for longer than the session; what follows it renews the session first.
#[derive(Clone)]
pub(super) struct Session {
    login: Arc<dyn Authenticate>,
    state: Arc<RwLock<State>>,
    setup_timeout: Duration,
    runtime: Handle,
}

/// The session as it is; or why it could not be renewed.
type State = Result<Term, ConnectionError>;

/// What is known of the session in which we are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// When it is to be renewed, if ever.
    due: Option<Instant>,
    /// When it may be.
    renewable: Instant,
}

/// While it lives, the session is not being renewed.
pub(super) type Admission = OwnedRwLockReadGuard<State>;

impl Session {
    /// Says who we are for the first time.
    ///
    /// Not cancel safe: the connection is to be closed then.
    pub(super) async fn open(
        speaker: &Speaker,
        login: &Arc<dyn Authenticate>,
        setup_timeout: Duration,
        runtime: &Handle,
        deadline: Instant,
    ) -> Result<Self, ConnectionError> {
        let renewable = Instant::now();
        let lifetime = login.authenticate(speaker, deadline).await?;
        Ok(Self {
            login: Arc::clone(login),
            state: Arc::new(RwLock::new(Ok(Term::new(lifetime, renewable)))),
            setup_timeout,
            runtime: runtime.clone(),
        })
    }

    /// Waits until a request may be sent, and renews the session first if that is due.
    ///
    /// Cancel safe: a renewal that has begun goes on, for whoever sends next.
    pub(super) async fn admit(
        &self,
        speaker: &Speaker,
        deadline: Instant,
    ) -> Result<Admission, ClientError> {
        loop {
            let Ok(admission) = timeout_at(deadline, Arc::clone(&self.state).read_owned()).await
            else {
                return Err(speaker.timed_out());
            };
            match &*admission {
                Err(cause) => return Err(speaker.lost(cause.clone())),
                Ok(term) if !term.is_due() => return Ok(admission),
                Ok(_) => drop(admission),
            }
            // In a task of its own: between the first word and the last nobody may be let in, whoever gives up.
            let renewal = self.runtime.spawn(self.clone().renew(speaker.clone()));
            if timeout_at(deadline, renewal).await.is_err() {
                return Err(speaker.timed_out());
            }
        }
    }

    async fn renew(self, speaker: Speaker) {
        let mut state = self.state.write().await;
        let term = match &*state {
            Ok(term) if term.is_due() => *term,
            _ => return, // By another, who was first.
        };
        // Should this end before it has an outcome, the connection is of no use.
        *state = Err(ConnectionError::Dropped);
        sleep_until(term.renewable).await;
        let begun = Instant::now();
        let deadline = begun + self.setup_timeout;
        let outcome = timeout_at(deadline, self.login.authenticate(&speaker, deadline)).await;
        let late = || Err(ConnectError::from(SaslError::late()).into());
        let lifetime = outcome.unwrap_or_else(|_| late()).map_err(of_renewal);
        *state = lifetime.map(|lifetime| Term::new(lifetime, begun + SOONEST));
        match &*state {
            Ok(_) => tracing::debug!(broker = %speaker.peer(), "authenticated again"),
            Err(cause) => {
                tracing::debug!(broker = %speaker.peer(), %cause, "not authenticated again");
                speaker.close();
            }
        }
    }
}

impl Term {
    fn new(lifetime: Option<Duration>, renewable: Instant) -> Self {
        Self { due: lifetime.map(|lifetime| Instant::now() + lifetime.mul_f64(USED)), renewable }
    }

    fn is_due(&self) -> bool {
        self.due.is_some_and(|at| at <= Instant::now())
    }
}

/// A listener that let us in has SASL, whatever it says now.
fn of_renewal(error: ConnectionError) -> ConnectionError {
    match error {
        ConnectionError::Connect(ConnectError::Sasl(SaslError::NotHere)) => {
            ConnectError::from(SaslError::Ended("it lets no session be renewed now".into())).into()
        }
        error => error,
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}
