//! What is checked of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kafka_group::assign::{Coverage, PartitionAssigner};
use kafka_group::types::Partitions;

use crate::file::{Case, Check, Generator, Named};
use crate::round::{Round, Told, timed};

impl Case {
    /// Does all checks for an assigner.
    pub(crate) fn check<T: Told>(&self, name: &str, assigner: &dyn PartitionAssigner<T>) {
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

impl<T: Told> Round<'_, T> {
    fn check(&self, check: &Check, assigner: &dyn PartitionAssigner<T>, said: &str) {
        match check {
            Check::Equals { plan } => assert_eq!(self.plan, named(plan), "{said}"),
            Check::Complete => match assigner.coverage() {
                Coverage::Copies(copies) => self.check_copies(usize::from(copies), said),
                _ => self.check_copies(1, said),
            },
            Check::Copies { value } => self.check_copies(*value, said),
            Check::Spread { max } => {
                assert!(self.spread(Partitions::len) <= *max, "{said}: {:?}", self.plan)
            }
            Check::TopicSpread { max } => self.check_topic_spread(*max, said),
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
                assert!(partitions.iter().all(|p| has.contains(p)), "{said}: {has:?}");
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
                let second = Round::plan(&self.next(), assigner, None).plan;
                assert_eq!(second, named(plan), "{said}: second round");
            }
            Check::ShuffleInvariant => self.check_shuffled(assigner, said),
            Check::MaxMs { value } => {
                let most = Some(Duration::from_millis(*value));
                timed(most, || assigner.assign(&self.subscription)).unwrap();
            }
        }
    }

    /// Each partition with subscribers is withheld or has so many different holders, or all that there are.
    fn check_copies(&self, copies: usize, said: &str) {
        let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (topic, numbers) in self.plan.values().flat_map(Partitions::by_topic) {
            let count = self.group.topics[&**topic].partitions as usize;
            let holders = holders.entry(topic).or_insert_with(|| vec![0; count]);
            numbers.iter().for_each(|number| holders[*number as usize] += 1);
        }
        for (topic, count) in self.group.wanted() {
            let none = vec![0; count as usize];
            let copies = copies.min(self.subscription.subscribers(topic).len());
            for (number, found) in holders.get(topic).unwrap_or(&none).iter().enumerate() {
                let is_withheld = || self.withheld.contains(topic, number as i32);
                assert!(
                    *found == copies || *found < copies && is_withheld(),
                    "{said}: {topic}-{number} has {found}"
                );
            }
        }
    }

    fn check_topic_spread(&self, max: usize, said: &str) {
        for topic in self.group.topics.keys() {
            let of_topic = |set: &Partitions| set.iter().filter(|p| p.topic() == topic).count();
            assert!(self.spread(of_topic) <= max, "{said}: {topic} in {:?}", self.plan);
        }
    }

    fn check_same_owner(&self, partitions: &[String], said: &str) {
        let owner =
            |partition: &String| self.plan.iter().find(|(_, set)| texts(set).contains(partition));
        let owners: BTreeSet<_> =
            partitions.iter().map(|p| owner(p).map(|(member, _)| member)).collect();
        assert_eq!(owners.len(), 1, "{said}: {partitions:?} are with {owners:?}");
    }

    fn check_shuffled(&self, assigner: &dyn PartitionAssigner<T>, said: &str) {
        for seed in 0..20 {
            let shuffled = self.group.shuffled(seed);
            let plan = Round::plan(&shuffled, assigner, None).plan;
            assert_eq!(self.plan, plan, "{said}: seed {seed}");
        }
    }

    /// Missing topics are reported, each with all its subscribers.
    fn check_missing(&self, missing: &BTreeSet<String>, said: &str) {
        let reported = self.subscription.missing_topics();
        let names = reported.iter().map(|topic| topic.name.to_string()).collect();
        assert_eq!(missing, &names, "{said}");
        for topic in reported {
            let members: BTreeSet<&str> = topic.members.iter().map(|id| id.as_str()).collect();
            let wants = |name: &String| **name == *topic.name;
            let members_of_group = self.group.members.iter();
            let wanting = members_of_group.filter(|member| member.subscribes.iter().any(wants));
            assert_eq!(members, wanting.map(|member| member.id.as_str()).collect(), "{said}");
        }
    }

    /// Static members that restart get new member ids, and what they had before.
    fn check_restarts(&self, assigner: &dyn PartitionAssigner<T>, said: &str) {
        let mut restarted = self.group.clone();
        if restarted.members.iter().any(|member| member.instance.is_none()) {
            return;
        }
        for (member, number) in restarted.members.iter_mut().zip(0..) {
            member.id = format!("{}{number}", ["bb", "zz", "mm"][number % 3]);
        }
        let plan = Round::plan(&restarted, assigner, None).plan;
        for (before, after) in self.group.members.iter().zip(&restarted.members) {
            let instance = &before.instance;
            assert_eq!(self.plan[&before.id], plan[&after.id], "{said}: {instance:?} restarted");
        }
    }
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
