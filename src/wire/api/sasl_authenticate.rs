//! SaslAuthenticate: SASL's own bytes, back and forth, as often as the mechanism wants.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 1 | the session's lifetime in the last answer (KIP-368) |
//! | 2 | flexible |

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::SaslAuthenticateRequest as Message;

use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, ReadError, Reader, Request};

/// What the client says. Most of it is secret.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct SaslAuthenticateRequest {
    pub(crate) says: Bytes,
}

/// What the broker says to it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct SaslAuthenticateResponse {
    pub(crate) error: ErrorCode,
    /// Written for the user: why it was refused.
    pub(crate) error_message: Option<String>,
    pub(crate) says: Bytes,
    /// How long the session lasts from now on; zero where the broker does not end it.
    pub(crate) lifetime: Duration,
}

impl Request for SaslAuthenticateRequest {
    const API: ApiKey = ApiKey::SaslAuthenticate;
    type Response = SaslAuthenticateResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let message = Message::default().with_auth_bytes(self.says.clone());
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<SaslAuthenticateResponse, ReadError> {
        let layout = Self::API.layout(version);
        Ok(SaslAuthenticateResponse {
            error: body.i16()?.into(),
            error_message: body.nullable_string(layout)?,
            says: body.nullable_bytes(layout)?.unwrap_or_default(),
            lifetime: match version {
                0 => Duration::ZERO,
                _ => Duration::from_millis(u64::try_from(body.i64()?).unwrap_or(0)),
            },
        })
    }
}

impl fmt::Debug for SaslAuthenticateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SaslAuthenticateRequest").finish_non_exhaustive()
    }
}
