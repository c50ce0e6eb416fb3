//! The command `kafka-group` as people run it on a cluster: what it prints, word for word, and how it ends.
//!
//! `KAFKA_GROUP_GOLDEN=write` writes the files of `tests/data/admin` anew, to be looked at before they are committed.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kafka_group::admin::{ListOptions, MemberKey};
use kafka_group::assign::StickyAssigner;
use kafka_group::testing::{ErrorCode, FakeCluster, Verdict};
use kafka_group::types::{NodeId, TopicPartition};
use kafka_group::{ApiKey, LeavePolicy};

use crate::answers::{described, listed_as, may, wrote};
use crate::harness::{App, GROUP, admin, member, plain, seen, static_members};

/// What the command said, and its code.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// A cluster on a thread of its own: the command is another process, for which no virtual clock waits.
pub(crate) fn cluster() -> FakeCluster {
    FakeCluster::builder().topic("orders", 12).start().unwrap()
}

pub(crate) async fn run(cluster: &FakeCluster, args: &[&str]) -> Said {
    answering(cluster, args, "").await
}

/// Runs the command, and answers what it asks.
pub(crate) async fn answering(cluster: &FakeCluster, args: &[&str], answer: &'static str) -> Said {
    let servers = cluster.bootstrap_servers();
    let (command, rest) = args.split_first().unwrap();
    let args = [&[*command, "--bootstrap-server", &servers], rest].concat();
    let args: Vec<_> = args.into_iter().map(str::to_owned).collect();
    let said = tokio::task::spawn_blocking(move || start(&args, answer)).await.unwrap();
    Said { out: plainly(&said.out, &servers), ..said }
}

pub(crate) fn start(args: &[String], answer: &str) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that asks nothing may be gone already.
    let _ = child.stdin.take().unwrap().write_all(answer.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap() }
}

/// Replaces what differs from run to run: ports, generations, the name of the machine and the process.
fn plainly(text: &str, servers: &str) -> String {
    let mut text = text.to_owned();
    for server in servers.split(',') {
        let (_, port) = server.rsplit_once(':').unwrap();
        text = text.replace(&format!(":{port}"), ":9092");
    }
    let hidden = [
        ("\"process\":\"", "\"", "…"),
        ("\"digest\":\"", "\"", "…"),
        ("\"generation\":", ",", "3"),
        ("generation     ", ",", "3"),
    ];
    for (before, after, instead) in hidden {
        let mut parts = text.split(before);
        let mut hidden = parts.next().unwrap().to_owned();
        for part in parts {
            let (_, rest) = part.split_once(after).unwrap();
            hidden = [&*hidden, before, instead, after, rest].concat();
        }
        text = hidden;
    }
    text
}

/// Compares what a command said with a file.
pub(crate) fn check(name: &str, said: &Said) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/admin")).join(name);
    if std::env::var("KAFKA_GROUP_GOLDEN").is_ok_and(|mode| mode == "write") {
        std::fs::write(&path, &said.out).unwrap();
    }
    assert_eq!((said.err.as_str(), said.code), ("", 0), "{name}");
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(said.out, expected, "{}", path.display());
}

