//! SaslHandshake: by which mechanism the client will say who it is.
//!
//! | version | adds |
//! |---|---|
//! | 0 | what follows is SASL's bytes alone, without Kafka's header: not spoken here |
//! | 1 | what follows are SaslAuthenticate requests |
//!
//! It never becomes flexible. On an open connection it begins a re-authentication (KIP-368).

use bytes::BytesMut;
use kafka_protocol::messages::SaslHandshakeRequest as Message;

use super::text;
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

/// Asks for a mechanism.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SaslHandshakeRequest {
    pub(crate) mechanism: String,
}

/// Whether the listener has it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct SaslHandshakeResponse {
    /// `UnsupportedSaslMechanism`, or `IllegalSaslState` of a listener without SASL.
    pub(crate) error: ErrorCode,
    /// What the listener has.
    pub(crate) mechanisms: Vec<String>,
}

impl Request for SaslHandshakeRequest {
    const API: ApiKey = ApiKey::SaslHandshake;
    type Response = SaslHandshakeResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let message = Message::default().with_mechanism(text(&self.mechanism));
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<SaslHandshakeResponse, ReadError> {
        let layout = Self::API.layout(version);
        let error = ErrorCode::from(body.i16()?);
        let mechanisms = body.array(layout, 2, |body| body.string::<String>(layout))?;
        Ok(SaslHandshakeResponse { error, mechanisms })
    }
}
