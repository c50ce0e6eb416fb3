//! ApiVersions: which versions of which APIs the broker speaks.
//!
//! | version | adds |
//! |---|---|
//! | 0 | |
//! | 1 | the answer's throttle time |
//! | 3 | flexible; the client's software, by name and version; features, which we do not read |
//! | 4 | features with a lowest version of 0 |
//!
//! A broker that does not know the version answers with error 35 and a body of version 0, whatever was asked. So the
//! header of an answer is always that of version 0 as well.

use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::ApiVersionsRequest as Message;

use super::{text, throttle};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Asks what the broker speaks; the first request on every connection.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ApiVersionsRequest;

/// What the broker speaks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ApiVersionsResponse {
    pub(crate) throttle: Duration,
    /// `UnsupportedVersion`: ask again with version 0, or with one from the `ApiVersions` entry in `apis`.
    pub(crate) error: ErrorCode,
    /// As the broker says, by Kafka's numbers: APIs that we do not know are among them. On an error it may be empty.
    pub(crate) apis: Vec<ApiRange>,
}

/// The versions of one API that a broker speaks, both ends included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ApiRange {
    pub(crate) api: i16,
    pub(crate) min: i16,
    pub(crate) max: i16,
}

impl ApiVersionsResponse {
    /// After `UnsupportedVersion`, or an answer that cannot be read: the version to ask with on the same connection.
    pub(crate) fn retry_version(&self) -> i16 {
        let own = self.apis.iter().find(|range| range.api == ApiKey::ApiVersions.number());
        own.map_or(0, |range| range.max.clamp(0, ApiKey::ApiVersions.supported().max))
    }
}

impl Request for ApiVersionsRequest {
    const API: ApiKey = ApiKey::ApiVersions;
    type Response = ApiVersionsResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        // Ignored below version 3. The broker refuses names with anything but letters, digits, `-` and `.`.
        let message = Message::default()
            .with_client_software_name(text(env!("CARGO_PKG_NAME")))
            .with_client_software_version(text(env!("CARGO_PKG_VERSION")));
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<ApiVersionsResponse, ReadError> {
        let error = ErrorCode::from(body.i16()?);
        if error != ErrorCode::UnsupportedVersion {
            let layout = Self::API.layout(version);
            let apis = body.array(layout, 6, |body| api_range(layout, body))?;
            return Ok(ApiVersionsResponse {
                throttle: throttle(body, version >= 1)?,
                error,
                apis,
            });
        }
        // librdkafka's mock writes neither version 0 nor the one that was asked for: then the code is all there is.
        let apis = body.array(Layout::Classic, 6, |body| api_range(Layout::Classic, body));
        Ok(ApiVersionsResponse { throttle: Duration::ZERO, error, apis: apis.unwrap_or_default() })
    }
}

fn api_range(layout: Layout, body: &mut Reader) -> Result<ApiRange, ReadError> {
    let range = ApiRange { api: body.i16()?, min: body.i16()?, max: body.i16()? };
    body.skip_tags(layout)?;
    Ok(range)
}
