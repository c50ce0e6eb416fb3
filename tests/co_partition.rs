//! Co-partitioned topics against every plan of a small group, and groups that are large, lopsided or nonsense.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "support/growth.rs"]
mod growth;

use std::collections::BTreeMap;
use std::sync::Arc;

use kafka_group::assign::{
    CoPartitionAssigner, Coverage, GroupAssignment, GroupSubscription, PartitionAssigner, Racks,
};

use growth::assert_grows_with_the_partitions;

const TOPICS: [&str; 4] = ["a", "b", "c", "alone"];

/// A small group whose members all subscribe to everything, some of it with somebody already.
#[derive(Debug)]
struct Case {
    /// Of the topics in their order; the last one is in no group.
    counts: [u32; 4],
    members: usize,
    /// Per number who has that partition of all joined topics.
    units: Vec<Option<usize>>,
    /// Per number who has that partition of the topic that is alone.
    alone: Vec<Option<usize>>,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut dice = fastrand::Rng::with_seed(seed);
        let most = dice.u32(1..6);
        let counts = [(); 3].map(|()| dice.u32(0..=most));
        let members = dice.usize(1..4);
        let (owned, hot) = (dice.u8(0..5), dice.bool());
        let mut owners = |count: u32| {
            let mut owner = || match dice.u8(0..4) {
                chance if chance >= owned => None,
                0 if hot => Some(0),
                _ => Some(dice.usize(0..members)),
            };
            (0..count).map(|_| owner()).collect::<Vec<_>>()
        };
        let units = owners(counts.into_iter().max().unwrap_or(0));
        let alone = owners(most.min(3));
        let [a, b, c] = counts;
        Self { counts: [a, b, c, alone.len() as u32], members, units, alone }
    }

    fn subscription(&self) -> GroupSubscription {
        let mut group = GroupSubscription::builder();
        for (topic, count) in TOPICS.iter().zip(self.counts) {
            group = group.topic(*topic, count);
        }
        for member in 0..self.members {
            let of_topic = |(topic, count): (&&'static str, u32)| {
                let owners = if *topic == "alone" { &self.alone } else { &self.units };
                let owners = owners.iter().take(count as usize).zip(0..);
                let owned = owners.filter(|(owner, _)| **owner == Some(member));
                owned.map(|(_, number)| (*topic, number)).collect::<Vec<_>>()
            };
            let owned = TOPICS.iter().zip(self.counts).flat_map(of_topic);
            // Given up before, so that all of the plan is given at once.
            group = group.member(format!("m{member}"), TOPICS, ()).owned_before(owned, 1);
        }
        group.build()
    }

    /// How many partitions the unit of a number has.
    fn width(&self, number: usize) -> usize {
        self.counts[..3].iter().filter(|count| **count as usize > number).count()
    }

    /// Whether each member has its share of the units of each width, and of each width and all larger ones.
    fn is_even(&self, units: &[usize]) -> bool {
        let is_even = |wanted: &dyn Fn(usize) -> bool| {
            let wanted = units.iter().enumerate().filter(|(number, _)| wanted(self.width(*number)));
            let mut loads = vec![0; self.members];
            wanted.for_each(|(_, owner)| loads[*owner] += 1);
            loads.iter().max().unwrap() - loads.iter().min().unwrap() <= 1
        };
        (1..=3).all(|width| is_even(&|other| other == width) && is_even(&|other| other >= width))
    }

    /// How many partitions of units move.
    fn moves(&self, units: &[usize]) -> usize {
        let moved = self.units.iter().zip(units).enumerate();
        let moved = moved.filter(|(_, (before, after))| before.is_some_and(|b| b != **after));
        moved.map(|(number, _)| self.width(number)).sum()
    }

    /// The sum of squares of what members carry in all, and how many partitions move of the topic that is alone.
    fn rest(&self, units: &[usize], alone: &[usize]) -> (usize, usize) {
        let mut loads = vec![0; self.members];
        units.iter().enumerate().for_each(|(number, owner)| loads[*owner] += self.width(number));
        alone.iter().for_each(|owner| loads[*owner] += 1);
        let moved = self.alone.iter().zip(alone).filter(|(b, a)| b.is_some_and(|b| b != **a));
        (loads.iter().map(|load| load * load).sum(), moved.count())
    }
}

