//! Typed requests over a link, at the versions that both ends speak.

use std::sync::Arc;

use tokio::time::Instant;

use super::link::{Link, NoAnswer};
use super::{ClientError, ConnectionError};
use crate::wire::{ApiKey, EncodeError, Request, Versions, read_response, request_frame};

/// One end of a connection: encodes, exchanges, decodes. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Speaker {
    pub(super) link: Link,
    pub(super) versions: Arc<Versions>,
    peer: Arc<str>,
    client_id: Arc<str>,
}

impl Speaker {
    /// Before the broker has said what it speaks.
    pub(super) fn new(link: Link, peer: Arc<str>, client_id: Arc<str>) -> Self {
        Self { link, versions: Arc::default(), peer, client_id }
    }

    /// Sends a request in the best version, and reads its answer. `until_queued` is let go of once the request has its
    /// place among those to be written. As cancel safe as [`Link::exchange`].
    pub(crate) async fn call<R: Request>(
        &self,
        request: &R,
        until_queued: impl Send,
        deadline: Instant,
    ) -> Result<R::Response, ClientError> {
        let version = self.versions.require(R::API).map_err(|unsupported| {
            ClientError::UnsupportedVersion { broker: Arc::clone(&self.peer), unsupported }
        })?;
        self.call_in(version, request, until_queued, deadline).await
    }

    /// As `call`, in this version.
    pub(super) async fn call_in<R: Request>(
        &self,
        version: i16,
        request: &R,
        until_queued: impl Send,
        deadline: Instant,
    ) -> Result<R::Response, ClientError> {
        let id = self.link.next_id();
        let frame = request_frame(request, version, id, &self.client_id).map_err(unencodable)?;
        let answer = self.link.exchange(id, (R::API, version), frame, until_queued, deadline).await;
        let answer = answer.map_err(|error| match error {
            NoAnswer::Lost { cause, sent } => {
                ClientError::Disconnected { broker: Arc::clone(&self.peer), cause, sent }
            }
            NoAnswer::TimedOut => self.no_answer(Some(R::API)),
        })?;
        read_response::<R>(version, answer).map_err(|error| ClientError::Undecodable {
            broker: Arc::clone(&self.peer),
            api: R::API,
            version,
            why: error.to_string().into(),
        })
    }

    /// The broker's address.
    pub(super) fn peer(&self) -> &Arc<str> {
        &self.peer
    }

    /// Nothing could be sent in time.
    pub(super) fn timed_out(&self) -> ClientError {
        self.no_answer(None)
    }

    fn no_answer(&self, api: Option<ApiKey>) -> ClientError {
        ClientError::TimedOut { api, broker: Some(Arc::clone(&self.peer)) }
    }

    /// The connection ended before anything was sent.
    pub(super) fn lost(&self, cause: ConnectionError) -> ClientError {
        ClientError::Disconnected { broker: Arc::clone(&self.peer), cause, sent: false }
    }

    /// Closes the connection for all who wait on it.
    pub(super) fn close(&self) {
        self.link.close();
    }
}

fn unencodable(EncodeError { api, version, why }: EncodeError) -> ClientError {
    ClientError::Unencodable { api, version, why: why.into() }
}
