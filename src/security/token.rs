//! OAUTHBEARER's tokens.

use std::fmt;
use std::time::SystemTime;

use async_trait::async_trait;

use super::Secret;

/// Where OAUTHBEARER's tokens come from: one POST to an identity provider, a file that something else refreshes, a
/// cloud's signer.
///
/// Asked for one token at a time, in the client's own thread, whose runtime has I/O and timers: do not block it. What
/// takes longer than `socket.connection.setup.timeout.ms` is given up, and asked for again by the next connection.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use kafka_group::security::{Sasl, Security, Tls, Token, TokenProvider};
///
/// struct FromFile(std::path::PathBuf);
///
/// #[async_trait::async_trait]
/// impl TokenProvider for FromFile {
///     async fn token(&self) -> Result<Token, Box<dyn std::error::Error + Send + Sync>> {
///         let token = std::fs::read_to_string(&self.0)?;
///         Ok(Token::new(token.trim(), SystemTime::now() + Duration::from_secs(600)))
///     }
/// }
///
/// let tokens = Sasl::oauth_bearer(FromFile("/run/token".into()));
/// let security = Security::sasl_ssl(Tls::system_roots(), tokens);
/// # drop(security);
/// ```
#[async_trait]
pub trait TokenProvider: Send + Sync + 'static {
    /// A token that is good now. The error is told to whoever wanted to connect: it must hold no secret.
    async fn token(&self) -> Result<Token, Box<dyn std::error::Error + Send + Sync>>;
}

/// A token and its life. `Debug` does not show it.
#[derive(Clone)]
pub struct Token {
    value: Secret,
    expires: SystemTime,
    principal: String,
}

impl Token {
    /// A token as it goes to the broker, for a JWT three parts with dots between, and when it is good no more.
    pub fn new(value: impl Into<String>, expires: SystemTime) -> Self {
        let principal = env!("CARGO_PKG_NAME").to_owned();
        Self { value: Secret::new(value.into()), expires, principal }
    }

    /// Whose token it is, for librdkafka's log alone: brokers read that from the token. Default: `kafka-group`.
    #[must_use]
    pub fn principal(mut self, name: impl Into<String>) -> Self {
        self.principal = name.into();
        self
    }

    /// When it is good no more.
    pub fn expires(&self) -> SystemTime {
        self.expires
    }

    pub(crate) fn reveal(&self) -> &str {
        self.value.reveal()
    }

    #[cfg(feature = "consumer")]
    pub(crate) fn principal_name(&self) -> &str {
        &self.principal
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("expires", &self.expires)
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}
