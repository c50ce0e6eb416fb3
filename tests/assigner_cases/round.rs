//! One round of a group, as its leader would publish it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kafka_group::assign::{
    GroupAssignment, GroupSubscription, PartitionAssigner, RebalanceProtocol,
};
use kafka_group::types::Partitions;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::file::{Group, Member};

/// What members tell: whatever they tell by default.
pub(crate) trait Told:
    Default + DeserializeOwned + Send + Serialize + Sync + 'static
{
}

impl<T: Default + DeserializeOwned + Send + Serialize + Sync + 'static> Told for T {}

/// A group and what it is told.
pub(crate) struct Round<'a, T> {
    pub(crate) group: &'a Group,
    pub(crate) subscription: GroupSubscription<T>,
    published: GroupAssignment,
    pub(crate) plan: BTreeMap<String, Partitions>,
    pub(crate) withheld: Partitions,
}

impl<'a, T: Told> Round<'a, T> {
    pub(crate) fn plan(
        group: &'a Group,
        assigner: &dyn PartitionAssigner<T>,
        most: Option<Duration>,
    ) -> Self {
        let subscription =
            group.subscription(assigner.protocols().contains(&RebalanceProtocol::Cooperative));
        let mut published = timed(most, || assigner.assign(&subscription)).unwrap();
        assert_eq!(published.validate(assigner.coverage()), Ok(()));
        let withheld = published.withhold(assigner.coverage());
        let plan = published.by_name();
        Self { group, subscription, published, plan, withheld }
    }

    /// The group once everybody has given up what was withheld.
    pub(crate) fn next(&self) -> Group {
        let mut next = self.group.clone();
        let newest = next.members.iter().map(|member| member.generation).max().unwrap_or(-1);
        let standbys = self.published.standbys_by_name();
        for member in &mut next.members {
            member.owned = numbers(&self.plan[&member.id]);
            member.standbys = numbers(&standbys[&member.id]);
            member.generation = newest + 1;
        }
        next
    }

    /// How many partitions have a replica in the rack of their member.
    pub(crate) fn rack_matched(&self) -> usize {
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

    /// The largest difference between members with equal subscriptions.
    pub(crate) fn spread(&self, load: impl Fn(&Partitions) -> usize) -> usize {
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
pub(crate) fn timed<V>(most: Option<Duration>, plan: impl FnOnce() -> V) -> V {
    let start = std::time::Instant::now();
    let value = plan();
    let most = most.map(|most| if cfg!(debug_assertions) { most * 10 } else { most });
    assert!(most.is_none_or(|most| start.elapsed() <= most), "took {:?}", start.elapsed());
    value
}

fn numbers(set: &Partitions) -> BTreeMap<String, Vec<i32>> {
    set.by_topic().map(|(topic, numbers)| (topic.to_string(), numbers.to_vec())).collect()
}
