//! What librdkafka says beside records.

use std::error::Error;
use std::time::UNIX_EPOCH;

use rdkafka::client::OAuthToken;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{ClientContext, Statistics};
use tokio::sync::mpsc;
use tracing::{debug, error, info, warn};

use crate::client::TokenBridge;
use crate::consumer::denials::{Denial, Distrust};

/// How many denials wait for the consumer's task; more are dropped, and come again.
const DENIALS: usize = 64;

/// Sends librdkafka's log the way of ours, tells which brokers deny it, and gives it our tokens.
#[derive(Debug)]
pub(in crate::consumer) struct Context {
    /// Where OAUTHBEARER's tokens come from, where it is spoken.
    tokens: Option<TokenBridge>,
    denied: mpsc::Sender<Denial>,
}

impl Context {
    /// With what hears of denials.
    pub(in crate::consumer) fn new(tokens: Option<TokenBridge>) -> (Self, mpsc::Receiver<Denial>) {
        let (denied, denials) = mpsc::channel(DENIALS);
        (Self { tokens, denied }, denials)
    }
}

impl ClientContext for Context {
    /// Asked for by OAUTHBEARER alone.
    const ENABLE_REFRESH_OAUTH_TOKEN: bool = true;

    fn generate_oauth_token(&self, _: Option<&str>) -> Result<OAuthToken, Box<dyn Error>> {
        let tokens = self.tokens.as_ref().ok_or("nobody gives tokens")?;
        let token = tokens.token()?;
        let expires = token.expires().duration_since(UNIX_EPOCH)?;
        Ok(OAuthToken {
            token: token.reveal().to_owned(),
            principal_name: token.principal_name().to_owned(),
            lifetime_ms: i64::try_from(expires.as_millis())?,
        })
    }

    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Emerg
            | RDKafkaLogLevel::Alert
            | RDKafkaLogLevel::Critical
            | RDKafkaLogLevel::Error => error!(target: "librdkafka", facility, "{message}"),
            RDKafkaLogLevel::Warning => warn!(target: "librdkafka", facility, "{message}"),
            RDKafkaLogLevel::Notice | RDKafkaLogLevel::Info => {
                info!(target: "librdkafka", facility, "{message}");
            }
            RDKafkaLogLevel::Debug => debug!(target: "librdkafka", facility, "{message}"),
        }
    }

    /// The same error comes out of `poll`, which is where it is dealt with; here it has its text.
    fn error(&self, error: KafkaError, reason: &str) {
        info!(target: "librdkafka", %error, "{reason}");
        let denial = distrust(&error).and_then(|distrust| Denial::read(distrust, reason));
        if let Some(denial) = denial {
            // Nobody listens at the end; and where too many wait, it comes again.
            drop(self.denied.try_send(denial));
        }
    }

    fn stats(&self, _: Statistics) {}

    fn stats_raw(&self, statistics: &[u8]) {
        debug!(target: "librdkafka", statistics = &*String::from_utf8_lossy(statistics));
    }
}

impl ConsumerContext for Context {}

/// Whether an error of a connection says that one end does not trust the other.
fn distrust(error: &KafkaError) -> Option<Distrust> {
    match error.rdkafka_error_code()? {
        RDKafkaErrorCode::SSL => Some(Distrust::Certificate),
        RDKafkaErrorCode::Authentication | RDKafkaErrorCode::SaslAuthenticationFailed => {
            Some(Distrust::Credentials)
        }
        _ => None,
    }
}

/// How bad an error is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Weight {
    /// librdkafka deals with it by itself, or our own connections say it better.
    Passing,
    /// Worth telling, and no reason to end: a topic that may not be read, an offset out of range.
    Trouble,
    /// librdkafka reads nothing any more.
    Fatal,
}

pub(super) fn weigh(error: &KafkaError) -> Weight {
    use RDKafkaErrorCode as Code;
    match error {
        KafkaError::MessageConsumptionFatal(_) => Weight::Fatal,
        KafkaError::MessageConsumption(Code::Fatal) | KafkaError::Global(Code::Fatal) => {
            Weight::Fatal
        }
        KafkaError::PartitionEOF(_) => Weight::Passing,
        KafkaError::MessageConsumption(code) | KafkaError::Global(code) => match code {
            Code::AllBrokersDown
            | Code::BrokerTransportFailure
            | Code::Resolve
            | Code::OperationTimedOut
            | Code::RequestTimedOut
            | Code::CoordinatorLoadInProgress
            | Code::CoordinatorNotAvailable
            | Code::NotCoordinator
            | Code::GroupAuthorizationFailed
            | Code::NotLeaderForPartition
            | Code::LeaderNotAvailable
            // Without the cause: the context hears it with its text.
            | Code::Authentication
            | Code::SSL
            | Code::SaslAuthenticationFailed => Weight::Passing,
            _ => Weight::Trouble,
        },
        _ => Weight::Trouble,
    }
}
