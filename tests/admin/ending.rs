//! The command `kafka-group` on a cluster: the file of its configuration, and how it ends.

use std::process::{Child, Command, Stdio};

use kafka_group::ApiKey;
use kafka_group::testing::{ErrorCode, Verdict};
use kafka_group::types::NodeId;

use crate::command::{Said, cluster, pods};
use crate::harness::{GROUP, eventually, seen};
use crate::live::{TestFile, run, servers};

/// Runs a command with a file that says this.
async fn with_config(name: &str, text: impl AsRef<[u8]>, args: &[&str]) -> Said {
    let file = TestFile::new(name, text);
    let said = run(&[args, &["--command-config", file.path()]].concat()).await;
    Said { err: file.unnamed(&said.err), ..said }
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
        ("grave", "a=1\nsasl.pasword=s3cret", "c:2: `sasl.*` has no `sasl.pasword`: is"),
        ("protocol", "\nsecurity.protocol=s3cret", "c:2: `security.protocol`"),
        ("jaas", "sasl.jaas.config=Module required password=\"s3cret", "c:1: `sasl.jaas.config`"),
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
const ASKING: [&[&str]; 7] = [
    &["watch", "--group", GROUP, "--count", "1"],
    &["plan", "--group", GROUP],
    &["list"],
    &["describe", "--group", GROUP],
    &["members", "--group", GROUP],
    &["lag", "--group", GROUP],
    &["remove-members", "--group", GROUP, "--instance-ids", "pod-2", "--yes"],
];

/// Those that find nothing to do in a group without commits, or with members.
const FURTHER: [&[&str]; 3] = [
    &["reset-offsets", "--group", GROUP, "--all-topics", "--to-earliest"],
    &["delete-offsets", "--group", GROUP, "--topic", "orders", "--yes"],
    &["delete", "--group", GROUP, "--yes"],
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
    for args in ASKING.iter().filter(|args| args[0] != "list") {
        let said = run(&[args, &["--bootstrap-server", &servers(&cluster)][..]].concat()).await;
        // Who watches is told in the picture.
        let told = format!("{}{}", said.out, said.err);
        let expected = format!("there is no group `{GROUP}`\n");
        assert!(told.ends_with(&expected), "{args:?}: {told}");
        assert_eq!(said.code, 1, "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_ends_with_2_where_it_is_not_understood() {
    for args in ASKING.into_iter().chain(FURTHER) {
        for more in [&["--eat"][..], &["--timeout", "x"], &["--format", "eat"]] {
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
        let told = format!("{}{}", said.out, said.err);
        assert!(told.contains(&format!("{api:?}")), "{args:?}: {told}");
        cluster.clear_control();
    }
    cluster.stop(NodeId(1));
    for args in ASKING.into_iter().chain(FURTHER) {
        let reach = ["--bootstrap-server", &servers, "--timeout", "1"];
        let said = run(&[args, &reach].concat()).await;
        assert!(said.err.starts_with("no broker could be reached: 127.0.0.1:"), "{said:?}");
        assert_eq!((said.out.as_str(), said.code), ("", 3), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_reads_may_go_at_any_time() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    for (args, api) in [
        (&["list"][..], ApiKey::ListGroups),
        (&["describe", "--group", GROUP], ApiKey::DescribeGroups),
        (&["watch", "--group", GROUP], ApiKey::DescribeGroups),
    ] {
        cluster.forget_requests();
        cluster.control(api, 1, |_| Verdict::Hold);
        let mut command = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
        command.args(args).args(["--bootstrap-server", &servers(&cluster)]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It has nothing to say before it is answered.
        drop(child.stdout.take());
        // Who watches may find out sooner.
        let is_over = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)));
        eventually("a question or an end", || {
            !seen(&cluster, api).is_empty() || is_over(&mut child)
        })
        .await;
        cluster.release();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}
