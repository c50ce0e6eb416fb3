//! What can go wrong between us and the brokers.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::security::{InvalidSecurity, TlsError};
use crate::transport::{ConnectError, tls_error};
use crate::types::NodeId;
use crate::wire::{ApiKey, ErrorCode, FrameError, Unsupported};

/// Why a [`Client`](super::Client) could not do what it was asked.
///
/// None of this ends a membership by itself: a member that loses its coordinator looks for it again.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// An option that cannot be right. Nothing was started.
    #[error("`{property}` {why}")]
    InvalidOption {
        /// Kafka's name of the option.
        property: &'static str,
        /// What is wrong with its value.
        why: String,
    },
    /// The client's own thread could not be started.
    #[error("the client's thread could not be started: {0}")]
    Thread(Arc<str>),
    /// No broker could be reached: neither one that was known nor one of `bootstrap.servers`.
    ///
    /// Says at once if no try could change it (every address speaks something else than Kafka), else at the deadline.
    #[error("no broker could be reached: {}", Listed(.attempts))]
    Unreachable {
        /// What happened to each in the last round of tries.
        attempts: Arc<[Attempt]>,
    },
    /// A connection could not be opened, or was lost with requests unanswered.
    #[error("{broker}: {cause}")]
    Disconnected {
        /// The broker's address.
        broker: Arc<str>,
        /// What happened to the connection.
        cause: ConnectionError,
        /// Whether the broker may have seen the request.
        sent: bool,
    },
    /// The answer did not come in time. The broker may have done what it was asked all the same.
    #[error("no answer in time{}{}", For(.api), From(.broker))]
    TimedOut {
        /// What was asked, if anything was sent.
        api: Option<ApiKey>,
        /// Who was asked, if anybody was.
        broker: Option<Arc<str>>,
    },
    /// The broker speaks no version of an API that we speak.
    #[error("{broker}: {unsupported}")]
    UnsupportedVersion {
        /// The broker's address.
        broker: Arc<str>,
        /// Which API, and what each side speaks. Ours ends at [`max_version`](super::ClientOptions::max_version).
        unsupported: Unsupported,
    },
    /// The version that both speak cannot carry the request.
    #[error("{api:?} version {version} cannot carry this request: {why}")]
    Unencodable {
        /// Which API.
        api: ApiKey,
        /// The version that both speak.
        version: i16,
        /// What does not fit.
        why: Arc<str>,
    },
    /// The answer is not what Kafka defines. The connection is kept: frames are still in step.
    #[error("{broker} answered {api:?} version {version} with bytes that cannot be read: {why}")]
    Undecodable {
        /// The broker's address.
        broker: Arc<str>,
        /// Which API.
        api: ApiKey,
        /// The version that was asked in.
        version: i16,
        /// Where reading ended.
        why: Arc<str>,
    },
    /// A broker answered with an error: one that no other try will change, or one that did not pass by the deadline.
    #[error("{api:?} of {subject} was refused: {code}")]
    Refused {
        /// Which API.
        api: ApiKey,
        /// The broker's code.
        code: ErrorCode,
        /// What it was about: a group, a topic.
        subject: Arc<str>,
    },
    /// A broker whose address is not known: it is not alive, or was never heard of.
    #[error("broker {0} is not known")]
    UnknownNode(NodeId),
    /// The client has ended.
    #[error("the client has ended")]
    Closed,
}

impl ClientError {
    /// What a broker refused about a group.
    pub(crate) fn of_group(api: ApiKey, code: ErrorCode, group: &str) -> Self {
        Self::Refused { api, code, subject: format!("group `{group}`").into() }
    }

    /// Whether the same request may succeed later, or at another broker.
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::TimedOut { .. } | Self::UnknownNode(_) => true,
            Self::Unreachable { .. } => self.denial().is_none(),
            Self::Disconnected { cause, .. } => !cause.is_permanent(),
            _ => false,
        }
    }

    /// Which broker does not trust us, or we not it, and why, if that is what stood in the way.
    pub(crate) fn denial(&self) -> Option<String> {
        match self {
            Self::Unreachable { attempts } => {
                let denied = attempts.iter().find(|tried| tried.cause.is_denial());
                denied.map(Attempt::to_string)
            }
            Self::Disconnected { cause, .. } if cause.is_denial() => Some(self.to_string()),
            _ => None,
        }
    }

    /// Whether the broker closed the connection at the first word: see [`ConnectionError::is_suspect`].
    pub(super) fn has_hung_up(&self) -> bool {
        matches!(self, Self::Disconnected { cause, .. } if cause.is_suspect())
    }

    /// As a text behind which nothing is said twice.
    pub(crate) fn detail(&self) -> String {
        match self {
            Self::Unreachable { attempts } => Listed(attempts).to_string(),
            error => error.to_string(),
        }
    }

    /// Whether the connection had ended by itself before it was written to: no reason to think ill of the broker.
    pub(super) fn was_not_sent_on_an_open_connection(&self) -> bool {
        match self {
            Self::Disconnected { cause, sent: false, .. } => matches!(
                cause,
                ConnectionError::Closed | ConnectionError::Idle | ConnectionError::Io { .. }
            ),
            _ => false,
        }
    }

    /// Whether whoever was asked should be looked for again: it is gone, or as good as gone.
    pub(crate) fn has_lost_the_broker(&self) -> bool {
        matches!(self, Self::Disconnected { .. } | Self::TimedOut { .. } | Self::UnknownNode(_))
    }
}

