//! Ours and the peers in turn, and how they compare.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::peers::{franz, java};
use crate::scenarios::{Peer, SCENARIOS, Scenario};
use crate::support::{lines_of, quiet_lines_of};
use crate::{fuzz, is_wanted, write};

/// What all programs print of a plan.
#[derive(Debug, Deserialize)]
struct Line {
    scenario: String,
    median_ms: f64,
    /// Partitions that do not stay with their owner.
    moves: u64,
    /// The sum of the squared loads: the least there is where loads are as even as can be.
    sumsq: u64,
    /// Partitions whose member's rack has no replica.
    #[serde(default)]
    cross_rack: u64,
    /// The most memory beyond the group.
    #[serde(default)]
    peak_mb: f64,
}

/// Compares all groups, or those that are named.
pub(crate) fn run(names: &[&str]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plans");
    let peers = Peers::ready();
    let (mut rows, mut rack_rows) = (Vec::new(), Vec::new());
    for scenario in SCENARIOS.iter().filter(|scenario| is_wanted(scenario.name, names)) {
        let file = write(&folder, scenario.name, &(scenario.group)());
        match scenario.name.starts_with("racks") {
            true => rack_rows.push(rack_row(scenario, &file)),
            false => rows.push(row(scenario, &file, &peers)),
        }
    }
    print_table(
        "group | ours, ms | cooperative | peak, MB | franz-go | ratio | target | Java | ratio | target",
        &rows,
    );
    print_table(
        "racks | after moves, ms | moves | misses | before moves, ms | moves | misses",
        &rack_rows,
    );
    if is_wanted(fuzz::NAME, names) {
        compare_small(&fuzz::write(&folder), &peers);
    }
}

fn print_table(heads: &str, rows: &[String]) {
    if rows.is_empty() {
        return;
    }
    println!("\n| {heads} |\n|{}", "---|".repeat(heads.split('|').count()));
    rows.iter().for_each(|row| println!("| {row} |"));
}

/// The peers that can be run here.
struct Peers {
    franz: Option<Command>,
    java: Option<Command>,
}

impl Peers {
    fn ready() -> Self {
        let told = |name: &str, peer: Result<Command, String>| {
            peer.inspect_err(|why| println!("without {name}: {why}")).ok()
        };
        Self { franz: told("franz-go", franz("assign")), java: told("Java", java("Assign.java")) }
    }
}

/// A peer that plans so many times for each file; none where it cannot, or is not to.
fn theirs(peer: Option<&Command>, runs: usize, files: &[PathBuf]) -> Option<Command> {
    let peer = peer.filter(|_| runs > 0)?;
    let mut program = Command::new(peer.get_program());
    program.args(peer.get_args()).arg(runs.to_string()).args(files);
    Some(program)
}

/// Ours, that plans so many times for each file.
fn ours(assigner: &str, racks: &str, runs: usize, files: &[PathBuf]) -> Command {
    let words = ["plan", "--assigner", assigner, "--racks", racks, "--format", "json", "--runs"];
    let mut program = Command::new(env!("CARGO_BIN_EXE_kafka-group"));
    program.args(words).arg(runs.to_string()).args(files);
    program
}

/// What a program says of the one group that it was given.
fn line_of(program: Command) -> Line {
    lines_of(program).pop().expect("a line for each file")
}

fn row(scenario: &Scenario, file: &Path, peers: &Peers) -> String {
    let files = [file.to_owned()];
    let [sticky, cooperative] = ["sticky", "cooperative-sticky"]
        .map(|assigner| line_of(ours(assigner, "after-moves", scenario.runs, &files)));
    let beside = |peer: Option<&Command>, Peer { runs, target }: Peer| {
        let Some(program) = theirs(peer, runs, &files) else { return " | | ".to_owned() };
        let line = line_of(program);
        let ratio = line.median_ms / sticky.median_ms;
        let target = if target == 0 { String::new() } else { target.to_string() };
        format!("{:.0}{} | {ratio:.0} | {target}", line.median_ms, worse(&line, &sticky))
    };
    format!(
        "{} | {:.1} | {:.1}{} | {:.0} | {} | {}",
        scenario.what,
        sticky.median_ms,
        cooperative.median_ms,
        worse(&cooperative, &sticky),
        sticky.peak_mb,
        beside(peers.franz.as_ref(), scenario.franz),
        beside(peers.java.as_ref(), scenario.java),
    )
}

/// In what a plan is worse than ours.
fn worse(theirs: &Line, ours: &Line) -> &'static str {
    match (theirs.sumsq.cmp(&ours.sumsq), theirs.moves.cmp(&ours.moves)) {
        (Ordering::Greater, _) => ", not balanced",
        (Ordering::Equal, Ordering::Greater) => ", more moves",
        (Ordering::Equal, Ordering::Equal) => "",
        _ => ", better than ours",
    }
}

fn rack_row(scenario: &Scenario, file: &Path) -> String {
    let files = [file.to_owned()];
    let [after, before] = ["after-moves", "before-moves"].map(|racks| {
        let line = line_of(ours("sticky", racks, scenario.runs, &files));
        format!("{:.1} | {} | {}", line.median_ms, line.moves, line.cross_rack)
    });
    format!("{} | {after} | {before}", scenario.what)
}

/// How many of the small groups are as balanced as the best plan that anybody made, and of these with as few moves.
fn compare_small(files: &[PathBuf], peers: &Peers) {
    let plans = [
        ("kafka-group, sticky", Some(ours("sticky", "after-moves", 1, files))),
        (
            "kafka-group, cooperative-sticky",
            Some(ours("cooperative-sticky", "after-moves", 1, files)),
        ),
        ("kafka-group, sticky, racks before moves", Some(ours("sticky", "before-moves", 1, files))),
        ("franz-go", theirs(peers.franz.as_ref(), 1, files)),
        ("Java", theirs(peers.java.as_ref(), 1, files)),
    ];
    let plans = plans.map(|(name, program)| {
        let lines: Vec<Line> = program.map(quiet_lines_of).unwrap_or_default();
        (name, lines)
    });
    let mut best: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for line in plans.iter().flat_map(|(_, lines)| lines) {
        let worth = (line.sumsq, line.moves);
        best.entry(&line.scenario).and_modify(|best| *best = worth.min(*best)).or_insert(worth);
    }
    let row = |(name, lines): &(&str, Vec<Line>)| {
        let is_best = |line: &&Line| best[&*line.scenario] == (line.sumsq, line.moves);
        let balanced = lines.iter().filter(|line| best[&*line.scenario].0 == line.sumsq).count();
        format!("{name} | {balanced} | {}", lines.iter().filter(is_best).count())
    };
    let rows: Vec<String> = plans.iter().filter(|(_, lines)| !lines.is_empty()).map(row).collect();
    print_table("small groups | balanced | of these with the fewest moves", &rows);
}
