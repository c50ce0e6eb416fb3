//! A group as its leader reads it: everybody's subscription, whatever client wrote it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::dialect::{Claim, Dialect};
use super::embedded::Subscription;
use super::envelope::{EnvelopeError, Up};
use super::hash::planned_on;
use super::reading::Reading;
use super::selection::is_topic_name;
use crate::assign::{MemberInput, MetadataError, MetadataPayload, ModelBuilder, TopicInput};
use crate::protocol::LedMember;
use crate::types::{Cluster, Generation, MemberId, TopicError};

/// More partitions than any topic has; a member that reports more is not believed.
const MOST_REPORTED: u32 = 100_000;

/// One member, read.
#[derive(Debug)]
pub(super) struct ReadMember {
    pub(super) id: MemberId,
    pub(super) instance_id: Option<Arc<str>>,
    pub(super) subscription: Subscription,
    /// Why the subscription could not be read; it then wants nothing.
    pub(super) unreadable: Option<Arc<str>>,
    pub(super) envelope: Result<Up, EnvelopeError>,
    pub(super) metadata: Result<MetadataPayload, MetadataError>,
    pub(super) claim: Claim,
    /// Whether it is known what this member had.
    pub(super) told_all: bool,
    /// How long its subscription is.
    pub(super) size: usize,
}

impl ReadMember {
    pub(super) fn read(member: &LedMember, dialect: Dialect, reading: &mut Reading) -> Self {
        let read = Subscription::read(member.metadata.clone(), reading);
        let unreadable = read.as_ref().err().map(|error| error.to_string().into());
        let mut subscription = read.unwrap_or_default();
        let user_data = subscription.user_data.as_ref();
        let envelope =
            user_data.map_or(Err(EnvelopeError::Foreign), |bytes| dialect.envelope(bytes, reading));
        let metadata = dialect.metadata(user_data, &envelope);
        let claim = dialect.claim(&mut subscription, &envelope, reading);
        Self {
            id: member.member_id.clone(),
            instance_id: member.group_instance_id.as_deref().map(Into::into),
            metadata,
            // Of what is unreadable nothing would be given anyway.
            told_all: claim != Claim::Nothing
                || unreadable.is_some()
                || dialect.tells_all(&envelope),
            claim,
            size: member.metadata.len(),
            subscription,
            unreadable,
            envelope,
        }
    }

    /// The hash of what a plan is made on, if all of it could be read.
    pub(super) fn planned_on(&self, protocol: &str) -> Option<u64> {
        let Subscription { topics, rack, .. } = &self.subscription;
        let said = match &self.metadata {
            Ok(payload) => Some(payload),
            Err(MetadataError::Missing) => None,
            Err(_) => return None,
        };
        Some(planned_on(protocol, said, topics, rack.as_deref()))
    }

    /// Whether it subscribes to the same and says the same of itself.
    pub(super) fn says_as(&self, other: &Self) -> bool {
        let (own, others) = (&self.subscription, &other.subscription);
        own.topics.as_ptr() == others.topics.as_ptr()
            && own.rack == others.rack
            && self.metadata == other.metadata
    }

    /// The name that people know it by.
    pub(super) fn name(&self) -> &str {
        self.instance_id.as_deref().unwrap_or(self.id.as_str())
    }

    fn input(&self) -> MemberInput<Result<MetadataPayload, MetadataError>> {
        let (claims, generation, holds) = match &self.claim {
            Claim::Held(partitions, generation) => (partitions.clone(), *generation, true),
            Claim::Prior(prior) => (prior.partitions.clone(), prior.generation, false),
            Claim::Nothing => Default::default(),
        };
        let up = self.envelope.as_ref().ok();
        MemberInput {
            id: self.id.clone(),
            instance_id: self.instance_id.clone(),
            rack: self.subscription.rack.clone(),
            process: up.and_then(|up| up.process.clone()),
            topics: Arc::clone(&self.subscription.topics),
            claims,
            standbys: up.map(|up| up.standbys.clone()).unwrap_or_default(),
            generation,
            holds,
            column: self.metadata.clone(),
        }
    }
}

