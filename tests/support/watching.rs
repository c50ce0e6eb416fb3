//! The command `kafka-group watch`, run as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tokio::time::Instant;

/// A command that watches, with its lines as they come. It is killed with this.
pub(crate) struct Watching {
    pub(crate) child: Child,
    lines: mpsc::Receiver<String>,
    patience: Duration,
}

impl Watching {
    /// Starts a command; nothing that is waited for may take longer than `patience`.
    pub(crate) fn start(mut command: Command, patience: Duration) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines, patience }
    }

    /// The next line that holds this, and all before it, without times.
    pub(crate) fn until(&self, wanted: &str) -> Vec<String> {
        let (mut lines, deadline) = (Vec::new(), Instant::now() + self.patience);
        loop {
            let line = self.lines.recv_timeout(deadline - Instant::now());
            let line = line.unwrap_or_else(|_| panic!("no `{wanted}` after {lines:#?}"));
            let without_time = line.split_once("  ").map_or(&*line, |(_, rest)| rest);
            lines.push(without_time.to_owned());
            if line.contains(wanted) {
                return lines;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
