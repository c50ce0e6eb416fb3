//! Kafka's own tool for groups, `kafka-consumer-groups.sh` without the script.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::common::kafka::{libs, tools};

/// What the tool prints: most of what goes wrong is in it, too.
pub(crate) fn consumer_groups(bootstrap: &str, args: &[&str]) -> String {
    let jars = |folder: Result<PathBuf, String>| {
        let folder = folder.unwrap_or_else(|error| panic!("Kafka's tool needs its jars: {error}"));
        folder.join("*").into_os_string()
    };
    let (mut path, tools) = (jars(libs()), jars(tools()));
    path.push(OsString::from(":"));
    path.push(tools);
    let output = Command::new("java")
        .env_remove("JAVA_TOOL_OPTIONS")
        .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp"])
        .arg(path)
        .arg("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand")
        .args(["--bootstrap-server", bootstrap])
        .args(args)
        .output()
        .expect("java can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