/// Two static members, one of them with a rack.
pub(crate) async fn pods(cluster: &FakeCluster) -> [App; 2] {
    let pod = |name| plain(cluster).assigner(StickyAssigner::default()).group_instance_id(name);
    let pods = [App::start(pod("pod-1").client_rack("r-1")).await, App::start(pod("pod-2")).await];
    for pod in &pods {
        pod.holds(6).await;
    }
    pods
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_listed() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let gone = member(&cluster).group_id("gone\n").group_instance_id("a");
    App::start(gone.leave_policy(LeavePolicy::Leave)).await.close().await;
    check("list.txt", &run(&cluster, &["list"]).await);
    check("list.json", &run(&cluster, &["list", "--format", "json"]).await);
    check("list.empty.txt", &run(&cluster, &["list", "--state", "empty"]).await);
    check("list.none.txt", &run(&cluster, &["list", "--type", "consumer,share"]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_may_not_be_whole_says_so_and_one_that_shows_nothing_fails() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let words = "only groups that this user may DESCRIBE are listed: it has no DESCRIBE on the cluster (kafka-acls --add \
                 --allow-principal USER --operation Describe --cluster)\n";
    for (args, code) in [
        (&["list"][..], 0),
        (&["list", "--format", "json"], 0),
        (&["list", "--state", "dead"], 3),
        (&["list", "--type", "share", "--format", "json"], 3),
    ] {
        cluster.control(ApiKey::DescribeCluster, 1, |_| Verdict::Garbage(may(0)));
        let said = run(&cluster, args).await;
        assert_eq!((said.err.as_str(), said.code), (words, code), "{args:?}");
        assert_eq!(said.out.contains(GROUP), code == 0, "{args:?}: {}", said.out);
        let told = said.out.contains("\"visibility\":\"only_describable\"");
        assert_eq!(told, args.contains(&"json"), "{args:?}: {}", said.out);
    }
    cluster.control(ApiKey::DescribeCluster, 1, |_| Verdict::Garbage(may(i32::MIN)));
    let said = run(&cluster, &["list", "--type", "share", "--format", "json"]).await;
    let line = "{\"groups\":[],\"failed\":[],\"visibility\":\"unknown\"}\n";
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), (line, "", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_described() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    check("describe.txt", &run(&cluster, &["describe", "--group", GROUP]).await);
    check(
        "describe.json",
        &run(&cluster, &["describe", "--group", GROUP, "--format", "json"]).await,
    );
    check("members.txt", &run(&cluster, &["members", "--group", GROUP]).await);
    check("members.json", &run(&cluster, &["members", "--group", GROUP, "--format", "json"]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_of_others_are_described_as_far_as_they_can_be_read() {
    let cluster = cluster();
    let java = b"\0\x01\0\0\0\x01\0\x06orders\xff\xff\xff\xff\0\0\0\0";
    let assigned = b"\0\x01\0\0\0\x01\0\x06orders\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0\x03abc";
    let consumers = described(
        "consumer",
        "theirs",
        vec![
            wrote("java-1", java, assigned),
            wrote("odd\tname", b"\xff\xfegarbage", b"\xff\xfe"),
            wrote("new", b"", b""),
        ],
    );
    let workers = described("connect", "sessioned", vec![wrote("worker", b"\0\x02{}", b"")]);
    for (name, answer) in [("consumers", consumers), ("workers", workers)] {
        for format in ["table", "json"] {
            let answer = answer.clone();
            cluster.control(ApiKey::DescribeGroups, 1, move |_| Verdict::Garbage(answer.clone()));
            let said = run(&cluster, &["describe", "--group", GROUP, "--format", format]).await;
            let ending = if format == "table" { "txt" } else { format };
            check(&format!("describe.{name}.{ending}"), &said);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lag_of_groups_is_told() {
    let cluster = cluster();
    let pods = pods(&cluster).await;
    cluster.set_end_offset("orders", 100);
    let said = run(&cluster, &["lag", "--group", GROUP, "--format", "json"]).await;
    let line: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(line["lag"], serde_json::Value::Null, "nothing is committed, which is not no lag");
    let position = (TopicPartition::new("orders", 1), 30.into());
    pods[0].handle.commit([position].into()).await.unwrap();
    check("lag.txt", &run(&cluster, &["lag", "--group", GROUP]).await);
    check("lag.json", &run(&cluster, &["lag", "--group", GROUP, "--format", "json"]).await);
    let said = run(&cluster, &["lag", "--group", GROUP, "--group", "no"]).await;
    assert_eq!((said.err.as_str(), said.code), ("there is no group `no`\n", 1));
    assert!(
        said.out.contains("\nindexers  orders          1         30  100   70  pod-1\n"),
        "{}",
        said.out
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_removed_after_a_yes() {
    let cluster = cluster();
    let [stays, gone] = pods(&cluster).await;
    gone.close().await;
    let args = ["remove-members", "--group", GROUP, "--instance-ids", "pod-2", "--reason", "why"];
    let args = [&args[..], &["--observe", "0"]].concat();
    for answer in ["", "\n", "no\n", "yesterday\n"] {
        let said = answering(&cluster, &args, answer).await;
        assert_eq!((said.out.as_str(), said.code), ("", 1), "{answer:?}");
        assert!(said.err.ends_with("Remove? [y/N] Nobody was removed.\n"), "{}", said.err);
    }
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty());

    let said = answering(&cluster, &args, "y\n").await;
    let asked: Vec<&str> = said.err.lines().collect();
    assert_eq!(asked[0], "To be removed from group `indexers`:");
    assert!(asked[1].starts_with("INSTANCE-ID  MEMBER-ID"), "{}", said.err);
    assert!(asked[2].starts_with("pod-2        pod-2-"), "{}", said.err);
    assert_eq!(
        asked[3],
        "Members that are alive lose what they hold, and join again. Remove? [y/N] "
    );
    assert_eq!((said.out.as_str(), said.code), ("MEMBER  OUTCOME\npod-2   removed\n", 0));
    assert_eq!(seen(&cluster, ApiKey::LeaveGroup)[0].reason.as_deref(), Some("why"));
    stays.holds(12).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_removed_without_a_question_where_yes_is_said_before() {
    let cluster = cluster();
    let mut apps = static_members(&cluster, ["a", "b", "c"]).await;
    let id = apps[2].id();
    for app in apps.drain(..) {
        app.close().await;
    }
    let before = ["remove-members", "--group", GROUP, "--yes", "--format", "json"];
    let ids = ["--instance-ids", "a, b,nobody,a", "--member-ids", &id];
    let said = run(&cluster, &[&before[..], &ids[..]].concat()).await;
    let line = serde_json::json!({
        "group": GROUP,
        "members": [
            {"instance_id": "a", "member_id": null, "outcome": "removed"},
            {"instance_id": "b", "member_id": null, "outcome": "removed"},
            {"instance_id": "nobody", "member_id": null, "outcome": "unknown"},
            {"instance_id": null, "member_id": id, "outcome": "removed"},
        ],
    });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&said.out).unwrap(), line);
    assert_eq!((said.err.as_str(), said.code), ("", 1), "one failed");
    assert_eq!(seen(&cluster, ApiKey::LeaveGroup).len(), 1);
    assert_eq!(cluster.group_state(GROUP).as_deref(), Some("Empty"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_who_would_be_removed_and_removes_nobody() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let args = ["remove-members", "--group", GROUP, "--dry-run", "--observe", "0"];
    let args = [&args[..], &["--instance-ids"]].concat();
    let said = run(&cluster, &[&args[..], &["pod-2"]].concat()).await;
    assert_eq!((said.out.lines().count(), said.err.as_str(), said.code), (2, "", 0));
    let said = run(&cluster, &[&args[..], &["pod-2,pod-3"]].concat()).await;
    assert_eq!((said.out.lines().count(), said.code), (2, 1));
    assert_eq!(said.err, "pod-3: not in the group\n");
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn all_members_are_removed_where_that_is_asked_for() {
    let cluster = cluster();
    for pod in pods(&cluster).await {
        pod.close().await;
    }
    let args = ["remove-members", "--group", GROUP, "--all", "--observe", "0"];
    let said = run(&cluster, &[&args[..], &["--dry-run"]].concat()).await;
    assert_eq!((said.out.lines().count(), said.err.as_str(), said.code), (3, "", 0));
    let said = answering(&cluster, &args, "yes\n").await;
    let removed = "MEMBER  OUTCOME\npod-1   removed\npod-2   removed\n";
    assert_eq!((said.out.as_str(), said.code), (removed, 0));
    assert_eq!(cluster.group_state(GROUP).as_deref(), Some("Empty"));
    let said = run(&cluster, &[&args[..], &["--yes"]].concat()).await;
    assert_eq!((said.out.as_str(), said.code), ("MEMBER  OUTCOME\n", 0), "there is nobody left");
    let said = run(&cluster, &[&args[..], &["--member-ids", "x"]].concat()).await;
    assert_eq!(
        (said.err.as_str(), said.code),
        ("`--all` and some of them are both asked for\n", 2)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_removed_unless_all_are_members_where_that_is_asked_for() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let args = ["remove-members", "--group", GROUP, "--yes", "--require-all", "--instance-ids"];
    let said = run(&cluster, &[&args[..], &["pod-2,pod-3"]].concat()).await;
    assert_eq!((said.out.as_str(), said.code), ("", 1));
    assert_eq!(said.err, "not in group `indexers`: pod-3\n");
    assert!(seen(&cluster, ApiKey::LeaveGroup).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_has_its_code_and_its_words() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let remove = ["remove-members", "--group", "no", "--yes", "--instance-ids", "a"];
    for args in [&["describe", "--group", "no"][..], &["members", "--group", "no"], &remove] {
        let said = run(&cluster, args).await;
        assert_eq!((said.err.as_str(), said.code), ("there is no group `no`\n", 1), "{args:?}");
    }
    let said = run(&cluster, &["members", "--group", "no", "--group", GROUP]).await;
    assert_eq!((said.out.lines().count(), said.code), (3, 1), "the others are told all the same");

    let refuse = |api| {
        cluster.control(api, 1, |_| Verdict::Error(ErrorCode::GroupAuthorizationFailed));
    };
    refuse(ApiKey::DescribeGroups);
    let said = run(&cluster, &["describe", "--group", GROUP]).await;
    let needed = "not authorised for DescribeGroups: DESCRIBE on group `indexers` is needed\n";
    assert_eq!((said.err.as_str(), said.code), (needed, 3));
    refuse(ApiKey::LeaveGroup);
    let said =
        run(&cluster, &["remove-members", "--group", GROUP, "--yes", "--instance-ids", "pod-1"])
            .await;
    let needed = "not authorised for LeaveGroup: READ on group `indexers` is needed\n";
    assert_eq!((said.err.as_str(), said.code), (needed, 3));

    cluster.control(ApiKey::ListGroups, 1, |_| Verdict::Error(ErrorCode::UnknownServerError));
    let said = run(&cluster, &["list"]).await;
    let told = "broker 1: ListGroups of broker 1 was refused: UnknownServerError (-1)\n";
    assert_eq!((said.err.as_str(), said.code), (told, 3));

    cluster.stop(NodeId(1));
    let said = run(&cluster, &["list", "--timeout", "1"]).await;
    assert!(said.err.starts_with("no broker could be reached: 127.0.0.1:"), "{}", said.err);
    assert_eq!(said.code, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_is_said_and_nobody_is_asked() {
    let cluster = cluster();
    let remove = ["remove-members", "--group", "g"];
    for (args, message) in [
        (&["list", "--group", "g"][..], "invalid option '--group'"),
        (&["list", "--timeout", "0"], "`--timeout` takes 1 to 86400 seconds, not \"0\""),
        (&["list", "--format", "eat"], "`--format` takes table or json, not `eat`"),
        (&["describe"], "no `--group` is named"),
        (&["describe", "--group", ""], "`--group`: the name of a group is empty"),
        (
            &remove,
            "no member to remove is named: `--instance-ids a,b`, `--member-ids x,y`, `--instance-id",
        ),
        (
            &[&remove[..], &["--group", "h"]].concat(),
            "members are removed from one group at a time",
        ),
        (&[&remove[..], &["--instance-ids", "a,,b"]].concat(), "`--instance-ids`: \"\" is empty"),
        (
            &[&remove[..], &["--instance-ids", "a b"]].concat(),
            "`--instance-ids`: \"a b\" holds ' '",
        ),
        (&[&remove[..], &["--member-ids", ""]].concat(), "`--member-ids`: \"\" is empty"),
        (&["members", "g"], "unexpected argument \"g\""),
    ] {
        let said = run(&cluster, args).await;
        assert!(said.err.starts_with(message), "{args:?}: {}", said.err);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
    }
    let nowhere = start(&["list".to_owned()], "");
    assert!(nowhere.err.starts_with("`--bootstrap-server` is missing"), "{}", nowhere.err);
    let wrong = ["list", "--bootstrap-server", "nowhere"].map(str::to_owned);
    let wrong = start(&wrong, "");
    assert!(wrong.err.starts_with("`bootstrap.servers` has an entry, `nowhere`"), "{}", wrong.err);
    assert_eq!((nowhere.code, wrong.code), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn help_is_given_without_a_cluster() {
    for command in
        ["list", "describe", "members", "lag", "remove-members", "reset-offsets", "delete"]
    {
        let usage = format!("usage: kafka-group {command} --bootstrap-server HOST:PORT");
        for args in [["help", command], [command, "--help"], [command, "-h"]] {
            let said = start(&args.map(str::to_owned), "");
            assert!(said.out.starts_with(&usage), "{}", said.out);
            assert_eq!(said.code, 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_in_a_runtime_with_threads_is_served_by_the_clients_own() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let admin = admin(&cluster).await;
    assert_eq!(admin.list_groups(ListOptions::default()).await.unwrap().groups.len(), 1);
    let entries = [MemberKey::instance_id("nobody")];
    assert_eq!(admin.remove_members(GROUP, entries, Default::default()).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_cannot_be_described_is_deleted_after_a_yes() {
    let cluster = cluster();
    let app = App::start(member(&cluster)).await;
    let offsets = [0, 1].map(|number| (TopicPartition::new("orders", number), 7.into()));
    app.handle.commit(offsets.into()).await.unwrap();
    app.close().await;
    let args = ["delete", "--group", GROUP];
    let pretend = |name: &'static str| {
        cluster.control(ApiKey::DescribeGroups, 1, |_| Verdict::Error(ErrorCode::GroupIdNotFound));
        cluster.control(ApiKey::ListGroups, 1, move |_| Verdict::Garbage(listed_as(name)));
    };
    for (name, members) in [("streams", "        -        2"), ("share", "        -        -")] {
        pretend(name);
        let said = answering(&cluster, &args, "n\n").await;
        let there = format!(
            "To be deleted:\nGROUP     STATE  MEMBERS  OFFSETS\nindexers  -    {members}\nWhat they"
        );
        assert!(said.err.starts_with(&there), "{}", said.err);
        assert_eq!(said.code, 1);
    }
    pretend("share");
    let said = run(&cluster, &[&args[..], &["--dry-run", "--format", "json"]].concat()).await;
    let line = "{\"group\":\"indexers\",\"state\":null,\"members\":null,\"offsets\":null}\n";
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), (line, "", 0));
    pretend("share");
    let said = answering(&cluster, &args, "y\n").await;
    assert_eq!((said.out.as_str(), said.code), ("GROUP     OUTCOME\nindexers  deleted\n", 0));
}
