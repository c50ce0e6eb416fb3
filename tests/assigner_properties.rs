//! What holds for any assigner and any group, the numbers being those of the invariants in the field study:
//! 1 complete, 2 subscribers only, 3 all members, 4 the order of telling is nothing, 5 nothing is given away while
//! somebody validly holds it, 6 the round after withholds nothing, 8 nonsense in claims changes nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::{BTreeMap, BTreeSet};

use kafka_group::assign::{
    AssignError, CoPartitionAssigner, Coverage, EagerStickyAssigner, GroupAssignment,
    GroupSubscription, LocalMember, MemberRef, PartitionAssigner, PerTopicAssigner,
    RackAwareAssigner, RangeAssigner, RoundRobinAssigner, StickyAssigner, StickyPlanner,
};
use kafka_group::types::Partitions;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// The assigner of the crate's documentation.
struct LeastLoaded;

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Capacity {
    threads: usize,
}

impl PartitionAssigner<Capacity> for LeastLoaded {
    fn name(&self) -> &str {
        "least-loaded"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> Capacity {
        Capacity { threads: 1 }
    }

    fn assign(&self, group: &GroupSubscription<Capacity>) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        for partition in group.partitions() {
            let least = group.subscribers(partition.topic()).min_by_key(|member| {
                plan.load(member) * 1000
                    / member.metadata().map_or(1, |capacity| capacity.threads.max(1))
            });
            if let Some(member) = least {
                plan.give(member, partition);
            }
        }
        Ok(plan)
    }
}

/// A group as its members tell it; `ghost` and the empty name are never topics.
#[derive(Clone, Debug)]
struct Group {
    topics: BTreeMap<&'static str, u32>,
    members: Vec<Member>,
}

#[derive(Clone, Debug)]
struct Member {
    id: String,
    instance: Option<String>,
    subscribes: Vec<&'static str>,
    claims: Vec<(&'static str, i32)>,
    generation: i32,
    holds: bool,
    threads: usize,
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "ghost", ""];

fn groups() -> impl Strategy<Value = Group> {
    let topics = btree_map(prop::sample::select(&NAMES[..4]), 0_u32..7, 0..4);
    let ids = btree_set(0_u8..40, 0..7);
    (topics, ids).prop_flat_map(|(topics, ids)| {
        let members: Vec<_> = ids.into_iter().map(member).collect();
        members.prop_map(move |members| Group { topics: topics.clone(), members }).prop_shuffled()
    })
}

fn member(number: u8) -> impl Strategy<Value = Member> {
    let subscribes = vec(prop::sample::select(&NAMES[..]), 0..6);
    let claims = vec((prop::sample::select(&NAMES[..]), -1_i32..9), 0..24);
    (any::<bool>(), subscribes, claims, -1_i32..2, any::<bool>(), 0_usize..4).prop_map(
        move |(is_static, subscribes, claims, generation, holds, threads)| Member {
            id: format!("m{}", number.wrapping_mul(23)),
            instance: is_static.then(|| format!("pod-{number}")),
            subscribes,
            claims,
            generation,
            holds,
            threads,
        },
    )
}

/// Members in any order.
trait Shuffled: Strategy<Value = Group> + Sized {
    fn prop_shuffled(self) -> impl Strategy<Value = Group> {
        self.prop_flat_map(|group| {
            let topics = group.topics;
            Just(group.members)
                .prop_shuffle()
                .prop_map(move |members| Group { topics: topics.clone(), members })
        })
    }
}

impl<S: Strategy<Value = Group>> Shuffled for S {}

impl Group {
    fn subscription<T>(&self, metadata: impl Fn(&Member) -> T) -> GroupSubscription<T> {
        let mut group = GroupSubscription::builder();
        for id in 0..14 {
            group = group.broker(id, Some(&format!("r{}", id % 4)));
        }
        for (name, count) in &self.topics {
            group = group.topic(*name, *count).replicas((0..*count as i32).map(|at| [at, at * 2]));
        }
        for member in &self.members {
            group = group.member(
                member.id.as_str(),
                member.subscribes.iter().copied(),
                metadata(member),
            );
            if let Some(instance) = &member.instance {
                group = group.instance_id(instance.as_str());
            }
            if member.threads > 0 {
                group = group.rack(format!("r{}", member.threads));
            }
            let claims = member.claims.iter().copied();
            group = match member.holds {
                true => group.owns(claims, member.generation),
                false => group.owned_before(claims, member.generation),
            };
        }
        group.build()
    }