/// All ways to give so many things to so many members.
fn ways(things: usize, members: usize) -> Vec<Vec<usize>> {
    let mut ways = vec![Vec::new()];
    for _ in 0..things {
        let with = |way: &Vec<usize>, member| way.iter().copied().chain([member]).collect();
        let longer = |way| (0..members).map(move |member| with(way, member));
        ways = ways.iter().flat_map(longer).collect();
    }
    ways
}

/// Per number the member that has this partition of a topic.
fn owners(group: &GroupSubscription, plan: &GroupAssignment, topic: &str) -> Vec<usize> {
    let place = |partition| {
        let holder = plan.holders(partition).next().and_then(|holder| group.member(holder));
        holder.unwrap().position()
    };
    group.topic(topic).unwrap().partitions().map(place).collect()
}

#[test]
fn no_plan_of_a_small_group_is_better() {
    let joined = CoPartitionAssigner::default().group(["a", "b", "c"]);
    for seed in 0..rounds(3_000, 60_000) {
        let case = Case::random(seed);
        let group = case.subscription();
        let plan = joined.assign(&group).unwrap();
        let by_topic = TOPICS.map(|topic| owners(&group, &plan, topic));
        let (alone, topics) = by_topic.split_last().unwrap();
        let units = topics.iter().max_by_key(|owners| owners.len()).unwrap();
        let said = format!("seed {seed}: {plan:?} of {case:?}");
        assert!(topics.iter().all(|owners| units.starts_with(owners)), "{said}");

        assert!(case.is_even(units), "{said}");
        let ways_of_units = ways(units.len(), case.members);
        let even = ways_of_units.iter().filter(|units| case.is_even(units));
        assert_eq!(Some(case.moves(units)), even.map(|units| case.moves(units)).min(), "{said}");

        let rest = ways(alone.len(), case.members);
        let best = rest.iter().map(|alone| case.rest(units, alone)).min();
        assert_eq!(Some(case.rest(units, alone)), best, "{said}");
    }
}

/// How many groups are tried: a build for debugging tries few, `KAFKA_GROUP_FULL=1` all.
fn rounds(quick: u64, full: u64) -> u64 {
    match std::env::var_os("KAFKA_GROUP_FULL") {
        Some(_) => full,
        None => quick,
    }
}

/// So many members with equal subscriptions.
fn group(topics: &[(&str, u32)], members: usize) -> GroupSubscription {
    let mut group = GroupSubscription::builder();
    for (topic, count) in topics {
        group = group.topic(*topic, *count);
    }
    let names: Vec<Arc<str>> = topics.iter().map(|(topic, _)| Arc::from(*topic)).collect();
    for member in 0..members {
        group = group.member(format!("m{member:05}"), names.iter().cloned(), ());
    }
    group.build()
}

fn planned(group: &GroupSubscription) -> GroupAssignment {
    let plan = CoPartitionAssigner::default().assign(group).unwrap();
    assert_eq!(plan.validate(Coverage::ExactlyOnce), Ok(()));
    plan
}

fn loads(group: &GroupSubscription) -> Vec<usize> {
    let plan = planned(group);
    group.members().map(|member| plan.load(member)).collect()
}

#[test]
fn ten_thousand_members_share_one_unit() {
    for topics in [[("x", 1), ("y", 1)], [("x", 1), ("y", 0)], [("x", 2), ("y", 1)]] {
        let group = group(&topics, 10_000);
        let wanted: u32 = topics.iter().map(|(_, count)| count).sum();
        assert_eq!(loads(&group).iter().sum::<usize>(), wanted as usize);
    }
}

#[test]
fn one_member_takes_a_million_partitions() {
    assert_eq!(loads(&group(&[("x", 500_000), ("y", 500_000)], 1)), [1_000_000]);
    assert_eq!(loads(&group(&[("x", 600_000), ("y", 400_000)], 1)), [1_000_000]);
}

