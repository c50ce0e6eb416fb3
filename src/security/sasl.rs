//! Who we say that we are.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{InvalidSecurity, Secret, TokenProvider};

/// A SASL mechanism and what it needs. Kafka: `sasl.mechanism`.
#[derive(Clone, Debug)]
pub struct Sasl(Mechanism);

/// The mechanisms.
#[derive(Clone)]
pub(crate) enum Mechanism {
    Plain {
        username: String,
        password: Secret,
    },
    Scram {
        hash: Hash,
        username: String,
        password: Secret,
    },
    OAuthBearer(Arc<dyn TokenProvider>),
    /// OAUTHBEARER with a token that we sign with nothing.
    UnsecuredToken {
        principal: String,
        lifetime: Duration,
    },
}

/// SCRAM's hash functions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Hash {
    Sha256,
    Sha512,
}

impl Sasl {
    /// A name and a password, as they are: only inside TLS. Kafka: `PLAIN`.
    pub fn plain(username: impl Into<String>, password: impl Into<String>) -> Self {
        let password = Secret::new(password.into());
        Self(Mechanism::Plain { username: username.into(), password })
    }

    /// A name, and proof that we know the password; the broker must prove it as well. Kafka: `SCRAM-SHA-256`.
    ///
    /// Brokers that want fewer than 4,096 or more than 1,000,000 iterations of the hash are refused: the first would
    /// make the password easy to guess for whoever listens, the second keep us busy for ever.
    pub fn scram_sha_256(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self::scram(Hash::Sha256, username.into(), password.into())
    }

    /// As [`scram_sha_256`](Self::scram_sha_256), with the longer hash. Kafka: `SCRAM-SHA-512`.
    pub fn scram_sha_512(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self::scram(Hash::Sha512, username.into(), password.into())
    }

    fn scram(hash: Hash, username: String, password: String) -> Self {
        Self(Mechanism::Scram { hash, username, password: Secret::new(password) })
    }

    /// Tokens of an identity provider. Kafka: `OAUTHBEARER`. The provider is asked when a token is first needed, and
    /// again when four fifths of its life are over; a `Consumer`'s rdkafka gets the same tokens.
    pub fn oauth_bearer(provider: impl TokenProvider) -> Self {
        Self(Mechanism::OAuthBearer(Arc::new(provider)))
    }

    /// OAUTHBEARER with tokens that prove nothing (`alg: none`), as Kafka's brokers take them by default until they are
    /// given a validator. For tests alone.
    pub fn unsecured_token(principal: impl Into<String>) -> Self {
        Self::unsecured(principal.into(), Duration::from_secs(3600))
    }

    pub(crate) fn unsecured(principal: String, lifetime: Duration) -> Self {
        Self(Mechanism::UnsecuredToken { principal, lifetime })
    }

    pub(crate) fn provided(provider: Arc<dyn TokenProvider>) -> Self {
        Self(Mechanism::OAuthBearer(provider))
    }

    pub(crate) fn mechanism(&self) -> &Mechanism {
        &self.0
    }

    /// PLAIN ends its parts with NUL, so none may be in them.
    pub(super) fn check(&self) -> Result<(), InvalidSecurity> {
        let (username, password) = match &self.0 {
            Mechanism::Plain { username, password }
            | Mechanism::Scram { username, password, .. } => (username, password.reveal()),
            Mechanism::UnsecuredToken { principal, .. } => return check_principal(principal),
            Mechanism::OAuthBearer(_) => return Ok(()),
        };
        for (property, text) in [("sasl.username", username.as_str()), ("sasl.password", password)]
        {
            if text.is_empty() {
                return Err(InvalidSecurity::new(property, "is empty"));
            }
            if text.contains('\0') {
                return Err(InvalidSecurity::new(property, "contains a NUL character"));
            }
        }
        Ok(())
    }
}

/// It is written into a token's JSON.
fn check_principal(principal: &str) -> Result<(), InvalidSecurity> {
    let odd = |c: char| c.is_control() || matches!(c, '"' | '\\');
    match principal.is_empty() || principal.contains(odd) {
        true => Err(InvalidSecurity::new(
            "sasl.oauthbearer.config",
            "has a principal that is empty or contains quotes, backslashes or control characters",
        )),
        false => Ok(()),
    }
}

impl Mechanism {
    /// Kafka's name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Plain { .. } => "PLAIN",
            Self::Scram { hash: Hash::Sha256, .. } => "SCRAM-SHA-256",
            Self::Scram { hash: Hash::Sha512, .. } => "SCRAM-SHA-512",
            Self::OAuthBearer(_) | Self::UnsecuredToken { .. } => "OAUTHBEARER",
        }
    }
}

impl fmt::Debug for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct(self.name());
        match self {
            Self::Plain { username, .. } | Self::Scram { username, .. } => {
                shown.field("username", username)
            }
            Self::UnsecuredToken { principal, .. } => shown.field("principal", principal),
            Self::OAuthBearer(_) => &mut shown,
        }
        .finish_non_exhaustive()
    }
}
