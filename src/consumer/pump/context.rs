//! What librdkafka says beside records.

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use rdkafka::client::OAuthToken;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{ClientContext, Statistics};
use tracing::{debug, error, info, warn};

use crate::client::TokenBridge;

use super::denial::{Denial, Logged};

/// Sends librdkafka's log the way of ours, and gives it our tokens.
#[derive(Debug)]
pub(super) struct Context {
    /// Where OAUTHBEARER's tokens come from, where it is spoken.
    tokens: Option<TokenBridge>,
    /// What was logged of brokers that are not trusted, or do not trust us. The errors that follow have no text.
    logged: Mutex<Logged>,
}

impl Context {
    pub(super) fn new(tokens: Option<TokenBridge>) -> Self {
        Self { tokens, logged: Mutex::default() }
    }

    /// Who denies us, now that librdkafka says that somebody does.
    pub(super) fn denials(&self, error: &KafkaError) -> Vec<Denial> {
        self.logged().take(error)
    }

    fn logged(&self) -> MutexGuard<'_, Logged> {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientContext for Context {
    /// Asked for by OAUTHBEARER alone.
    const ENABLE_REFRESH_OAUTH_TOKEN: bool = true;

    fn generate_oauth_token(&self, _: Option<&str>) -> Result<OAuthToken, Box<dyn Error>> {
        let tokens = self.tokens.as_ref().ok_or("nobody gives tokens")?;
        let token = tokens.token();
        self.logged().note_token(&token);
        let token = token?;
        let expires = token.expires().duration_since(UNIX_EPOCH)?;
        Ok(OAuthToken {
            token: token.reveal().to_owned(),
            principal_name: token.principal_name().to_owned(),
            lifetime_ms: i64::try_from(expires.as_millis())?,
        })
    }

    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        if let Some(denial) = Denial::logged(facility, message) {
            self.logged().note(denial);
        }
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
    }

    fn stats(&self, _: Statistics) {}

    fn stats_raw(&self, statistics: &[u8]) {
        debug!(target: "librdkafka", statistics = &*String::from_utf8_lossy(statistics));
    }
}

impl ConsumerContext for Context {}

/// How bad an error is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Weight {
    /// librdkafka deals with it by itself, or our own connections say it better.
    Passing,
    /// A broker is not trusted, or does not trust us. librdkafka tries again.
    Denied,
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
            | Code::LeaderNotAvailable => Weight::Passing,
            Code::Authentication | Code::SSL | Code::SaslAuthenticationFailed => Weight::Denied,
            _ => Weight::Trouble,
        },
        _ => Weight::Trouble,
    }
}
