//! Members, topics and partitions as an assigner handles them: small views into the model, copied freely.

use std::fmt;
use std::iter::FusedIterator;

use super::error::MetadataError;
use super::index::{MemberIndex, PartitionIndex};
use super::model::{MemberEntry, Model, TopicEntry};
use super::view::GroupSubscription;
use crate::types::{Generation, Node};

/// A member of the group: a small view, copied freely.
pub struct MemberRef<'a, T = ()> {
    pub(super) group: &'a GroupSubscription<T>,
    pub(super) index: u32,
}

impl<'a, T> MemberRef<'a, T> {
    /// The id that the coordinator gave. It changes when the process restarts.
    pub fn id(self) -> &'a str {
        self.entry().map_or("", |member| member.id.as_str())
    }

    /// Kafka: `group.instance.id`. It stays when the process restarts.
    pub fn instance_id(self) -> Option<&'a str> {
        self.entry()?.instance_id.as_deref()
    }

    /// Kafka: `client.rack`.
    pub fn rack(self) -> Option<&'a str> {
        self.entry()?.rack.as_deref()
    }

    /// The process that it runs in, with its host: the same for all members of one process, and for no others.
    ///
    /// None for members of other clients.
    pub fn process(self) -> Option<&'a str> {
        self.entry()?.process.as_deref()
    }

    /// The name of the host that it runs on. None for members of other clients.
    pub fn host(self) -> Option<&'a str> {
        let process = self.process()?;
        Some(process.rsplit_once('/').map_or(process, |(host, _)| host))
    }

    /// The topics that it subscribes to and that exist, by name, whichever of them the view shows.
    pub fn topics(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        let topics = self.model().topics();
        self.model()
            .subscription(self.index)
            .iter()
            .map(|topic| topics.get(*topic as usize).map_or("", |t| &*t.name))
    }

    /// Whether it subscribes to this topic.
    pub fn subscribes(self, topic: &str) -> bool {
        self.model()
            .topic_index(topic)
            .is_some_and(|topic| self.model().subscribes(self.index, topic))
    }

    /// What it validly had before this round, by topic and number: that of which it is the
    /// [`owner`](GroupSubscription::owner).
    pub fn owned(self) -> impl Iterator<Item = PartitionRef<'a>> + Clone {
        let Self { group, index } = self;
        let valid = group
            .model
            .claims(index)
            .iter()
            .filter(move |claim| group.model.owner(**claim) == index);
        valid.filter_map(|claim| {
            let topic = TopicRef::at(&group.model, group.model.topic_of(*claim))?;
            Some(PartitionRef { topic, index: *claim })
        })
    }

    /// The generation in which it had what it says it had.
    pub fn owned_generation(self) -> Generation {
        self.entry().map_or(Generation::NONE, |member| member.generation)
    }

    /// What it told the leader, or why that cannot be read.
    pub fn metadata(self) -> Result<&'a T, &'a MetadataError> {
        self.group.metadata_at(self.index)
    }

    /// Its place among [`members`](GroupSubscription::members), from 0.
    pub fn position(self) -> usize {
        self.index as usize
    }

    /// The place of its subscription among the distinct ones.
    #[cfg(any(test, feature = "cli", feature = "test-util"))]
    pub(crate) fn subscription_position(self) -> usize {
        self.entry().map_or(0, |member| member.subscription as usize)
    }

    /// A small value that names it, to be kept.
    pub fn index(self) -> MemberIndex {
        MemberIndex { stamp: self.model().stamp(), index: self.index }
    }

    fn model(self) -> &'a Model {
        &self.group.model
    }

    fn entry(self) -> Option<&'a MemberEntry> {
        self.model().members().get(self.index as usize)
    }
}

impl<T> Clone for MemberRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for MemberRef<'_, T> {}

impl<T> PartialEq for MemberRef<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.index() == other.index()
    }
}

impl<T> Eq for MemberRef<'_, T> {}

impl<T> fmt::Debug for MemberRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberRef")
            .field("id", &self.id())
            .field("instance_id", &self.instance_id())
            .finish()
    }
}

