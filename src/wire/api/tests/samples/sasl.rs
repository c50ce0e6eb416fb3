//! SaslHandshake, SaslAuthenticate.

use std::time::Duration;

use kafka_protocol::messages::{
    SaslAuthenticateResponse as TheirAuthenticate, SaslHandshakeResponse as TheirHandshake,
};
use kafka_protocol::protocol::StrBytes;

use super::{Answer, Sample, made, since};
use crate::wire::api::tests::random::Random;
use crate::wire::api::*;

pub(super) fn samples() -> Vec<Box<dyn Sample>> {
    vec![
        made::<SaslHandshakeRequest, _, _>(handshake),
        made::<SaslAuthenticateRequest, _, _>(authenticate),
    ]
}

impl Answer for SaslHandshakeResponse {}
impl Answer for SaslAuthenticateResponse {}

fn handshake(_: i16, random: &mut Random) -> (TheirHandshake, SaslHandshakeResponse) {
    let theirs = TheirHandshake::default()
        .with_error_code(random.error())
        .with_mechanisms(random.many(Random::text));
    let ours = SaslHandshakeResponse {
        error: theirs.error_code.into(),
        mechanisms: theirs.mechanisms.iter().map(ToString::to_string).collect(),
    };
    (theirs, ours)
}

fn authenticate(
    version: i16,
    random: &mut Random,
) -> (TheirAuthenticate, SaslAuthenticateResponse) {
    let theirs = TheirAuthenticate::default()
        .with_error_code(random.error())
        .with_error_message(random.maybe_text())
        .with_auth_bytes(random.bytes())
        .with_session_lifetime_ms(since(version >= 1, random.millis().into(), 0));
    let ours = SaslAuthenticateResponse {
        error: theirs.error_code.into(),
        error_message: theirs.error_message.as_ref().map(StrBytes::to_string),
        says: theirs.auth_bytes.clone(),
        lifetime: Duration::from_millis(theirs.session_lifetime_ms.unsigned_abs()),
    };
    (theirs, ours)
}
