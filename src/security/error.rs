//! Why a broker is not trusted, or does not trust us. Each says which property to look at.

use std::fmt;
use std::sync::Arc;

/// Security options that cannot be right. Nothing was sent. Never holds a value that may be secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{property}` {why}")]
#[non_exhaustive]
pub struct InvalidSecurity {
    /// Kafka's or librdkafka's name of the property; of one that nobody knows, the family.
    pub property: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl InvalidSecurity {
    pub(crate) fn new(property: &'static str, why: impl Into<String>) -> Self {
        Self { property, why: why.into() }
    }
}

/// Why no TLS connection came about.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The certificate's root is none of ours.
    #[error(
        "its certificate comes from a CA that is not trusted, or it does not send those in between: look at ssl.ca.location \
         (Kafka: ssl.truststore.location)"
    )]
    UnknownIssuer,
    /// The certificate is another host's.
    #[error(
        "its certificate does not name `{host}`{}: connect by a name that it has (advertised.listeners), or look at \
         ssl.endpoint.identification.algorithm",
        Names(.names)
    )]
    HostName {
        /// The host that was connected to.
        host: Arc<str>,
        /// Whom the certificate names, where that is known.
        names: Vec<String>,
    },
    /// The time of the certificate, or of one that leads to its root, is over.
    #[error(
        "its certificate, or one in between, has expired: renew it at the broker (ssl.keystore.location), or look at this \
         machine's clock"
    )]
    Expired,
    /// The certificate's time has not come.
    #[error("its certificate is not valid yet: look at this machine's clock")]
    NotYetValid,
    /// Something else is wrong with the certificate.
    #[error("its certificate is refused: {0}")]
    Certificate(Arc<str>),
    /// The broker wants to see a certificate, and we have none, or one that it does not trust.
    #[error(
        "refuses our certificate, or that we have none ({0}): look at ssl.certificate.location and ssl.key.location \
         (Kafka: ssl.keystore.location)"
    )]
    ClientCertificate(Arc<str>),
    /// The broker has none of our versions of TLS, or none of our cipher suites; of some that are not Java's, that it wants
    /// to see a certificate.
    #[error(
        "finds nothing in our TLS that it takes ({0}): look at its ssl.enabled.protocols, which needs TLSv1.2 or TLSv1.3, \
         at its ssl.cipher.suites, and whether it wants a certificate (ssl.certificate.location)"
    )]
    NothingInCommon(Arc<str>),
    /// What answered does not speak TLS.
    #[error(
        "does not speak TLS on this port: look at security.protocol (PLAINTEXT or SASL_PLAINTEXT there?) and the port"
    )]
    NotTls,
    /// The connection was closed in the midst of the handshake, which is what Kafka does where a listener has no TLS.
    #[error(
        "closed the connection during the TLS handshake: a listener without TLS (look at security.protocol and the \
         port), or a broker that is going down"
    )]
    Closed,
    /// Anything else.
    #[error("TLS failed: {0}")]
    Other(Arc<str>),
}

/// Why a broker was not told who we are, or did not believe it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SaslError {
    /// The listener has other mechanisms.
    #[error("does not offer sasl.mechanism = {mechanism}; it offers {}", Few(.offered))]
    NotOffered {
        /// What we asked for.
        mechanism: &'static str,
        /// What there is.
        offered: Vec<String>,
    },
    /// The listener has no SASL at all.
    #[error(
        "has no SASL on this port: look at security.protocol (PLAINTEXT or SSL there?) and the port"
    )]
    NotHere,
    /// The listener has SASL, and we are set to say nothing of who we are.
    #[error(
        "wants to know who we are, by {}: look at security.protocol (SASL_PLAINTEXT or SASL_SSL there?) and \
         sasl.mechanism", Few(.offered)
    )]
    Wanted {
        /// The mechanisms that it has.
        offered: Vec<String>,
    },
    /// The broker does not believe us.
    #[error("refuses our credentials ({mechanism}): {message}; look at {look}")]
    Refused {
        /// How we said who we are.
        mechanism: &'static str,
        /// What the broker says.
        message: Arc<str>,
        /// The properties that hold the credentials.
        look: &'static str,
    },
    /// SCRAM: the broker could not prove that it knows the password.
    #[error(
        "does not know our password either: its SCRAM signature is wrong. It may not be the broker that it says it is"
    )]
    WrongSignature,
    /// SCRAM: a number of iterations that is not taken.
    #[error(
        "wants {0} iterations of SCRAM's hash, and 4096 to 1000000 are taken: create the user's credential anew \
         (kafka-configs.sh --alter --add-config 'SCRAM-SHA-512=[iterations=8192,...]')"
    )]
    Iterations(Arc<str>),
    /// What the broker said is nothing that this mechanism knows.
    #[error("{0}, which is not what {1} defines")]
    Challenge(&'static str, &'static str),
    /// There is no token.
    #[error("was not told who we are: {0}")]
    Token(#[from] TokenError),
    /// The broker answered with a code that it should not have.
    #[error("ended the authentication: {0}")]
    Ended(Arc<str>),
}

impl TlsError {
    /// Whether the same will be said for as long as nobody changes something here or there.
    pub(crate) fn is_permanent(&self) -> bool {
        !matches!(self, Self::Closed | Self::Other(_))
    }
}

impl SaslError {
    /// The broker had time enough.
    pub(crate) fn late() -> Self {
        Self::Ended("no answer within socket.connection.setup.timeout.ms".into())
    }

    /// Whether the same will be said for as long as nobody changes something here or there. A token may come by itself.
    pub(crate) fn is_permanent(&self) -> bool {
        !matches!(self, Self::Token(TokenError::Failed(_) | TokenError::TimedOut) | Self::Ended(_))
    }
}

/// Why there is no token for OAUTHBEARER.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The provider failed.
    #[error("the token provider failed: {0}")]
    Failed(Arc<str>),
    /// The provider did not answer in time.
    #[error("the token provider gave no token within socket.connection.setup.timeout.ms")]
    TimedOut,
    /// The provider gave a token whose time is over.
    #[error(
        "the token provider gave a token that has expired: look at its cache, or at this machine's clock"
    )]
    Expired,
    /// A token that cannot be sent.
    #[error("the token provider gave a token with characters that no token has")]
    Malformed,
}

struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => Ok(()),
            false => write!(f, " but {}", Few(self.0)),
        }
    }
}

/// What somebody lists who is not trusted yet: not too much of it, and nothing that could harm a terminal.
struct Few<'a>(&'a [String]);

impl fmt::Display for Few<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 8;
        const LONGEST: usize = 64;
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (at, text) in self.0.iter().take(MOST).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            let text: String = text.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
            write!(f, "{separator}{text}")?;
        }
        match self.0.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
