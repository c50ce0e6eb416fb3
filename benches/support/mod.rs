//! What the programs of this folder share: numbers, and a copy of themselves to run.

#![allow(dead_code, reason = "each program uses a part of this")]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

/// The arguments, without the one that `cargo bench` adds. `None` where the program was not started by `cargo bench` and
/// is told nothing: `cargo test --all-targets` runs it so, and wants it to do nothing.
pub(crate) fn arguments() -> Option<Vec<String>> {
    let all: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<String> = all.iter().filter(|word| *word != "--bench").cloned().collect();
    (all.len() > given.len() || !given.is_empty()).then_some(given)
}

/// This program, to be run again with other arguments.
pub(crate) fn this_program() -> Command {
    Command::new(std::env::current_exe().expect("a running program has a file"))
}

/// Runs a program to its end, prints each line as it comes, and reads those that are JSON.
pub(crate) fn lines_of<L: DeserializeOwned>(command: Command) -> Vec<L> {
    read_lines(command, |line| println!("{line}"))
}

/// The same, and prints nothing.
pub(crate) fn quiet_lines_of<L: DeserializeOwned>(command: Command) -> Vec<L> {
    read_lines(command, |_| {})
}

fn read_lines<L: DeserializeOwned>(mut command: Command, show: impl Fn(&str)) -> Vec<L> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
    let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let lines = output.lines().map_while(Result::ok).inspect(|line| show(line));
    let read = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
    let status = child.wait().expect("it ends");
    assert!(status.success(), "{command:?}: {status}");
    read
}

/// The middle of some numbers; the mean of the two in the middle where they are even.
pub(crate) fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len() / 2, sorted.len() % 2) {
        (_, _) if sorted.is_empty() => f64::NAN,
        (middle, 1) => sorted[middle],
        (middle, _) => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}
