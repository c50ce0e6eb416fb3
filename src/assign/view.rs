//! The group as an assigner sees it: one model without types, and a column of what each member told.

use std::any::Any;
use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;

use super::codec::MetadataCodec;
use super::error::{AssignError, MetadataError};
use super::index::{MemberIndex, PartitionIndex};
use super::model::{MemberEntry, Model, TopicEntry};
use super::plan::GroupAssignment;
use crate::types::{Generation, MemberId, Node};

/// What the leader's `Gather` brought.
pub(crate) type Gathered = Option<Arc<dyn Any + Send + Sync>>;

/// Everything that a plan may depend on.
///
/// Members are in Kafka's order (static ones by instance id, then the others by member id), topics by name,
/// partitions by number: equal groups give equal plans. Cheap to clone.
///
/// In a test: [`GroupSubscription::builder`](Self::builder).
pub struct GroupSubscription<T = ()> {
    pub(super) model: Arc<Model>,
    /// Which topics this view shows; all where there is none.
    pub(super) mask: Option<Arc<[bool]>>,
    pub(super) column: Arc<[Result<T, MetadataError>]>,
    pub(super) gathered: Gathered,
    /// How the plan's words to members are written.
    pub(super) codec: MetadataCodec,
}

impl<T> GroupSubscription<T> {
    pub(crate) fn new(
        model: Arc<Model>,
        column: Arc<[Result<T, MetadataError>]>,
        gathered: Gathered,
        codec: MetadataCodec,
    ) -> Self {
        Self { model, mask: None, column, gathered, codec }
    }

    /// Kafka: `group.id`.
    pub fn group_id(&self) -> &str {
        self.model.group_id()
    }

    /// The generation that is planned for.
    pub fn generation(&self) -> Generation {
        self.model.generation()
    }

    /// An empty plan of this group.
    pub fn plan(&self) -> GroupAssignment {
        GroupAssignment::new(Arc::clone(&self.model), self.codec)
    }

