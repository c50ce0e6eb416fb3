//! What is said over SASL: a challenge in, a reply out. No I/O, no clock, and the nonce comes from outside.

mod oauthbearer;
mod plain;
mod scram;

use super::{Mechanism, SaslError};

/// What comes next.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Say this, and hear what the broker says to it.
    Say(Vec<u8>),
    /// The broker has said all that it had to.
    Done,
}

/// One authentication, from the first word to the last.
pub(crate) trait Conversation: Send {
    /// The first word is ours.
    fn begin(&mut self) -> Vec<u8>;

    /// What to say to what the broker said. May take long: SCRAM hashes as often as the broker wants.
    fn reply(&mut self, challenge: &[u8]) -> Result<Step, SaslError>;
}

/// A new conversation. `nonce` is 1 to 64 printable characters without commas, never the same twice; `token` is
/// OAUTHBEARER's.
pub(crate) fn conversation(
    mechanism: &Mechanism,
    nonce: String,
    token: Option<String>,
) -> Box<dyn Conversation> {
    match mechanism {
        Mechanism::Plain { username, password } => {
            Box::new(plain::Plain::new(username.clone(), password.clone()))
        }
        Mechanism::Scram { hash, username, password } => {
            Box::new(scram::Scram::new(*hash, username, password.clone(), nonce))
        }
        Mechanism::OAuthBearer(_) | Mechanism::UnsecuredToken { .. } => {
            Box::new(oauthbearer::OAuthBearer::new(token.unwrap_or_default()))
        }
    }
}
