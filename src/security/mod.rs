//! Pure. How connections to brokers are protected, and who we say that we are.
//!
//! The same [`Security`] serves both planes: our own connections (TLS by rustls, SASL by this module) and, under a
//! `Consumer`, rdkafka's. Say it with the constructors below or with Kafka's properties:
//!
//! ```
//! use kafka_group::security::{Sasl, Security, Tls};
//!
//! let said = Security::sasl_ssl(Tls::ca_file("ca.pem"), Sasl::scram_sha_512("indexer", "secret"));
//! # let read = || -> Result<Security, kafka_group::security::InvalidSecurity> {
//! let read = Security::from_properties([
//!     ("security.protocol", "SASL_SSL"),
//!     ("ssl.ca.location", "ca.pem"),
//!     ("sasl.mechanism", "SCRAM-SHA-512"),
//!     ("sasl.username", "indexer"),
//!     ("sasl.password", "secret"),
//! ])?;
//! # Ok(read) };
//! # assert!(read().is_ok());
//! # drop(said);
//! ```
//!
//! TLS needs the cargo feature `tls`, SASL the feature `sasl`; without them a client that asks for either is refused
//! when it is made. rdkafka's half needs `rdkafka-ssl` or `rdkafka-ssl-vendored`.

#[cfg(feature = "sasl")]
mod conversation;
mod error;
mod jaas;
mod names;
mod properties;
#[cfg_attr(not(feature = "sasl"), expect(dead_code, reason = "carried only to be refused"))]
mod sasl;
mod secret;
#[cfg_attr(
    not(any(feature = "tls", feature = "consumer")),
    expect(dead_code, reason = "carried only to be refused")
)]
mod tls;
#[cfg_attr(
    not(any(feature = "sasl", feature = "consumer")),
    expect(dead_code, reason = "carried only to be refused")
)]
mod token;

#[cfg(feature = "sasl")]
pub(crate) use conversation::{Conversation, Step, conversation};
pub use error::{InvalidSecurity, SaslError, TlsError, TokenError};
pub use names::PROPERTIES;
pub(crate) use names::is_security;
pub(crate) use properties::SecurityProperties;
#[cfg(feature = "sasl")]
pub(crate) use sasl::Hash;
pub(crate) use sasl::Mechanism;
pub use sasl::Sasl;
pub(crate) use secret::Secret;
#[cfg(any(feature = "tls", feature = "consumer"))]
pub(crate) use tls::Source;
pub use tls::Tls;
pub(crate) use tls::{Identity, Pem, Roots};
pub use token::{Token, TokenProvider};

use std::fmt;
use std::sync::Arc;

/// How connections to brokers are protected, and who we say that we are. Kafka: `security.protocol` and what belongs
/// to it. Default: PLAINTEXT, neither.
///
/// Files are read when the client is made. `Debug` shows no secret.
#[derive(Clone, Debug, Default)]
pub struct Security {
    pub(crate) tls: Option<Tls>,
    pub(crate) sasl: Option<Sasl>,
}

/// Kafka's four protocols.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    Plaintext,
    Ssl,
    SaslPlaintext,
    SaslSsl,
}

impl Security {
    /// Neither TLS nor SASL. Kafka: `PLAINTEXT`.
    pub fn plaintext() -> Self {
        Self::default()
    }

    /// TLS, and whoever the client's certificate says, if it has one. Kafka: `SSL`.
    pub fn ssl(tls: Tls) -> Self {
        Self { tls: Some(tls), sasl: None }
    }

    /// SASL without TLS: for networks that nobody else listens to. With PLAIN the password is on the wire, which is
    /// warned of. Kafka: `SASL_PLAINTEXT`.
    pub fn sasl_plaintext(sasl: Sasl) -> Self {
        Self { tls: None, sasl: Some(sasl) }
    }

