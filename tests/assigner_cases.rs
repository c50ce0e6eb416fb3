//! The cases that other clients got wrong, each run for every assigner it names.
//!
//! `KAFKA_GROUP_ASSIGNER_CASES` names another file of the same form. Cases for assigners that do not exist are
//! counted and printed as not run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kafka_group::assign::{
    AssignError, CoPartitionAssigner, EagerStickyAssigner, GroupAssignment, GroupSubscription,
    LocalMember, PartitionAssigner, RangeAssigner, RebalanceProtocol, RoundRobinAssigner,
    StickyAssigner, StickyPlanner,
};
use kafka_group::types::Partitions;
use serde::Deserialize;

#[test]
fn every_case_holds_for_every_assigner_it_names() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/assigner-cases.json");
    let path = std::env::var("KAFKA_GROUP_ASSIGNER_CASES").unwrap_or_else(|_| here.to_owned());
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: CaseFile = serde_json::from_str(&text).unwrap();
    assert_eq!(file.schema, "assigner-cases/1");

    let (mut run, mut not_run) = (0, BTreeMap::<&str, Vec<&str>>::new());
    for case in &file.cases {
        for name in &case.assigners {
            match case.assigner(name) {
                Some(assigner) => {
                    case.run(name, assigner.as_ref());
                    run += 1;
                }
                None => not_run.entry(name).or_default().push(&case.id),
            }
        }
    }
    println!("{run} runs");
    for (name, cases) in not_run {
        println!("not run for want of `{name}`: {} cases, {}", cases.len(), cases.join(" "));
    }
    assert!(run > 0, "no case is for an assigner that exists");
}

/// The sticky assigner with weights of partitions.
struct Weighted(BTreeMap<String, Vec<f64>>);

impl PartitionAssigner for Weighted {
    fn name(&self) -> &str {
        "weighted"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let planner = StickyPlanner::new().weight(|partition| {
            let weights = self.0.get(partition.topic());
            weights.and_then(|w| w.get(partition.number() as usize)).copied().unwrap_or(0.0)
        });
        Ok(planner.plan(group))
    }
}

#[derive(Deserialize)]
struct CaseFile {
    schema: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    assigners: Vec<String>,
    #[serde(flatten)]
    group: Group,
    checks: BTreeMap<String, Vec<Check>>,
    expect: String,
    #[serde(default)]
    missing: BTreeSet<String>,
    #[serde(default)]
    generators: Vec<Generator>,
    #[serde(default)]
    weights: BTreeMap<String, Vec<f64>>,
}

#[derive(Clone, Deserialize)]
struct Group {
    topics: BTreeMap<String, Topic>,
    members: Vec<Member>,
}

#[derive(Clone, Deserialize)]
struct Topic {
    partitions: u32,
    #[serde(default)]
    racks: Vec<Vec<String>>,
}

#[derive(Clone, Deserialize)]
struct Member {
    id: String,
    instance: Option<String>,
    rack: Option<String>,
    subscribes: Vec<String>,
    owned: BTreeMap<String, Vec<i32>>,
    generation: i32,
}

type Named = BTreeMap<String, BTreeMap<String, Vec<i32>>>;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Check {
    Equals { plan: Named },
    Complete,
    Spread { max: usize },
    TopicSpread { max: usize },
    Counts { counts: BTreeMap<String, usize> },
    MembersInOutput { members: BTreeSet<String> },
    Keeps { member: String, partitions: Vec<String> },
    SameOwner { groups: Vec<Vec<String>> },
    Copies { value: usize },
    NotGranted { member: String, partitions: Vec<String> },
    RackMatchedMin { value: usize },
    Withheld { partitions: BTreeSet<String> },
    WithheldCount { value: usize },
    ThenRound2 { plan: Named },
    ShuffleInvariant,
    MaxMs { value: u64 },
}

/// A group too large to be written down.
#[derive(Deserialize)]
struct Generator {
    topics: usize,
    partitions: u32,
    members: usize,
    max_ms: u64,
    subscribe: Option<String>,
}

