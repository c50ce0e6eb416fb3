//! SCRAM (RFC 5802, RFC 7677): both sides prove that they know the password, and nobody says it.
//!
//! Names and passwords are taken as they are, without SASLprep: Kafka's brokers store them so.

use std::num::NonZero;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::{digest, hmac, pbkdf2};

use super::{Conversation, Step};
use crate::security::{Hash, SaslError, Secret};

/// Fewer make a password easy to guess for whoever has heard the conversation; Kafka's own clients take no fewer.
const FEWEST: u32 = 4096;
/// More keep a thread busy for a second and longer, which a broker could ask for at each connection.
const MOST: u32 = 1_000_000;

const DEFINED: &str = "SCRAM";

pub(super) struct Scram {
    hash: Hash,
    password: Secret,
    nonce: String,
    /// `n=alice,r=…`, which both sides sign.
    first: String,
    stage: Stage,
}

enum Stage {
    /// Salt, iterations and the rest of the nonce come next.
    Challenged,
    /// The broker's own proof comes next.
    Proving(hmac::Tag),
    Over,
}

/// What the broker says first.
struct Challenge<'a> {
    nonce: &'a str,
    salt: Vec<u8>,
    iterations: NonZero<u32>,
}

impl Scram {
    pub(super) fn new(hash: Hash, username: &str, password: Secret, nonce: String) -> Self {
        let name = username.replace('=', "=3D").replace(',', "=2C");
        let first = format!("n={name},r={nonce}");
        Self { hash, password, nonce, first, stage: Stage::Challenged }
    }

    /// Proves that we know the password, and computes what the broker must say to prove the same.
    fn prove(&mut self, said: &str) -> Result<Vec<u8>, SaslError> {
        let challenge = Challenge::read(said, &self.nonce)?;
        let salted = self.salted(&challenge);
        let client_key = self.sign(&salted, b"Client Key");
        let stored_key = digest::digest(self.digest(), client_key.as_ref());
        // `biws` is `n,,` in base64: no channel binding.
        let unproved = format!("c=biws,r={}", challenge.nonce);
        let signed = format!("{},{said},{unproved}", self.first);
        let client_signature = self.sign(stored_key.as_ref(), signed.as_bytes());
        let proof: Vec<u8> = client_key
            .as_ref()
            .iter()
            .zip(client_signature.as_ref())
            .map(|(key, signature)| key ^ signature)
            .collect();
        let server_key = self.sign(&salted, b"Server Key");
        self.stage = Stage::Proving(self.sign(server_key.as_ref(), signed.as_bytes()));
        Ok(format!("{unproved},p={}", BASE64.encode(proof)).into_bytes())
    }

    fn salted(&self, challenge: &Challenge<'_>) -> Vec<u8> {
        let algorithm = match self.hash {
            Hash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Hash::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        };
        let mut salted = vec![0; self.digest().output_len()];
        let password = self.password.reveal().as_bytes();
        pbkdf2::derive(algorithm, challenge.iterations, &challenge.salt, password, &mut salted);
        salted
    }

    fn sign(&self, key: &[u8], data: &[u8]) -> hmac::Tag {
        let algorithm = match self.hash {
            Hash::Sha256 => hmac::HMAC_SHA256,
            Hash::Sha512 => hmac::HMAC_SHA512,
        };
        hmac::sign(&hmac::Key::new(algorithm, key), data)
    }

    fn digest(&self) -> &'static digest::Algorithm {
        match self.hash {
            Hash::Sha256 => &digest::SHA256,
            Hash::Sha512 => &digest::SHA512,
        }
    }
}

impl Conversation for Scram {
    fn begin(&mut self) -> Vec<u8> {
        format!("n,,{}", self.first).into_bytes()
    }

    fn reply(&mut self, challenge: &[u8]) -> Result<Step, SaslError> {
        let said = std::str::from_utf8(challenge)
            .map_err(|_| SaslError::Challenge("sent a challenge that is no text", DEFINED))?;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Challenged => self.prove(said).map(Step::Say),
            Stage::Proving(expected) => {
                let signature = said.strip_prefix("v=").and_then(|rest| rest.split(',').next());
                let signature = signature.and_then(|text| BASE64.decode(text).ok());
                let signature = signature.ok_or(SaslError::WrongSignature)?;
                match same(&signature, expected.as_ref()) {
                    true => Ok(Step::Done),
                    false => Err(SaslError::WrongSignature),
                }
            }
            Stage::Over => Err(SaslError::Challenge("went on after the end", DEFINED)),
        }
    }
}

