//! One connection to one broker: opened, its versions agreed on, and authenticated.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::link::{Link, LinkOptions};
use super::session::{Authenticate, Session};
use super::speaker::Speaker;
use super::{ClientError, ConnectionError};
use crate::transport::Stream;
use crate::wire::api::{ApiVersionsRequest, ApiVersionsResponse};
use crate::wire::{ApiKey, ErrorCode, Request, Versions};

/// An open connection. Cheap to clone; closed with its last clone.
///
/// Any number of requests may wait for their answers; the broker works on them one by one, in the order in which they
/// were sent. So what may be parked needs a connection of its own.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    speaker: Speaker,
    /// Where the listener asks who we are.
    session: Option<Session>,
}

/// What every connection of a client has in common.
#[derive(Clone)]
pub(crate) struct ConnectionOptions {
    pub(crate) client_id: Arc<str>,
    pub(crate) max_frame_size: usize,
    pub(crate) max_idle: Duration,
    pub(crate) max_versions: BTreeMap<ApiKey, i16>,
    /// For all that comes before the first request, and for each renewal of the session.
    pub(crate) setup_timeout: Duration,
    /// Who we are; none where nobody asks.
    pub(crate) login: Option<Arc<dyn Authenticate>>,
}

impl Connection {
    /// Asks the broker at the other end of `stream` which versions it speaks, and tells it who we are. The task that
    /// owns the stream from now on runs on `runtime`.
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
        let mut speaker = Speaker::new(link, peer, Arc::clone(&options.client_id));
        let versions = negotiate(&speaker, deadline).await?;
        speaker.versions = Arc::new(Versions::new(&versions.apis, &options.max_versions));
        let session = match &options.login {
            None => None,
            Some(login) => {
                let timeout = options.setup_timeout;
                Some(Session::open(&speaker, login, timeout, runtime, deadline).await?)
            }
        };
        Ok(Self { speaker, session })
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
        match &self.session {
            None => self.speaker.call(request, (), deadline).await,
            Some(session) => {
                let admission = session.admit(&self.speaker, deadline).await?;
                self.speaker.call(request, admission, deadline).await
            }
        }
    }

    /// Whether a new request may be sent here: it is open, and no answer is overdue behind which it would wait.
    pub(crate) fn is_usable(&self, now: Instant) -> bool {
        self.speaker.link.is_open() && !self.speaker.link.is_overdue(now)
    }

    /// Whether somebody gave up waiting for an answer that has not come. If that was a JoinGroup or SyncGroup it may
    /// never come, and nothing behind it would be answered.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.speaker.link.is_abandoned()
    }

    /// What both ends speak.
    pub(crate) fn versions(&self) -> &Arc<Versions> {
        &self.speaker.versions
    }

    /// The broker's address.
    pub(crate) fn peer(&self) -> &Arc<str> {
        self.speaker.peer()
    }

    /// Closes it for all who wait on it.
    pub(crate) fn close(&self) {
        self.speaker.close();
    }
}

/// Asks for the broker's versions in the highest version of the question, and as far down as it takes.
///
/// A broker that does not know that version says so, in an answer of version 0 that names its own range. librdkafka's
/// mock says it in an answer that cannot be read. The connection stays usable in both cases.
async fn negotiate(
    speaker: &Speaker,
    deadline: Instant,
) -> Result<ApiVersionsResponse, ConnectionError> {
    let mut version = ApiKey::ApiVersions.supported().max;
    loop {
        let answer = speaker.call_in(version, &ApiVersionsRequest, (), deadline).await;
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

impl fmt::Debug for ConnectionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionOptions")
            .field("client_id", &self.client_id)
            .field("max_frame_size", &self.max_frame_size)
            .finish_non_exhaustive()
    }
}
