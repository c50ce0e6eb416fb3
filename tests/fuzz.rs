//! A short run of the fuzz target: captured bytes, damaged in every way that chance finds, at every door.
//!
//! `cargo fuzz run decode` (in `fuzz/`) looks for longer, and watches which branches are taken.

use std::time::{Duration, Instant};

use kafka_group::testing::fuzz::{DOORS, read};

const RUN: Duration = Duration::from_secs(5);

/// Captured from real clients, and pinned by ourselves.
fn corpus() -> Vec<Vec<u8>> {
    let blobs: serde_json::Value =
        serde_json::from_str(include_str!("data/wire/blobs.json")).unwrap();
    let frames: serde_json::Value =
        serde_json::from_str(include_str!("data/wire/frames.json")).unwrap();
    let mut found = Vec::new();
    for text in texts(&blobs).into_iter().chain(texts(&frames)) {
        if let Some(bytes) = hex(text).filter(|bytes| !bytes.is_empty() && bytes.len() < 20_000) {
            // A whole frame: its body begins behind length and correlation id.
            found.extend(bytes.get(8..).filter(|body| !body.is_empty()).map(<[u8]>::to_vec));
            found.push(bytes);
        }
    }
    found
}

#[test]
fn damaged_bytes_are_refused_or_read_and_nothing_panics() {
    let corpus = corpus();
    assert!(corpus.len() > 500, "{} inputs", corpus.len());
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut dice = fastrand::Rng::with_seed(seed);
    let (end, mut runs, mut readable) = (deadline(), 0_u64, 0_u64);
    while runs < 20_000 || !end.has_passed() {
        let mut bytes = corpus[dice.usize(..corpus.len())].clone();
        for _ in 0..dice.usize(..4) {
            damage(&mut bytes, &mut dice);
        }
        let (door, version) = (dice.u8(..DOORS), dice.i16(0..16));
        let outcome = std::panic::catch_unwind(|| read(door, version, &bytes));
        readable += u64::from(outcome.unwrap_or_else(|_| {
            panic!("seed {seed}: door {door}, version {version}, bytes {bytes:02x?}")
        }));
        runs += 1;
    }
    println!("{runs} inputs, {readable} readable");
    assert!(readable > 0);
}

/// Flips, cuts, repeats, and writes the numbers that hurt readers most.
fn damage(bytes: &mut Vec<u8>, dice: &mut fastrand::Rng) {
    let at = dice.usize(..=bytes.len());
    match dice.u8(..6) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, dice.u8(..)),
        2 => bytes.extend_from_within(at..),
        3 => overwrite(bytes, at, &[0x7f, 0xff, 0xff, 0xff]),
        4 => overwrite(bytes, at, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        _ => overwrite(bytes, at, &[dice.u8(..)]),
    }
    bytes.truncate(1 << 16);
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    for (old, new) in bytes[at..].iter_mut().zip(with) {
        *old = *new;
    }
}

fn texts(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Array(values) => values.iter().flat_map(texts).collect(),
        serde_json::Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if digits.len() % 2 != 0 {
        return None;
    }
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

struct Deadline(Instant);

#[expect(clippy::disallowed_methods, reason = "how long to look, not what to expect")]
fn deadline() -> Deadline {
    Deadline(Instant::now() + RUN)
}

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "how long to look, not what to expect")]
    fn has_passed(&self) -> bool {
        Instant::now() >= self.0
    }
}
