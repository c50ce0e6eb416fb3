//! The command `kafka-group` on a cluster: the file of its configuration, and how it ends.

use std::path::PathBuf;

use kafka_group::ApiKey;
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::NodeId;

use crate::command::{Said, cluster, pods, start};
use crate::harness::GROUP;

/// A file for one test, gone with it.
struct TestFile(PathBuf);

impl TestFile {
    fn new(name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = std::env::temp_dir().join(format!("kafka-group-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// Replaces its name in what was said.
    fn unnamed(&self, said: &str) -> String {
        said.replace(self.path(), "c")
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs the command with these arguments and no others.
async fn run(args: &[&str]) -> Said {
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    tokio::task::spawn_blocking(move || start(&args, "")).await.unwrap()
}

/// Runs a command with a file that says this.
async fn with_config(name: &str, text: impl AsRef<[u8]>, args: &[&str]) -> Said {
    let file = TestFile::new(name, text);
    let said = run(&[args, &["--command-config", file.path()]].concat()).await;
    Said { err: file.unnamed(&said.err), ..said }
}

fn servers(cluster: &FakeCluster) -> String {
    cluster.bootstrap_servers()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_says_where_the_cluster_is_and_the_command_line_beats_it() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let servers = servers(&cluster);
    let text = format!("# where\r\nbootstrap.servers = {servers} \r\nclient.id=\\u006fps\r\n");
    let said = with_config("where", text, &["members", "--group", GROUP]).await;
    assert_eq!((said.out.lines().count(), said.err.as_str(), said.code), (3, "", 0));
    let seen = cluster.requests();
    let asked: Vec<_> =
        seen.iter().filter(|request| request.api == ApiKey::DescribeGroups).collect();
    assert_eq!(asked.last().map(|request| request.client_id.as_str()), Some("ops"));

    let args = ["list", "--bootstrap-server", &servers];
    let said = with_config("beaten", "bootstrap.servers=127.0.0.1:1", &args).await;
    assert_eq!((said.err.as_str(), said.code), ("", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_odd_about_a_file_is_said_and_does_not_stop_the_command() {
    let cluster = cluster();
    let text =
        format!("client.id=a\nacks=all\nclient.id=b\nbootstrap.servers={}", servers(&cluster));
    let said = with_config("odd", text, &["list"]).await;
    let expected = "warning: c:3: `client.id` is there twice: this counts, and line 1 does not\n\
                    warning: c:2: `acks` means nothing here\n";
    assert_eq!((said.err.as_str(), said.code), (expected, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_file_is_said_with_its_line_and_nobody_is_asked() {
    let cluster = cluster();
    let servers = servers(&cluster);
    for (name, text, message) in [
        ("number", "request.timeout.ms=soon", "c:1: `request.timeout.ms` is no number of"),
        ("zero", "\r\n\r\nrequest.timeout.ms=0", "c:3: `request.timeout.ms` is 0\n"),
        ("grave", "a=1\nsasl.pasword=s3cret", "c:2: `sasl.pasword` is not known\n"),
        ("escape", "client.id=\\u00", "c:1: `\\u` is followed by something else than"),
        ("escape", "client.id=\\ud800", "c:1: an escaped half of a character stands"),
        ("provider", "config.providers=env", "c:1: `config.providers` is not known: write"),
    ] {
        let said = with_config(name, text, &["list", "--bootstrap-server", &servers]).await;
        assert!(
            said.err.lines().last().unwrap_or_default().starts_with(message.trim_end()),
            "{said:?}"
        );
        assert_eq!((said.out.as_str(), said.code), ("", 2), "{text}");
        assert!(!said.err.contains("s3cret"), "{}", said.err);
    }
    let said = with_config("server", "\nbootstrap.servers=nowhere", &["list"]).await;
    assert!(said.err.starts_with("c:2: `bootstrap.servers` has an entry, `nowhere`"), "{said:?}");
    assert_eq!(said.code, 2);
    let said = with_config("none", "client.id=a", &["list"]).await;
    assert!(said.err.starts_with("`--bootstrap-server` is missing"), "{said:?}");
    assert_eq!(said.code, 2);

    let temp = std::env::temp_dir();
    for path in ["/nowhere/client.properties", temp.to_str().unwrap(), ""] {
        let said = run(&["list", "--command-config", path]).await;
        assert!(said.err.starts_with(&format!("{path}: ")), "{said:?}");
        assert_eq!((said.out.as_str(), said.code), ("", 2), "{path}");
    }
    assert!(cluster.requests().is_empty());
}

/// Every command that asks a cluster, with what it needs.
const ASKING: [&[&str]; 5] = [
    &["list"],
    &["describe", "--group", GROUP],
    &["members", "--group", GROUP],
    &["lag", "--group", GROUP],
    &["remove-members", "--group", GROUP, "--instance-ids", "pod-2", "--yes"],
];

#[tokio::test(flavor = "multi_thread")]
async fn every_command_ends_with_0_where_all_is_done() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    for args in ASKING {
        let said = run(&[args, &["--bootstrap-server", &servers(&cluster)]].concat()).await;
        assert_eq!((said.err.as_str(), said.code), ("", 0), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_ends_with_1_where_there_is_no_such_group() {
    let cluster = cluster();
    for args in ASKING.iter().skip(1) {
        let said = run(&[args, &["--bootstrap-server", &servers(&cluster)][..]].concat()).await;
        let expected = format!("there is no group `{GROUP}`\n");
        assert_eq!((said.err, said.code), (expected, 1), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_ends_with_2_where_it_is_not_understood() {
    for args in ASKING {
        for more in [&["--eat"][..], &["--timeout", "x"], &["eat"]] {
            let said = run(&[args, &["--bootstrap-server", "127.0.0.1:1"], more].concat()).await;
            assert_eq!((said.out.as_str(), said.code), ("", 2), "{args:?} {more:?}");
            assert_ne!(said.err, "");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_ends_with_3_where_no_broker_is_reached_or_it_is_not_allowed() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let servers = servers(&cluster);
    for args in ASKING {
        let api = match args[0] {
            "list" => ApiKey::ListGroups,
            "lag" => ApiKey::OffsetFetch,
            "remove-members" => ApiKey::LeaveGroup,
            _ => ApiKey::DescribeGroups,
        };
        cluster.control(api, 1, |_| Verdict::Error(ErrorCode::GroupAuthorizationFailed));
        let said = run(&[args, &["--bootstrap-server", &servers]].concat()).await;
        assert_eq!(said.code, 3, "{args:?}: {}", said.err);
        assert!(said.err.contains(&format!("{api:?}")), "{args:?}: {}", said.err);
        cluster.clear_control();
    }
    cluster.stop(NodeId(1));
    for args in ASKING {
        let reach = ["--bootstrap-server", &servers, "--timeout", "1"];
        let said = run(&[args, &reach].concat()).await;
        assert!(said.err.starts_with("no broker could be reached: 127.0.0.1:"), "{said:?}");
        assert_eq!((said.out.as_str(), said.code), ("", 3), "{args:?}");
    }
}
