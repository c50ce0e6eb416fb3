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

#[cfg(test)]
#[cfg(feature = "sasl")]
mod tests {
    use super::*;
    use crate::client::{Client, ClientOptions};
    use crate::security::{Sasl, Security, TokenProvider};

    type Fault = Box<dyn std::error::Error + Send + Sync>;

    /// Gives a token, or none for ever.
    struct Provider {
        hangs: bool,
    }

    #[async_trait::async_trait]
    impl TokenProvider for Provider {
        async fn token(&self) -> Result<Token, Fault> {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            let far = std::time::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
            Ok(Token::new("a.b.c", far))
        }
    }

    fn token_of(hangs: bool) -> Result<Token, TokenError> {
        let security = Security::sasl_plaintext(Sasl::oauth_bearer(Provider { hangs }));
        let within = if hangs { Duration::from_millis(20) } else { Duration::from_secs(20) };
        let options = ClientOptions::new("a:1").security(security).connection_setup_timeout(within);
        let client = Client::new(options).unwrap();
        client.token_bridge().expect("somebody says who we are").token()
    }

    #[test]
    fn a_thread_that_waits_gets_the_clients_token() {
        assert_eq!(token_of(false).unwrap().reveal(), "a.b.c");
    }

    #[test]
    fn a_provider_that_hangs_keeps_rdkafka_no_longer_than_a_connection_may_take() {
        assert_eq!(token_of(true).unwrap_err(), TokenError::TimedOut);
    }
}
