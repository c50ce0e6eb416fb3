//! What a port speaks that hung up on us without a word.
//!
//! Kafka says nothing to who speaks TLS to a listener without it, or does not say who it is to a listener with SASL: it
//! closes the connection, as a broker does that is going down. One more connection, on which nothing is asked but what
//! anybody may ask, tells these apart.

use tokio::time::Instant;

use super::ConnectionError;
use super::connection::{Connection, ConnectionOptions};
use super::pool::PoolOptions;
use crate::security::{SaslError, TlsError};
use crate::transport::{Address, Connect, ConnectError};
use crate::wire::ErrorCode;
use crate::wire::api::SaslHandshakeRequest;

/// A mechanism that no listener has: those that have SASL answer with the list of theirs, and others that they have
/// none.
const NO_MECHANISM: &str = "NONE";

/// Why the port hung up, if a look at it tells. Cancel safe: what was opened is closed.
pub(super) async fn explain(
    hung_up: &ConnectionError,
    address: &Address,
    pool: &PoolOptions,
) -> Option<ConnectError> {
    let deadline = Instant::now() + pool.connection.setup_timeout;
    match hung_up {
        ConnectionError::Connect(ConnectError::Tls(TlsError::Closed)) => {
            let network = pool.network.in_plain_text()?;
            connection(network, address, pool, deadline).await?;
            Some(TlsError::NotTls.into())
        }
        ConnectionError::ClosedAtFirstRequest if pool.connection.login.is_none() => {
            let connection = connection(&*pool.network, address, pool, deadline).await?;
            let asks = SaslHandshakeRequest { mechanism: NO_MECHANISM.to_owned() };
            let answer = connection.call(&asks, deadline).await.ok()?;
            (answer.error == ErrorCode::UnsupportedSaslMechanism)
                .then(|| SaslError::Wanted { offered: answer.mechanisms }.into())
        }
        _ => None,
    }
}

/// As far as ApiVersions. Nothing is said of who we are: whoever listens may be nobody that we trust.
async fn connection(
    network: &dyn Connect,
    address: &Address,
    pool: &PoolOptions,
    deadline: Instant,
) -> Option<Connection> {
    let stream = network.connect(address, deadline).await.ok()?;
    let options =
        ConnectionOptions { login: None, client_id: "".into(), ..pool.connection.clone() };
    let peer = address.to_string().into();
    Connection::open(stream, peer, &options, &pool.runtime, deadline).await.ok()
}
