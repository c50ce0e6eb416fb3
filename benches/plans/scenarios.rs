//! The large groups that plans are compared on.

use crate::group::Group;

/// A group, and how often it is planned for.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// What stands in the table.
    pub(crate) what: &'static str,
    pub(crate) group: fn() -> Group,
    /// By us.
    pub(crate) runs: usize,
    pub(crate) franz: Peer,
    pub(crate) java: Peer,
}

/// How often a peer plans, and how many times as fast we are to be. Never where it would take minutes.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) runs: usize,
    pub(crate) target: u32,
}

const NEVER: Peer = Peer { runs: 0, target: 0 };

pub(crate) const SCENARIOS: [Scenario; 9] = [
    Scenario {
        name: "steady",
        what: "1M partitions, 1k members, steady",
        group: || uniform(0),
        runs: 31,
        franz: Peer { runs: 7, target: 6 },
        java: Peer { runs: 5, target: 80 },
    },
    Scenario {
        name: "one-joins",
        what: "the same, one joins",
        group: || uniform(1),
        runs: 31,
        franz: Peer { runs: 7, target: 4 },
        java: Peer { runs: 5, target: 60 },
    },
    Scenario {
        name: "odd-subscriptions",
        what: "1M x 1k, a tenth with odd subscriptions, ten join, ten leave",
        group: odd_subscriptions,
        runs: 31,
        franz: Peer { runs: 5, target: 40 },
        java: NEVER,
    },
    Scenario {
        name: "zipf",
        what: "0.86M x 10k, zipf subscriptions",
        group: zipf,
        runs: 11,
        franz: Peer { runs: 1, target: 100 },
        java: NEVER,
    },
    Scenario {
        name: "stairs",
        what: "chains of 100 members",
        group: stairs,
        runs: 101,
        franz: Peer { runs: 21, target: 15 },
        java: Peer { runs: 7, target: 0 },
    },
    Scenario { name: "racks-fresh", what: "100k x 1k, fresh", group: || racks(0), ..RACKS },
    Scenario {
        name: "racks-skewed",
        what: "fresh, one replica, most members in one rack",
        group: skewed_racks,
        ..RACKS
    },
    Scenario { name: "racks-join", what: "ten join", group: || racks(10), ..RACKS },
    Scenario {
        name: "racks-mixed",
        what: "a tenth with odd subscriptions, ten leave",
        group: mixed_racks,
        ..RACKS
    },
];

/// The peers' public calls know nothing of racks.
const RACKS: Scenario =
    Scenario { name: "", what: "", group: || racks(0), runs: 31, franz: NEVER, java: NEVER };

/// A thousand topics of a thousand partitions, of which all but the joiners have their share.
fn uniform(joiners: usize) -> Group {
    let mut group = Group::new(&[1000; 1000]);
    group.add_members(1000, |_| 0);
    group.own_in_turn();
    group.add_members(joiners, |_| 0);
    group
}

/// Each tenth member takes about a tenth of the topics; ten members leave and ten join.
fn odd_subscriptions() -> Group {
    let mut group = Group::new(&[1000; 1000]);
    add_odd_members(&mut group, 1000);
    group.own_evenly();
    group.remove_members(10, 97);
    group.add_members(10, |member| member % 11);
    group
}

/// A thousand members, each tenth of which has one of ten smaller subscriptions.
fn add_odd_members(group: &mut Group, topics: usize) {
    let mut dice = fastrand::Rng::with_seed(1);
    for _ in 0..10 {
        group.subscribe((0..topics / 10).map(|_| dice.usize(0..topics)));
    }
    group.add_members(1000, |member| if member % 10 == 0 { 1 + member / 10 % 10 } else { 0 });
}

/// Topics from twenty thousand partitions down to one, each member with four of them; a hundredth of the members change.
fn zipf() -> Group {
    let weights = (1..=10_000).map(|rank| 1.0 / f64::from(rank));
    let all: f64 = weights.clone().sum();
    let counts = weights.map(|weight| ((weight / all * 1e6) as u32).clamp(1, 20_000));
    let mut group = Group::new(&counts.collect::<Vec<u32>>());
    let mut dice = fastrand::Rng::with_seed(2);
    for _ in 0..10_000 {
        group.subscribe((0..4).map(|_| dice.usize(0..10_000)));
    }
    group.add_members(10_000, |member| 1 + member);
    group.own_evenly();
    group.remove_members(100, 193);
    group.add_members(100, |member| 1 + member * 31);
    group
}

/// Member `n` takes topics `n - 1` and `n` and has all of topic `n`, which has one partition less than the topic before:
/// no single move helps, and all together do.
fn stairs() -> Group {
    let mut group = Group::new(&(0..100).map(|step| 1400 - step).collect::<Vec<u32>>());
    for step in 0..100_usize {
        group.subscribe([step.saturating_sub(1), step]);
    }
    group.add_members(100, |member| 1 + member);
    group.own(|topic, _| topic);
    group
}

/// A hundred topics of a thousand partitions with three replicas, in six racks, and members in these; some join those
/// that have their share, whatever its racks.
fn racks(joiners: usize) -> Group {
    let mut group = Group::new(&[1000; 100]);
    group.place(6, 3, |member| member % 6);
    group.add_members(1000, |_| 0);
    if joiners > 0 {
        group.own_in_turn();
        group.add_members(joiners, |_| 0);
    }
    group
}

/// Three racks, in which seven, two and one of ten members are, and one replica.
fn skewed_racks() -> Group {
    let mut group = Group::new(&[1000; 100]);
    group.place(3, 1, |member| [0, 0, 0, 0, 0, 0, 0, 1, 1, 2][member % 10]);
    group.add_members(1000, |_| 0);
    group
}

/// Two replicas in three racks and odd subscriptions; ten members leave.
fn mixed_racks() -> Group {
    let mut group = Group::new(&[1000; 100]);
    group.place(3, 2, |member| member % 3);
    add_odd_members(&mut group, 100);
    group.own_evenly();
    group.remove_members(10, 97);
    group
}
