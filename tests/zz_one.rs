use kafka_group::testing::Sim;
#[test]
fn one() {
    let Ok(seed) = std::env::var("SEED") else { return };
    let seed: u64 = seed.parse().unwrap();
    let mut sim = Sim::storm(seed, None).traced();
    let result = sim.weather_it();
    for line in sim.story() {
        println!("{line}");
    }
    println!("{result:?}");
}
#[test]
fn many() {
    let Ok(n) = std::env::var("N") else { return };
    let n: u64 = n.parse().unwrap();
    let mut bad = 0;
    for seed in 0..n {
        if let Err(v) = Sim::storm(seed, None).weather_it() {
            bad += 1;
            if bad < 40 {
                println!("seed {seed}: {v}");
            }
        }
    }
    println!("{bad} of {n}");
}
