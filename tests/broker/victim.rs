//! A consumer in a process of its own, to be killed or paused.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::{AutoOffsetReset, Consumer};

use crate::harness::SOON;

/// How the process learns what to read.
const PROPERTIES: &str = "KAFKA_GROUP_TEST_VICTIM";

/// The process.
pub(crate) struct Victim {
    process: Child,
    reads: Receiver<Read>,
}

/// A record that it was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) generation: i32,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
}

impl Victim {
    /// Starts a member with these properties, which reads a record a millisecond and marks it.
    pub(crate) fn start(topic: &str, properties: &[(&str, &str)]) -> Self {
        let properties = properties.iter().map(|(name, value)| format!("\n{name}={value}"));
        let mut process = Command::new(std::env::current_exe().expect("a path"))
            .args(["--exact", "victim::process", "--nocapture"])
            .env(PROPERTIES, topic.to_owned() + &properties.collect::<String>())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let (send, reads) = mpsc::channel();
        std::thread::spawn(move || {
            let read = lines.map_while(Result::ok).filter_map(|line| parse(&line));
            let _all_taken = read.map(|read| send.send(read)).all(|sent| sent.is_ok());
        });
        Self { process, reads }
    }

    /// The next record that it was given.
    pub(crate) fn next(&self) -> Read {
        self.reads.recv_timeout(SOON).expect("a record in time")
    }

    /// What it was given by now.
    pub(crate) fn reads(&self) -> Vec<Read> {
        self.reads.try_iter().collect()
    }

    /// Kills it (SIGKILL). Gives what it was given before, as far as nobody asked for that.
    pub(crate) fn kill(mut self) -> Vec<Read> {
        self.process.kill().expect("killed");
        self.process.wait().expect("dead");
        self.reads.iter().collect()
    }

    /// Stops the process where it stands.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        // The shell's own: a bare machine has no program of that name.
        let kill = format!("kill {signal} {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn parse(line: &str) -> Option<Read> {
    let mut words = line.strip_prefix("read ")?.split(' ');
    let generation = words.next()?.parse().ok()?;
    let partition = words.next()?.parse().ok()?;
    Some(Read { generation, partition, offset: words.next()?.parse().ok()? })
}

/// Not a test: what the process does.
#[tokio::test]
async fn process() {
    let Ok(properties) = std::env::var(PROPERTIES) else {
        return;
    };
    let mut lines = properties.lines();
    let topic = lines.next().expect("a topic");
    let properties = lines.filter_map(|line| line.split_once('='));
    let consumer = Consumer::builder()
        .from_properties(properties)
        .subscribe([topic])
        .assigner(RangeAssigner::default())
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .auto_commit_interval(Duration::from_millis(200));
    let mut consumer = consumer.join().await.expect("joins");
    let mut work = tokio::time::interval(Duration::from_millis(1));
    while let Some(record) = consumer.recv().await.expect("no error") {
        let generation = consumer.handle().group_metadata().generation;
        println!("read {generation} {} {}", record.partition(), record.offset());
        consumer.mark_processed(&record);
        work.tick().await;
    }
}
