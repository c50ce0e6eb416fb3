//! The command from its arguments to its words, without a process.

use std::path::PathBuf;

use super::*;
use crate::GroupMember;
use crate::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
};
use crate::testing::FakeBroker;

/// What a command said, what it complained of, and its code.
#[derive(Debug)]
struct Said {
    out: String,
    err: String,
    code: u8,
}

fn run_with(assigners: &Assigners, args: &[&str]) -> Said {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["kafka-group"].iter().chain(args).map(OsString::from);
    let code = dispatch(words, assigners, &mut Console::new(&mut out, &mut err));
    let [out, err] = [out, err].map(|bytes| String::from_utf8(bytes).unwrap());
    Said { out, err, code }
}

fn run(args: &[&str]) -> Said {
    run_with(&Assigners::builtin(), args)
}

/// A file for one test, gone with it.
struct TestFile(PathBuf);

impl TestFile {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kafka-group-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One member has everything, another comes.
const NEWCOMER: &str = r#"{
    "topics": {"t": {"partitions": 4, "racks": [["x"], ["x"], ["y"], ["y"]]}},
    "members": {"a": {"rack": "y", "owned": {"t": "0-3"}}, "b": {"rack": "x"}}
}"#;

/// The numbers that a plan of `NEWCOMER` comes to with these arguments.
fn newcomer(name: &str, args: &[&str]) -> serde_json::Value {
    let file = TestFile::new(name, NEWCOMER);
    let said = run(&[&["plan", "--format", "json", file.path()], args].concat());
    assert_eq!((said.err.as_str(), said.code), ("", 0));
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn help_is_given_for_the_asking() {
    for args in [&["help"][..], &["--help"], &["-h"], &[]] {
        assert!(run(args).out.starts_with("usage: kafka-group COMMAND"), "{args:?}");
    }
    for args in [&["help", "plan"][..], &["plan", "--help"], &["plan", "-h"]] {
        assert!(run(args).out.starts_with("usage: kafka-group plan"), "{args:?}");
    }
    for command in commands::COMMANDS.iter().filter(|command| command.name != "help") {
        let usage = format!("usage: kafka-group {} ", command.name);
        for args in [["help", command.name], [command.name, "--help"], [command.name, "-h"]] {
            let said = run(&args);
            assert!(said.out.starts_with(&usage), "{args:?}: {said:?}");
            assert_eq!((said.err.as_str(), said.code), ("", 0));
        }
        assert!(run(&["help"]).out.contains(command.about));
    }
    assert!(run(&["--version"]).out.starts_with("kafka-group "));
}

#[test]
fn what_is_not_understood_is_said_and_nothing_is_done() {
    for (args, message) in [
        (&["eat"][..], "no command \"eat\"; try `kafka-group help`"),
        (&["help", "eat"], "no command \"eat\"; try `kafka-group help`"),
        (&["--eat"], "invalid option '--eat'"),
        (&["plan"], "no file to plan"),
        (&["plan", "--eat", "f"], "invalid option '--eat'"),
        (&["plan", "f", "--assigner"], "missing argument for option '--assigner'"),
        (&["plan", "f", "-a", "eat"], "no assigner `eat`; there are range, roundrobin, sticky,"),
        (&["plan", "f", "--racks", "eat"], "`--racks` takes one of after-moves, before-moves,"),
        (&["plan", "f", "--copies", "0"], "`--copies` takes 1 or more, not 0"),
        (&["plan", "f", "--slack", "-1"], "`--slack` takes a number, not \"-1\""),
        (&["plan", "f", "-a", "range", "--slack", "1"], "`--slack` is nothing that range knows"),
        (&["plan", "f", "--runs", "0"], "`--runs` takes 1 to 100000"),
        (&["plan", "f", "--format", "eat"], "`--format` takes table or json, not `eat`"),
        (&["plan", "f", "--explain", "t"], "`--explain` takes a partition as in `orders-3`"),
        (&["plan", "f", "--explain", "t-0", "--format", "json"], "`--explain` has no form in JSON"),
    ] {
        let said = run(args);
        assert!(said.err.starts_with(message), "{args:?}: {}", said.err);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
    }
}

#[test]
fn each_builtin_plans() {
    for (name, moves) in [
        ("range", 2),
        ("roundrobin", 2),
        ("sticky", 2),
        ("cooperative-sticky", 2),
        ("co-partition", 2),
        ("rack-aware", 2),
    ] {
        let line = newcomer(&format!("each-{name}"), &["--assigner", name]);
        assert_eq!(line["peer"], format!("kafka-group-{name}"));
        assert_eq!((&line["moves"], &line["sumsq"]), (&moves.into(), &8.into()), "{name}");
    }
}

#[test]
fn racks_count_as_they_are_told_to() {
    let moves = |name: &str, replicas: [&str; 2], order: &str| {
        let [first, last] = replicas;
        let text = format!(
            r#"{{"topics": {{"t": {{"partitions": 2, "racks": [[{first}], [{last}]]}}}},
                "members": {{"a": {{"rack": "y", "owned": {{"t": "0"}}}}, "b": {{"rack": "x", "owned": {{"t": "1"}}}}}}}}"#
        );
        let file = TestFile::new(&format!("racks-{name}-{order}"), &text);
        let said = run(&["plan", "--format", "json", "--racks", order, file.path()]);
        serde_json::from_str::<serde_json::Value>(&said.out).unwrap()["moves"].as_u64().unwrap()
    };
    for (order, all_far, leaders_far) in [
        ("after-moves", 0, 0),
        ("before-moves", 2, 0),
        ("leaders-after-moves", 0, 0),
        ("leaders-before-moves", 2, 2),
        ("ignored", 0, 0),
    ] {
        assert_eq!(moves("all", [r#""x""#, r#""y""#], order), all_far, "{order}");
        assert_eq!(moves("led", [r#""x", "y""#, r#""y", "x""#], order), leaders_far, "{order}");
    }
}

#[test]
fn slack_saves_moves() {
    assert_eq!(newcomer("slack-0", &[])["moves"], 2);
    assert_eq!(newcomer("slack-1", &["--slack", "1"])["moves"], 1);
}

#[test]
fn topics_are_co_partitioned_as_they_are_told_to_be() {
    let text = r#"{"topics": {"x": 2, "y": 2, "z": 3}, "members": {"a": {}, "b": {}}}"#;
    let file = TestFile::new("co-partition", text);
    let plan = |args: &[&str]| run(&[&["plan", "-a", "co-partition", file.path()], args].concat());
    let joined = plan(&["--co-partition", "x,y"]).out;
    assert!(joined.contains("x 0  y 0  z ") && joined.contains("x 1  y 1  z "), "{joined}");
    assert_eq!(plan(&["--co-partition", "x,y", "--strict"]).code, 0);
    let refused = plan(&["--co-partition", "x,y", "--co-partition", "y,z", "--strict"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains('x') && refused.err.contains('z'), "{}", refused.err);
}

#[test]
fn copies_are_as_many_as_asked_for_and_not_in_one_process() {
    let text = r#"{"topics": {"t": 2}, "members": {
        "a": {"process": "one/1"}, "b": {"process": "one/1"}, "c": {"process": "two/1"}}}"#;
    let file = TestFile::new("copies", text);
    let plan = |args: &[&str]| run(&[&["plan", "-a", "redundant", file.path()], args].concat()).out;
    let twice = plan(&[]);
    assert!(twice.lines().any(|line| line.starts_with('c') && line.ends_with("t 0-1")), "{twice}");
    let everywhere = plan(&["--copies", "3"]);
    assert_eq!(everywhere.matches("t 0-1").count(), 3, "{everywhere}");
}

#[test]
fn a_line_has_the_fields_of_the_format_and_a_time_for_each_run() {
    let line = newcomer("fields", &["--runs", "3"]);
    let expected = [
        "scenario",
        "peer",
        "runs",
        "median_ms",
        "min_ms",
        "moves",
        "spread",
        "max",
        "min",
        "sumsq",
        "unassigned",
        "cross_rack",
        "rackable",
    ];
    let fields: std::collections::BTreeSet<&str> =
        line.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, expected.into_iter().collect());
    assert_eq!(line["runs"], 3);
    assert!(line["median_ms"].as_f64() >= line["min_ms"].as_f64());
}

#[test]
fn a_bad_file_stops_no_other() {
    let (good, bad) =
        (TestFile::new("good", NEWCOMER), TestFile::new("bad", "{\n  \"topics\": 7\n}"));
    let gone = std::env::temp_dir().join("kafka-group-gone");
    let gone = gone.to_str().unwrap();
    let said = run(&["plan", "--format", "json", bad.path(), gone, good.path()]);
    assert_eq!((said.out.lines().count(), said.code), (1, 1));
    let complaints: Vec<&str> = said.err.lines().collect();
    let expected = ":2: invalid type: integer `7`, expected topics as an object, or as a list";
    assert_eq!(complaints[0], format!("{}{expected}", bad.path()));
    assert!(complaints[1].starts_with(&format!("{gone}: No such file")), "{}", complaints[1]);
}

#[test]
fn weights_come_from_the_file() {
    let text =
        r#"{"topics": {"t": 4}, "members": {"a": {}, "b": {}}, "weights": {"t": [8, 8, 1, 1]}}"#;
    let file = TestFile::new("weights", text);
    for (assigner, expected) in [("sticky", "9.00 to 9.00"), ("cooperative-sticky", "9.00 to 9.00")]
    {
        let said = run(&["plan", "-a", assigner, file.path()]);
        assert!(said.out.contains(&format!("weights    {expected}\n")), "{}", said.out);
    }
}

/// Gives everything to whoever has the most threads.
struct Largest;

impl PartitionAssigner<u32> for Largest {
    fn name(&self) -> &str {
        "largest"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> u32 {
        1
    }

    fn assign(&self, group: &GroupSubscription<u32>) -> Result<GroupAssignment, AssignError> {
        let told = group.require_metadata()?;
        assert!(told.len() > 1, "alone");
        let mut plan = group.plan();
        let largest = told.iter().max_by_key(|(_, threads)| **threads).map(|(member, _)| *member);
        for (member, partition) in largest.into_iter().cycle().zip(group.partitions()) {
            plan.give(member, partition);
        }
        Ok(plan)
    }
}

#[test]
fn an_application_brings_its_own_assigner_and_its_metadata() {
    let assigners = Assigners::builtin().with(Largest);
    let plan = |name: &str, members: &str| {
        let text = format!("{{\"topics\": {{\"t\": 3}}, \"members\": {{{members}}}}}");
        let file = TestFile::new(name, &text);
        let said = run_with(&assigners, &["plan", "--assigner", "largest", file.path()]);
        format!("{}{}", said.out, said.err.trim_start_matches(file.path()))
    };
    let said = plan("own", r#""a": {"metadata": 1}, "b": {"metadata": 8}"#);
    assert!(said.contains("\na       -       0    0"), "{said}");
    assert!(said.contains("loads could be 1 to 2"), "{said}");
    let said = plan("own-odd", r#""a": {"metadata": 1}, "b\\n": {"metadata": {"x": 1}}"#);
    assert!(said.starts_with(": metadata of member `b\\n`: "), "{said}");
    assert_eq!(plan("own-none", r#""a": {}"#), ": metadata of member `a`: none was sent\n");
    assert_eq!(plan("own-panic", r#""a": {"metadata": 1}"#), ": the assigner panicked: alone\n");
}

#[test]
fn metadata_that_count_for_nothing_are_said_to() {
    let plan = |assigner: &str, members: &str| {
        let text = format!("{{\"topics\": {{\"t\": 3}}, \"members\": {{{members}}}}}");
        let file = TestFile::new(assigner, &text);
        let said = run(&["plan", "--assigner", assigner, file.path()]);
        assert_eq!((said.err.as_str(), said.code), ("", 0));
        let (head, _table) = said.out.split_once("\n\n").unwrap();
        head.split_once('\n').map(|(_, notes)| notes.to_owned()).unwrap_or_default()
    };
    let told = r#""a": {"metadata": {"threads": 8}}, "b": {"metadata": 1}, "c": {}"#;
    assert_eq!(plan("sticky", told), "sticky takes no metadata: those of 2 members do not count");
    assert_eq!(plan("sticky", r#""a": {"metadata": null}, "b": {}"#), "");
    let notes = plan("rack-aware", told);
    let begin = "the metadata of a cannot be read: ";
    assert!(notes.starts_with(begin) && notes.contains("\nthe metadata of b cannot"), "{notes}");
    assert_eq!(plan("rack-aware", r#""a": {"metadata": "r-1"}, "b": {}"#), "");
}

#[test]
fn an_application_that_brings_its_assigner_sees_what_members_of_a_group_told_it() {
    let cluster = FakeBroker::start([("t", 2)]).unwrap();
    let servers = cluster.bootstrap_servers();
    let member = GroupMember::builder()
        .bootstrap_servers(&*servers)
        .group_id("g")
        .subscribe(["t"])
        .assigner(Smallest);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut member = runtime.block_on(member.join()).unwrap();
    runtime.block_on(member.next()).unwrap();

    let args = ["describe", "--bootstrap-server", &servers, "--group", "g"];
    let stranger = run(&args);
    assert!(stranger.out.ends_with("  t           0x01\n"), "{stranger:?}");
    let said = run_with(&Assigners::builtin().with(Smallest), &args);
    assert!(said.out.ends_with("  t           1\n"), "{said:?}");
    let said = run_with(
        &Assigners::builtin().with(Smallest),
        &[&args[..], &["--format", "json"]].concat(),
    );
    let line: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(line["members"][0]["metadata"], 1);
    assert_eq!((said.err.as_str(), said.code), ("", 0));

    let args = ["plan", "--bootstrap-server", &servers, "--group", "g", "--with", "1"];
    let said = run(&args);
    let problem = "group g: it plans by `smallest`, which this command was made without";
    assert!(said.err.starts_with(problem), "{said:?}");
    let saved = TestFile::new("smallest", "");
    let args = [&args[..], &["--save", saved.path()]].concat();
    let said = run_with(&Assigners::builtin().with(Smallest), &args);
    assert!(said.out.contains("2 partitions of 1 topic, planned by smallest"), "{said:?}");
    assert!(std::fs::read_to_string(saved.path()).unwrap().contains("\"metadata\": 1"));
}

/// What a command writes on a terminal of 20 columns.
fn on_a_narrow_terminal(args: &[&str]) -> String {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["kafka-group"].iter().chain(args).map(OsString::from);
    let console = Console::new(&mut out, &mut err).on(|| Page::of(20, 10).with_colours());
    assert_eq!(dispatch(words, &Assigners::builtin(), &mut { console }), 0);
    String::from_utf8(out).unwrap()
}

#[test]
fn watching_draws_on_the_other_page_of_a_terminal_and_leaves_it_as_it_was() {
    let cluster = FakeBroker::start([("t", 2)]).unwrap();
    let servers = cluster.bootstrap_servers();
    let member = GroupMember::builder()
        .bootstrap_servers(&*servers)
        .group_id("g\u{1b}[2J")
        .group_instance_id("pod-1")
        .subscribe(["t"])
        .assigner(Smallest);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut member = runtime.block_on(member.join()).unwrap();
    runtime.block_on(member.next()).unwrap();
    let (count, group) = (["--interval", "0.1", "--count", "2"], ["--group", "g\u{1b}[2J"]);
    let args = [&["watch", "--bootstrap-server", &servers][..], &count, &group].concat();
    let said = on_a_narrow_terminal(&args);
    let pictures: Vec<&str> = said.split("\u{1b}[H").collect();
    assert_eq!(pictures.len(), 3, "{said:?}");
    assert_eq!(pictures[0], "\u{1b}[?1049h\u{1b}[?25l");
    let (picture, left) = pictures[2].split_once("\u{1b}[J\u{1b}[?25h\u{1b}[?1049l").unwrap();
    assert!(picture.contains("\u{1b}[2K\u{1b}[32mg\\u{1b}[2J  Stable …\u{1b}[0m\r\n"), "{said:?}");
    assert!(picture.contains("\u{1b}[2Kpod-1     2    -  t…"), "{said:?}");
    assert!(left.contains("\u{1b}[32mg\\u{1b}[2J  Stable …\u{1b}[0m\n"), "{said:?}");
}

#[test]
fn a_plan_on_a_narrow_terminal_has_a_paragraph_for_each_member() {
    let file = TestFile::new("narrow", NEWCOMER);
    let said = on_a_narrow_terminal(&["plan", file.path()]);
    let said = said.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    let first = "\nMEMBER      a\nRACK        y\nHAD         4\nHAS         2\nNEW         0\n";
    assert!(said.contains(first), "{said}");
    assert!(
        said.contains(
            "\nWHY         a had 4\n            and is\n            to have\n            2\n"
        ),
        "{said}"
    );
}

/// Gives everything to whoever has the fewest threads.
struct Smallest;

impl PartitionAssigner<u32> for Smallest {
    fn name(&self) -> &str {
        "smallest"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> u32 {
        1
    }

    fn assign(&self, group: &GroupSubscription<u32>) -> Result<GroupAssignment, AssignError> {
        let told = group.require_metadata()?;
        let mut plan = group.plan();
        let smallest = told.iter().min_by_key(|(_, threads)| **threads).map(|(member, _)| *member);
        for (member, partition) in smallest.into_iter().cycle().zip(group.partitions()) {
            plan.give(member, partition);
        }
        Ok(plan)
    }
}

#[test]
fn explaining_tells_who_had_a_partition_and_what_each_candidate_would_cost() {
    let file = TestFile::new("explain", NEWCOMER);
    let said = run(&["plan", "--explain", "t-2", file.path()]);
    let head = said.out.lines().skip(2).take(3).collect::<Vec<_>>();
    assert_eq!(
        head,
        [
            "had by       a, in generation -1",
            "planned for  a, by cooperative-sticky",
            "candidates   2, who subscribe to the topic",
        ]
    );
    let rows: Vec<&str> = said.out.lines().skip(7).take(3).collect();
    assert_eq!(
        rows,
        [
            "(anybody)    2..2        +0      2    0",
            "a            2..2        +0      2    0",
            "b            2..2        +0      2    2  far from it",
        ]
    );
    let said = run(&["plan", "--explain", "t-9", file.path()]);
    assert!(said.err.ends_with(": no partition t-9 in this group\n"), "{}", said.err);
}

#[test]
fn what_can_be_said_no_more_is_a_failure_and_a_reader_who_has_seen_enough_a_closed_pipe() {
    struct Broken(std::io::ErrorKind);

    impl std::io::Write for Broken {
        fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    for (kind, expected) in
        [(std::io::ErrorKind::StorageFull, 1), (std::io::ErrorKind::BrokenPipe, 141)]
    {
        let (mut out, mut err) = (Broken(kind), Vec::new());
        let mut console = Console::new(&mut out, &mut err);
        let args = ["kafka-group", "help"].map(OsString::from);
        assert_eq!(dispatch(args, &Assigners::builtin(), &mut console), expected);
    }
}
