//! Groups, as they are written down or made up.

use std::collections::BTreeMap;
use std::time::Duration;

use kafka_group::assign::GroupSubscription;

use crate::file::{Generator, Group, Member, Topic};

impl Group {
    pub(crate) fn subscription<T: Default>(&self, holds: bool) -> GroupSubscription<T> {
        let mut group = GroupSubscription::builder();
        for (name, topic) in &self.topics {
            group = group.topic(name.as_str(), topic.partitions);
            group = group.racks(topic.racks.iter().map(|racks| racks.iter().map(String::as_str)));
        }
        for member in &self.members {
            let subscribes = member.subscribes.iter().map(String::as_str);
            group = group.member(member.id.as_str(), subscribes, T::default());
            if let Some(instance) = &member.instance {
                group = group.instance_id(instance.as_str());
            }
            if let Some(rack) = &member.rack {
                group = group.rack(rack.as_str());
            }
            let owned = each(&member.owned);
            group = match holds {
                true => group.owns(owned, member.generation),
                false => group.owned_before(owned, member.generation),
            };
            group = group.standing_by(each(&member.standbys));
        }
        group.build()
    }

    /// The same group told in another order.
    pub(crate) fn shuffled(&self, seed: u64) -> Self {
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
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (&str, u32)> {
        let topics = self
            .topics
            .iter()
            .filter(|(name, _)| self.members.iter().any(|m| m.subscribes.contains(name)));
        topics.map(|(name, topic)| (name.as_str(), topic.partitions))
    }
}

impl Generator {
    /// Fresh, one member gone, one come; with the time that a plan may take.
    pub(crate) fn groups(&self) -> Vec<(Group, Option<Duration>)> {
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
            standbys: BTreeMap::new(),
            generation: -1,
        }
    }
}

/// Topics and numbers one by one.
fn each(topics: &BTreeMap<String, Vec<i32>>) -> impl Iterator<Item = (&str, i32)> {
    let topics = topics.iter();
    topics.flat_map(|(topic, numbers)| numbers.iter().map(|number| (topic.as_str(), *number)))
}
