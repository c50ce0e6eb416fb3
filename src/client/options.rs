//! The client's options, by Kafka's names.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::runtime::Handle;

use super::ClientError;
use crate::security::{self, Security, SecurityProperties};
use crate::transport::Address;
use crate::wire::ApiKey;

/// How a [`Client`](super::Client) reaches its cluster.
///
/// Only `bootstrap.servers` has no default. Values are checked when the client is made.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    pub(super) bootstrap_servers: Vec<String>,
    pub(super) client_id: String,
    pub(super) request_timeout: Duration,
    pub(super) connection_setup_timeout: Duration,
    pub(super) api_timeout: Duration,
    pub(super) metadata_max_age: Duration,
    pub(super) reconnect_backoff: Duration,
    pub(super) reconnect_backoff_max: Duration,
    pub(super) retry_backoff: Duration,
    pub(super) retry_backoff_max: Duration,
    pub(super) connections_max_idle: Duration,
    pub(super) max_frame_size: usize,
    pub(super) max_versions: BTreeMap<ApiKey, i16>,
    pub(super) security: Option<Security>,
    pub(super) security_properties: SecurityProperties,
    pub(super) jitter_seed: Option<u64>,
    pub(super) runtime: Option<Handle>,
}

/// The properties that [`ClientOptions::set`] takes.
pub const PROPERTIES: &[&str] = &[
    "bootstrap.servers",
    "client.id",
    "request.timeout.ms",
    "socket.connection.setup.timeout.ms",
    "default.api.timeout.ms",
    "metadata.max.age.ms",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "connections.max.idle.ms",
];

/// The largest frame that Kafka's brokers take by default (`socket.request.max.bytes`).
const MAX_FRAME_SIZE: usize = 100 * 1024 * 1024;

impl ClientOptions {
    /// Kafka: `bootstrap.servers`, one or more `host:port` with commas between; `[::1]:9092` for IPv6.
    ///
    /// Some of them may be down, or unknown to the resolver: all are tried. Needed only until a broker has answered,
    /// and again when no known broker does.
    pub fn new(bootstrap_servers: impl Into<String>) -> Self {
        let mut options = Self::default();
        options.bootstrap_servers(bootstrap_servers.into());
        options
    }

    fn bootstrap_servers(&mut self, list: String) {
        let trimmed = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        self.bootstrap_servers = trimmed.map(str::to_owned).collect();
    }

