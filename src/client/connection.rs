//! One connection to one broker: typed requests, at the versions that both speak.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::link::{Link, LinkOptions, NoAnswer};
use super::{ClientError, ConnectionError};
use crate::transport::Stream;
use crate::wire::api::{ApiVersionsRequest, ApiVersionsResponse};
use crate::wire::{
    ApiKey, EncodeError, ErrorCode, Request, Versions, read_response, request_frame,
};

/// An open connection. Cheap to clone; closed with its last clone.
///
/// Any number of requests may wait for their answers; the broker works on them one by one, in the order in which they
/// were sent. So what may be parked needs a connection of its own.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    link: Link,
    peer: Arc<str>,
    client_id: Arc<str>,
    versions: Arc<Versions>,
}

/// What every connection of a client has in common.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionOptions {
    pub(crate) client_id: Arc<str>,
    pub(crate) max_frame_size: usize,
    pub(crate) max_idle: Duration,
    pub(crate) max_versions: BTreeMap<ApiKey, i16>,
}

impl Connection {
    /// Asks the broker at the other end of `stream` which versions it speaks. The task that owns the stream from now
    /// on runs on `runtime`.
    ///
    /// Cancel safe: a future that is dropped closes the stream.
    pub(crate) async fn open<S: Stream>(
        stream: S,
        peer: Arc<str>,
        options: &ConnectionOptions,
        runtime: &Handle,
        deadline: Instant,
    ) -> Result<Self, ConnectionError> {
        let link_options =
            LinkOptions { max_frame_size: options.max_frame_size, max_idle: options.max_idle };
        let link = Link::spawn(stream, link_options, runtime);
        let client_id = Arc::clone(&options.client_id);
        let versions = negotiate(&link, &peer, &options.client_id, deadline).await?;
        let versions = Arc::new(Versions::new(&versions.apis, &options.max_versions));
        Ok(Self { link, peer, client_id, versions })
    }

    /// Sends a request, and reads its answer.
    ///
    /// Cancel safe: a request that has begun to be written is written to its end and its answer is dropped; one that
    /// has not is not sent.
    pub(crate) async fn call<R: Request>(
        &self,
        request: &R,
        deadline: Instant,
    ) -> Result<R::Response, ClientError> {
        let version = self.versions.require(R::API).map_err(|unsupported| {
            ClientError::UnsupportedVersion { broker: Arc::clone(&self.peer), unsupported }
        })?;
        call(&self.link, &self.peer, &self.client_id, request, version, deadline).await
    }

    /// Whether a new request may be sent here: it is open, and no answer is overdue behind which it would wait.
    pub(crate) fn is_usable(&self, now: Instant) -> bool {
        self.link.is_open() && !self.link.is_overdue(now)
    }

    /// Whether somebody gave up waiting for an answer that has not come. If that was a JoinGroup or SyncGroup it may
    /// never come, and nothing behind it would be answered.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.link.is_abandoned()
    }

    /// What both ends speak.
    pub(crate) fn versions(&self) -> &Arc<Versions> {
        &self.versions
    }

    /// The broker's address.
    pub(crate) fn peer(&self) -> &Arc<str> {
        &self.peer
    }

    /// Closes it for all who wait on it.
    pub(crate) fn close(&self) {
        self.link.close();
    }
}

/// Asks for the broker's versions in the highest version of the question, and as far down as it takes.
///
/// A broker that does not know that version says so, in an answer of version 0 that names its own range. librdkafka's
/// mock says it in an answer that cannot be read. The connection stays usable in both cases.
async fn negotiate(
    link: &Link,
    peer: &Arc<str>,
    client_id: &str,
    deadline: Instant,
) -> Result<ApiVersionsResponse, ConnectionError> {
    let mut version = ApiKey::ApiVersions.supported().max;
    loop {
        let answer = call(link, peer, client_id, &ApiVersionsRequest, version, deadline).await;
        let lower = match answer {
            Ok(answer) if answer.error.is_none() => return Ok(answer),
            Ok(answer) if answer.error == ErrorCode::UnsupportedVersion => answer.retry_version(),
            Ok(answer) => return Err(no_versions(&answer.error)),
            Err(ClientError::Undecodable { why, .. }) if version == 0 => {
                return Err(no_versions(&why));
            }
            Err(ClientError::Undecodable { .. }) => 0,
            Err(ClientError::Disconnected { cause, .. }) => return Err(cause),
            Err(ClientError::TimedOut { .. }) => return Err(ConnectionError::Silent),
            Err(error) => return Err(no_versions(&error)),
        };
        if version == 0 {
            return Err(no_versions(&ErrorCode::UnsupportedVersion));
        }
        // Each try is lower than the one before, so this ends.
        version = lower.min(version - 1);
    }
}

fn no_versions(why: &impl ToString) -> ConnectionError {
    ConnectionError::NoVersions(why.to_string().into())
}

/// Encodes, exchanges, decodes.
async fn call<R: Request>(
    link: &Link,
    peer: &Arc<str>,
    client_id: &str,
    request: &R,
    version: i16,
    deadline: Instant,
) -> Result<R::Response, ClientError> {
    let id = link.next_id();
    let frame = request_frame(request, version, id, client_id).map_err(unencodable)?;
    let answer = link.exchange(id, (R::API, version), frame, deadline).await;
    let answer = answer.map_err(|error| match error {
        NoAnswer::Lost { cause, sent } => {
            ClientError::Disconnected { broker: Arc::clone(peer), cause, sent }
        }
        NoAnswer::TimedOut => {
            ClientError::TimedOut { api: Some(R::API), broker: Some(Arc::clone(peer)) }
        }
    })?;
    read_response::<R>(version, answer).map_err(|error| ClientError::Undecodable {
        broker: Arc::clone(peer),
        api: R::API,
        version,
        why: error.to_string().into(),
    })
}

fn unencodable(EncodeError { api, version, why }: EncodeError) -> ClientError {
    ClientError::Unencodable { api, version, why: why.into() }
}
