//! Files of this run, removed when the test process ends, in whatever way.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// Where Kafka's jars and the brokers' data are kept: `kafka` in the target folder.
pub(super) fn home() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("cargo's tmp folder is in the target folder");
    target.join("kafka")
}

/// Runs a shell script when this process has ended, or when this is dropped.
#[derive(Debug)]
pub(super) struct Afterwards(Child);

impl Afterwards {
    /// The script finds `arguments` as `$1`, `$2`, …
    pub(super) fn run<I: AsRef<std::ffi::OsStr>>(
        script: &str,
        arguments: impl IntoIterator<Item = I>,
    ) -> io::Result<Self> {
        // The pipe's other end is this process's alone (close-on-exec): `read` returns when it is gone.
        shell(&format!("read -r _\n{script}"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Self)
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
    }
}

/// A folder of this process that goes with it, unless `KAFKA_GROUP_TEST_KEEP` is set.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    _removal: Option<Afterwards>,
}

impl RunFolder {
    pub(super) fn create() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path =
            home().join(format!("run-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir_all(&path)?;
        // Brokers die at the same moment and may still write.
        let script = r#"for n in 1 2 3 4 5; do sleep 1; rm -rf -- "$1" && exit; done"#;
        let removal = match env::var_os("KAFKA_GROUP_TEST_KEEP") {
            Some(_) => None,
            None => Some(Afterwards::run(script, [&path])?),
        };
        Ok(Self { path, _removal: removal })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A file for what a process of this run has to say; removed with the run.
pub(crate) fn log_file(name: &str) -> io::Result<(PathBuf, fs::File)> {
    static LOGS: LazyLock<RunFolder> =
        LazyLock::new(|| RunFolder::create().expect("the target folder can be written"));
    let path = LOGS.path().join(name);
    Ok((path.clone(), fs::File::create(path)?))
}

/// `sh` with a script; a process group of its own, so that an interrupt from the keyboard reaches only the tests.
pub(super) fn shell(script: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).process_group(0).env_remove("JAVA_TOOL_OPTIONS");
    command
}

/// The last lines of a log.
pub(super) fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}
