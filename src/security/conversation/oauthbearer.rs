//! OAUTHBEARER (RFC 7628): a token in one word.

use std::sync::Arc;

use super::{Conversation, Step};
use crate::security::SaslError;

/// What is kept of the reason that a broker gives: it is shown to people.
const LONGEST_REASON: usize = 200;

pub(super) struct OAuthBearer {
    token: String,
    /// Why the broker does not take it; it waits for one more word before it ends.
    refused: Option<Arc<str>>,
}

impl OAuthBearer {
    pub(super) fn new(token: String) -> Self {
        Self { token, refused: None }
    }
}

impl Conversation for OAuthBearer {
    fn begin(&mut self) -> Vec<u8> {
        format!("n,,\x01auth=Bearer {}\x01\x01", self.token).into_bytes()
    }

    fn reply(&mut self, challenge: &[u8]) -> Result<Step, SaslError> {
        if let Some(message) = self.refused.take() {
            return Err(SaslError::Refused {
                mechanism: "OAUTHBEARER",
                message,
                look: "the token provider",
            });
        }
        if challenge.is_empty() {
            return Ok(Step::Done);
        }
        let reason = String::from_utf8_lossy(challenge);
        let reason: String =
            reason.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect();
        self.refused = Some(reason.into());
        Ok(Step::Say(b"\x01".to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_taken_is_one_word() {
        let mut bearer = OAuthBearer::new("a.b.c".into());
        assert_eq!(bearer.begin(), b"n,,\x01auth=Bearer a.b.c\x01\x01");
        assert_eq!(bearer.reply(b""), Ok(Step::Done));
    }

    #[test]
    fn a_token_that_is_not_taken_is_an_error_whatever_comes_after_the_reason() {
        let mut bearer = OAuthBearer::new("a.b.c".into());
        bearer.begin();
        let reason = br#"{"status":"invalid_token"}"#;
        assert_eq!(bearer.reply(reason), Ok(Step::Say(b"\x01".to_vec())));
        let error = bearer.reply(b"").unwrap_err().to_string();
        assert!(error.contains("invalid_token") && !error.contains("a.b.c"), "{error}");
    }
}
