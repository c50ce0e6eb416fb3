//! Kafka's jars: fetched once by Maven, kept beside the build.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::Mutex,
    time::Duration,
};

use super::{run, source};
use crate::common::wait;

/// How long one process may fetch while another one waits for it.
const FETCH: Duration = Duration::from_secs(600);

/// The folder of the jars of the version under test.
pub(crate) fn libs() -> Result<PathBuf, String> {
    fetched("libs", "pom.xml")
}

/// The folder of Kafka's command line tools, which need [`libs`] beside them.
pub(crate) fn tools() -> Result<PathBuf, String> {
    fetched("tools", "tools.xml")
}

/// A folder of jars that Maven fetches. It exists only when it is complete.
fn fetched(name: &str, pom: &str) -> Result<PathBuf, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _fetching = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());

    check_java()?;
    let version = source::version();
    let folder = run::home().join(&version);
    let jars = folder.join(name);
    if !jars.is_dir() {
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let lock = Lock::take(folder.join("lock"), &jars)?;
        if lock.is_some() {
            fetch(&version, pom, &folder, &jars)?;
        }
    }
    Ok(jars)
}

/// A process at a time fetches; a lock whose process has gone is taken over.
struct Lock(PathBuf);

impl Lock {
    /// `None` where another process has fetched the jars meanwhile.
    fn take(path: PathBuf, jars: &Path) -> Result<Option<Self>, String> {
        let taken = wait::poll(FETCH, || {
            if jars.is_dir() {
                return Some(false);
            }
            match fs::File::create_new(&path) {
                Ok(_) => fs::write(&path, process::id().to_string()).is_ok().then_some(true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if holder_has_gone(&path) {
                        let _ = fs::remove_file(&path);
                    }
                    None
                }
                Err(_) => None,
            }
        });
        match taken {
            Some(true) => Ok(Some(Self(path))),
            Some(false) => Ok(None),
            None => Err(format!("{} was held for {FETCH:?}: remove it", path.display())),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn holder_has_gone(lock: &Path) -> bool {
    let Ok(Ok(holder)) = fs::read_to_string(lock).map(|text| text.parse::<u32>()) else {
        return false; // Not written yet.
    };
    let alive = Command::new("sh")
        .args(["-c", &format!("kill -0 {holder}")])
        .stderr(Stdio::null())
        .status();
    alive.is_ok_and(|status| !status.success())
}

/// Fetches into a folder of its own, which gets its name when it is complete.
fn fetch(version: &str, pom: &str, folder: &Path, jars: &Path) -> Result<(), String> {
    let partial = folder.join(format!("jars.{}", process::id()));
    let poms = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/kafka");
    let output = Command::new("mvn")
        .env_remove("JAVA_TOOL_OPTIONS")
        .args(["-q", "-B", "-f"])
        .arg(poms.join(pom))
        .arg("dependency:copy-dependencies")
        .arg(format!("-DoutputDirectory={}", partial.display()))
        .arg(format!("-Dkafka.version={version}"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("mvn: {error}"))?;
    if !output.status.success() {
        let _ = fs::remove_dir_all(&partial);
        return Err(format!(
            "mvn could not fetch Kafka {version}:\n{}",
            String::from_utf8_lossy(&output.stdout)
        ));
    }
    match fs::rename(&partial, jars) {
        Err(error) if !jars.is_dir() => Err(format!("{}: {error}", jars.display())),
        _ => Ok(()),
    }
}

fn check_java() -> Result<(), String> {
    let text = source::output_of(Command::new("java").arg("-version")).ok_or("there is no java")?;
    let quoted = text.split('"').nth(1).unwrap_or_default();
    match quoted.split(['.', '-', '+']).next().unwrap_or_default().parse::<u32>() {
        Ok(17..) => Ok(()),
        Ok(_) => Err(format!("Java is {quoted}, not 17 or later")),
        Err(_) => Err(format!("`java -version` says {text:?}")),
    }
}