impl<T> From<MemberRef<'_, T>> for MemberIndex {
    fn from(member: MemberRef<'_, T>) -> Self {
        member.index()
    }
}

impl<T> From<&MemberRef<'_, T>> for MemberIndex {
    fn from(member: &MemberRef<'_, T>) -> Self {
        member.index()
    }
}

/// The members that subscribe to one topic, in order.
pub struct Subscribers<'a, T> {
    pub(super) group: &'a GroupSubscription<T>,
    pub(super) members: std::slice::Iter<'a, u32>,
}

impl<'a, T> Iterator for Subscribers<'a, T> {
    type Item = MemberRef<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.members.next().map(|index| self.group.member_at(*index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.members.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.members.nth(n).map(|index| self.group.member_at(*index))
    }
}

impl<T> ExactSizeIterator for Subscribers<'_, T> {}

impl<T> FusedIterator for Subscribers<'_, T> {}

impl<T> Clone for Subscribers<'_, T> {
    fn clone(&self) -> Self {
        Self { group: self.group, members: self.members.clone() }
    }
}

impl<T> fmt::Debug for Subscribers<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// A topic that exists: a small view, copied freely.
#[derive(Clone, Copy)]
pub struct TopicRef<'a> {
    model: &'a Model,
    entry: &'a TopicEntry,
}

impl<'a> TopicRef<'a> {
    pub(super) fn at(model: &'a Model, topic: u32) -> Option<Self> {
        model.topics().get(topic as usize).map(|entry| Self { model, entry })
    }

    /// Its name.
    pub fn name(self) -> &'a str {
        &self.entry.name
    }

    /// How many partitions it has.
    pub fn partition_count(self) -> usize {
        self.entry.count as usize
    }

    /// Its partitions, by number.
    pub fn partitions(
        self,
    ) -> impl ExactSizeIterator<Item = PartitionRef<'a>> + DoubleEndedIterator + Clone {
        let first = self.entry.first;
        (first..first + self.entry.count).map(move |index| PartitionRef { topic: self, index })
    }

    /// One of its partitions.
    pub fn partition(self, number: i32) -> Option<PartitionRef<'a>> {
        let number = u32::try_from(number).ok().filter(|number| *number < self.entry.count)?;
        Some(PartitionRef { topic: self, index: self.entry.first + number })
    }
}

impl fmt::Debug for TopicRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.partition_count())
    }
}

/// A partition of a topic: a small view, copied freely.
#[derive(Clone, Copy)]
pub struct PartitionRef<'a> {
    pub(super) topic: TopicRef<'a>,
    pub(super) index: u32,
}

impl<'a> PartitionRef<'a> {
    /// The name of its topic.
    pub fn topic(self) -> &'a str {
        self.topic.name()
    }

    /// Its number in the topic, from 0.
    pub fn number(self) -> i32 {
        (self.index - self.topic.entry.first) as i32
    }

    /// The broker that leads it, where known.
    pub fn leader(self) -> Option<&'a Node> {
        self.topic.model.partition_leader(self.index)
    }

    /// The brokers that hold it, where known.
    pub fn replicas(self) -> impl Iterator<Item = &'a Node> + Clone {
        let nodes = self.topic.model.nodes();
        self.topic.model.replicas(self.index).iter().filter_map(|node| nodes.get(*node as usize))
    }

    /// Its place among the partitions of all topics of the group, from 0.
    pub fn position(self) -> usize {
        self.index as usize
    }

    /// A small value that names it, to be kept.
    pub fn index(self) -> PartitionIndex {
        PartitionIndex { stamp: self.topic.model.stamp(), index: self.index }
    }
}

impl PartialEq for PartitionRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.index() == other.index()
    }
}

impl Eq for PartitionRef<'_> {}

impl fmt::Debug for PartitionRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic(), self.number())
    }
}

impl From<PartitionRef<'_>> for PartitionIndex {
    fn from(partition: PartitionRef<'_>) -> Self {
        partition.index()
    }
}

impl From<&PartitionRef<'_>> for PartitionIndex {
    fn from(partition: &PartitionRef<'_>) -> Self {
        partition.index()
    }
}