    /// Kafka: `client.id`, which brokers write into their logs and quotas count by. Default: `kafka-group`.
    #[must_use]
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.client_id = id.into();
        self
    }

    /// Kafka: `request.timeout.ms`. Default 30 s. How long an answer may take; after it the connection is not used for
    /// new requests. JoinGroup and SyncGroup, which brokers park, have deadlines of their own.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// Kafka: `socket.connection.setup.timeout.ms`. Default 10 s. For a connection, its authentication and ApiVersions
    /// together; where a name has many addresses, they share it.
    #[must_use]
    pub fn connection_setup_timeout(mut self, timeout: Duration) -> Self {
        self.connection_setup_timeout = timeout;
        self
    }

    /// Kafka: `default.api.timeout.ms`. Default 60 s. For operations that may take many requests and tries.
    #[must_use]
    pub fn api_timeout(mut self, timeout: Duration) -> Self {
        self.api_timeout = timeout;
        self
    }

    /// Kafka: `metadata.max.age.ms`. Default 5 min. How late new topics and partitions may be noticed.
    #[must_use]
    pub fn metadata_max_age(mut self, age: Duration) -> Self {
        self.metadata_max_age = age;
        self
    }

    /// Kafka: `reconnect.backoff.ms` and `reconnect.backoff.max.ms`. Default 50 ms, doubling to 1 s. The wait between
    /// two tries to reach one broker.
    #[must_use]
    pub fn reconnect_backoff(mut self, first: Duration, most: Duration) -> Self {
        self.reconnect_backoff = first;
        self.reconnect_backoff_max = most;
        self
    }

    /// Kafka: `retry.backoff.ms` and `retry.backoff.max.ms`. Default 100 ms, doubling to 1 s. The wait before a request
    /// is repeated.
    #[must_use]
    pub fn retry_backoff(mut self, first: Duration, most: Duration) -> Self {
        self.retry_backoff = first;
        self.retry_backoff_max = most;
        self
    }

    /// Kafka: `connections.max.idle.ms`. Default 9 min: less than the brokers' 10, so that we are the first to hang up.
    #[must_use]
    pub fn connections_max_idle(mut self, idle: Duration) -> Self {
        self.connections_max_idle = idle;
        self
    }

    /// TLS and SASL. Kafka: `security.protocol`, `ssl.*` and `sasl.*`, which [`set`](Self::set) takes as well, but not
    /// both. Default: PLAINTEXT.
    #[must_use]
    pub fn security(mut self, security: Security) -> Self {
        self.security = Some(security);
        self
    }

    /// As a member's builder was told.
    pub(crate) fn secured(mut self, whole: Option<Security>, by_name: SecurityProperties) -> Self {
        self.security = whole;
        self.security_properties = by_name;
        self
    }

    /// The largest answer that is read. Default 100 MiB. A larger one ends the connection.
    #[must_use]
    pub fn max_frame_size(mut self, bytes: usize) -> Self {
        self.max_frame_size = bytes;
        self
    }

    /// Never speak more than `version` of an API, whatever the broker says: for brokers that misreport (librdkafka's
    /// mock says JoinGroup 6 and SyncGroup 4, and can do 5 and 3), and for tests.
    #[must_use]
    pub fn max_version(mut self, api: ApiKey, version: i16) -> Self {
        self.max_versions.insert(api, version);
        self
    }

    /// What the jitter of back-offs and the choice among brokers grow from. Default: random. For tests.
    #[must_use]
    pub fn jitter_seed(mut self, seed: u64) -> Self {
        self.jitter_seed = Some(seed);
        self
    }

    /// Runs the client on a runtime of the application instead of a thread of its own.
    ///
    /// For tests with paused time. The trap: heartbeats then share the application's threads, and an application that
    /// blocks them loses its membership.
    #[must_use]
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Sets an option by its name in Kafka's documents; says whether there is one of that name ([`PROPERTIES`], and
    /// those of [`security`](crate::security::PROPERTIES)). What begins with `ssl.` or `sasl.` and is not known is an
    /// error.
    pub fn set(&mut self, property: &str, value: &str) -> Result<bool, ClientError> {
        if security::is_security(property) {
            return Ok(self.security_properties.set(property, value)?);
        }
        let Some(property) = PROPERTIES.iter().find(|known| **known == property).copied() else {
            return Ok(false);
        };
        let duration = match property {
            "bootstrap.servers" => {
                self.bootstrap_servers(value.to_owned());
                return Ok(true);
            }
            "client.id" => {
                self.client_id = value.to_owned();
                return Ok(true);
            }
            "request.timeout.ms" => &mut self.request_timeout,
            "socket.connection.setup.timeout.ms" => &mut self.connection_setup_timeout,
            "default.api.timeout.ms" => &mut self.api_timeout,
            "metadata.max.age.ms" => &mut self.metadata_max_age,
            "reconnect.backoff.ms" => &mut self.reconnect_backoff,
            "reconnect.backoff.max.ms" => &mut self.reconnect_backoff_max,
            "retry.backoff.ms" => &mut self.retry_backoff,
            "retry.backoff.max.ms" => &mut self.retry_backoff_max,
            _ => &mut self.connections_max_idle,
        };
        let number = value.trim().parse::<u32>();
        let milliseconds = number.map_err(|_| invalid(property, "is no number of milliseconds"))?;
        *duration = Duration::from_millis(milliseconds.into());
        Ok(true)
    }

    /// `bootstrap.servers`, as one text.
    #[cfg(feature = "consumer")]
    pub(crate) fn servers(&self) -> String {
        self.bootstrap_servers.join(",")
    }

    /// How connections are protected, as it was given whole or by properties.
    pub(crate) fn protection(&self) -> Result<Security, ClientError> {
        let security = match &self.security {
            None => self.security_properties.read(None)?,
            Some(security) if self.security_properties.is_empty() => security.clone(),
            Some(_) => {
                return Err(invalid(
                    "security.protocol",
                    "or what belongs to it is set, and `security` is given: one of them",
                ));
            }
        };
        security.check()?;
        Ok(security)
    }

    /// Checks everything; gives the addresses to begin with.
    pub(super) fn check(&self) -> Result<Vec<Address>, ClientError> {
        for (property, timeout) in [
            ("request.timeout.ms", self.request_timeout),
            ("socket.connection.setup.timeout.ms", self.connection_setup_timeout),
            ("default.api.timeout.ms", self.api_timeout),
            ("metadata.max.age.ms", self.metadata_max_age),
            ("connections.max.idle.ms", self.connections_max_idle),
        ] {
            if timeout.is_zero() {
                return Err(invalid(property, "is 0"));
            }
        }
        if self.client_id.len() > i16::MAX as usize {
            return Err(invalid("client.id", "has more than 32767 bytes"));
        }
        self.addresses()
    }

    fn addresses(&self) -> Result<Vec<Address>, ClientError> {
        if self.bootstrap_servers.is_empty() {
            return Err(invalid("bootstrap.servers", "is empty; write `host:9092`"));
        }
        let read = |entry: &String| {
            let wrong =
                |why| invalid("bootstrap.servers", &format!("has an entry, `{entry}`, that {why}"));
            entry.parse().map_err(wrong)
        };
        self.bootstrap_servers.iter().map(read).collect()
    }
}

