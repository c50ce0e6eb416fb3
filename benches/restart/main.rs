//! How long a static member that restarts needs until it has its first record, beside rdkafka alone with `assign()`. See
//! `benches/README.md`.
//!
//! ```text
//! cargo bench --bench restart                                       ten interleaved pairs
//! cargo bench --bench restart -- compare PAIRS                      other numbers
//! cargo bench --bench restart -- ours|stored|known TOPIC GROUP BOOTSTRAP
//! ```

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../support/mod.rs"]
mod support;

mod alone;
mod compare;
mod ours;

use std::time::Duration;

/// How many partitions are read.
pub(crate) const PARTITIONS: i32 = 12;

/// How long a first record may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What is to be read.
pub(crate) struct Plan<'a> {
    pub(crate) topic: &'a str,
    pub(crate) group: &'a str,
    pub(crate) bootstrap: &'a str,
}

fn main() {
    let Some(words) = support::arguments() else {
        return println!("nothing to test here: cargo bench --bench restart");
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] | ["compare"] => compare::run(10),
        ["compare", pairs] => compare::run(pairs.parse().expect("a number")),
        [mode, topic, group, bootstrap] => {
            let plan = Plan { topic, group, bootstrap };
            let took = match mode {
                "stored" => alone::run(&plan, alone::Start::Stored),
                "known" => alone::run(&plan, alone::Start::Known),
                _ => ours::run(&plan),
            };
            println!(r#"{{"mode":"{mode}","ms":{:.1}}}"#, took.as_secs_f64() * 1000.0);
        }
        _ => panic!("arguments: ours|stored|known TOPIC GROUP BOOTSTRAP, or compare [PAIRS]"),
    }
}
