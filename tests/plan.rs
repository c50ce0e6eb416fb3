//! The command `kafka-group plan` as people run it: what it prints for small groups, word for word.
//!
//! `KAFKA_GROUP_GOLDEN=write` writes the files of `tests/data/plan` anew, to be looked at before they are committed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn data(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/plan")).join(name)
}

fn plan(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
    command.current_dir(data("")).arg("plan").args(args).output().unwrap()
}

/// Runs the command and compares what it says, but for times, with a file.
fn check(golden: &str, args: &[&str]) {
    let output = plan(args);
    let said = without_times(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
    assert!(output.status.success(), "{args:?}");
    let path = data(golden);
    if std::env::var("KAFKA_GROUP_GOLDEN").is_ok_and(|mode| mode == "write") {
        std::fs::write(&path, &said).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(said, expected, "{}", path.display());
}

/// Replaces the number in `in 0.05 ms`.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.strip_suffix(" ms").and_then(|line| line.rsplit_once(' ')) {
        Some((before, time)) if time.parse::<f64>().is_ok() => format!("{before} … ms\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn a_group_is_planned_by_default_as_kafkas_cooperative_sticky() {
    check("shop.cooperative-sticky.txt", &["shop.json"]);
}

#[test]
fn another_assigner_shows_how_far_it_is_from_the_best() {
    check("shop.range.txt", &["--assigner", "range", "shop.json"]);
    check("shop.roundrobin.txt", &["--assigner", "roundrobin", "shop.json"]);
}

#[test]
fn racks_first_says_what_that_costs() {
    check("shop.racks.txt", &["--racks", "before-moves", "shop.json"]);
}

#[test]
fn a_chain_of_moves_says_who_gives_up_what_for_whom() {
    check("chain.sticky.txt", &["--assigner", "sticky", "chain.json"]);
}

#[test]
fn copies_show_who_has_the_first_ones() {
    check("copies.redundant.txt", &["--assigner", "redundant", "copies.json"]);
}

#[test]
fn a_member_that_leaves_and_one_that_comes_are_supposed_first() {
    check("shop.what-if.txt", &["--without", "pod-1", "--with", "1", "shop.json"]);
}

#[test]
fn several_files_follow_one_another() {
    check("both.txt", &["--assigner", "sticky", "chain.json", "shop.json"]);
}

#[test]
fn a_partition_is_explained() {
    check("shop.explain.txt", &["--explain", "orders-5", "shop.json"]);
}

#[test]
fn each_file_is_a_line_of_json_and_memory_is_counted() {
    let output =
        plan(&["-a", "sticky", "--format", "json", "--runs", "3", "chain.json", "shop.json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [chain, shop] = lines.as_slice() else { panic!("{said}") };
    assert_eq!((&chain["scenario"], &shop["scenario"]), (&"chain".into(), &"shop".into()));
    assert_eq!((&chain["moves"], &chain["sumsq"]), (&2.into(), &12.into()));
    assert!(chain["peak_mb"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_bad_file_is_named_with_its_line_and_the_others_are_planned() {
    let bad = std::env::temp_dir().join(format!("kafka-group-bad-{}.json", std::process::id()));
    std::fs::write(&bad, "{\n  \"topics\": {},\n  \"members\": {},\n  \"color\": 1\n}").unwrap();
    let output = plan(&["--format", "json", bad.to_str().unwrap(), "chain.json"]);
    std::fs::remove_file(&bad).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    let complaint = String::from_utf8(output.stderr).unwrap();
    let expected = format!("{}:4: unknown field `color`, expected one of ", bad.display());
    assert!(complaint.starts_with(&expected), "{complaint}");
}

#[test]
fn what_is_not_understood_has_a_code_of_its_own() {
    assert_eq!(plan(&["--colour"]).status.code(), Some(2));
}