    fn exists(&self, topic: &str, number: i32) -> bool {
        number >= 0 && self.topics.get(topic).is_some_and(|count| number < *count as i32)
    }

    /// Whoever claims a partition with the highest generation.
    fn newest_claimants(&self, topic: &str, number: i32) -> Vec<&Member> {
        let claims = |member: &&Member| member.claims.contains(&(topic, number));
        let newest = self.members.iter().filter(claims).map(|member| member.generation).max();
        self.members
            .iter()
            .filter(claims)
            .filter(|member| Some(member.generation) == newest)
            .collect()
    }
}

type Named = BTreeMap<String, Partitions>;

/// Runs the same check for the built-ins and for an assigner with metadata.
fn for_each_assigner(check: impl Fn(&dyn Fn(&Group) -> GroupAssignment)) {
    let nothing = |_: &Member| ();
    check(&|group| RangeAssigner::default().assign(&group.subscription(nothing)).unwrap());
    let range = RangeAssigner::default().rack_aware();
    check(&|group| range.assign(&group.subscription(nothing)).unwrap());
    check(&|group| RoundRobinAssigner::default().assign(&group.subscription(nothing)).unwrap());
    check(&|group| StickyAssigner::default().assign(&group.subscription(nothing)).unwrap());
    let eager = EagerStickyAssigner::default().slack(1);
    check(&|group| eager.assign(&group.subscription(nothing)).unwrap());
    let derived = |member: &Member| (member.threads > 0).then(|| format!("r{}", member.threads));
    let rack_aware =
        RackAwareAssigner::new().broker_rack(|node| Some(format!("r{}", node.id.0 % 4)));
    check(&|group| rack_aware.assign(&group.subscription(derived)).unwrap());
    let capacity = |member: &Member| Capacity { threads: member.threads };
    let planner = StickyPlanner::new()
        .capacity(|member| {
            member.metadata().map_or(1, |capacity: &Capacity| capacity.threads as u32)
        })
        .weight(|partition| f64::from(partition.number() % 3));
    check(&|group| planner.plan(&group.subscription(capacity)));
    for joined in co_partitions() {
        check(&|group| joined.assign(&group.subscription(nothing)).unwrap());
        check(&|group| {
            let threads = |member: MemberRef<'_, Capacity>| {
                member.metadata().map_or(1, |capacity| capacity.threads as u32)
            };
            joined.plan_by_capacity(&group.subscription(capacity), threads).unwrap()
        });
    }
    let (parts, nobody) = (per_topic(), LocalMember::new("group"));
    check(&|group| parts.assign(&group.subscription(|_| parts.metadata(&nobody))).unwrap());
    check(&|group| LeastLoaded.assign(&group.subscription(capacity)).unwrap());
}

/// All topics together, some, and two groups.
fn co_partitions() -> [CoPartitionAssigner; 3] {
    let joined = CoPartitionAssigner::default;
    [joined(), joined().group(["a", "b", "ghost"]), joined().group(["a", "b"]).group(["c", "d"])]
}

/// A composition of different assigners, one of them with metadata.
fn per_topic() -> PerTopicAssigner {
    let parts = PerTopicAssigner::new(StickyAssigner::default()).unwrap();
    let parts = parts.pattern("[ab]", CoPartitionAssigner::default()).unwrap();
    parts.topics(["c", "ghost"], LeastLoaded).unwrap()
}

fn published(plan: &mut GroupAssignment) -> (Named, Partitions) {
    assert_eq!(plan.validate(Coverage::ExactlyOnce), Ok(()));
    let withheld = plan.withhold(Coverage::ExactlyOnce);
    (plan.by_name(), withheld)
}

