//! What holds for several copies of each partition and any group, the numbers being those of the invariants in the field
//! study: 1 complete, 2 subscribers only, 3 all members, 4 the order of telling is nothing, 5 no more holders than there
//! are to be copies, and one first copy, while somebody holds on, 6 the round after withholds nothing, 7 balance, 8
//! nonsense in claims changes nothing, 9 time grows with the group.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "support/growth.rs"]
mod growth;

use std::collections::{BTreeMap, BTreeSet};

use kafka_group::assign::{
    Coverage, GroupAssignment, GroupSubscription, PartitionAssigner, RedundantAssigner,
};
use kafka_group::types::Partitions;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use growth::assert_grows_with_the_partitions;

/// A group as its members tell it; `ghost` is never a topic.
#[derive(Clone, Debug)]
struct Group {
    copies: u16,
    topics: BTreeMap<&'static str, u32>,
    members: Vec<Member>,
}

#[derive(Clone, Debug)]
struct Member {
    id: String,
    instance: Option<String>,
    /// Host, process and rack, where that is known.
    process: Option<(u8, u8)>,
    rack: Option<u8>,
    subscribes: Vec<&'static str>,
    claims: Vec<(&'static str, i32)>,
    standbys: Vec<(&'static str, i32)>,
    generation: i32,
    holds: bool,
}

const NAMES: [&str; 4] = ["a", "b", "c", "ghost"];

/// `alike`: members have the same topics.
fn groups(alike: bool) -> impl Strategy<Value = Group> {
    let topics = btree_map(prop::sample::select(&NAMES[..3]), 0_u32..7, 0..4);
    let ids = btree_set(0_u8..40, 0..8);
    (2_u16..4, topics, ids).prop_flat_map(move |(copies, topics, ids)| {
        let members: Vec<_> = ids.into_iter().map(|id| member(id, alike)).collect();
        members.prop_shuffle().prop_map(move |members| Group {
            copies,
            topics: topics.clone(),
            members,
        })
    })
}

fn member(number: u8, alike: bool) -> impl Strategy<Value = Member> {
    let subscribes = match alike {
        true => Just(NAMES.to_vec()).boxed(),
        false => vec(prop::sample::select(&NAMES[..]), 0..6).boxed(),
    };
    let claims = || vec((prop::sample::select(&NAMES[..]), -1_i32..8), 0..12);
    let place = (prop::option::of((0_u8..3, 0_u8..2)), prop::option::of(0_u8..3));
    (any::<bool>(), place, subscribes, claims(), claims(), -1_i32..2, any::<bool>()).prop_map(
        move |(is_static, (process, rack), subscribes, claims, standbys, generation, holds)| {
            Member {
                id: format!("m{}", number.wrapping_mul(23)),
                instance: is_static.then(|| format!("pod-{number}")),
                process,
                rack,
                subscribes,
                claims,
                standbys,
                generation,
                holds,
            }
        },
    )
}

impl Group {
    fn subscription(&self) -> GroupSubscription {
        let mut group = GroupSubscription::builder();
        for (name, count) in &self.topics {
            group = group.topic(*name, *count);
        }
        for member in &self.members {
            group = group.member(member.id.as_str(), member.subscribes.iter().copied(), ());
            if let Some(instance) = &member.instance {
                group = group.instance_id(instance.as_str());
            }
            if let Some((host, process)) = member.process {
                group = group.process(&format!("h{host}"), &process.to_string());
            }
            if let Some(rack) = member.rack {
                group = group.rack(format!("r{rack}"));
            }
            let claims = member.claims.iter().copied();
            group = match member.holds {
                true => group.owns(claims, member.generation),
                false => group.owned_before(claims, member.generation),
            };
            group = group.standing_by(member.standbys.iter().copied());
        }
        group.build()
    }

    fn plan(&self) -> GroupAssignment {
        let plan = RedundantAssigner::new(self.copies).assign(&self.subscription()).unwrap();
        assert_eq!(plan.validate(Coverage::Copies(self.copies)), Ok(()));
        plan
    }

    /// What is published of the plan: who has what, who stands by for what, and what is withheld.
    fn published(&self) -> Published {
        let mut plan = self.plan();
        let withheld = plan.withhold(Coverage::Copies(self.copies));
        let waiting = plan.waiting_for_first();
        Published { given: plan.by_name(), standbys: plan.standbys_by_name(), withheld, waiting }
    }

    fn partitions(&self) -> impl Iterator<Item = (&'static str, i32)> {
        self.topics.iter().flat_map(|(topic, count)| (0..*count as i32).map(|at| (*topic, at)))
    }

    fn subscribers(&self, topic: &str) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.subscribes.contains(&topic))
    }