fn invalid(property: &'static str, why: &str) -> ClientError {
    ClientError::InvalidOption { property, why: why.to_owned() }
}

impl Default for ClientOptions {
    /// The defaults, and no bootstrap servers: [`set`](Self::set) them before use.
    fn default() -> Self {
        Self {
            bootstrap_servers: Vec::new(),
            client_id: env!("CARGO_PKG_NAME").to_owned(),
            request_timeout: Duration::from_secs(30),
            connection_setup_timeout: Duration::from_secs(10),
            api_timeout: Duration::from_secs(60),
            metadata_max_age: Duration::from_secs(300),
            reconnect_backoff: Duration::from_millis(50),
            reconnect_backoff_max: Duration::from_secs(1),
            retry_backoff: Duration::from_millis(100),
            retry_backoff_max: Duration::from_secs(1),
            connections_max_idle: Duration::from_secs(540),
            max_frame_size: MAX_FRAME_SIZE,
            max_versions: BTreeMap::new(),
            security: None,
            security_properties: SecurityProperties::default(),
            jitter_seed: None,
            runtime: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &ClientOptions) -> String {
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn a_list_of_servers_is_read_with_its_spaces_and_commas() {
        let options = ClientOptions::new(" kafka-1:9092 ,,[::1]:9093,");
        let addresses = [Address::new("kafka-1", 9092), Address::new("::1", 9093)];
        assert_eq!(options.check().unwrap(), addresses);
    }

    #[test]
    fn a_wrong_server_is_named() {
        assert_eq!(
            refused(&ClientOptions::new(" , ")),
            "`bootstrap.servers` is empty; write `host:9092`"
        );
        assert_eq!(
            refused(&ClientOptions::new("a:1,b")),
            "`bootstrap.servers` has an entry, `b`, that has no port; write `host:9092`"
        );
    }

    #[test]
    fn every_property_can_be_set_and_unknown_ones_are_left_to_others() {
        let mut options = ClientOptions::default();
        for property in PROPERTIES {
            let value = if property.ends_with(".ms") { "1234" } else { "a:1" };
            assert_eq!(options.set(property, value), Ok(true), "{property}");
        }
        assert_eq!(options.connections_max_idle, Duration::from_millis(1234));
        assert_eq!(options.set("session.timeout.ms", "1"), Ok(false));
        assert!(options.set("request.timeout.ms", "soon").is_err());
    }

    #[test]
    fn a_timeout_of_nothing_is_refused() {
        let options = ClientOptions::new("a:1").request_timeout(Duration::ZERO);
        assert_eq!(refused(&options), "`request.timeout.ms` is 0");
    }
}