impl std::convert::From<InvalidSecurity> for ClientError {
    fn from(InvalidSecurity { property, why }: InvalidSecurity) -> Self {
        Self::InvalidOption { property, why }
    }
}

/// Whether a coordinator that answers so, or another broker in its place, may say something else later.
pub(crate) fn passes(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::CoordinatorLoadInProgress
            | ErrorCode::CoordinatorNotAvailable
            | ErrorCode::NotCoordinator
            | ErrorCode::RequestTimedOut
    )
}

/// One broker that was tried, and what happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempt {
    /// Its address.
    pub broker: Arc<str>,
    /// What happened.
    pub cause: ConnectionError,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.broker, self.cause)
    }
}

/// What happened to a connection. All who wait on it are told the same.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// It could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// It was opened, and nothing came back.
    #[error(
        "accepted the connection but did not answer ApiVersions in time: a hung broker, or no Kafka listener"
    )]
    Silent,
    /// It was opened, and closed before the first answer.
    #[error(
        "closed the connection before answering ApiVersions: a TLS listener spoken to in plain text (look at \
         security.protocol and the port), or a broker that is going down"
    )]
    ClosedUnanswered,
    /// It answered ApiVersions, and closed the connection instead of answering what came next.
    #[error(
        "closed the connection at the first request: a SASL listener spoken to without credentials (look at \
         security.protocol and sasl.mechanism), or a broker that is going down"
    )]
    ClosedAtFirstRequest,
    /// ApiVersions was refused, or its answer makes no sense.
    #[error("cannot be spoken to: {0}")]
    NoVersions(Arc<str>),
    /// The other side closed it.
    #[error("closed the connection")]
    Closed,
    /// The system ended it.
    #[error("lost the connection: {message}")]
    Io {
        /// What the system calls it.
        kind: io::ErrorKind,
        /// What the system says.
        message: Arc<str>,
    },
    /// What came is no frame, or none that we take: another protocol, or an absurd length.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// An answer that nobody waits for, after which nothing on the connection can be believed.
    #[error("sent an answer that belongs to no request")]
    OutOfStep,
    /// Nothing happened on it for `connections.max.idle.ms`.
    #[error("closed after being idle")]
    Idle,
    /// We closed it.
    #[error("closed by us")]
    Dropped,
}

impl ConnectionError {
    /// Whether the same address will answer the same for as long as nobody changes it.
    pub(crate) fn is_permanent(&self) -> bool {
        match self {
            Self::Frame(FrameError::Http) | Self::NoVersions(_) => true,
            cause => cause.is_denial(),
        }
    }

    /// Whether one end does not trust the other, or they are not secured in the same way: more tries would look like an
    /// attack, and change nothing.
    pub(crate) fn is_denial(&self) -> bool {
        match self {
            Self::Frame(FrameError::Tls) => true,
            Self::Connect(ConnectError::Sasl(error)) => error.is_permanent(),
            Self::Connect(ConnectError::Tls(error)) => error.is_permanent(),
            _ => false,
        }
    }

    /// Whether our credentials, or those of the broker, are wrong: the cluster's brokers have them in common.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Connect(ConnectError::Sasl(error)) if error.is_permanent())
    }

    /// Whether it looks like a port that speaks something else, if it goes on like this: a broker that is going down
    /// does not.
    pub(super) fn is_suspect(&self) -> bool {
        matches!(
            self,
            Self::ClosedUnanswered
                | Self::ClosedAtFirstRequest
                | Self::Connect(ConnectError::Tls(TlsError::Closed))
        )
    }

    pub(super) fn io(error: &io::Error) -> Self {
        if let Some(error) = tls_error(error) {
            return ConnectError::Tls(error).into();
        }
        Self::Io { kind: error.kind(), message: error.to_string().into() }
    }
}

/// Attempts in one line.
struct Listed<'a>(&'a [Attempt]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, attempt) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{attempt}")?;
        }
        Ok(())
    }
}

struct For<'a>(&'a Option<ApiKey>);

impl fmt::Display for For<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |api| write!(f, " for {api:?}"))
    }
}

struct From<'a>(&'a Option<Arc<str>>);

impl fmt::Display for From<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |broker| write!(f, " from {broker}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_to_each_broker_is_said_in_one_line() {
        let attempts = [
            Attempt { broker: "a:1".into(), cause: ConnectError::TimedOut.into() },
            Attempt { broker: "b:2".into(), cause: FrameError::Tls.into() },
        ];
        let error = ClientError::Unreachable { attempts: attempts.into() };
        assert_eq!(
            error.to_string(),
            "no broker could be reached: a:1: no connection in time; \
             b:2: the port speaks TLS, and was spoken to without: look at security.protocol (SSL or SASL_SSL there?)"
        );
    }

    #[test]
    fn a_timeout_says_of_whom_and_for_what() {
        let error =
            ClientError::TimedOut { api: Some(ApiKey::Heartbeat), broker: Some("a:1".into()) };
        assert_eq!(error.to_string(), "no answer in time for Heartbeat from a:1");
        assert_eq!(
            ClientError::TimedOut { api: None, broker: None }.to_string(),
            "no answer in time"
        );
    }
}
