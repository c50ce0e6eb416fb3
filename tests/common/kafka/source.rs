//! Where the brokers come from.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
    sync::OnceLock,
};

use super::{docker, jars};

/// Where the brokers come from; see [`source`].
#[derive(Debug)]
pub(super) enum Source {
    /// `bootstrap.servers` of a cluster that is not ours.
    External(String),
    /// The folder of Kafka's jars.
    Jars(PathBuf),
    /// The words of the compose command.
    Docker(Vec<String>),
}

/// The first of these that works: a cluster named by the environment, Kafka's jars on this machine's Java, Docker.
pub(super) fn source() -> Result<&'static Source, String> {
    static SOURCE: OnceLock<Result<Source, String>> = OnceLock::new();
    SOURCE.get_or_init(find).as_ref().map_err(Clone::clone)
}

/// Whether the environment names a cluster that is not ours.
pub(super) fn is_external() -> bool {
    external().is_some()
}

/// Whether brokers are processes that we start ourselves.
pub(super) fn is_jars() -> bool {
    matches!(source(), Ok(Source::Jars(_)))
}

/// The version of Kafka that is started where none is given.
pub(super) fn version() -> String {
    env::var("KAFKA_GROUP_TEST_KAFKA_VERSION").unwrap_or_else(|_| "4.4.0".into())
}

fn external() -> Option<String> {
    env::var("KAFKA_GROUP_TEST_BOOTSTRAP").ok().filter(|bootstrap| !bootstrap.trim().is_empty())
}

fn find() -> Result<Source, String> {
    if let Some(bootstrap) = external() {
        return Ok(Source::External(bootstrap));
    }
    let no_jars = match jars::libs() {
        Ok(libs) => return Ok(Source::Jars(libs)),
        Err(reason) => reason,
    };
    docker::compose().map(Source::Docker).map_err(|no_docker| {
        format!(
            "no Kafka to test against. One of these is needed:\n\
             - a JDK of version 17 or later and Maven, which fetches Kafka's jars once \
             (Debian: apt-get install default-jdk-headless maven). Here: {no_jars}\n\
             - Docker with compose. Here: {no_docker}\n\
             - a running cluster: KAFKA_GROUP_TEST_BOOTSTRAP=host:port"
        )
    })
}

/// What a command prints on both streams, if it succeeds.
pub(super) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    output.status.success().then_some(text)
}
