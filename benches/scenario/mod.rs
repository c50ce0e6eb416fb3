//! A group in a file, and what a plan of it is worth.

use std::collections::BTreeMap;
use std::sync::Arc;

use kafka_group::assign::{GroupAssignment, GroupSubscription, MemberRef, PartitionRef};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    racks: Vec<String>,
    topics: Vec<Topic>,
    subscriptions: Vec<Vec<usize>>,
    members: Vec<Member>,
}

#[derive(Deserialize)]
struct Topic {
    name: String,
    partitions: u32,
    /// How many replicas there are; 0 where racks are unknown.
    rf: usize,
    /// Replica `j` of partition `p` is in rack `(p + rack_offset + j) % racks`, and replica 0 leads.
    rack_offset: usize,
}

#[derive(Deserialize)]
struct Member {
    id: String,
    instance: Option<String>,
    /// -1 where unknown.
    rack: i64,
    sub: usize,
    generation: i32,
    /// Topic, start, length, start, length, …
    owned: Vec<Vec<u32>>,
}

impl Scenario {
    /// The group, its members holding on to what they had or having given it up.
    pub(crate) fn group(&self, holds: bool) -> GroupSubscription {
        let names: Vec<Arc<str>> =
            self.topics.iter().map(|topic| topic.name.as_str().into()).collect();
        let mut group = GroupSubscription::builder();
        for (rack, id) in self.racks.iter().zip(0..) {
            group = group.broker(id, Some(rack));
        }
        for (topic, name) in self.topics.iter().zip(&names) {
            group = group.topic(Arc::clone(name), topic.partitions);
            if topic.rf > 0 && !self.racks.is_empty() {
                let brokers = |partition: u32| {
                    (0..topic.rf).map(move |replica| {
                        ((partition as usize + topic.rack_offset + replica) % self.racks.len())
                            as i32
                    })
                };
                group = group.replicas((0..topic.partitions).map(brokers));
            }
        }
        for member in &self.members {
            let topics = self.subscriptions[member.sub].iter();
            let topics = topics.map(|topic| Arc::clone(&names[*topic]));
            group = group.member(member.id.as_str(), topics, ());
            if let Some(instance) = &member.instance {
                group = group.instance_id(instance.as_str());
            }
            if let Some(rack) =
                usize::try_from(member.rack).ok().and_then(|rack| self.racks.get(rack))
            {
                group = group.rack(rack.as_str());
            }
            group = match holds {
                true => group.owns(member.owned(&names), member.generation),
                false => group.owned_before(member.owned(&names), member.generation),
            };
        }
        group.build()
    }

    /// The fields that tell how good a plan is.
    pub(crate) fn worth(&self, group: &GroupSubscription, plan: &GroupAssignment) -> String {
        let (mut moves, mut unassigned, mut cross_rack, mut rackable) = (0, 0, 0, 0);
        for partition in group.partitions() {
            let holder = plan.holders(partition).next().and_then(|holder| group.member(holder));
            let owner = group.owner(partition);
            moves += u32::from(owner.is_some() && owner != holder);
            let Some(holder) = holder else {
                unassigned += u32::from(group.subscribers(partition.topic()).len() > 0);
                continue;
            };
            if let Some(is_near) = is_near(holder, partition) {
                rackable += 1;
                cross_rack += u32::from(!is_near);
            }
        }
        let loads: Vec<u64> = group.members().map(|member| plan.load(member) as u64).collect();
        let (max, min) = (loads.iter().max().unwrap_or(&0), loads.iter().min().unwrap_or(&0));
        let sumsq: u64 = loads.iter().map(|load| load * load).sum();
        let spread = self.spread(group, &loads);
        format!(
            r#""moves":{moves},"spread":{spread},"max":{max},"min":{min},"sumsq":{sumsq},"unassigned":{unassigned},"cross_rack":{cross_rack},"rackable":{rackable}"#
        )
    }

    /// The largest difference of loads within a subscription.
    fn spread(&self, group: &GroupSubscription, loads: &[u64]) -> u64 {
        let subscription_of: BTreeMap<&str, usize> =
            self.members.iter().map(|member| (member.id.as_str(), member.sub)).collect();
        let mut bounds: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (member, load) in group.members().zip(loads) {
            let bounds = bounds.entry(subscription_of[member.id()]).or_insert((*load, *load));
            *bounds = (bounds.0.min(*load), bounds.1.max(*load));
        }
        bounds.values().map(|(least, most)| most - least).max().unwrap_or(0)
    }
}

impl Member {
    fn owned(&self, names: &[Arc<str>]) -> Vec<(Arc<str>, i32)> {
        let mut owned = Vec::new();
        for runs in &self.owned {
            let topic = &names[runs[0] as usize];
            for run in runs[1..].chunks_exact(2) {
                let numbers = run[0]..run[0] + run[1];
                owned.extend(numbers.map(|number| (Arc::clone(topic), number as i32)));
            }
        }
        owned
    }
}

/// Whether a replica is in the member's rack, if both are known.
fn is_near(member: MemberRef<'_>, partition: PartitionRef<'_>) -> Option<bool> {
    let rack = member.rack()?;
    let mut replicas = partition.replicas().peekable();
    replicas.peek()?;
    Some(replicas.any(|node| node.rack.as_deref() == Some(rack)))
}