/// The members' lists of topics, those that are shared once.
fn lists_of_topics(members: &[ReadMember]) -> impl Iterator<Item = &Arc<[Arc<str>]>> {
    let mut seen = HashSet::new();
    let lists = members.iter().map(|member| &member.subscription.topics);
    lists.filter(move |topics| seen.insert(topics.as_ptr()))
}

/// The counts that members report, those that are shared once.
fn reported_counts(members: &[ReadMember]) -> impl Iterator<Item = &BTreeMap<Arc<str>, u32>> {
    let mut seen = HashSet::new();
    let reported = members.iter().filter_map(|member| member.envelope.as_ref().ok());
    let counts = reported.map(|up| &up.counts.0);
    counts.filter(move |counts| seen.insert(Arc::as_ptr(counts))).map(|counts| &**counts)
}

/// What all members subscribe to together, as far as topics can have such names.
pub(super) fn union_of_topics(members: &[ReadMember]) -> BTreeSet<Arc<str>> {
    let topics = lists_of_topics(members).flat_map(|topics| topics.iter());
    topics.filter(|topic| is_topic_name(topic)).map(Arc::clone).collect()
}

/// How many partitions the topics of the group have. The cluster knows; where it could not say, the members' own
/// counts stand in, so that a refresh that failed costs nobody a topic.
pub(super) fn counts_of(members: &[ReadMember], cluster: &Cluster) -> BTreeMap<Arc<str>, u32> {
    let mut counts = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for topic in union_of_topics(members) {
        match count_in(cluster, &topic) {
            Some(count) => drop(counts.insert(topic, count)),
            None => {
                counts.insert(Arc::clone(&topic), 0);
                unknown.insert(topic);
            }
        }
    }
    if unknown.is_empty() {
        return counts;
    }
    for reported in reported_counts(members) {
        let reported = reported.iter().filter(|(topic, _)| unknown.contains(*topic));
        for (topic, count) in reported.filter(|(_, count)| **count <= MOST_REPORTED) {
            let most = counts.entry(Arc::clone(topic)).or_insert(0);
            *most = (*most).max(*count);
        }
    }
    counts
}

/// Whether a member has seen partitions that the leader has not: its round would not be the last.
pub(super) fn some_know_more(members: &[ReadMember], cluster: &Cluster) -> bool {
    let counts = reported_counts(members).flatten();
    let believed = counts.filter(|(topic, count)| **count <= MOST_REPORTED && is_topic_name(topic));
    let mut known = believed.map(|(topic, count)| (count, count_in(cluster, topic)));
    known.any(|(count, known)| known.is_none_or(|known| known < *count))
}

/// How many partitions a topic has; 0 where it does not exist, none where that is not known.
pub(super) fn count_in(cluster: &Cluster, topic: &str) -> Option<u32> {
    let topic = cluster.topic(topic)?;
    match topic.error() {
        None => u32::try_from(topic.partition_count()).ok(),
        Some(TopicError::Missing | TopicError::InvalidName) => Some(0),
        Some(_) => None,
    }
}

/// Gathers what the model is built of.
pub(super) fn gather_model(
    group_id: &Arc<str>,
    generation: Generation,
    leader: &MemberId,
    members: &[ReadMember],
    cluster: &Arc<Cluster>,
    counts: &BTreeMap<Arc<str>, u32>,
) -> ModelBuilder<Result<MetadataPayload, MetadataError>> {
    let mut builder = ModelBuilder::new(Arc::clone(group_id), generation, leader.clone());
    builder.nodes = cluster.nodes().map(|node| (node.id, node.clone())).collect();
    for (topic, count) in counts.iter().filter(|(_, count)| **count > 0) {
        builder.topics.insert(Arc::clone(topic), TopicInput::new(*count));
    }
    builder.cluster = Some(Arc::clone(cluster));
    builder.members = members.iter().map(ReadMember::input).collect();
    builder
}
