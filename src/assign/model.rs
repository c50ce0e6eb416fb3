//! The group as one value without types: what views, plans and solvers stand on.
//!
//! Partitions are numbered through, topic by topic, so that a table over all partitions is one flat vector. A
//! topic's name, a subscription and a set of subscribers are each held once, whoever shares them.

use std::sync::Arc;

use super::index::{GroupStamp, MemberIndex, PartitionIndex};
use super::layout::{Layout, Places};
use super::view::MissingTopic;
use crate::types::{Generation, MemberId, Node, TopicPartition};

/// No member, no node.
pub(crate) const NONE: u32 = u32::MAX;

/// In the table of owners: several members claim it with one and the same generation.
pub(crate) const DOUBTFUL: u32 = u32::MAX - 1;

/// A group in one round: built once, never changed.
#[derive(Debug)]
pub(crate) struct Model {
    pub(super) stamp: GroupStamp,
    pub(super) group_id: Arc<str>,
    pub(super) generation: Generation,
    pub(super) leader: Option<u32>,
    /// By name.
    pub(super) topics: Vec<TopicEntry>,
    pub(super) layout: Places,
    pub(super) nodes: Vec<Node>,
    /// In Kafka's order: static members by instance id, then the others by member id.
    pub(super) members: Vec<MemberEntry>,
    /// The distinct subscriptions: known topics, ascending.
    pub(super) subscriptions: Vec<Box<[u32]>>,
    /// The distinct sets of subscribers of a topic: members, ascending.
    pub(super) subscriber_sets: Vec<Box<[u32]>>,
    pub(super) claims: Claims,
    pub(super) missing: Vec<MissingTopic>,
}

/// A topic that exists.
#[derive(Debug)]
pub(crate) struct TopicEntry {
    pub(crate) name: Arc<str>,
    /// The number of its partition 0 among all partitions.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Which of the subscriber sets; `NONE` where nobody subscribes.
    pub(super) subscribers: u32,
}

/// A member of the group.
#[derive(Debug)]
pub(crate) struct MemberEntry {
    pub(crate) id: MemberId,
    /// As another client wrote it, so not checked.
    pub(crate) instance_id: Option<Arc<str>>,
    pub(crate) rack: Option<Arc<str>>,
    /// Its host and process, in a form that only this crate writes.
    pub(crate) process: Option<Arc<str>>,
    pub(super) subscription: u32,
    /// The generation of its claims.
    pub(crate) generation: Generation,
    /// Whether it has not given its claims up: it goes on with them while the round runs.
    pub(crate) holds: bool,
}

/// What members say they had, cleaned: only partitions that exist, each once a member.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Per member, where its claims end.
    pub(super) ends: Vec<u32>,
    /// Per member ascending.
    pub(super) partitions: Vec<u32>,
    /// Member and partition of claims to copies beside the first, ascending.
    pub(super) standbys: Vec<(u32, u32)>,
    /// Per partition: who claims it with the highest generation, if one does and still subscribes.
    pub(super) owners: Vec<u32>,
    /// Claims of unknown topics and partitions, left out.
    pub(super) dropped: usize,
}

