//! Whole groups in virtual time, through storms that seeds decide.

use kafka_group::testing::{Rule, Sim, Violation};

fn weather(seed: u64, broken: Option<Rule>) -> Result<(), Violation> {
    Sim::storm(seed, broken).weather_it()
}

#[test]
fn no_piece_ever_has_two_owners_and_in_the_end_each_has_one() {
    let first = 0;
    for seed in first..first + 100 {
        if let Err(violation) = weather(seed, None) {
            panic!("seed {seed}: {violation}");
        }
    }
}
