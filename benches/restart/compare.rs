//! Pairs of runs, ours and rdkafka alone, one after the other.

use std::collections::BTreeMap;

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use serde::Deserialize;

use super::{PARTITIONS, PATIENCE};
use crate::common::{Kafka, unique};
use crate::support::{lines_of, median, this_program};

#[derive(Debug, Deserialize)]
struct Line {
    ms: f64,
}

const MODES: [&str; 3] = ["ours", "stored", "known"];

/// Measures each mode `pairs` times, in processes of their own, and prints medians and ratios.
pub(crate) fn run(pairs: usize) {
    let kafka = Kafka::shared();
    let (topic, group) = (unique("restart"), unique("restart"));
    kafka.admin().create_topic(&topic, PARTITIONS, 1);
    fill(kafka.bootstrap(), &topic);
    let run = |mode: &str| {
        let mut program = this_program();
        program.args([mode, &topic, &group, kafka.bootstrap()]);
        median(lines_of::<Line>(program).iter().map(|line| line.ms))
    };
    // The member's first life is no restart.
    for mode in MODES {
        run(mode);
    }
    let mut took: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for _ in 0..pairs {
        for mode in MODES {
            took.entry(mode).or_default().push(run(mode));
        }
    }
    let ours = &took["ours"];
    println!(
        "\n| beside | ours, ms | rdkafka, ms | ratio | ratio by pairs | 1.2 x + 50 ms |\n|---|---|---|---|---|---|"
    );
    for (mode, name) in [("stored", "committed offsets"), ("known", "known offsets")] {
        let alone = &took[mode];
        let by_pairs = median(ours.iter().zip(alone).map(|(ours, alone)| ours / alone));
        let (ours, alone) = (median(ours.clone()), median(alone.clone()));
        let most = 1.2 * alone + 50.0;
        println!(
            "| {name} | {ours:.1} | {alone:.1} | {:.2} | {by_pairs:.2} | {most:.1} |",
            ours / alone
        );
    }
    kafka.admin().delete_topic(&topic);
}

/// A hundred records in each partition.
fn fill(bootstrap: &str, topic: &str) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", bootstrap).create().expect("a producer");
    for number in 0..100 * PARTITIONS {
        let record = BaseRecord::<(), str>::to(topic).partition(number % PARTITIONS);
        producer.send(record.payload("book")).map_err(|(error, _)| error).expect("room for it");
    }
    producer.flush(PATIENCE).expect("all written");
}
