//! How long a leader's work takes as a whole, and how it grows.
//!
//! ```sh
//! cargo bench --bench assign --features test-util -- way [RUNS]       # from the JoinGroup answer to the SyncGroup request
//! cargo bench --bench assign --features test-util -- growth [RUNS]    # twice the partitions, members as they were
//! ```
//!
//! What a plan alone takes, for groups in files and beside other clients, `kafka-group plan --format json --runs N`
//! measures. Each line of output is JSON.

#![expect(clippy::unwrap_used, reason = "a program for measuring ends where its input is wrong")]

mod support;

use std::sync::Arc;
use std::time::Instant;

use kafka_group::assign::{
    EagerStickyAssigner, GroupSubscription, GroupSubscriptionBuilder, PartitionAssigner, Racks,
    StickyAssigner,
};
use kafka_group::testing::leader::LeaderWork;
use support::{arguments, median};

fn main() {
    let Some(arguments) = arguments() else { return };
    let runs = arguments.get(1).map_or(7, |runs| runs.parse().unwrap());
    match arguments.first().map(String::as_str) {
        Some("way") => way(runs),
        Some("growth") => growth(runs),
        _ => {
            println!("usage: cargo bench --bench assign --features test-util -- way|growth [RUNS]")
        }
    }
}

/// 1,000 members over 1,000 topics of 1,000 partitions, all of which have an owner that keeps them.
fn way(runs: usize) {
    let shape = Shape { topics: 1000, partitions: 1000, members: 1000, ..Shape::default() };
    along("cooperative-sticky", &shape, &StickyAssigner::default(), runs);
    along("sticky", &shape, &EagerStickyAssigner::default(), runs);
}

/// Times the whole way and two of its parts: the assigner's call, and the model it looks at.
fn along<A: PartitionAssigner + Clone>(name: &str, shape: &Shape, assigner: &A, runs: usize) {
    let group = shape.group();
    let assign = time(runs, || (), |()| assigner.assign(&group).unwrap());
    let model = time(runs, || shape.told(), GroupSubscriptionBuilder::build);
    let mut work = LeaderWork::new(&group, assigner).unwrap();
    drop(group);
    let mut sent = 0;
    let whole = time(runs, || (), |()| sent = work.run().unwrap().len());
    println!(
        r#"{{"way":"{name}","runs":{runs},"read_mb":{:.1},"sent_mb":{:.1},"assign_ms":{assign:.2},"model_ms":{model:.2},"way_ms":{whole:.2}}}"#,
        work.answer_len() as f64 / 1e6,
        sent as f64 / 1e6,
    );
}

/// A group with half a million partitions, and the same with twice as many.
fn growth(runs: usize) {
    // Once a large block was freed, glibc keeps what is freed later: else the kernel's pages were measured, which the
    // larger group's tables just need and the smaller one's do not.
    drop(std::hint::black_box(vec![0_u8; 30 << 20]));
    let base =
        Shape { topics: 500, partitions: 1000, members: 1000, joiners: 10, ..Shape::default() };
    let shapes = [
        ("steady", Shape { joiners: 0, ..base }),
        ("some join", base),
        ("fresh", Shape { owned: false, ..base }),
        ("odd subscriptions", Shape { odd: true, ..base }),
        ("racks first", Shape { racks: 6, partitions: 200, ..base }),
    ];
    for (name, small) in shapes {
        let large = Shape { partitions: small.partitions * 2, ..small };
        let racks = if small.racks > 0 { Racks::BeforeMoves } else { Racks::AfterMoves };
        let assigner = EagerStickyAssigner::default().racks(racks);
        let [small, large] = [small, large].map(|shape| {
            let group = shape.group();
            time(runs, || (), |()| assigner.assign(&group).unwrap())
        });
        println!(
            r#"{{"growth":"{name}","runs":{runs},"ms":{small:.2},"doubled_ms":{large:.2},"ratio":{:.2}}}"#,
            large / small
        );
    }
}

/// What a group looks like.
#[derive(Clone, Copy)]
struct Shape {
    topics: usize,
    partitions: u32,
    members: usize,
    /// Members that have just come.
    joiners: usize,
    /// Whether the others have everything.
    owned: bool,
    /// Whether each tenth member subscribes to half of the topics.
    odd: bool,
    /// How many racks there are; 0 where they are unknown.
    racks: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { topics: 0, partitions: 0, members: 0, joiners: 0, owned: true, odd: false, racks: 0 }
    }
}

impl Shape {
    fn group(&self) -> GroupSubscription {
        self.told().build()
    }

    /// The group as its members tell it.
    fn told(&self) -> GroupSubscriptionBuilder<()> {
        let names: Vec<Arc<str>> =
            (0..self.topics).map(|topic| format!("topic-{topic:04}").into()).collect();
        let racks: Vec<String> = (0..self.racks).map(|rack| format!("rack-{rack}")).collect();
        let mut group = GroupSubscription::builder();
        for (name, offset) in names.iter().zip(0..) {
            group = group.topic(Arc::clone(name), self.partitions);
            if self.racks > 0 {
                let replicas = |partition| {
                    (0..3).map(move |replica| (partition as usize + offset + replica) % self.racks)
                };
                let replicas = |partition| replicas(partition).map(|rack| racks[rack].as_str());
                group = group.racks((0..self.partitions).map(replicas));
            }
        }
        for member in 0..self.members + self.joiners {
            let step = if self.odd && member % 10 == 0 { 2 } else { 1 };
            let topics = names.iter().step_by(step).map(Arc::clone);
            group = group.member(format!("member-{member:05}"), topics, ());
            if self.racks > 0 {
                group = group.rack(racks[member % self.racks].as_str());
            }
            if self.owned && member < self.members {
                group = group.owns(self.share(member, &names), 7);
            }
        }
        group
    }

    /// Each of a member's partitions is of another topic, as far as there are so many.
    fn share(&self, member: usize, names: &[Arc<str>]) -> Vec<(Arc<str>, i32)> {
        let all = self.topics * self.partitions as usize;
        let mine = (member..all).step_by(self.members);
        mine.map(|place| {
            let (topic, number) =
                (place / self.partitions as usize, place % self.partitions as usize);
            (Arc::clone(&names[topic]), number as i32)
        })
        .collect()
    }
}

/// The middle of some runs, in milliseconds; what is made ready before each does not count.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn time<R, V>(runs: usize, ready: impl Fn() -> R, mut work: impl FnMut(R) -> V) -> f64 {
    let mut once = || {
        let ready = ready();
        let start = Instant::now();
        let value = work(ready);
        let took = start.elapsed().as_secs_f64() * 1e3;
        drop(value);
        took
    };
    median((0..runs.max(1)).map(|_| once()).collect::<Vec<_>>())
}
