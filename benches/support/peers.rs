//! The programs of other clients in `benches/peers`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::kafka::libs;

/// A program of Java's client, from its source, with the jars that the tests use.
pub(crate) fn java(source: &str) -> Result<Command, String> {
    let libs = libs()?;
    let mut java = Command::new("java");
    java.env_remove("JAVA_TOOL_OPTIONS")
        .args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp"])
        .arg(libs.join("*"))
        .arg(folder().join(source));
    Ok(java)
}

/// A program of franz-go, built where cargo builds.
pub(crate) fn franz(package: &str) -> Result<Command, String> {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("franz-{package}"));
    // Quick where nothing has changed.
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&built).arg(format!("./{package}"));
    match build.current_dir(folder().join("franz")).status() {
        Ok(status) if status.success() => Ok(Command::new(built)),
        Ok(status) => Err(format!("go build: {status}")),
        Err(error) => Err(format!("go: {error}")),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers")
}