#[test]
fn nobody_and_nothing_are_planned_for() {
    assert!(loads(&group(&[("x", 3), ("y", 3)], 0)).is_empty());
    assert_eq!(loads(&group(&[("x", 0), ("y", 0)], 2)), [0, 0]);
    let nothing: [&str; 0] = [];
    let group = GroupSubscription::builder().topic("x", 3).topic("y", 2).topic("unwanted", 9);
    let group = group.member("a", ["x", "ghost", "y", ""], ()).member("idle", nothing, ());
    assert_eq!(loads(&group.member("lost", ["ghost"], ()).build()), [5, 0, 0]);
}

#[test]
fn names_and_claims_may_be_any_nonsense() {
    let names = ["", "\0", "\u{10FFFF}", "a\nb", " "];
    let mut group = GroupSubscription::builder();
    for (name, count) in names.into_iter().zip([4, 4, 2, 2, 1]) {
        group = group.topic(name, count);
    }
    for name in names {
        let claims = [(name, 0), (name, -1), (name, i32::MAX), ("ghost", 2), (name, 0)];
        group = group.member(format!("m{name}"), names, ()).owns(claims, i32::MAX).rack(name);
    }
    let group = group.build();
    let assigner = CoPartitionAssigner::default().group(["", "", "\0"]).group([""; 0]);
    let plan = assigner.racks(Racks::LeadersBeforeMoves).assign(&group).unwrap();
    assert_eq!(plan.validate(Coverage::ExactlyOnce), Ok(()));
    assert_eq!(owners(&group, &plan, ""), owners(&group, &plan, "\0"));
}

/// Ten joined topics, each a little longer than the one before: ten bands.
fn bands(partitions: u32) -> GroupSubscription {
    let topics: Vec<(String, u32)> =
        (0..10).map(|topic| (format!("t{topic}"), partitions * (topic + 1) / 10)).collect();
    let topics: Vec<(&str, u32)> = topics.iter().map(|(name, count)| (&**name, *count)).collect();
    group(&topics, 100)
}

#[test]
fn members_carry_the_same_within_the_widest_unit() {
    let loads = loads(&bands(1_070));
    let spread = loads.iter().max().unwrap() - loads.iter().min().unwrap();
    assert!(spread <= 10, "{loads:?}");
}

#[test]
fn a_member_joins_and_leaves_again_with_few_moves() {
    let before = bands(1_070);
    let plan = planned(&before).by_name();
    let owned = |id: &str| -> Vec<(String, i32)> {
        plan.get(id)
            .into_iter()
            .flat_map(|set| set.iter())
            .map(|p| (p.topic().to_owned(), p.partition()))
            .collect()
    };
    let mut next = GroupSubscription::builder();
    for topic in before.topics() {
        next = next.topic(topic.name(), topic.partition_count() as u32);
    }
    // The first has left, and two have come.
    for member in 1..102 {
        let id = format!("m{member:05}");
        let topics = before.topics().map(|topic| topic.name().to_owned());
        next = next.member(id.as_str(), topics, ()).owned_before(owned(&id), 1);
    }
    let next = next.build();
    let now = planned(&next).by_name();
    let moves: BTreeMap<_, _> = now
        .iter()
        .map(|(id, set)| (id, plan.get(id).map_or(0, |before| before.difference(set).len())))
        .collect();
    // 101 members instead of 100: what the first had goes to one newcomer, and the other gets a 101st of all.
    let moved: usize = moves.values().sum();
    let all: usize = now.values().map(|set| set.len()).sum();
    assert!(moved <= all / 101 + 10, "{moved} of {all} move");
}

/// Invariant 9 of the field study: twice the partitions take about twice the time.
#[test]
fn time_grows_with_the_partitions() {
    let (small, large) = (bands(5_000), bands(20_000));
    assert_grows_with_the_partitions([&small, &large], 5, |group| drop(planned(group)));
}
