//! Who we are, said over SASL.

use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::session::Authenticate;
use super::speaker::Speaker;
use super::tokens::Tokens;
use super::{ClientError, ConnectionError};
use crate::security::{Conversation, Mechanism, Sasl, SaslError, Step, conversation};
#[cfg(feature = "consumer")]
use crate::security::{Token, TokenError};
use crate::transport::ConnectError;
use crate::wire::ErrorCode;
use crate::wire::api::{SaslAuthenticateRequest, SaslHandshakeRequest};

/// No mechanism needs more than three words; whoever goes on does so for ever.
const WORDS: usize = 8;

/// Says who we are: which mechanism, then whatever that has to say.
pub(super) struct Login {
    sasl: Sasl,
    tokens: Tokens,
}

impl Login {
    pub(super) fn new(sasl: Sasl) -> Self {
        Self { tokens: Tokens::new(sasl.clone()), sasl }
    }

    async fn converse(
        &self,
        speaker: &Speaker,
        deadline: Instant,
    ) -> Result<Option<Duration>, ConnectionError> {
        let mechanism = self.sasl.mechanism();
        let token =
            self.tokens.current(deadline).await.map_err(SaslError::Token).map_err(failed)?;
        let token = token.map(|token| token.reveal().to_owned());
        handshake(mechanism, speaker, deadline).await?;
        let mut talk = conversation(mechanism, nonce().map_err(failed)?, token);
        let mut says = talk.begin();
        for _ in 0..WORDS {
            let request = SaslAuthenticateRequest { says: says.into() };
            let answer = speaker.call(&request, (), deadline).await.map_err(ended)?;
            if !answer.error.is_none() {
                return Err(failed(refused(mechanism, answer.error, answer.error_message)));
            }
            let (talked, step) =
                reply(mechanism, talk, answer.says.to_vec()).await.map_err(failed)?;
            talk = talked;
            match step {
                Step::Done => return Ok(Some(answer.lifetime).filter(|life| !life.is_zero())),
                Step::Say(next) => says = next,
            }
        }
        Err(failed(SaslError::Challenge("does not come to an end", mechanism.name())))
    }
}

#[async_trait]
impl Authenticate for Login {
    async fn authenticate(
        &self,
        speaker: &Speaker,
        deadline: Instant,
    ) -> Result<Option<Duration>, ConnectionError> {
        self.converse(speaker, deadline).await
    }

    #[cfg(feature = "consumer")]
    async fn token(&self, deadline: Instant) -> Result<Option<Token>, TokenError> {
        self.tokens.current(deadline).await
    }
}

async fn handshake(
    mechanism: &Mechanism,
    speaker: &Speaker,
    deadline: Instant,
) -> Result<(), ConnectionError> {
    let request = SaslHandshakeRequest { mechanism: mechanism.name().to_owned() };
    let answer = match speaker.call(&request, (), deadline).await {
        Err(ClientError::UnsupportedVersion { .. }) => return Err(failed(SaslError::NotHere)),
        answer => answer.map_err(ended)?,
    };
    match answer.error {
        ErrorCode::None => Ok(()),
        ErrorCode::UnsupportedSaslMechanism => Err(failed(SaslError::NotOffered {
            mechanism: mechanism.name(),
            offered: answer.mechanisms,
        })),
        ErrorCode::IllegalSaslState => Err(failed(SaslError::NotHere)),
        code => Err(failed(SaslError::Ended(code.to_string().into()))),
    }
}

/// SCRAM's hashes take from a millisecond to a second, in which nobody's heartbeat may wait.
async fn reply(
    mechanism: &Mechanism,
    mut talk: Box<dyn Conversation>,
    challenge: Vec<u8>,
) -> Result<(Box<dyn Conversation>, Step), SaslError> {
    let reply = move || {
        let step = talk.reply(&challenge)?;
        Ok((talk, step))
    };
    match mechanism {
        Mechanism::Scram { .. } => {
            let gone = |_| Err(SaslError::Ended("the thread that hashes has ended".into()));
            spawn_blocking(reply).await.unwrap_or_else(gone)
        }
        _ => reply(),
    }
}

/// Never the same twice, and nobody's guess.
fn nonce() -> Result<String, SaslError> {
    let mut bytes = [0; 24];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| SaslError::Ended("the system has no randomness".into()))?;
    Ok(BASE64.encode(bytes))
}

/// What the broker says is for people; it is cut, and shown without what could harm a terminal.
fn refused(mechanism: &Mechanism, code: ErrorCode, message: Option<String>) -> SaslError {
    let message = message.filter(|message| !message.is_empty());
    let message = message.unwrap_or_else(|| code.to_string());
    let message: String = message.chars().filter(|c| !c.is_control()).take(300).collect();
    if code != ErrorCode::SaslAuthenticationFailed {
        return SaslError::Ended(format!("{code}: {message}").into());
    }
    let look = match mechanism {
        Mechanism::OAuthBearer(_) => "the token provider",
        Mechanism::UnsecuredToken { .. } => "sasl.oauthbearer.config",
        _ => "sasl.username and sasl.password (or sasl.jaas.config)",
    };
    SaslError::Refused { mechanism: mechanism.name(), message: message.into(), look }
}

fn failed(error: SaslError) -> ConnectionError {
    ConnectionError::Connect(ConnectError::Sasl(error))
}

/// A connection that ends in the midst of it.
fn ended(error: ClientError) -> ConnectionError {
    match error {
        ClientError::Disconnected { cause, .. } => match cause {
            ConnectionError::ClosedAtFirstRequest | ConnectionError::Closed => {
                failed(SaslError::Ended("the connection was closed".into()))
            }
            cause => cause,
        },
        ClientError::TimedOut { .. } => failed(SaslError::late()),
        error => failed(SaslError::Ended(error.to_string().into())),
    }
}
