//! The step between a stream and the first request.

use async_trait::async_trait;
use tokio::time::Instant;

use super::{ConnectError, Stream};

/// Proves who we are. Every connection passes through one, before anything else is written.
#[async_trait]
pub(crate) trait Authenticate: Send + Sync + 'static {
    /// Authenticates over `stream`, at the latest by `deadline`, and leaves it at the start of a frame.
    ///
    /// Not cancel safe: a stream whose authentication was dropped is to be closed.
    async fn authenticate(
        &self,
        stream: &mut dyn Stream,
        deadline: Instant,
    ) -> Result<(), ConnectError>;
}

/// What a PLAINTEXT listener asks for: nothing.
#[derive(Debug)]
pub(crate) struct NoAuthentication;

#[async_trait]
impl Authenticate for NoAuthentication {
    async fn authenticate(
        &self,
        _stream: &mut dyn Stream,
        _deadline: Instant,
    ) -> Result<(), ConnectError> {
        Ok(())
    }
}