impl<'a> Challenge<'a> {
    /// `r=nonce,s=salt,i=iterations`, and extensions that we may pass over.
    fn read(said: &'a str, ours: &str) -> Result<Self, SaslError> {
        let broken = |what| SaslError::Challenge(what, DEFINED);
        let mut parts = said.split(',');
        let mut part = |name| parts.next().and_then(|part| part.strip_prefix(name));
        let nonce = part("r=").ok_or_else(|| broken("sent a challenge without a nonce"))?;
        // One that is ours alone could be an old conversation, heard by somebody.
        if !nonce.starts_with(ours) || nonce.len() == ours.len() {
            return Err(broken("sent a nonce that does not go on from ours"));
        }
        let salt = part("s=").and_then(|salt| BASE64.decode(salt).ok());
        let salt = salt.filter(|salt| !salt.is_empty());
        let salt = salt.ok_or_else(|| broken("sent a challenge without a salt"))?;
        let count = part("i=").ok_or_else(|| broken("sent a challenge without iterations"))?;
        Ok(Self { nonce, salt, iterations: iterations(count)? })
    }
}

fn iterations(count: &str) -> Result<NonZero<u32>, SaslError> {
    let taken = count.parse().ok().filter(|count| (FEWEST..=MOST).contains(count));
    taken.and_then(NonZero::new).ok_or_else(|| {
        let count: String = count.chars().filter(char::is_ascii_digit).take(12).collect();
        SaslError::Iterations(Arc::from(count))
    })
}

/// In the same time, wherever they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differ = one.iter().zip(other).fold(0, |differ, (one, other)| differ | (one ^ other));
    one.len() == other.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const FIRST: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const LAST: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    /// As in RFC 7677.
    fn user() -> Scram {
        Scram::new(Hash::Sha256, "user", Secret::new("pencil"), NONCE.into())
    }

    #[test]
    fn the_conversation_of_rfc_7677_is_held_word_for_word() {
        let mut scram = user();
        assert_eq!(scram.begin(), b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let proof = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                     p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(scram.reply(FIRST.as_bytes()), Ok(Step::Say(proof.into())));
        assert_eq!(scram.reply(LAST.as_bytes()), Ok(Step::Done));
    }

    #[test]
    fn a_broker_that_does_not_know_the_password_is_found_out() {
        for last in [
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=",
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl9",
            "v=",
            "",
            "e=other-error",
        ] {
            let mut scram = user();
            scram.begin();
            scram.reply(FIRST.as_bytes()).unwrap();
            assert_eq!(scram.reply(last.as_bytes()), Err(SaslError::WrongSignature), "{last}");
        }
    }

    #[test]
    fn too_few_and_too_many_iterations_are_refused_before_any_is_made() {
        for count in ["1", "4095", "1000001", "1000000000", "-4096", "many", ""] {
            let first = FIRST.replace("i=4096", &format!("i={count}"));
            let mut scram = user();
            scram.begin();
            let refused = scram.reply(first.as_bytes());
            assert!(matches!(refused, Err(SaslError::Iterations(_))), "{count}: {refused:?}");
        }
    }

    #[test]
    fn a_challenge_cut_anywhere_is_an_error() {
        for length in 0..FIRST.len() - "4096".len() {
            let mut scram = user();
            scram.begin();
            let refused = scram.reply(&FIRST.as_bytes()[..length]);
            assert!(matches!(refused, Err(SaslError::Challenge(..) | SaslError::Iterations(_))));
        }
    }

    #[test]
    fn a_challenge_that_is_none_is_an_error() {
        for first in [
            FIRST.replace("r=rOp", "r=xOp"),
            FIRST.replace("%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", ""),
            FIRST.replace("W22ZaJ0SNY7soEsUEjb6gQ==", "W22Za"),
            FIRST.replace("W22ZaJ0SNY7soEsUEjb6gQ==", ""),
            format!("m=mandatory,{FIRST}"),
        ] {
            let mut scram = user();
            scram.begin();
            assert!(
                matches!(scram.reply(first.as_bytes()), Err(SaslError::Challenge(..))),
                "{first}"
            );
        }
        assert!(user().reply(&[0xff]).is_err());
    }

    #[test]
    fn commas_and_equals_in_a_name_are_written_as_the_rfc_says() {
        let mut scram = Scram::new(Hash::Sha512, "a=b,c", Secret::new("x"), "n".into());
        assert_eq!(scram.begin(), b"n,,n=a=3Db=2Cc,r=n");
    }
}
