//! Pairs of runs, ours and raw, one after the other.

use serde::Deserialize;

use crate::common::{Kafka, unique};
use crate::support::{lines_of, median, this_program};

#[derive(Debug, Deserialize)]
struct Line {
    ms: f64,
}

/// Measures each size `pairs` times, in processes of their own, and prints medians and ratios.
pub(crate) fn run(pairs: usize, sizes: &[usize]) {
    let kafka = Kafka::shared();
    let mut table = String::from(
        "\n| members | ours, ms | raw, ms | ratio | ratio by pairs |\n|---|---|---|---|---|\n",
    );
    for &members in sizes {
        let topic = unique("rejoin");
        let partitions = i32::try_from(members).expect("few members");
        kafka.admin().create_topic(&topic, partitions, 1);
        let run = |mode: &str| {
            let mut program = this_program();
            program.args([mode, "1", &members.to_string(), &topic, kafka.bootstrap()]);
            median(lines_of::<Line>(program).iter().map(|line| line.ms))
        };
        let (ours, raw): (Vec<f64>, Vec<f64>) =
            (0..pairs).map(|_| (run("ours"), run("raw"))).unzip();
        let ratios = ours.iter().zip(&raw).map(|(ours, raw)| ours / raw);
        let (by_pairs, ours, raw) = (median(ratios), median(ours.clone()), median(raw.clone()));
        table +=
            &format!("| {members} | {ours:.1} | {raw:.1} | {:.2} | {by_pairs:.2} |\n", ours / raw);
        kafka.admin().delete_topic(&topic);
    }
    println!("{table}");
}
