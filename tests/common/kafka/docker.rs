//! A cluster in containers, where Java is missing and a Docker engine answers.

use std::{
    fs,
    process::{Command, Stdio},
};

use super::{
    cluster, index,
    run::{Afterwards, RunFolder},
    settings::{Ports, Settings},
    source,
};
use crate::common::unique;

const COMPOSE_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docker-compose.yml");

/// The words of the compose command, if an engine answers.
pub(super) fn compose() -> Result<Vec<String>, String> {
    source::output_of(Command::new("docker").arg("info")).ok_or("no Docker engine answers")?;
    [["docker", "compose"].as_slice(), ["docker-compose"].as_slice()]
        .into_iter()
        .find(|words| {
            source::output_of(Command::new(words[0]).args(&words[1..]).arg("version")).is_some()
        })
        .map(|words| words.iter().map(|&word| word.to_owned()).collect())
        .ok_or_else(|| "neither `docker compose` nor `docker-compose` works".into())
}

/// A compose project of its own, on free ports.
#[derive(Debug)]
pub(super) struct Containers {
    command: Vec<String>,
    services: Vec<&'static str>,
    ports: Vec<Ports>,
    _down: Afterwards,
    _folder: RunFolder,
}

impl Containers {
    /// Starts the containers; they answer some seconds later.
    pub(super) fn start(compose: &[String], settings: &Settings) -> Result<Self, String> {
        let describe = |error: std::io::Error| error.to_string();
        let folder = RunFolder::create().map_err(describe)?;
        let services = match settings.nodes() {
            1 => vec!["kafka"],
            _ => vec!["kafka-1", "kafka-2", "kafka-3"],
        };
        let more = folder.path().join("settings.yml");
        fs::write(&more, override_file(&services, settings)).map_err(describe)?;

        let project = unique("kafka-group-test");
        let more = more.display().to_string();
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let base = [compose.to_vec(), words(&["-p", &project, "-f", COMPOSE_FILE])].concat();
        let profile = ["--profile", "three"];
        let down = [base.clone(), words(&profile), words(&["down", "-v", "-t", "0"])].concat();
        let down = Afterwards::run(r#""$@""#, &down).map_err(describe)?;
        let command = [base, words(&["-f", &more]), words(&profile)].concat();
        let ports = cluster::free_ports(settings.nodes()).map_err(describe)?;
        let containers = Self { command, services, ports, _down: down, _folder: folder };
        containers.compose(&[["up", "-d"].as_slice(), &containers.services].concat())?;
        Ok(containers)
    }

    pub(super) fn addresses(&self) -> Vec<String> {
        self.ports.iter().map(|ports| format!("127.0.0.1:{}", ports.client)).collect()
    }

    pub(super) fn kill(&self, node: i32) {
        self.must(&["kill", "-s", "KILL", self.service(node)]);
    }

    pub(super) fn stop(&self, node: i32) {
        self.must(&["stop", "-t", "60", self.service(node)]);
    }

    pub(super) fn pause(&self, node: i32) {
        self.must(&["pause", self.service(node)]);
    }

    pub(super) fn resume(&self, node: i32) {
        self.must(&["unpause", self.service(node)]);
    }

    pub(super) fn restart(&self, node: i32) {
        let _ = self.compose(&["kill", "-s", "KILL", self.service(node)]); // Refused for one that is down.
        self.must(&["start", self.service(node)]);
    }

    /// Resumes what is paused and starts what is down.
    pub(super) fn revive(&self) {
        for service in &self.services {
            let _ = self.compose(&["unpause", service]); // Refused for one that is not paused.
            self.must(&["start", service]);
        }
    }

    fn service(&self, node: i32) -> &'static str {
        self.services[index(node)]
    }

    fn must(&self, arguments: &[&str]) {
        self.compose(arguments).unwrap_or_else(|error| panic!("{error}"));
    }

    fn compose(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).args(arguments).stdin(Stdio::null());
        command.env("KAFKA_VERSION", source::version());
        for (service, ports) in self.services.iter().zip(&self.ports) {
            command.env(
                format!("{}_PORT", service.to_uppercase().replace('-', "_")),
                ports.client.to_string(),
            );
        }
        let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }
}

/// The settings as the image takes them: `KAFKA_` and the property, upper case, dots as underscores.
fn override_file(services: &[&str], settings: &Settings) -> String {
    let mut text = String::from("services:\n");
    for service in services {
        text += &format!("  {service}:\n    environment:\n");
        for (key, value) in settings.properties() {
            text += &format!("      KAFKA_{}: {value:?}\n", key.to_uppercase().replace('.', "_"));
        }
    }
    text
}
