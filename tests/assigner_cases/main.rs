//! The cases that other clients got wrong, and more of them, each run for every assigner it names.
//!
//! `KAFKA_GROUP_ASSIGNER_CASES` names another file of the same form. Cases for assigners that do not exist are
//! counted and printed as not run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod assigners;
mod checks;
mod file;
mod group;
mod round;

use std::collections::BTreeMap;

use file::CaseFile;

#[test]
fn assigner_cases() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/assigner-cases.json");
    run(&std::env::var("KAFKA_GROUP_ASSIGNER_CASES").unwrap_or_else(|_| here.to_owned()));
}

#[test]
fn what_nobody_got_wrong_yet() {
    run(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/more-assigner-cases.json"));
}

fn run(path: &str) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: CaseFile = serde_json::from_str(&text).unwrap();
    assert_eq!(file.schema, "assigner-cases/1");

    let (mut run, mut not_run) = (0, BTreeMap::<&str, Vec<&str>>::new());
    for case in &file.cases {
        for name in &case.assigners {
            match case.run(name) {
                true => run += 1,
                false => not_run.entry(name).or_default().push(&case.id),
            }
        }
    }
    println!("{run} runs");
    for (name, cases) in not_run {
        println!("not run for want of `{name}`: {} cases, {}", cases.len(), cases.join(" "));
    }
    assert!(run > 0, "no case is for an assigner that exists");
}
