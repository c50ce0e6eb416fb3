//! Plans of range and roundrobin equal Java's, partition for partition.
//!
//! `java-plans.json` holds random groups (static members, unequal subscriptions, missing topics, names beyond ASCII)
//! and what kafka-clients 4.4.0 planned for them. `java-rack-plans.json` holds what its range made of random groups with
//! racks (KIP-881): brokers and members with and without, topics alone and joined. `captured-plans.json` holds what Java,
//! franz-go and librdkafka published as leaders of real groups on a broker, over `orders` (3 partitions) and `payments`
//! (2).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeMap;

use kafka_group::assign::{
    GroupSubscription, GroupSubscriptionBuilder, PartitionAssigner, RangeAssigner,
    RoundRobinAssigner,
};
use kafka_group::types::Partitions;
use serde::Deserialize;

type Named = BTreeMap<String, BTreeMap<String, Vec<i32>>>;

#[derive(Deserialize)]
struct Group {
    topics: BTreeMap<String, u32>,
    members: Vec<Member>,
    range: Named,
    roundrobin: Named,
}

#[derive(Deserialize)]
struct Member {
    id: String,
    instance: Option<String>,
    #[serde(default)]
    rack: Option<String>,
    subscribes: Vec<String>,
}

#[derive(Deserialize)]
struct Racked {
    /// Their racks, by id.
    brokers: Vec<Option<String>>,
    /// Per partition its replicas.
    topics: BTreeMap<String, Vec<Vec<i32>>>,
    members: Vec<Member>,
    range: Named,
}

#[derive(Deserialize)]
struct Captured {
    scenario: String,
    generation: i32,
    protocol: String,
    leader: String,
    subscribes: BTreeMap<String, Vec<String>>,
    plan: Named,
}

#[test]
fn random_groups_are_planned_as_java_plans_them() {
    let groups: Vec<Group> =
        serde_json::from_str(include_str!("data/assign/java-plans.json")).unwrap();
    assert_eq!(groups.len(), 240);
    for (group, number) in groups.iter().zip(0..) {
        let subscription = subscription(&group.topics, &group.members);
        assert_eq!(plan("range", &subscription), sets(&group.range), "range, group {number}");
        assert_eq!(
            plan("roundrobin", &subscription),
            sets(&group.roundrobin),
            "roundrobin, group {number}"
        );
    }
}

#[test]
fn range_with_racks_plans_as_javas_does() {
    let groups: Vec<Racked> =
        serde_json::from_str(include_str!("data/assign/java-rack-plans.json")).unwrap();
    assert_eq!(groups.len(), 300);
    let mut differ = 0;
    for (racked, number) in groups.iter().zip(0..) {
        let mut group = GroupSubscription::builder();
        for (rack, id) in racked.brokers.iter().zip(0..) {
            group = group.broker(id, rack.as_deref());
        }
        for (name, partitions) in &racked.topics {
            group = group.topic(name.as_str(), partitions.len() as u32);
            group = group.replicas(partitions.iter().map(|replicas| replicas.iter().copied()));
        }
        let group = with_members(group, &racked.members);
        let plan = RangeAssigner::default().rack_aware().assign(&group).unwrap().by_name();
        assert_eq!(plan, sets(&racked.range), "group {number}");
        differ += usize::from(plan != RangeAssigner::default().assign(&group).unwrap().by_name());
    }
    assert!(differ > 100, "racks made a difference to {differ} groups");
}

#[test]
fn real_groups_are_planned_as_their_leaders_did() {
    let rounds: Vec<Captured> =
        serde_json::from_str(include_str!("data/assign/captured-plans.json")).unwrap();
    assert_eq!(rounds.iter().filter(|round| round.leader.starts_with("java")).count(), 41);
    let topics = BTreeMap::from([("orders".to_owned(), 3), ("payments".to_owned(), 2)]);
    for round in rounds {
        let member = |(id, subscribes): (&String, &Vec<String>)| Member {
            id: id.clone(),
            instance: None,
            rack: None,
            subscribes: subscribes.clone(),
        };
        let members: Vec<Member> = round.subscribes.iter().map(member).collect();
        let planned = plan(&round.protocol, &subscription(&topics, &members));
        assert_eq!(
            planned,
            sets(&round.plan),
            "{}, generation {}",
            round.scenario,
            round.generation
        );
    }
}

fn subscription(topics: &BTreeMap<String, u32>, members: &[Member]) -> GroupSubscription {
    let mut group = GroupSubscription::builder();
    for (name, count) in topics {
        group = group.topic(name.as_str(), *count);
    }
    with_members(group, members)
}

fn with_members(mut group: GroupSubscriptionBuilder<()>, members: &[Member]) -> GroupSubscription {
    for member in members {
        group = group.member(member.id.as_str(), member.subscribes.iter().map(String::as_str), ());
        if let Some(instance) = &member.instance {
            group = group.instance_id(instance.as_str());
        }
        if let Some(rack) = &member.rack {
            group = group.rack(rack.as_str());
        }
    }
    group.build()
}

fn plan(protocol: &str, group: &GroupSubscription) -> BTreeMap<String, Partitions> {
    let plan = match protocol {
        "range" => RangeAssigner::default().assign(group),
        _ => RoundRobinAssigner::default().assign(group),
    };
    plan.unwrap().by_name()
}

fn sets(plan: &Named) -> BTreeMap<String, Partitions> {
    let set = |topics: &BTreeMap<String, Vec<i32>>| {
        topics
            .iter()
            .flat_map(|(topic, numbers)| numbers.iter().map(|n| (topic.as_str(), *n)))
            .collect()
    };
    plan.iter().map(|(member, topics)| (member.clone(), set(topics))).collect()
}
