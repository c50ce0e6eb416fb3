use kafka_group::testing::{Rule, Sim};
#[test]
fn rules() {
    for rule in Rule::ALL {
        let mut bad = 0;
        let mut first = None;
        for seed in 0..300 {
            if let Err(v) = Sim::storm(seed, Some(rule)).weather_it() {
                bad += 1;
                first.get_or_insert((seed, v.to_string()));
            }
        }
        println!("{rule:?}: {bad} of 300, {first:?}");
    }
}