    /// Those whose claims of a partition are not beaten.
    fn claimants(&self, topic: &'static str, number: i32) -> Vec<&Member> {
        let claims = |member: &&Member| member.claims.contains(&(topic, number));
        let mut claimants: Vec<&Member> = self.members.iter().filter(claims).collect();
        claimants.sort_by_key(|member| -member.generation);
        // The first that is too many, and those that are as good.
        let next = claimants.get(usize::from(self.copies));
        let next = next.map_or(i32::MIN, |member| member.generation);
        let newer = claimants.iter().filter(|member| member.generation > next).count();
        let equal = claimants.iter().filter(|member| member.generation >= next).count();
        let standing = if newer == usize::from(self.copies) { newer } else { equal };
        claimants.into_iter().take(standing).collect()
    }

    /// The group in the next round, when everybody has what was published.
    fn next(&self, published: &Published) -> Self {
        let mut next = self.clone();
        for member in &mut next.members {
            member.claims = known(&published.given[&member.id]);
            member.standbys = known(&published.standbys[&member.id]);
            (member.generation, member.holds) = (3, true);
        }
        next
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Published {
    given: BTreeMap<String, Partitions>,
    standbys: BTreeMap<String, Partitions>,
    withheld: Partitions,
    /// Partitions that nobody has the first copy of.
    waiting: Partitions,
}

impl Published {
    fn holders(&self, topic: &str, number: i32) -> Vec<&str> {
        let holds = |set: &&Partitions| set.contains(topic, number);
        let holders = self.given.iter().filter(|(_, set)| holds(set));
        holders.map(|(id, _)| id.as_str()).collect()
    }

    fn firsts(&self, topic: &str, number: i32) -> Vec<&str> {
        let stands_by = |id: &&str| self.standbys[*id].contains(topic, number);
        self.holders(topic, number).into_iter().filter(|id| !stands_by(id)).collect()
    }
}

fn known(set: &Partitions) -> Vec<(&'static str, i32)> {
    let name = |topic: &str| NAMES.into_iter().find(|name| *name == topic).unwrap();
    set.iter().map(|at| (name(at.topic()), at.partition())).collect()
}

proptest! {
    #[test]
    fn each_partition_has_its_copies_with_subscribers_or_is_withheld(group in groups(false)) {
        let published = group.published();
        let ids: BTreeSet<&String> = group.members.iter().map(|member| &member.id).collect();
        prop_assert_eq!(ids, published.given.keys().collect());
        for (topic, number) in group.partitions() {
            let subscribers: Vec<&str> =
                group.subscribers(topic).map(|member| member.id.as_str()).collect();
            let holders = published.holders(topic, number);
            prop_assert!(holders.iter().all(|id| subscribers.contains(id)));
            let wanted = subscribers.len().min(usize::from(group.copies));
            let is_withheld = published.withheld.contains(topic, number);
            prop_assert!(holders.len() == wanted || holders.len() < wanted && is_withheld);
            let has_first = !holders.is_empty() && !published.waiting.contains(topic, number);
            prop_assert_eq!(published.firsts(topic, number).len(), usize::from(has_first));
        }
    }

    #[test]
    fn no_more_hold_a_partition_than_there_are_to_be_copies(group in groups(false)) {
        let published = group.published();
        for (topic, number) in group.partitions() {
            let claimants = group.claimants(topic, number);
            let occupants = claimants.iter().filter(|member| member.holds);
            let mut all: BTreeSet<&str> = occupants.clone().map(|member| member.id.as_str()).collect();
            all.extend(published.holders(topic, number));
            let most = claimants.len().max(usize::from(group.copies));
            prop_assert!(all.len() <= most, "{topic}-{number}: {all:?}");
            let stands_by = |member: &&Member| member.standbys.contains(&(topic, number));
            for first in published.firsts(topic, number) {
                let mut others = occupants.clone().filter(|member| member.id != first);
                prop_assert!(others.all(stands_by), "{first} is the first of {topic}-{number}");
            }
        }
    }

    #[test]
    fn the_next_round_is_the_target_and_the_one_after_changes_nothing(group in groups(false)) {
        let target = group.plan();
        let published = group.published();
        let next = group.next(&published);
        let second = next.published();
        prop_assert_eq!(&second.given, &target.by_name());
        prop_assert_eq!(&second.standbys, &target.standbys_by_name());
        prop_assert_eq!(&second.withheld, &Partitions::new());
        prop_assert_eq!(&second.waiting, &Partitions::new());
        prop_assert_eq!(next.next(&second).published(), second);
    }

    #[test]
    fn the_order_of_telling_is_nothing(group in groups(false), seed in any::<u64>()) {
        let mut dice = fastrand::Rng::with_seed(seed);
        let mut told = group.clone();
        dice.shuffle(&mut told.members);
        for member in &mut told.members {
            dice.shuffle(&mut member.subscribes);
            dice.shuffle(&mut member.claims);
            dice.shuffle(&mut member.standbys);
        }
        prop_assert_eq!(group.published(), told.published());
    }

    #[test]
    fn a_static_member_gets_the_same_under_any_member_id(group in groups(false)) {
        let mut restarted = group.clone();
        for member in restarted.members.iter_mut().filter(|member| member.instance.is_some()) {
            member.id = format!("z-{}", member.id.chars().rev().collect::<String>());
        }
        let (before, after) = (group.published(), restarted.published());
        for (member, again) in group.members.iter().zip(&restarted.members) {
            prop_assert_eq!(&before.given[&member.id], &after.given[&again.id]);
            prop_assert_eq!(&before.standbys[&member.id], &after.standbys[&again.id]);
        }
    }

    #[test]
    fn nonsense_in_claims_changes_nothing(group in groups(false)) {
        let mut clean = group.clone();
        let exists = |at: &(&'static str, i32)| group.partitions().any(|known| known == *at);
        for member in &mut clean.members {
            member.claims.retain(exists);
            member.claims.sort_unstable();
            member.claims.dedup();
            let claims = member.claims.clone();
            member.standbys.retain(|at| claims.contains(at));
        }
        prop_assert_eq!(group.published(), clean.published());
    }

    #[test]
    fn loads_of_members_with_equal_topics_are_within_one(group in groups(true)) {
        let loads: Vec<usize> = group.plan().by_name().values().map(Partitions::len).collect();
        let (most, least) = (loads.iter().max().unwrap_or(&0), loads.iter().min().unwrap_or(&0));
        prop_assert!(most - least <= 1, "{loads:?}");
    }
}

/// A group of so many members of one topic, `host` members a host and `rack` hosts a rack.
fn large(members: u32, partitions: u32, hosts: u32, racks: u32) -> GroupSubscription {
    let mut group = GroupSubscription::builder().topic("t", partitions);
    for member in 0..members {
        let host = member / hosts;
        group = group.member(format!("m{member:05}"), ["t"], ());
        group = group
            .process(&format!("h{host}"), &member.to_string())
            .rack(format!("r{}", host / racks));
    }
    group.build()
}

fn loads(group: &GroupSubscription, plan: &GroupAssignment) -> (usize, usize) {
    let loads = group.members().map(|member| plan.load(member));
    (loads.clone().min().unwrap(), loads.max().unwrap())
}

#[test]
fn ten_thousand_members_share_one_partition_and_one_takes_a_million() {
    let many = large(10_000, 1, 10, 10);
    for copies in [2, 100, u16::MAX] {
        let plan = RedundantAssigner::new(copies).assign(&many).unwrap();
        let total: usize = many.members().map(|member| plan.load(member)).sum();
        assert_eq!(total, usize::from(copies).min(10_000));
    }
    let one = large(1, 1_000_000, 1, 1);
    let plan = RedundantAssigner::new(3).assign(&one).unwrap();
    assert_eq!(loads(&one, &plan), (1_000_000, 1_000_000));
}

#[test]
fn nobody_and_nothing_are_planned_for() {
    for topics in [&[][..], &[("t", 0)], &[("t", 3)]] {
        let mut group = GroupSubscription::builder();
        for (name, count) in topics {
            group = group.topic(*name, *count);
        }
        let nobody = group.build();
        assert!(RedundantAssigner::new(2).assign(&nobody).unwrap().by_name().is_empty());
    }
    let group = GroupSubscription::builder().topic("t", 3).member("idle", ["ghost"], ()).build();
    assert_eq!(loads(&group, &RedundantAssigner::new(2).assign(&group).unwrap()), (0, 0));
}

#[test]
fn members_that_come_and_go_settle_in_two_rounds() {
    for seed in 0..200 {
        let mut dice = fastrand::Rng::with_seed(seed);
        let mut group = come_and_go(&mut dice);
        for step in 0..6 {
            let published = group.published();
            let target = group.plan();
            group = group.next(&published);
            let second = group.published();
            assert_eq!(second.given, target.by_name(), "seed {seed}, step {step}");
            assert_eq!(second.withheld, Partitions::new(), "seed {seed}, step {step}");
            group = group.next(&second);
            change(&mut group, &mut dice);
        }
    }
}

/// Some members without claims.
fn come_and_go(dice: &mut fastrand::Rng) -> Group {
    let members = dice.u8(1..12);
    let topics = [("a", dice.u32(1..40)), ("b", dice.u32(1..40))].into_iter().collect();
    let members = (0..members).map(|number| newcomer(number, dice)).collect();
    Group { copies: dice.u16(2..4), topics, members }
}

fn newcomer(number: u8, dice: &mut fastrand::Rng) -> Member {
    Member {
        id: format!("m{number:03}"),
        instance: None,
        process: Some((dice.u8(..6), dice.u8(..2))),
        rack: Some(dice.u8(..3)),
        subscribes: if dice.u8(..5) == 0 { vec!["a"] } else { vec!["a", "b"] },
        claims: Vec::new(),
        standbys: Vec::new(),
        generation: -1,
        holds: false,
    }
}

/// Some come, some go, or there are to be more copies, or fewer.
fn change(group: &mut Group, dice: &mut fastrand::Rng) {
    for _ in 0..dice.u8(1..3) {
        match dice.u8(..8) {
            0 => group.copies = dice.u16(2..4),
            1..4 if group.members.len() > 1 => {
                group.members.swap_remove(dice.usize(..group.members.len()));
            }
            _ => {
                let number = dice.u8(100..);
                group.members.retain(|member| member.id != format!("m{number:03}"));
                group.members.push(newcomer(number, dice));
            }
        }
    }
}

/// Invariant 9 of the field study: four times the partitions take about four times the time.
#[test]
fn time_grows_with_the_partitions() {
    let (small, large) = (large(100, 5_000, 2, 10), large(100, 20_000, 2, 10));
    assert_grows_with_the_partitions([&small, &large], 3, |group| {
        drop(RedundantAssigner::new(3).assign(group).unwrap());
    });
}
