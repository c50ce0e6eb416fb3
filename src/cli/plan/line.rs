//! A plan as a line of JSON, with the fields of the scenario format.

use serde::Serialize;

use super::Planned;
use crate::assign::Worth;
use crate::cli::arguments::json;

#[derive(Serialize)]
struct Line<'a> {
    scenario: &'a str,
    peer: String,
    runs: usize,
    median_ms: f64,
    min_ms: f64,
    moves: u64,
    spread: u64,
    max: u64,
    min: u64,
    sumsq: u64,
    unassigned: u64,
    cross_rack: u64,
    rackable: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_mb: Option<f64>,
}

pub(super) fn of(planned: &Planned) -> String {
    let timed = &planned.timed;
    let worth = Worth::of(&planned.view, &timed.plan);
    json(&Line {
        scenario: &planned.name,
        peer: format!("kafka-group-{}", planned.assigner),
        runs: timed.times.len(),
        median_ms: rounded(timed.median()),
        min_ms: rounded(timed.least()),
        moves: worth.moves,
        spread: worth.spread,
        max: worth.max,
        min: worth.min,
        sumsq: worth.sumsq,
        unassigned: worth.unassigned,
        cross_rack: worth.cross_rack,
        rackable: worth.rackable,
        peak_mb: timed.peak.map(|bytes| rounded(bytes as f64 / 1e6)),
    })
}

/// To three decimals.
fn rounded(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}
