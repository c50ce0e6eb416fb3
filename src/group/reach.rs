//! The way to the cluster: the client, and what is found out before anything is joined.

use tokio::task::JoinHandle;
use tokio::time::Instant;
use tracing::warn;

use super::options::Options;
use super::settings::Settings;
use super::take_over::Place;
use crate::client::{Client, ClientError, ClientOptions, Topics};
use crate::error::Error;
use crate::types::{GroupInstanceId, InstanceHolder, Node};
use crate::wire::{ApiKey, ErrorCode};

/// A client that others use as well, and that is secured as it is.
pub(super) fn shared(client: Client, options: &Options) -> Result<Client, Error> {
    match options.security.is_none() && options.security_properties.is_empty() {
        true => Ok(client),
        false => Err(Error::option(
            "security.protocol",
            "or what belongs to it is set, and a client is given, which has its own: set it there",
        )),
    }
}

/// A client of the member's own.
pub(super) fn client(
    options: &Options,
    runtime: Option<tokio::runtime::Handle>,
) -> Result<Client, Error> {
    let Some(servers) = &options.bootstrap_servers else {
        return Err(Error::option("bootstrap.servers", "must be set, or a client given"));
    };
    let mut built = ClientOptions::new(servers.as_str())
        .client_id(options.client_id())
        .request_timeout(options.request_timeout)
        .connection_setup_timeout(options.connection_setup_timeout)
        .api_timeout(options.default_api_timeout)
        .metadata_max_age(options.metadata_max_age)
        .reconnect_backoff(options.reconnect_backoff.0, options.reconnect_backoff.1)
        .retry_backoff(options.retry_backoff.0, options.retry_backoff.1)
        .connections_max_idle(options.connections_max_idle)
        .secured(options.security.clone(), options.security_properties.clone());
    if let Some(runtime) = runtime {
        built = built.runtime(runtime);
    }
    Client::new(built).map_err(|error| refused("", error))
}

/// Finds out, before anything is joined, whether it can be, and who has the member's id; says what may become of it.
pub(super) async fn reach(
    client: &Client,
    settings: &mut Settings,
    topics: Topics,
) -> Result<Option<InstanceHolder>, Error> {
    for warning in settings.warnings() {
        warn!(group = settings.group_id, "{warning}");
    }
    let reach = Reach { client: client.clone(), settings: settings.clone(), topics };
    // Where the connections are, so that the application's runtime needs no timers for them.
    match Aborting(client.spawn(reach.run())).ended().await? {
        Ok(holder) => Ok(holder),
        Err(error) => {
            warn!(group = settings.group_id, %error, "joining as a dynamic member");
            settings.group_instance_id = None;
            Ok(None)
        }
    }
}

/// Finds out, before anything is joined, whether it can be.
struct Reach {
    client: Client,
    settings: Settings,
    topics: Topics,
}

impl Reach {
    /// Who has the member's id. The inner error: a static membership that the broker is too old for, and that may be
    /// given up.
    async fn run(self) -> Result<Result<Option<InstanceHolder>, Error>, Error> {
        let Self { client, settings, topics } = &self;
        let within = settings.options.default_api_timeout;
        let deadline = Instant::now() + within;
        let group = &settings.group_id;
        let coordinator =
            client.coordinator(group, deadline).await.map_err(|error| match error {
                ClientError::TimedOut { .. } => Error::NoCoordinator {
                    group: group.clone(),
                    within,
                    problem: error.to_string(),
                },
                error => refused(group, error),
            })?;
        let refreshed = async {
            let refreshed = client.refresh_metadata(topics.clone(), deadline).await;
            refreshed.map(drop).map_err(|error| refused(group, error))
        };
        let Some(id) = &settings.group_instance_id else {
            return refreshed.await.map(|()| Ok(None));
        };
        // Side by side: a restart is to be as quick as if nobody looked.
        let looked = self.looked(&coordinator, id, deadline);
        let ((), looked) = tokio::try_join!(refreshed, looked)?;
        Ok(looked)
    }

    /// Whether the broker knows static members, and who this one is about to follow.
    async fn looked(
        &self,
        coordinator: &Node,
        id: &GroupInstanceId,
        deadline: Instant,
    ) -> Result<Result<Option<InstanceHolder>, Error>, Error> {
        let Self { client, settings, .. } = self;
        let options = &settings.options;
        let group = settings.group_id.as_str();
        let versions = client.versions_of(coordinator, deadline).await;
        let versions = versions.map_err(|error| refused(group, error))?;
        if let Err(missing) = versions.supports_static_membership() {
            let error = Error::StaticMembershipUnsupported {
                api: missing.api,
                needed: missing.needed,
                offered: missing.theirs.map_or(-1, |range| range.max),
            };
            return if options.degrade_to_dynamic { Ok(Err(error)) } else { Err(error) };
        }
        let place = Place { client, group, id };
        place.check(options.take_over, options.session_timeout).await.map(Ok)
    }
}

/// What a client's error says to the application.
pub(super) fn refused(group: &str, error: ClientError) -> Error {
    match error {
        ClientError::InvalidOption { property, why } => {
            Error::InvalidOption { property, problem: why }
        }
        ClientError::Refused { code: ErrorCode::GroupAuthorizationFailed, api, .. } => {
            Error::GroupAuthorization { group: group.to_owned(), api }
        }
        ClientError::Refused { code: ErrorCode::InvalidGroupId, .. } => {
            Error::option("group.id", "the broker refuses it")
        }
        ClientError::Refused { api, code, .. } => Error::Refused { api, code },
        ClientError::UnsupportedVersion { .. } | ClientError::Unencodable { .. } => {
            Error::Unsupported(error.to_string())
        }
        ClientError::Undecodable { .. } => Error::Inconsistent(error.to_string()),
        ClientError::Closed => Error::Closed,
        ClientError::TimedOut { api, .. } => Error::Unreachable(match api {
            Some(ApiKey::Metadata) => format!("{error}, waiting for Metadata"),
            _ => error.to_string(),
        }),
        _ => match error.denial() {
            Some(denial) => Error::Authentication(denial),
            None => Error::Unreachable(error.detail()),
        },
    }
}

/// A task that ends when nobody waits for it.
struct Aborting<R>(JoinHandle<R>);

impl<R> Aborting<R> {
    async fn ended<T>(mut self) -> Result<T, Error>
    where
        R: Into<Result<T, Error>>,
    {
        match (&mut self.0).await {
            Ok(result) => result.into(),
            Err(_) => Err(Error::Closed),
        }
    }
}

impl<R> Drop for Aborting<R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
