//! I/O. A byte stream to one broker, over TCP alone or with TLS.
//!
//! What comes after, frames, requests and who we say that we are, is `client`'s. Both are written against [`Stream`], so
//! tests put one end of a pipe where a socket would be.

mod address;
mod tcp;
#[cfg(feature = "tls")]
mod tls;

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

pub(crate) use address::Address;
pub use address::InvalidAddress;
use tcp::Tcp;

use crate::security::{InvalidSecurity, SaslError, Security, TlsError};

/// Bytes in both directions.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// Opens streams. The one seam between the client and the network.
#[async_trait]
pub(crate) trait Connect: Send + Sync + 'static {
    /// Opens a stream to `address`, at the latest by `deadline`.
    ///
    /// Cancel safe: a future that is dropped closes what it had opened.
    async fn connect(
        &self,
        address: &Address,
        deadline: Instant,
    ) -> Result<Box<dyn Stream>, ConnectError>;

    /// The same way without TLS, where it is TLS.
    fn in_plain_text(&self) -> Option<&dyn Connect> {
        None
    }
}

/// The way to the brokers that `security` asks for. Reads its files.
pub(crate) fn network(security: &Security) -> Result<Arc<dyn Connect>, InvalidSecurity> {
    match &security.tls {
        None => Ok(Arc::new(Tcp)),
        #[cfg(feature = "tls")]
        Some(tls) => Ok(Arc::new(tls::TlsNetwork::new(tls, Arc::new(Tcp))?)),
        #[cfg(not(feature = "tls"))]
        Some(_) => Err(security.lacks_feature("TLS", "tls")),
    }
}

/// What TLS says of a stream that has ended, if it was TLS that ended it.
pub(crate) fn tls_error(error: &io::Error) -> Option<TlsError> {
    #[cfg(feature = "tls")]
    return tls::of_stream(error);
    #[cfg(not(feature = "tls"))]
    {
        let _ = error;
        None
    }
}

/// Why no stream could be opened.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The host's name has no address.
    #[error("its name cannot be resolved: {0}")]
    Unresolvable(Arc<str>),
    /// Every address of the host was tried; this is what happened at the last one.
    #[error("no connection: {message}")]
    Refused {
        /// What the system calls it.
        kind: io::ErrorKind,
        /// What the system says.
        message: Arc<str>,
    },
    /// TLS failed: one end does not trust the other, or does not speak TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// SASL failed: the broker does not believe who we are, or was not told.
    #[error(transparent)]
    Sasl(#[from] SaslError),
    /// No answer within `socket.connection.setup.timeout.ms`.
    #[error("no connection in time")]
    TimedOut,
}

impl ConnectError {
    fn refused(error: &io::Error) -> Self {
        Self::Refused { kind: error.kind(), message: error.to_string().into() }
    }
}
