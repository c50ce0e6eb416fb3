//! I/O. A byte stream to one broker, opened and authenticated.
//!
//! What comes after, frames and requests, is `client`'s. Both are written against [`Stream`], so tests put one end of
//! a pipe where a socket would be.

mod address;
mod authenticate;
mod tcp;

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

pub(crate) use address::Address;
pub use address::InvalidAddress;
pub(crate) use authenticate::{Authenticate, NoAuthentication};
pub(crate) use tcp::Tcp;

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
    /// No answer within `socket.connection.setup.timeout.ms`.
    #[error("no connection in time")]
    TimedOut,
}

impl ConnectError {
    fn refused(error: &io::Error) -> Self {
        Self::Refused { kind: error.kind(), message: error.to_string().into() }
    }
}
