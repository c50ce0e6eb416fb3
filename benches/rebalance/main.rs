//! How long a real group takes to settle when one member joins or leaves. See `benches/README.md`.
//!
//! ```text
//! cargo bench --bench rebalance                                          beside the peers, interleaved, with ratios
//! cargo bench --bench rebalance -- compare 8 [range|cooperative]         the same, eight runs of each
//! cargo bench --bench rebalance -- REPEATS MEMBERS TOPIC BOOTSTRAP [range|cooperative|roundrobin]
//! ```

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../support/peers.rs"]
mod peers;
#[path = "../support/mod.rs"]
mod support;

mod board;
mod compare;
mod ours;

fn main() {
    let Some(words) = support::arguments() else {
        return println!("nothing to test here: cargo bench --bench rebalance");
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] | ["compare"] => compare::run(compare::ROUNDS, "cooperative"),
        ["compare", rounds, ref kind @ ..] => {
            let rounds = rounds.parse().expect("a number of rounds");
            compare::run(rounds, kind.first().unwrap_or(&"cooperative"));
        }
        [repeats, members, topic, bootstrap, ref assigner @ ..] => ours::run(&ours::Plan {
            repeats: repeats.parse().expect("a number of repeats"),
            members: members.parse().expect("a number of members"),
            topic: topic.to_owned(),
            bootstrap: bootstrap.to_owned(),
            assigner: assigner.first().unwrap_or(&"range").to_string(),
        }),
        _ => panic!(
            "arguments: REPEATS MEMBERS TOPIC BOOTSTRAP [range|cooperative|roundrobin], or compare [ROUNDS [range|cooperative]]"
        ),
    }
}