impl Case {
    /// The assigners that exist, by protocol name.
    fn assigner(&self, name: &str) -> Option<Box<dyn PartitionAssigner>> {
        match name {
            "range" => Some(Box::new(RangeAssigner::default())),
            "roundrobin" => Some(Box::new(RoundRobinAssigner::default())),
            "sticky" => Some(Box::new(EagerStickyAssigner::default())),
            "cooperative-sticky" => Some(Box::new(StickyAssigner::default())),
            "co-partition" => Some(Box::new(CoPartitionAssigner::default())),
            "weighted" => Some(Box::new(Weighted(self.weights.clone()))),
            _ => None,
        }
    }

    fn run(&self, name: &str, assigner: &dyn PartitionAssigner) {
        let checks = self.checks.get(name).into_iter().chain(self.checks.get("*")).flatten();
        let said = format!("{} for {name}: {}", self.id, self.expect);
        let checks: Vec<&Check> = checks.collect();
        assert!(!checks.is_empty(), "{said}: no check");
        let groups = match self.generators.is_empty() {
            true => vec![(self.group.clone(), None)],
            false => self.generators.iter().flat_map(Generator::groups).collect(),
        };
        for (group, most) in groups {
            let round = Round::plan(&group, assigner, most);
            round.check_missing(&self.missing, &said);
            round.check_restarts(assigner, &said);
            checks.iter().for_each(|check| round.check(check, assigner, &said));
        }
    }
}

impl Group {
    fn subscription(&self, holds: bool) -> GroupSubscription {
        let mut group = GroupSubscription::builder();
        for (name, topic) in &self.topics {
            group = group.topic(name.as_str(), topic.partitions);
            group = group.racks(topic.racks.iter().map(|racks| racks.iter().map(String::as_str)));
        }
        for member in &self.members {
            group =
                group.member(member.id.as_str(), member.subscribes.iter().map(String::as_str), ());
            if let Some(instance) = &member.instance {
                group = group.instance_id(instance.as_str());
            }
            if let Some(rack) = &member.rack {
                group = group.rack(rack.as_str());
            }
            let owned = member
                .owned
                .iter()
                .flat_map(|(topic, numbers)| numbers.iter().map(|n| (topic.as_str(), *n)));
            group = match holds {
                true => group.owns(owned, member.generation),
                false => group.owned_before(owned, member.generation),
            };
        }
        group.build()
    }

    /// The same group told in another order.
    fn shuffled(&self, seed: u64) -> Self {
        let mut dice = fastrand::Rng::with_seed(seed);
        let mut group = self.clone();
        dice.shuffle(&mut group.members);
        for member in &mut group.members {
            dice.shuffle(&mut member.subscribes);
            member.owned.values_mut().for_each(|numbers| dice.shuffle(numbers));
        }
        group
    }

    /// How often each partition of a topic with subscribers is there.
    fn wanted(&self) -> impl Iterator<Item = (&str, u32)> {
        let topics = self
            .topics
            .iter()
            .filter(|(name, _)| self.members.iter().any(|m| m.subscribes.contains(name)));
        topics.map(|(name, topic)| (name.as_str(), topic.partitions))
    }
}

impl Generator {
    /// Fresh, one member gone, one come; with the time that a plan may take.
    fn groups(&self) -> Vec<(Group, Option<Duration>)> {
        let topics: Vec<String> = (0..self.topics).map(|topic| format!("t{topic}")).collect();
        let group = |members: std::ops::Range<usize>| Group {
            topics: topics
                .iter()
                .map(|name| {
                    (name.clone(), Topic { partitions: self.partitions, racks: Vec::new() })
                })
                .collect(),
            members: members.map(|number| self.member(number, &topics)).collect(),
        };
        let most = Some(Duration::from_millis(self.max_ms));
        let sizes = [0..self.members, 1..self.members, 0..self.members + 1];
        sizes.into_iter().map(|members| (group(members), most)).collect()
    }

    fn member(&self, number: usize, topics: &[String]) -> Member {
        let subscribes = match self.subscribe.as_deref() {
            None => topics.to_vec(),
            Some("i mod topics") => vec![topics[number % topics.len()].clone()],
            Some(other) => panic!("unknown subscription rule {other}"),
        };
        let id = format!("m{number:05}");
        Member {
            id,
            instance: None,
            rack: None,
            subscribes,
            owned: BTreeMap::new(),
            generation: -1,
        }
    }
}

/// One round of a group, as its leader would publish it.
struct Round<'a> {
    group: &'a Group,
    subscription: GroupSubscription,
    published: GroupAssignment,
    plan: BTreeMap<String, Partitions>,
    withheld: Partitions,
}

