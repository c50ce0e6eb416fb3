//! Tokens for threads that may wait: rdkafka asks for one in the midst of its work.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::session::Authenticate;
use crate::security::{Token, TokenError};

/// OAUTHBEARER's tokens of a client, as its own connections use them.
pub(crate) struct TokenBridge {
    pub(super) login: Arc<dyn Authenticate>,
    pub(super) runtime: Handle,
    /// `socket.connection.setup.timeout.ms`.
    pub(super) within: Duration,
}

impl TokenBridge {
    /// A token that is good now. Blocks the thread for as long as setting up a connection may take, and no longer.
    pub(crate) fn token(&self) -> Result<Token, TokenError> {
        let (give, given) = sync_channel(1);
        let (login, within) = (Arc::clone(&self.login), self.within);
        self.runtime.spawn(async move {
            // Nobody may be waiting any more.
            give.send(login.token(Instant::now() + within).await).ok();
        });
        let token = given.recv_timeout(within).map_err(|_| TokenError::TimedOut)??;
        token.ok_or_else(|| TokenError::Failed("the mechanism has no tokens".into()))
    }
}

impl fmt::Debug for TokenBridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenBridge").finish_non_exhaustive()
    }
}
