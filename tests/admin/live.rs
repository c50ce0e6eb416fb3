//! The command `kafka-group` on groups that live: plans for them, and what is seen of them over time.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use kafka_group::assign::StickyAssigner;
use kafka_group::testing::{FakeCluster, Verdict};
use kafka_group::types::NodeId;
use kafka_group::{ApiKey, LeavePolicy};

use crate::answers::{described, listed_as, rebalancing, wrote};
use crate::command::{Said, check, cluster, pods, run as run_on, start};
use crate::harness::{App, GROUP, eventually, member, plain, static_members};
use crate::watching::Watching;

/// A file for one test, gone with it.
pub(crate) struct TestFile(PathBuf);

impl TestFile {
    pub(crate) fn new(name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = std::env::temp_dir().join(format!("kafka-group-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// Replaces its name in what was said.
    pub(crate) fn unnamed(&self, said: &str) -> String {
        said.replace(self.path(), "c")
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs the command with these arguments and no others.
pub(crate) async fn run(args: &[&str]) -> Said {
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    tokio::task::spawn_blocking(move || start(&args, "")).await.unwrap()
}

pub(crate) fn servers(cluster: &FakeCluster) -> String {
    cluster.bootstrap_servers()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_planned_for_as_it_is_by_its_own_assigner() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    check("plan.txt", &plan(&cluster, &[]).await);
    check("plan.range.txt", &plan(&cluster, &["--assigner", "range", "--with", "1"]).await);
    check(
        "plan.without.txt",
        &plan(&cluster, &["--without", "pod-2", "--with", "1", "--with", "pod-3"]).await,
    );
    let said = plan(&cluster, &["--format", "json", "--with", "1"]).await;
    let line: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&line["scenario"], &line["moves"]), (&GROUP.into(), &4.into()));
    assert_eq!(line["peer"], "kafka-group-cooperative-sticky");
    let said = plan(&cluster, &["--explain", "orders-0"]).await;
    assert!(said.out.contains("had by       pod-1, in generation"), "{}", said.out);
}

/// Plans for the group, without times.
async fn plan(cluster: &FakeCluster, args: &[&str]) -> Said {
    let said = run_on(cluster, &[&["plan", "--group", GROUP], args].concat()).await;
    let line = |line: &str| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with(" ms") => format!("{before} in … ms\n"),
        _ => format!("{line}\n"),
    };
    Said { out: said.out.lines().map(line).collect(), ..said }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_was_saved_is_planned_for_as_if_it_lived() {
    let cluster = cluster();
    let apps = static_members(&cluster, ["a", "b", "c"]).await;
    let file = TestFile::new("saved", "");
    let live = plan(&cluster, &["--save", file.path(), "--without", "c"]).await;
    assert_eq!((live.err.as_str(), live.code), ("", 0));
    drop((apps, cluster));
    let saved = run(&["plan", "--assigner", "range", "--without", "c", file.path()]).await;
    let without_head = |said: &str| said.split_once('\n').unwrap().1.to_owned();
    assert_eq!(without_head(&saved.out), without_head(&live.out));
    let said = run(&["plan", "--save", "/nowhere/f", "--group", "g", "--bootstrap-server", "x:1"]);
    assert_eq!(said.await.code, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_rebalances_is_waited_for() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let rounds = |count| {
        let answer = rebalancing(vec![wrote("a", b"", b"")]);
        cluster.control(ApiKey::DescribeGroups, count, move |_| Verdict::Garbage(answer.clone()));
    };
    rounds(2);
    let said = plan(&cluster, &[]).await;
    assert_eq!((said.err.as_str(), said.code), ("", 0));
    rounds(100);
    let said = plan(&cluster, &["--timeout", "1"]).await;
    let expected = "group indexers: it is PreparingRebalance, and what its members want is told of \
                    a stable group alone\n";
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), ("", expected, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_known_of_a_group_is_said() {
    let cluster = cluster();
    let java = b"\0\x01\0\0\0\x01\0\x06orders\xff\xff\xff\xff\0\0\0\0";
    let gone = b"\0\x01\0\0\0\x01\0\x04gone\xff\xff\xff\xff\0\0\0\0";
    let assigned = b"\0\x01\0\0\0\x01\0\x06orders\0\0\0\x02\0\0\0\0\0\0\0\x01\xff\xff\xff\xff";
    let members = vec![
        wrote("java-1", java, assigned),
        wrote("java-2", gone, b"\xff\xfe"),
        wrote("odd\x1b[31m", b"\xff\xfegarbage", b""),
    ];
    let answer = |protocol_type, protocol| {
        let answer = described(protocol_type, protocol, members.clone());
        cluster.control(ApiKey::DescribeGroups, 1, move |_| Verdict::Garbage(answer.clone()));
    };
    answer("consumer", "cooperative-sticky");
    check("plan.foreign.txt", &plan(&cluster, &[]).await);
    answer("consumer", "theirs");
    check("plan.theirs.txt", &plan(&cluster, &["--assigner", "range"]).await);
    for (protocol_type, protocol, problem) in [
        (
            "consumer",
            "theirs\x1b",
            "it plans by `theirs\\u{1b}`, which this command was made without",
        ),
        ("connect", "sessioned", "it is of protocol type connect, not of consumers"),
    ] {
        answer(protocol_type, protocol);
        let said = plan(&cluster, &[]).await;
        assert!(said.err.starts_with(&format!("group indexers: {problem}")), "{}", said.err);
        assert_eq!((said.out.as_str(), said.code), ("", 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_members_have_though_nobody_subscribes_to_it_is_said() {
    let cluster = cluster();
    let nothing = b"\0\x01\0\0\0\0\xff\xff\xff\xff\0\0\0\0";
    let assigned = b"\0\x01\0\0\0\x01\0\x06orders\0\0\0\x02\0\0\0\0\0\0\0\x01\xff\xff\xff\xff";
    let answer = described("consumer", "range", vec![wrote("java", nothing, assigned)]);
    cluster.control(ApiKey::DescribeGroups, 1, move |_| Verdict::Garbage(answer.clone()));
    let said = plan(&cluster, &[]).await;
    let (head, _table) = said.out.split_once("\n\n").unwrap();
    assert!(head.ends_with("\nnobody subscribes to what members have: orders 0-1"), "{head}");
    assert_eq!((said.err.as_str(), said.code), ("", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_has_no_members_of_its_own_is_not_planned_for() {
    let cluster = cluster();
    let app = App::start(member(&cluster).leave_policy(LeavePolicy::Leave)).await;
    app.close().await;
    let said = plan(&cluster, &["--with", "1"]).await;
    let expected = "group indexers: it is Empty and has no members\n";
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), ("", expected, 1));
    let other = || run_on(&cluster, &["plan", "--group", "no"]);
    assert_eq!(other().await.err, "there is no group `no`\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_in_which_the_broker_assigns_is_said_to_be_one() {
    let cluster = cluster();
    cluster.control(ApiKey::ListGroups, 1, |_| Verdict::Garbage(listed_as("consumer")));
    let said = plan(&cluster, &[]).await;
    assert!(said.err.starts_with("group `indexers` is of type consumer: "), "{}", said.err);
    assert_eq!((said.out.as_str(), said.code), ("", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_of_a_plan_is_said_and_nobody_is_asked() {
    let cluster = cluster();
    for (args, message) in [
        (&["--group", ""][..], "`--group`: the name of a group is empty"),
        (&["--group", "g", "f.json"], "files and groups are planned apart"),
        (&["f.json"], "a cluster is asked for a `--group` alone"),
        (&["--group", "g", "--group", "h", "--save", "f"], "`--save` takes one `--group`"),
        (&["--group", "g", "--assigner", "eat"], "no assigner `eat`; there are range,"),
        (&["--group", "g", "--with", "10001"], "`--with` takes no more than 10000"),
        (&["--group", "g", "--with", "a,,b"], "`--with` takes a number, or names"),
    ] {
        let said = run_on(&cluster, &[&["plan"], args].concat()).await;
        assert!(said.err.starts_with(message), "{args:?}: {}", said.err);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
    }
    let said = run(&["plan", "--group", "g"]).await;
    assert!(said.err.starts_with("`--bootstrap-server` is missing"), "{}", said.err);
    assert!(cluster.requests().is_empty());
    let _pods = pods(&cluster).await;
    let said = plan(&cluster, &["--without", "pod-2,nobody"]).await;
    assert_eq!((said.err.as_str(), said.code), ("group indexers: no member nobody in it\n", 1));
}

/// A command that watches this group, closely.
fn watching(cluster: &FakeCluster) -> Watching {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
    command.args(["watch", "--bootstrap-server", &servers(cluster), "--interval", "0.1"]);
    command.args(["--group", GROUP]).stderr(Stdio::piped());
    Watching::start(command, Duration::from_secs(60))
}

fn signal(watching: &Watching, name: &str) {
    // The shell's own: a bare machine has no such program.
    let kill = format!("kill -s {name} {}", watching.child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// How it ends, which it does soon.
async fn end(mut watching: Watching) -> Option<i32> {
    let mut code = None;
    eventually("an end", || {
        code = watching.child.try_wait().unwrap();
        code.is_some()
    })
    .await;
    code.and_then(|code| code.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_is_watched_is_told_in_lines_where_there_is_no_terminal() {
    let cluster = cluster();
    let [stays, leaves] = pods(&cluster).await;
    let watching = watching(&cluster);
    let first = watching.until("pod-2 has orders 6-11");
    assert!(first[0].starts_with("indexers: Stable, assigner cooperative-sticky, generation "));
    assert_eq!(first[1], "indexers: pod-1 has orders 0-5");

    let third = plain(&cluster).assigner(StickyAssigner::default()).group_instance_id("pod-3");
    let third = App::start(third).await;
    third.holds(4).await;
    watching.until("indexers: pod-3 came, at 127.0.0.1");
    watching.until("indexers: pod-3 got orders ");

    cluster.stop(NodeId(1));
    watching.until("indexers: not seen: no broker could be reached: ");
    cluster.start(NodeId(1));
    let back = watching.until("indexers: seen again after ");
    assert_eq!(back.len(), 1, "one line says that it is away: {back:?}");
    drop((stays, leaves));
    signal(&watching, "INT");
    assert_eq!(end(watching).await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_interrupts_is_heard_at_any_time() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    for _ in 0..10 {
        let watching = watching(&cluster);
        // It is between two looks when a line comes.
        watching.until("indexers: Stable");
        signal(&watching, "INT");
        assert_eq!(end(watching).await, Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_reads_no_more_ends_it_though_nothing_changes() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
    command.args(["watch", "--bootstrap-server", &servers(&cluster), "--group", GROUP]);
    let mut watching = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(watching.stdout.take().unwrap());
    // What there is to say of it, after which there is nothing.
    for _ in 0..3 {
        reader.read_line(&mut String::new()).unwrap();
    }
    drop(reader);
    let mut code = None;
    eventually("an end", || {
        code = watching.try_wait().unwrap();
        code.is_some()
    })
    .await;
    assert_eq!(code.and_then(|code| code.code()), Some(141));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_is_watched_is_told_in_json_with_what_has_changed() {
    let cluster = cluster();
    let _pods = pods(&cluster).await;
    let watch = ["watch", "--group", GROUP, "--group", "no", "--interval", "0.1", "--count", "3"];
    let said = run_on(&cluster, &[&watch[..], &["--format", "json"]].concat()).await;
    let lines = said.out.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    let [pods, no] = lines.as_slice() else { panic!("{said:?}") };
    assert_eq!((&pods["group"], &pods["state"]), (&GROUP.into(), &"Stable".into()));
    assert_eq!(pods["members"][1]["partitions"]["orders"], serde_json::json!([6, 7, 8, 9, 10, 11]));
    assert_eq!((&no["trouble"], &no["state"]), (&"there is no group `no`".into(), &().into()));
    assert_eq!((said.err.as_str(), said.code), ("", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_of_watching_is_said_and_nobody_is_asked() {
    let cluster = cluster();
    for (args, message) in [
        (&[][..], "no `--group` is named"),
        (&["--group", ""], "`--group`: the name of a group is empty"),
        (
            &["--group", "g", "--interval", "0"],
            "`--interval` takes 0.1 to 86400 seconds, not \"0\"",
        ),
        (&["--group", "g", "--interval", "NaN"], "`--interval` takes 0.1 to 86400 seconds, not"),
        (&["--group", "g", "--count", "0"], "`--count` takes a number from 1 on, not \"0\""),
        (&["--group", "g", "--yes"], "invalid option '--yes'"),
        (&["g"], "unexpected argument \"g\""),
    ] {
        let said = run_on(&cluster, &[&["watch"], args].concat()).await;
        assert!(said.err.starts_with(message), "{args:?}: {}", said.err);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
    }
    assert!(cluster.requests().is_empty());
}