impl<'a> Round<'a> {
    fn plan(group: &'a Group, assigner: &dyn PartitionAssigner, most: Option<Duration>) -> Self {
        let subscription =
            group.subscription(assigner.protocols().contains(&RebalanceProtocol::Cooperative));
        let mut published = timed(most, || assigner.assign(&subscription)).unwrap();
        assert_eq!(published.validate(assigner.coverage()), Ok(()));
        let withheld = published.withhold(assigner.coverage());
        let plan = published.by_name();
        Self { group, subscription, published, plan, withheld }
    }

    fn check(&self, check: &Check, assigner: &dyn PartitionAssigner, said: &str) {
        match check {
            Check::Equals { plan } => assert_eq!(self.plan, named(plan), "{said}"),
            Check::Complete => self.check_copies(1, said),
            Check::Copies { value } => self.check_copies(*value, said),
            Check::Spread { max } => {
                assert!(self.spread(|set| set.len()) <= *max, "{said}: {:?}", self.plan)
            }
            Check::TopicSpread { max } => {
                for topic in self.group.topics.keys() {
                    let of_topic =
                        |set: &Partitions| set.iter().filter(|p| p.topic() == topic).count();
                    assert!(self.spread(of_topic) <= *max, "{said}: {topic} in {:?}", self.plan);
                }
            }
            Check::Counts { counts } => {
                let found =
                    self.plan.iter().map(|(member, set)| (member.clone(), set.len())).collect();
                assert_eq!(counts, &found, "{said}");
            }
            Check::MembersInOutput { members } => {
                assert_eq!(members, &self.plan.keys().cloned().collect(), "{said}");
            }
            Check::Keeps { member, partitions } => {
                let has = texts(&self.plan[member]);
                assert!(
                    partitions.iter().all(|partition| has.contains(partition)),
                    "{said}: {has:?}"
                );
            }
            Check::SameOwner { groups } => {
                groups.iter().for_each(|group| self.check_same_owner(group, said))
            }
            Check::NotGranted { member, partitions } => {
                let has = texts(&self.plan[member]);
                assert!(!partitions.iter().any(|p| has.contains(p)), "{said}: {has:?}");
            }
            Check::RackMatchedMin { value } => {
                let matched = self.rack_matched();
                assert!(matched >= *value, "{said}: {matched} in {:?}", self.plan);
            }
            Check::Withheld { partitions } => {
                assert_eq!(partitions, &texts(&self.withheld), "{said}")
            }
            Check::WithheldCount { value } => assert_eq!(self.withheld.len(), *value, "{said}"),
            Check::ThenRound2 { plan } => {
                let next = self.next();
                assert_eq!(
                    Round::plan(&next, assigner, None).plan,
                    named(plan),
                    "{said}: second round"
                );
            }
            Check::ShuffleInvariant => {
                for seed in 0..20 {
                    let shuffled = self.group.shuffled(seed);
                    assert_eq!(
                        self.plan,
                        Round::plan(&shuffled, assigner, None).plan,
                        "{said}: seed {seed}"
                    );
                }
            }
            Check::MaxMs { value } => {
                let most = Some(Duration::from_millis(*value));
                timed(most, || assigner.assign(&self.subscription)).unwrap();
            }
        }
    }

    /// Each partition with subscribers is withheld or has so many different holders.
    fn check_copies(&self, copies: usize, said: &str) {
        let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (topic, numbers) in self.plan.values().flat_map(Partitions::by_topic) {
            let count = self.group.topics[&**topic].partitions as usize;
            let holders = holders.entry(topic).or_insert_with(|| vec![0; count]);
            numbers.iter().for_each(|number| holders[*number as usize] += 1);
        }
        for (topic, count) in self.group.wanted() {
            let none = vec![0; count as usize];
            for (number, found) in holders.get(topic).unwrap_or(&none).iter().enumerate() {
                assert!(
                    *found == copies
                        || *found < copies && self.withheld.contains(topic, number as i32),
                    "{said}: {topic}-{number} has {found}"
                );
            }
        }
    }

    fn check_same_owner(&self, partitions: &[String], said: &str) {
        let owner =
            |partition: &String| self.plan.iter().find(|(_, set)| texts(set).contains(partition));
        let owners: BTreeSet<_> =
            partitions.iter().map(|p| owner(p).map(|(member, _)| member)).collect();
        assert_eq!(owners.len(), 1, "{said}: {partitions:?} are with {owners:?}");
    }

