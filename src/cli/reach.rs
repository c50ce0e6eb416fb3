//! How a command gets to its cluster: what all commands that ask one have in common.

use std::path::PathBuf;
use std::time::Duration;

use super::UsageError;
use super::config::Config;
use super::console::Console;
use super::outcome::{Ended, Outcome, told};
use crate::admin::Admin;
use crate::client::{Client, ClientError, ClientOptions};

/// The longest time that a command may be given.
const LONGEST: u64 = 24 * 60 * 60;

/// How long a command takes at most, unless it is told otherwise: it is waited for, so it gives up sooner than a
/// program would.
const PATIENCE: Duration = Duration::from_secs(15);

/// What `--help` says of these options.
pub(super) const USAGE: &str = "
To reach the cluster:

  --bootstrap-server HOST:PORT,…   brokers to begin with; some of them may be down
  --command-config FILE            a properties file, as Kafka's own tools take it; the command line beats what it says
  --timeout SECONDS                how long it may take, and each request; 15 s unless told otherwise, 5 s for a look
                                   of watch
";

/// What is said where nobody knows where to begin.
pub(super) const NOWHERE: &str = "`--bootstrap-server` is missing; write `--bootstrap-server host:9092`, or \
                                  `bootstrap.servers` into the file of `--command-config`";

/// What the command line says about the way to a cluster.
#[derive(Debug, Default)]
pub(super) struct Reach {
    pub(super) bootstrap_server: Option<String>,
    pub(super) command_config: Option<PathBuf>,
    pub(super) timeout: Option<Duration>,
    /// How long the command takes at most, unless it is told otherwise.
    usual: Option<Duration>,
}

impl Reach {
    /// Of a command that is less patient than others.
    pub(super) fn patient_for(usual: Duration) -> Self {
        Self { usual: Some(usual), ..Self::default() }
    }

    /// Sets an option by its name; says whether it is one of these.
    pub(super) fn set(&mut self, option: &str, value: &str) -> Result<bool, UsageError> {
        match option {
            "bootstrap-server" => self.bootstrap_server = Some(value.to_owned()),
            "command-config" => self.command_config = Some(value.into()),
            "timeout" => self.timeout = Some(seconds(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether it is said where the cluster is, or where that is written.
    pub(super) fn is_known(&self) -> bool {
        let server = self.bootstrap_server.as_deref().is_some_and(|server| !server.is_empty());
        server || self.command_config.is_some()
    }

    /// Whether anything of this is said.
    pub(super) fn is_said(&self) -> bool {
        self.bootstrap_server.is_some() || self.command_config.is_some() || self.timeout.is_some()
    }

    /// How long a command may take.
    pub(super) fn patience(&self) -> Duration {
        self.timeout.or(self.usual).unwrap_or(PATIENCE)
    }

    /// Connects. What the command line says beats what the file says, and that beats what is usual.
    ///
    /// A file that cannot be read, or says what cannot be, is an error of usage; one that is odd is complained of.
    pub(super) async fn connect(&self, console: &mut Console<'_>) -> Result<Admin, Ended> {
        let mut config = match &self.command_config {
            Some(path) => Some(Config::read(path).map_err(Ended::Usage)?),
            None => None,
        };
        let mut options = ClientOptions::default()
            .client_id("kafka-group-cli")
            .api_timeout(self.patience())
            .request_timeout(self.patience());
        if let Some(config) = &mut config {
            config.apply(&mut options).map_err(Ended::Usage)?;
            for warning in config.warnings() {
                console.complain(format_args!("warning: {warning}\n"));
            }
        }
        let said = config.as_ref().is_some_and(|config| config.has("bootstrap.servers"));
        match &self.bootstrap_server {
            Some(servers) => drop(options.set("bootstrap.servers", servers)?),
            None if said => {}
            None => return Err(Ended::Usage(NOWHERE.to_owned())),
        }
        if let Some(timeout) = self.timeout {
            options = options.api_timeout(timeout).request_timeout(timeout);
        }
        let client = Client::new(options).map_err(|error| match (&config, &error) {
            (Some(config), ClientError::InvalidOption { property, .. })
                if *property != "bootstrap.servers" || self.bootstrap_server.is_none() =>
            {
                Ended::Usage(config.locate(&error))
            }
            _ => error.into(),
        })?;
        Ok(Admin::over(client).await?)
    }
}

/// Does what asks a cluster, on a runtime of its own.
pub(super) fn asking(
    console: &mut Console<'_>,
    ask: impl AsyncFnOnce(&mut Console<'_>) -> Result<Outcome, Ended>,
) -> Result<Outcome, UsageError> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            console.complain(format_args!("no runtime: {error}\n"));
            return Ok(Outcome::Failed);
        }
    };
    match runtime.block_on(ask(console)) {
        Ok(outcome) => Ok(outcome),
        Err(Ended::Usage(problem)) => Err(UsageError::Other(problem)),
        Err(Ended::Admin(error)) => Ok(told(console, &error)),
    }
}

fn seconds(value: &str) -> Result<Duration, UsageError> {
    let seconds = value.parse().ok().filter(|seconds| (1..=LONGEST).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| {
        UsageError::Other(format!("`--timeout` takes 1 to {LONGEST} seconds, not {value:?}"))
    })
}
