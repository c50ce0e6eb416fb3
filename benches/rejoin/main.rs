//! How long the members of one process need to rejoin when all do so at once, beside the same frames without this crate.
//! See `benches/README.md`.
//!
//! ```text
//! cargo bench --bench rejoin                                        10, 100 and 1,000 members, ten interleaved pairs
//! cargo bench --bench rejoin -- compare PAIRS MEMBERS...            other numbers
//! cargo bench --bench rejoin -- ours|raw ROUNDS MEMBERS TOPIC BOOTSTRAP
//! ```

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../support/mod.rs"]
mod support;

mod compare;
mod frames;
mod ours;
mod raw;

/// What is to be measured.
pub(crate) struct Plan<'a> {
    pub(crate) rounds: usize,
    pub(crate) members: usize,
    pub(crate) topic: &'a str,
    pub(crate) bootstrap: &'a str,
}

fn main() {
    let Some(words) = support::arguments() else {
        return println!("nothing to test here: cargo bench --bench rejoin");
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse().expect("a number");
    match words[..] {
        [] | ["compare"] => compare::run(10, &[10, 100, 1000]),
        ["compare", pairs, ref members @ ..] => {
            let members: Vec<usize> = members.iter().map(|word| number(word)).collect();
            compare::run(number(pairs), &members);
        }
        [mode, rounds, members, topic, bootstrap] => {
            let plan = Plan { rounds: number(rounds), members: number(members), topic, bootstrap };
            let took = match mode {
                "raw" => raw::run(&plan),
                _ => ours::run(&plan),
            };
            for ms in took {
                println!(r#"{{"mode":"{mode}","members":{},"ms":{ms:.1}}}"#, plan.members);
            }
        }
        _ => panic!(
            "arguments: ours|raw ROUNDS MEMBERS TOPIC BOOTSTRAP, or compare [PAIRS MEMBERS...]"
        ),
    }
}