    /// The members, static ones by instance id, then the others by member id.
    pub fn members(&self) -> impl ExactSizeIterator<Item = MemberRef<'_, T>> + Clone {
        (0..self.model.members().len() as u32).map(|index| self.member_at(index))
    }

    /// The member that runs the assigner.
    ///
    /// None in a group that was built without one.
    pub fn leader(&self) -> Option<MemberRef<'_, T>> {
        self.model.leader.map(|index| self.member_at(index))
    }

    /// A member by its index; none if the index is another group's.
    pub fn member(&self, index: impl Into<MemberIndex>) -> Option<MemberRef<'_, T>> {
        self.model.own_member(index.into()).map(|index| self.member_at(index))
    }

    /// The topics that exist and that somebody subscribes to or the group was built with, by name.
    pub fn topics(&self) -> impl Iterator<Item = TopicRef<'_>> + Clone {
        let shown = (0..self.model.topics().len() as u32).filter(|topic| self.shows(*topic));
        shown.filter_map(|topic| TopicRef::at(&self.model, topic))
    }

    /// A topic by name; none if it does not exist or is not in this view.
    pub fn topic(&self, name: &str) -> Option<TopicRef<'_>> {
        let topic = self.model.topic_index(name).filter(|topic| self.shows(*topic))?;
        TopicRef::at(&self.model, topic)
    }

    /// The partitions of all topics, by topic and number.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionRef<'_>> + Clone {
        self.topics().flat_map(TopicRef::partitions)
    }

    /// A partition by its index; none if the index is another group's.
    pub fn partition(&self, index: impl Into<PartitionIndex>) -> Option<PartitionRef<'_>> {
        let partition = self.model.own_partition(index.into())?;
        let topic = self.model.topic_of(partition);
        Some(PartitionRef { topic: TopicRef::at(&self.model, topic)?, index: partition })
    }

    /// The members that subscribe to a topic, in order.
    pub fn subscribers<'g>(&'g self, topic: &str) -> Subscribers<'g, T> {
        let topic = self.model.topic_index(topic).filter(|topic| self.shows(*topic));
        let members = topic.map_or(&[][..], |topic| self.model.subscribers(topic));
        Subscribers { group: self, members: members.iter() }
    }

    /// Who validly had a partition before this round and still subscribes to its topic.
    ///
    /// The claim of the highest generation counts; of two claims of one generation neither does.
    pub fn owner(&self, partition: impl Into<PartitionIndex>) -> Option<MemberRef<'_, T>> {
        let owner = self.model.owner(self.model.own_partition(partition.into())?);
        ((owner as usize) < self.model.members().len()).then(|| self.member_at(owner))
    }

    /// The topics that members subscribe to and that do not exist, by name.
    ///
    /// No plan can hold them; whether that matters is the assigner's choice
    /// ([`AssignError::MissingTopics`]).
    pub fn missing_topics(&self) -> &[MissingTopic] {
        self.model.missing_topics()
    }

    /// What the leader's `Gather` brought; none without one, after its failure, or if it brought another type.
    pub fn gathered<G: Any + Send + Sync>(&self) -> Option<&G> {
        self.gathered.as_ref()?.downcast_ref()
    }

    /// Every member with its metadata, or the first error: for an assigner that makes no plan without all.
    pub fn require_metadata(&self) -> Result<Vec<(MemberRef<'_, T>, &T)>, AssignError> {
        let required = |member: MemberRef<'_, T>| AssignError::Metadata {
            member: member.id().to_owned(),
            error: member.metadata().err().cloned().unwrap_or(MetadataError::Missing),
        };
        self.members()
            .map(|member| {
                self.metadata_at(member.index)
                    .map(|told| (member, told))
                    .map_err(|_| required(member))
            })
            .collect()
    }

    /// The same group with only some of its topics: for an assigner composed of others.
    ///
    /// Its plan is one of the whole group, so parts can be given into one plan.
    pub fn only(&self, keep: impl Fn(TopicRef<'_>) -> bool) -> Self {
        let keeps =
            |topic| self.shows(topic) && TopicRef::at(&self.model, topic).is_some_and(&keep);
        let mask = (0..self.model.topics().len() as u32).map(keeps).collect();
        Self { mask: Some(mask), ..self.clone() }
    }

    pub(crate) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    fn shows(&self, topic: u32) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.get(topic as usize).copied().unwrap_or(false))
    }

    fn member_at(&self, index: u32) -> MemberRef<'_, T> {
        MemberRef { group: self, index }
    }

    fn metadata_at(&self, index: u32) -> Result<&T, &MetadataError> {
        self.column.get(index as usize).map_or(Err(&MetadataError::Missing), Result::as_ref)
    }
}

impl<T> Clone for GroupSubscription<T> {
    fn clone(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            mask: self.mask.clone(),
            column: Arc::clone(&self.column),
            gathered: self.gathered.clone(),
            codec: self.codec,
        }
    }
}

impl<T> fmt::Debug for GroupSubscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupSubscription")
            .field("group_id", &self.group_id())
            .field("generation", &self.generation())
            .field("members", &self.model.members().len())
            .field("topics", &self.model.topics().len())
            .field("partitions", &self.model.partition_count())
            .finish_non_exhaustive()
    }
}

/// A topic that somebody subscribes to and that does not exist.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct MissingTopic {
    /// Its name.
    pub name: Arc<str>,
    /// Who subscribes to it.
    pub members: Vec<MemberId>,
}

/// A member of the group: a small view, copied freely.
pub struct MemberRef<'a, T = ()> {
    group: &'a GroupSubscription<T>,
    index: u32,
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
    group: &'a GroupSubscription<T>,
    members: std::slice::Iter<'a, u32>,
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
    fn at(model: &'a Model, topic: u32) -> Option<Self> {
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
    topic: TopicRef<'a>,
    index: u32,
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