    /// SASL inside TLS. Kafka: `SASL_SSL`.
    pub fn sasl_ssl(tls: Tls, sasl: Sasl) -> Self {
        Self { tls: Some(tls), sasl: Some(sasl) }
    }

    /// Reads Kafka's properties, and librdkafka's names of the same things: [`PROPERTIES`] lists them.
    ///
    /// Every property must be one of them: a mistyped `ssl.endpoint.identification.algorithm` would else go unnoticed.
    /// OAUTHBEARER by properties alone has only the unsecured tokens of tests; real ones come from a
    /// [`TokenProvider`], see [`from_properties_with_tokens`](Self::from_properties_with_tokens).
    pub fn from_properties<K: AsRef<str>, V: AsRef<str>>(
        properties: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, InvalidSecurity> {
        collected(properties)?.read(None)
    }

    /// As [`from_properties`](Self::from_properties), with OAUTHBEARER's tokens from `provider`.
    pub fn from_properties_with_tokens<K: AsRef<str>, V: AsRef<str>>(
        properties: impl IntoIterator<Item = (K, V)>,
        provider: impl TokenProvider,
    ) -> Result<Self, InvalidSecurity> {
        collected(properties)?.read(Some(Arc::new(provider)))
    }

    #[cfg(not(all(feature = "tls", feature = "sasl", not(feature = "consumer"))))]
    pub(crate) fn protocol(&self) -> Protocol {
        match (&self.tls, &self.sasl) {
            (None, None) => Protocol::Plaintext,
            (Some(_), None) => Protocol::Ssl,
            (None, Some(_)) => Protocol::SaslPlaintext,
            (Some(_), Some(_)) => Protocol::SaslSsl,
        }
    }

    /// Whether it can be at all.
    pub(crate) fn check(&self) -> Result<(), InvalidSecurity> {
        self.sasl.as_ref().map_or(Ok(()), Sasl::check)
    }

    /// This build cannot do it.
    #[cfg(not(all(feature = "tls", feature = "sasl")))]
    pub(crate) fn lacks_feature(&self, what: &str, feature: &str) -> InvalidSecurity {
        let why = format!(
            "is {}, and this build has no {what}: enable the cargo feature `{feature}` of kafka-group",
            self.protocol()
        );
        InvalidSecurity::new("security.protocol", why)
    }

    /// What is legal but worth a warning.
    pub(crate) fn warnings(&self) -> Vec<&'static str> {
        let mut warnings = Vec::new();
        let mechanism = self.sasl.as_ref().map(Sasl::mechanism);
        if self.tls.is_none() && matches!(mechanism, Some(Mechanism::Plain { .. })) {
            warnings
                .push("sasl.mechanism = PLAIN without TLS: the password can be read on the wire");
        }
        if matches!(mechanism, Some(Mechanism::UnsecuredToken { .. })) {
            warnings
                .push("OAUTHBEARER with unsecured tokens, which prove nothing: for tests alone");
        }
        if self.tls.as_ref().is_some_and(|tls| !tls.checks_host_name) {
            warnings.push(
                "ssl.endpoint.identification.algorithm is off: any certificate of the CA passes for any broker",
            );
        }
        warnings
    }
}

fn collected<K: AsRef<str>, V: AsRef<str>>(
    properties: impl IntoIterator<Item = (K, V)>,
) -> Result<SecurityProperties, InvalidSecurity> {
    let mut collected = SecurityProperties::default();
    for (name, value) in properties {
        if !collected.set(name.as_ref(), value.as_ref())? {
            let why = format!("does not include `{}`", name.as_ref());
            return Err(InvalidSecurity::new("security", why));
        }
    }
    Ok(collected)
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plaintext => "PLAINTEXT",
            Self::Ssl => "SSL",
            Self::SaslPlaintext => "SASL_PLAINTEXT",
            Self::SaslSsl => "SASL_SSL",
        })
    }
}

#[cfg(test)]
mod tests;
