//! Ours and the peers in turn on one three-node cluster, and how they compare.

use std::process::Command;

use serde::Deserialize;

use crate::common::{Kafka, Settings, unique};
use crate::peers::{franz, java};
use crate::support::{lines_of, median, this_program};

/// Runs of each program.
pub(crate) const ROUNDS: usize = 4;
/// Joins and leaves of one run.
const REPEATS: usize = 2;
const MEMBERS: usize = 10;
const PARTITIONS: i32 = 60;

#[derive(Debug, Deserialize)]
struct Line {
    peer: String,
    event: String,
    ms: f64,
    stopped_ms: f64,
    /// Partitions that were without an owner for a while.
    moved: f64,
}

/// Runs every program `rounds` times, one after the other, on range or cooperative; prints medians and ratios.
pub(crate) fn run(rounds: usize, kind: &str) {
    let own = Kafka::private(&Settings::new(3));
    let kafka = own.as_ref().unwrap_or_else(|| Kafka::shared());
    let topic = unique("settle");
    let replicas = i16::try_from(kafka.addresses().len().min(3)).expect("at most three");
    kafka.admin().create_topic(&topic, PARTITIONS, replicas);
    let bootstrap = kafka.bootstrap();

    let mut lines: Vec<Line> = Vec::new();
    for round in 0..rounds {
        for mut program in programs(round == 0) {
            program.args([&REPEATS.to_string(), &MEMBERS.to_string(), &topic, bootstrap, kind]);
            lines.extend(lines_of(program));
        }
    }
    report(&lines);
}

/// Ours, and the peers that can be run here.
fn programs(tell: bool) -> Vec<Command> {
    let mut programs = vec![this_program()];
    for (name, peer) in [("the Java consumer", java("Settle.java")), ("franz-go", franz("settle"))]
    {
        match peer {
            Ok(program) => programs.push(program),
            Err(why) if tell => println!("without {name}: {why}"),
            Err(_) => {}
        }
    }
    programs
}

fn report(lines: &[Line]) {
    let mut peers: Vec<&str> = Vec::new();
    for line in lines {
        if !peers.contains(&line.peer.as_str()) {
            peers.push(&line.peer);
        }
    }
    println!(
        "\n| client | event | events | median ms | least | most | x ours | moved | without owner, s | each, s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for event in ["join", "leave"] {
        let of = |peer: &str| -> Vec<&Line> {
            lines.iter().filter(|line| line.peer == peer && line.event == event).collect()
        };
        let ours = median(of(peers[0]).iter().map(|line| line.ms));
        for peer in &peers {
            let of_peer = of(peer);
            let times = || of_peer.iter().map(|line| line.ms);
            let each = of_peer.iter().map(|line| line.stopped_ms / line.moved.max(1.0));
            println!(
                "| {peer} | {event} | {} | {:.0} | {:.0} | {:.0} | {:.1} | {:.0} | {:.1} | {:.2} |",
                of_peer.len(),
                median(times()),
                times().fold(f64::INFINITY, f64::min),
                times().fold(0.0, f64::max),
                median(times()) / ours,
                median(of_peer.iter().map(|line| line.moved)),
                median(of_peer.iter().map(|line| line.stopped_ms)) / 1000.0,
                median(each) / 1000.0
            );
        }
    }
}
