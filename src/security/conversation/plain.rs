//! PLAIN (RFC 4616): everything in one word.

use super::{Conversation, Step};
use crate::security::{SaslError, Secret};

pub(super) struct Plain {
    username: String,
    password: Secret,
}

impl Plain {
    pub(super) fn new(username: String, password: Secret) -> Self {
        Self { username, password }
    }
}

impl Conversation for Plain {
    fn begin(&mut self) -> Vec<u8> {
        format!("\0{}\0{}", self.username, self.password.reveal()).into_bytes()
    }

    fn reply(&mut self, _: &[u8]) -> Result<Step, SaslError> {
        Ok(Step::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_password_go_in_one_word() {
        let mut plain = Plain::new("alice".into(), Secret::new("secret"));
        assert_eq!(plain.begin(), b"\0alice\0secret");
        assert_eq!(plain.reply(b""), Ok(Step::Done));
    }
}