impl Model {
    pub(crate) fn group_id(&self) -> &str {
        &self.group_id
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    pub(crate) fn stamp(&self) -> GroupStamp {
        self.stamp
    }

    pub(crate) fn topics(&self) -> &[TopicEntry] {
        &self.topics
    }

    pub(crate) fn members(&self) -> &[MemberEntry] {
        &self.members
    }

    pub(crate) fn missing_topics(&self) -> &[MissingTopic] {
        &self.missing
    }

    /// How many claims were left out since they name no known partition.
    #[cfg(test)]
    pub(crate) fn dropped_claims(&self) -> usize {
        self.claims.dropped
    }

    /// How many partitions the known topics have together.
    pub(crate) fn partition_count(&self) -> usize {
        self.topics.last().map_or(0, |topic| topic.first as usize + topic.count as usize)
    }

    /// The place of a topic.
    pub(crate) fn topic_index(&self, name: &str) -> Option<u32> {
        let found = self.topics.binary_search_by(|topic| (*topic.name).cmp(name));
        found.ok().map(|place| place as u32)
    }

    /// The place of the topic that a partition belongs to.
    pub(crate) fn topic_of(&self, partition: u32) -> u32 {
        self.topics.partition_point(|topic| topic.first <= partition).saturating_sub(1) as u32
    }

    /// A partition by topic and number.
    pub(crate) fn partition_index(&self, topic: &str, number: i32) -> Option<u32> {
        let topic = self.topics.get(self.topic_index(topic)? as usize)?;
        let number = u32::try_from(number).ok()?;
        (number < topic.count).then(|| topic.first + number)
    }

    /// A partition's name, for people.
    pub(crate) fn partition_name(&self, partition: u32) -> Option<TopicPartition> {
        let topic = self.topics.get(self.topic_of(partition) as usize)?;
        let number = partition.checked_sub(topic.first).filter(|number| *number < topic.count)?;
        Some(TopicPartition::new(Arc::clone(&topic.name), number as i32))
    }

    /// The place of a member.
    pub(crate) fn member_index(&self, id: &str) -> Option<u32> {
        self.members.iter().position(|member| member.id.as_str() == id).map(|place| place as u32)
    }

    /// The members that subscribe to a topic, ascending.
    pub(crate) fn subscribers(&self, topic: u32) -> &[u32] {
        let set = self.topics.get(topic as usize).map_or(NONE, |topic| topic.subscribers);
        self.subscriber_sets.get(set as usize).map_or(&[], |members| members)
    }

    /// The known topics that a member subscribes to, ascending.
    pub(crate) fn subscription(&self, member: u32) -> &[u32] {
        let subscription =
            self.members.get(member as usize).map_or(NONE, |member| member.subscription);
        self.subscriptions.get(subscription as usize).map_or(&[], |topics| topics)
    }

    /// Whether this member subscribes to this topic.
    pub(crate) fn subscribes(&self, member: u32, topic: u32) -> bool {
        self.subscription(member).binary_search(&topic).is_ok()
    }

    /// What a member says it had, valid or not, ascending.
    pub(crate) fn claims(&self, member: u32) -> &[u32] {
        slice_of(&self.claims.ends, &self.claims.partitions, member)
    }

    /// Whether a member says that it had no more than a copy of a partition whose first copy another has.
    pub(crate) fn stands_by(&self, member: u32, partition: u32) -> bool {
        self.claims.standbys.binary_search(&(member, partition)).is_ok()
    }

    /// The valid prior owner of a partition: `NONE`, `DOUBTFUL` or a member that still subscribes.
    pub(crate) fn owner(&self, partition: u32) -> u32 {
        self.claims.owners.get(partition as usize).copied().unwrap_or(NONE)
    }

    /// The leader of a partition, where known.
    pub(crate) fn partition_leader(&self, partition: u32) -> Option<&Node> {
        let node = *self.layout().leaders.get(partition as usize)?;
        self.nodes.get(node as usize)
    }

    /// The replicas of a partition, as places in [`nodes`](Self::nodes).
    pub(crate) fn replicas(&self, partition: u32) -> &[u32] {
        let layout = self.layout();
        slice_of(&layout.replica_ends, &layout.replicas, partition)
    }

    /// Where all partitions live.
    pub(super) fn layout(&self) -> &Layout {
        self.layout.layout(&self.topics, &self.nodes)
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// This member's place, if the index is one of this group.
    pub(crate) fn own_member(&self, member: MemberIndex) -> Option<u32> {
        let known = member.stamp == self.stamp && (member.index as usize) < self.members.len();
        known.then_some(member.index)
    }

    /// This partition's place, if the index is one of this group.
    pub(crate) fn own_partition(&self, partition: PartitionIndex) -> Option<u32> {
        let known =
            partition.stamp == self.stamp && (partition.index as usize) < self.partition_count();
        known.then_some(partition.index)
    }
}

/// The `index`-th of the slices that end at `ends`.
pub(super) fn slice_of<'a>(ends: &[u32], items: &'a [u32], index: u32) -> &'a [u32] {
    let index = index as usize;
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(index).copied().unwrap_or(start);
    items.get(start as usize..end as usize).unwrap_or(&[])
}