    /// How many partitions have a replica in the rack of their member.
    fn rack_matched(&self) -> usize {
        let is_near = |member: &Member, topic: &str, number: i32| {
            let racks = self.group.topics[topic].racks.get(number as usize);
            racks.is_some_and(|racks| racks.iter().any(|rack| Some(rack) == member.rack.as_ref()))
        };
        let members = self.group.members.iter().map(|member| (member, &self.plan[&member.id]));
        let near = members.flat_map(|(member, set)| {
            set.iter().filter(move |p| is_near(member, p.topic(), p.partition()))
        });
        near.count()
    }

    /// Missing topics are reported, each with all its subscribers.
    fn check_missing(&self, missing: &BTreeSet<String>, said: &str) {
        let reported = self.subscription.missing_topics();
        assert_eq!(
            missing,
            &reported.iter().map(|topic| topic.name.to_string()).collect(),
            "{said}"
        );
        for topic in reported {
            let members: BTreeSet<&str> = topic.members.iter().map(|id| id.as_str()).collect();
            let wanting = self
                .group
                .members
                .iter()
                .filter(|m| m.subscribes.iter().any(|name| **name == *topic.name));
            assert_eq!(members, wanting.map(|member| member.id.as_str()).collect(), "{said}");
        }
    }

    /// Static members that restart get new member ids, and what they had before.
    fn check_restarts(&self, assigner: &dyn PartitionAssigner, said: &str) {
        let mut restarted = self.group.clone();
        if restarted.members.iter().any(|member| member.instance.is_none()) {
            return;
        }
        for (member, number) in restarted.members.iter_mut().zip(0..) {
            member.id = format!("{}{number}", ["bb", "zz", "mm"][number % 3]);
        }
        let plan = Round::plan(&restarted, assigner, None).plan;
        for (before, after) in self.group.members.iter().zip(&restarted.members) {
            assert_eq!(
                self.plan[&before.id], plan[&after.id],
                "{said}: {:?} restarted",
                before.instance
            );
        }
    }

    /// The group once everybody has given up what was withheld.
    fn next(&self) -> Group {
        let mut next = self.group.clone();
        let newest = next.members.iter().map(|member| member.generation).max().unwrap_or(-1);
        for member in &mut next.members {
            let has = &self.published.by_name()[&member.id];
            member.owned = has
                .by_topic()
                .map(|(topic, numbers)| (topic.to_string(), numbers.to_vec()))
                .collect();
            member.generation = newest + 1;
        }
        next
    }

    /// The largest difference between members with equal subscriptions.
    fn spread(&self, load: impl Fn(&Partitions) -> usize) -> usize {
        let mut loads: BTreeMap<BTreeSet<&String>, Vec<usize>> = BTreeMap::new();
        for member in &self.group.members {
            loads
                .entry(member.subscribes.iter().collect())
                .or_default()
                .push(load(&self.plan[&member.id]));
        }
        let spread = |loads: &Vec<usize>| {
            loads.iter().max().unwrap_or(&0) - loads.iter().min().unwrap_or(&0)
        };
        loads.values().map(spread).max().unwrap_or(0)
    }
}

/// Runs and refuses what takes too long; a build for debugging has ten times as long.
#[expect(clippy::disallowed_methods, reason = "the time that a plan takes is what is tested")]
fn timed<V>(most: Option<Duration>, plan: impl FnOnce() -> V) -> V {
    let start = std::time::Instant::now();
    let value = plan();
    let most = most.map(|most| if cfg!(debug_assertions) { most * 10 } else { most });
    assert!(most.is_none_or(|most| start.elapsed() <= most), "took {:?}", start.elapsed());
    value
}

fn named(plan: &Named) -> BTreeMap<String, Partitions> {
    let set = |topics: &BTreeMap<String, Vec<i32>>| {
        topics
            .iter()
            .flat_map(|(topic, numbers)| numbers.iter().map(|n| (topic.as_str(), *n)))
            .collect()
    };
    plan.iter().map(|(member, topics)| (member.clone(), set(topics))).collect()
}

fn texts(set: &Partitions) -> BTreeSet<String> {
    set.iter().map(|partition| partition.to_string()).collect()
}