/// Invariants 1, 2, 3.
fn check_complete(group: &Group, plan: &Named, withheld: &Partitions) {
    let ids: BTreeSet<&String> = group.members.iter().map(|member| &member.id).collect();
    assert_eq!(ids, plan.keys().collect());
    for (topic, count) in &group.topics {
        let subscribers: Vec<_> =
            group.members.iter().filter(|member| member.subscribes.contains(topic)).collect();
        for number in 0..*count as i32 {
            let holders: Vec<_> =
                plan.iter().filter(|(_, set)| set.contains(topic, number)).collect();
            let places = holders.len() + usize::from(withheld.contains(topic, number));
            assert_eq!(places, usize::from(!subscribers.is_empty()), "{topic}-{number}");
            let subscribes = |id: &str| subscribers.iter().any(|member| member.id == id);
            assert!(holders.iter().all(|(id, _)| subscribes(id)));
        }
    }
}

/// Invariant 5.
fn check_nothing_given_away(group: &Group, plan: &Named) {
    for (id, set) in plan {
        for partition in set.iter() {
            let newest = group.newest_claimants(partition.topic(), partition.partition());
            let others = newest.iter().filter(|member| member.id != *id && member.holds);
            assert_eq!(others.count(), 0, "{partition} goes to {id} while others hold it");
        }
    }
}

proptest! {
    #[test]
    fn each_partition_is_given_once_to_a_subscriber_or_withheld(group in groups()) {
        for_each_assigner(|plan| {
            let (plan, withheld) = published(&mut plan(&group));
            check_complete(&group, &plan, &withheld);
        });
    }

    #[test]
    fn nothing_is_given_away_while_somebody_validly_holds_it(group in groups()) {
        for_each_assigner(|plan| check_nothing_given_away(&group, &published(&mut plan(&group)).0));
    }

    #[test]
    fn once_all_have_given_up_what_was_withheld_the_plan_is_the_target(group in groups()) {
        for_each_assigner(|plan| {
            let target = plan(&group).by_name();
            let (published_first, _) = published(&mut plan(&group));
            let mut next = group.clone();
            for member in &mut next.members {
                let has = published_first[&member.id].iter();
                let known = |topic: &str| NAMES.into_iter().find(|name| *name == topic).unwrap();
                member.claims = has.map(|partition| (known(partition.topic()), partition.partition())).collect();
                (member.generation, member.holds) = (3, true);
            }
            assert_eq!(published(&mut plan(&next)), (target, Partitions::new()));
        });
    }

    #[test]
    fn the_order_of_telling_is_nothing(group in groups(), seed in any::<u64>()) {
        let mut dice = fastrand::Rng::with_seed(seed);
        let mut told = group.clone();
        dice.shuffle(&mut told.members);
        for member in &mut told.members {
            dice.shuffle(&mut member.subscribes);
            dice.shuffle(&mut member.claims);
        }
        for_each_assigner(|plan| assert_eq!(published(&mut plan(&group)), published(&mut plan(&told))));
    }

    #[test]
    fn a_static_member_gets_the_same_under_any_member_id(group in groups()) {
        let mut restarted = group.clone();
        // Dynamic members keep their ids, which order them.
        for member in restarted.members.iter_mut().filter(|member| member.instance.is_some()) {
member.id = format!("z-{}", member.id.chars().rev().collect::<String>());
        }
        for_each_assigner(|plan| {
            let (before, after) = (plan(&group).by_name(), plan(&restarted).by_name());
            for (member, again) in group.members.iter().zip(&restarted.members) {
                assert_eq!(before[&member.id], after[&again.id]);
            }
        });
    }

    #[test]
    fn nonsense_in_claims_changes_nothing(group in groups()) {
        let mut clean = group.clone();
        for member in &mut clean.members {
            member.claims.retain(|(topic, number)| group.exists(topic, *number));
            member.claims.sort_unstable();
            member.claims.dedup();
        }
        for_each_assigner(|plan| assert_eq!(published(&mut plan(&group)), published(&mut plan(&clean))));
    }
}
