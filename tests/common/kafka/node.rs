//! One broker process under a shell that ends it when the tests end.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::Duration,
};

use super::{run, settings::Settings};
use crate::common::wait;

/// How long a node may take to stop in good order.
const STOP: Duration = Duration::from_secs(60);

/// Formats the storage, if need be, and runs the broker. Signals come as lines on stdin and are said again when
/// sent; the end of stdin, which is the end of the tests, kills the broker. No process is killed that may have been
/// reaped: its number may be another's by then.
const SCRIPT: &str = r#"
log=$1 properties=$2 data=$3 classes=$4
shift 4
small="-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
exec 3<&0 </dev/null
(
    exec 3<&-
    [ -e "$data/meta.properties" ] ||
        java -Xmx128m $small -cp "$classes" kafka.tools.StorageTool format -t 5L6g3nShT-eMCtK--X86sw -c "$properties" "$@" ||
        exit 1
    exec java -Xms64m -Xmx384m $small -Dorg.slf4j.simpleLogger.showDateTime=true -cp "$classes" kafka.Kafka "$properties"
) >>"$log" 2>&1 &
broker=$!
(
    while read -r signal; do kill -s "$signal" "$broker"; echo "$signal"; done
    kill -s KILL "$broker"
    exec sleep 60
) <&3 2>/dev/null &
control=$!
exec 3<&-
wait "$broker"
echo "the broker ended with status $?" >>"$log"
kill -s KILL "$control"
"#;

/// One node: where its files are, and its process while it is up.
#[derive(Debug)]
pub(super) struct Node {
    properties: PathBuf,
    data: PathBuf,
    log: PathBuf,
    format: Vec<String>,
    environment: Vec<(String, String)>,
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    shell: Child,
    signals: Option<ChildStdin>,
    sent: BufReader<ChildStdout>,
    paused: bool,
}

impl Node {
    /// A node with the given files, not yet up.
    pub(super) fn new(
        properties: PathBuf,
        data: PathBuf,
        log: PathBuf,
        settings: &Settings,
    ) -> Self {
        let format = settings.format_arguments();
        let environment = settings.variables().to_vec();
        Self { properties, data, log, format, environment, process: None }
    }

    /// Starts the node; it answers some seconds later.
    pub(super) fn start(&mut self, libs: &Path) -> io::Result<()> {
        let mut shell = run::shell(SCRIPT)
            .args([&self.log, &self.properties, &self.data, &libs.join("*")])
            .args(&self.format)
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let sent = BufReader::new(shell.stdout.take().expect("stdout is piped"));
        self.process = Some(Process { signals: shell.stdin.take(), shell, sent, paused: false });
        Ok(())
    }

    pub(super) fn is_paused(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.paused)
    }

    /// Whether the process runs, paused or not.
    pub(super) fn is_up(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| matches!(process.shell.try_wait(), Ok(None)))
    }

    /// The end of what the node said.
    pub(super) fn log_tail(&self) -> String {
        format!("{}:\n{}", self.log.display(), run::tail(&self.log))
    }

    pub(super) fn kill(&mut self) {
        self.process = None;
    }

    /// SIGTERM, and SIGKILL for one that does not heed it.
    pub(super) fn stop(&mut self) {
        let Some(process) = &mut self.process else { return };
        process.signal("TERM");
        wait::poll(STOP, || process.shell.try_wait().ok().flatten());
        self.process = None;
    }

    pub(super) fn pause(&mut self) {
        let process = self.process.as_mut().expect("a node that is paused is up");
        process.signal("STOP");
        process.paused = true;
    }

    pub(super) fn resume(&mut self) {
        if let Some(process) = &mut self.process {
            process.signal("CONT");
            process.paused = false;
        }
    }
}

impl Process {
    /// Sends a signal; it has been sent when this returns. Nothing happens where the broker has gone.
    fn signal(&mut self, signal: &str) {
        let signals = self.signals.as_mut().expect("open until dropped");
        if writeln!(signals, "{signal}").is_ok() {
            let _ = self.sent.read_line(&mut String::new());
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.signals.take()); // Kills the broker.
        let _ = self.shell.wait();
    }
}
