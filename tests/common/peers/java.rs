//! A consumer of Kafka's own Java client as a member of a group.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use serde::Deserialize;

use crate::common::{
    kafka::{libs, log_file},
    unique,
    wait::{eventually, poll},
};

/// Kafka's assignors, for `partition.assignment.strategy`.
pub(crate) mod assignor {
    pub(crate) const RANGE: &str = "org.apache.kafka.clients.consumer.RangeAssignor";
    pub(crate) const ROUND_ROBIN: &str = "org.apache.kafka.clients.consumer.RoundRobinAssignor";
    pub(crate) const STICKY: &str = "org.apache.kafka.clients.consumer.StickyAssignor";
    pub(crate) const COOPERATIVE_STICKY: &str =
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor";
}

/// Topics and partition numbers.
pub(crate) type Partitions = BTreeSet<(String, i32)>;

/// What happened to a Java member.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JavaEvent {
    Subscribed(Partitions),
    Assigned(Partitions),
    Revoked(Partitions),
    Lost(Partitions),
    /// The generation; topic, partition, offset, value of each.
    Records(i32, Vec<(String, i32, i64, Option<String>)>),
    Failed(String),
    Closed(Partitions),
}

/// A Java consumer in a process of its own, which ends with the tests at the latest.
#[derive(Debug)]
pub(crate) struct JavaMember {
    process: Child,
    stdin: Option<ChildStdin>,
    told: Arc<Mutex<Told>>,
    log: PathBuf,
}

/// What the process has told so far.
#[derive(Debug, Default)]
struct Told {
    events: Vec<JavaEvent>,
    owned: Partitions,
}

impl JavaMember {
    /// Starts a consumer; it joins some seconds later.
    ///
    /// `topics` is one pattern if its only entry begins with `^`. `properties` are the consumer's, for example
    /// `("partition.assignment.strategy", assignor::RANGE)` or `("group.protocol", "consumer")`.
    pub(crate) fn start(
        bootstrap: &str,
        group: &str,
        topics: &[&str],
        properties: &[(&str, &str)],
    ) -> Self {
        let libs = libs()
            .unwrap_or_else(|error| panic!("a Java member needs a JDK and Kafka's jars: {error}"));
        let (log, stderr) =
            log_file(&unique("java-member")).expect("the target folder can be written");
        let mut process = Command::new("java")
            .env_remove("JAVA_TOOL_OPTIONS")
            .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"])
            .arg(libs.join("*"))
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/peers/JavaMember.java"))
            .args([bootstrap, group, &topics.join(",")])
            .args(properties.iter().map(|(key, value)| format!("{key}={value}")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("java can be started");
        let told = Arc::new(Mutex::new(Told::default()));
        let stdout = process.stdout.take().expect("stdout is piped");
        thread::spawn({
            let told = Arc::clone(&told);
            move || listen(stdout, &told)
        });
        Self { stdin: process.stdin.take(), process, told, log }
    }

    /// What it owns now, as it said last.
    pub(crate) fn assignment(&self) -> Partitions {
        self.told().owned.clone()
    }

    /// All that happened to it so far.
    pub(crate) fn events(&self) -> Vec<JavaEvent> {
        self.told().events.clone()
    }

    /// Waits until what it owns is as wanted, and returns it.
    pub(crate) fn wait_for_assignment(
        &self,
        within: Duration,
        wanted: impl Fn(&Partitions) -> bool,
    ) -> Partitions {
        self.wait_for(within, "an assignment as wanted", || {
            let owned = self.assignment();
            wanted(&owned).then_some(owned)
        })
    }

    /// Waits for the first event, early or new, of which `wanted` makes something.
    pub(crate) fn wait_for_event<T>(
        &self,
        within: Duration,
        wanted: impl Fn(&JavaEvent) -> Option<T>,
    ) -> T {
        self.wait_for(within, "an event as wanted", || self.told().events.iter().find_map(&wanted))
    }

    /// Closes it in good order, which for a dynamic member is to leave, and waits until it has ended.
    pub(crate) fn leave(mut self) {
        drop(self.stdin.take());
        eventually(Duration::from_secs(30), "the Java member has ended", || {
            self.process.try_wait().ok().flatten()
        });
    }

    /// Kills it: the group is told nothing.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn wait_for<T>(&self, within: Duration, what: &str, look: impl FnMut() -> Option<T>) -> T {
        poll(within, look).unwrap_or_else(|| {
            panic!(
                "Java member, not within {within:?}: {what}. {:?}, log {}",
                self.told(),
                self.log.display()
            )
        })
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for JavaMember {
    fn drop(&mut self) {
        self.end();
    }
}

fn listen(stdout: ChildStdout, told: &Mutex<Told>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let event: JavaEvent =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let mut told = told.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &event {
            JavaEvent::Assigned(partitions) => told.owned.extend(partitions.iter().cloned()),
            JavaEvent::Revoked(partitions) | JavaEvent::Lost(partitions) => {
                told.owned.retain(|partition| !partitions.contains(partition));
            }
            _ => {}
        }
        told.events.push(event);
    }
}
