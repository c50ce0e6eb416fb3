//! From what members and brokers say to the model.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::claims::{add_claims, owners};
use super::index::GroupStamp;
use super::layout::{Places, TopicInput};
use super::model::{Claims, MemberEntry, Model, NONE, TopicEntry};
use super::view::MissingTopic;
use crate::types::{Cluster, Generation, MemberId, Node, NodeId, PartitionRanges};

/// The most partitions that one group's topics may have together; a topic beyond it counts as missing.
const MOST_PARTITIONS: u32 = 1 << 26;

/// Gathers a group, with one value `C` a member that is put into the members' order.
#[derive(Debug)]
pub(crate) struct ModelBuilder<C> {
    pub(crate) group_id: Arc<str>,
    pub(crate) generation: Generation,
    /// The leader's member id.
    pub(crate) leader: MemberId,
    pub(crate) nodes: BTreeMap<NodeId, Node>,
    pub(crate) topics: BTreeMap<Arc<str>, TopicInput>,
    /// Where the partitions of topics live that are not described themselves.
    pub(crate) cluster: Option<Arc<Cluster>>,
    /// In any order; of two with one id the first counts.
    pub(crate) members: Vec<MemberInput<C>>,
}

/// A member as its subscription describes it. Everything in it may be nonsense.
#[derive(Clone, Debug)]
pub(crate) struct MemberInput<C> {
    pub(crate) id: MemberId,
    pub(crate) instance_id: Option<Arc<str>>,
    pub(crate) rack: Option<Arc<str>>,
    /// Its host and process.
    pub(crate) process: Option<Arc<str>>,
    /// Shared by members that subscribe alike, where that is known.
    pub(crate) topics: Arc<[Arc<str>]>,
    /// What it says it had.
    pub(crate) claims: PartitionRanges,
    /// Of which of these others had the first copy.
    pub(crate) standbys: PartitionRanges,
    /// The generation in which it had that.
    pub(crate) generation: Generation,
    /// Whether it goes on with its claims while the round runs (cooperative), or has given them up (eager).
    pub(crate) holds: bool,
    pub(crate) column: C,
}

impl<C> MemberInput<C> {
    /// A dynamic member without rack and claims.
    pub(crate) fn new(id: MemberId, topics: Vec<Arc<str>>, column: C) -> Self {
        Self {
            id,
            instance_id: None,
            rack: None,
            process: None,
            topics: topics.into(),
            claims: PartitionRanges::default(),
            standbys: PartitionRanges::default(),
            generation: Generation::NONE,
            holds: false,
            column,
        }
    }
}

impl<C> ModelBuilder<C> {
    /// A group without topics and members.
    pub(crate) fn new(
        group_id: impl Into<Arc<str>>,
        generation: Generation,
        leader: MemberId,
    ) -> Self {
        Self {
            group_id: group_id.into(),
            generation,
            leader,
            nodes: BTreeMap::new(),
            topics: BTreeMap::new(),
            cluster: None,
            members: Vec::new(),
        }
    }

    /// The model, and the column in the order of its members.
    pub(crate) fn build(mut self) -> (Model, Vec<C>) {
        let mut seen = HashSet::new();
        self.members.retain(|member| seen.insert(member.id.clone()));
        self.members.sort_by(by_kafkas_order);

        let mut topics = topic_entries(&self.topics);
        let nodes: Vec<Node> = self.nodes.into_values().collect();
        let layout = Places::of(&topics, &self.topics, &nodes, self.cluster);
        let subscribed = Subscribed::resolve(&topics, &self.members);
        let subscriber_sets = share_subscribers(&mut topics, &subscribed);
        let leader = self.members.iter().position(|member| member.id == self.leader);

        let mut model = Model {
            stamp: GroupStamp(0),
            group_id: self.group_id,
            generation: self.generation,
            leader: leader.map(|place| place as u32),
            topics,
            layout,
            nodes,
            members: Vec::with_capacity(self.members.len()),
            subscriptions: subscribed.subscriptions,
            subscriber_sets,
            claims: Claims::default(),
            missing: subscribed.missing,
        };
        let claims = self.members.iter().map(|member| member.claims.range_count()).sum::<usize>();
        model.claims.partitions.reserve(claims.min(model.partition_count()));
        let mut column = Vec::with_capacity(self.members.len());
        for (member, subscription) in self.members.into_iter().zip(subscribed.of_member) {
            add_claims(&mut model, &member.claims, &member.standbys);
            model.members.push(MemberEntry {
                id: member.id,
                instance_id: member.instance_id,
                rack: member.rack,
                process: member.process,
                subscription,
                generation: member.generation,
                holds: member.holds,
            });
            column.push(member.column);
        }
        model.claims.owners = owners(&model);
        model.stamp = stamp(&model);
        (model, column)
    }
}

/// Static members first, by instance id; the others by member id. So plans follow pods, not their restarts.
fn by_kafkas_order<C>(one: &MemberInput<C>, other: &MemberInput<C>) -> Ordering {
    let by_instance = match (&one.instance_id, &other.instance_id) {
        (Some(one), Some(other)) => javas_order(one, other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    by_instance.then_with(|| javas_order(one.id.as_str(), other.id.as_str()))
}

/// Java compares texts by UTF-16 units, which differs from UTF-8 beyond the basic plane. Client ids are free text.
fn javas_order(one: &str, other: &str) -> Ordering {
    match one.is_ascii() && other.is_ascii() {
        true => one.cmp(other),
        false => one.encode_utf16().cmp(other.encode_utf16()),
    }
}

fn topic_entries(topics: &BTreeMap<Arc<str>, TopicInput>) -> Vec<TopicEntry> {
    let mut first = 0;
    let mut entries = Vec::with_capacity(topics.len());
    for (name, topic) in topics {
        if topic.count > MOST_PARTITIONS - first {
            continue;
        }
        entries.push(TopicEntry {
            name: Arc::clone(name),
            first,
            count: topic.count,
            subscribers: NONE,
        });
        first += topic.count;
    }
    entries
}

/// The distinct subscriptions, who has which, and the topics that do not exist.
struct Subscribed {
    subscriptions: Vec<Box<[u32]>>,
    of_member: Vec<u32>,
    missing: Vec<MissingTopic>,
}

impl Subscribed {
    fn resolve<C>(topics: &[TopicEntry], members: &[MemberInput<C>]) -> Self {
        let places: HashMap<&str, u32> =
            topics.iter().zip(0..).map(|(topic, place)| (&*topic.name, place)).collect();
        let mut seen: HashMap<Vec<&Arc<str>>, u32> = HashMap::new();
        let mut unknown: Vec<Vec<&Arc<str>>> = Vec::new();
        let mut resolved =
            Self { subscriptions: Vec::new(), of_member: Vec::new(), missing: Vec::new() };
        // Lists that are shared are found by where they lie, without a look at the names.
        let mut shared: HashMap<*const Arc<str>, u32> = HashMap::new();
        let mut last: Option<(&[Arc<str>], u32)> = None;
        for member in members {
            let subscription = *shared.entry(member.topics.as_ptr()).or_insert_with(|| {
                // Neighbours mostly subscribe alike, and equal lists are compared faster than sorted.
                if let Some((_, subscription)) = last.filter(|(list, _)| *list == &*member.topics) {
                    return subscription;
                }
                let mut wanted: Vec<&Arc<str>> = member.topics.iter().collect();
                wanted.sort_unstable();
                wanted.dedup();
                *seen.entry(wanted).or_insert_with_key(|wanted| {
                    let place = |name: &&Arc<str>| places.get(&***name).copied();
                    let lost = wanted.iter().filter(|name| place(name).is_none());
                    unknown.push(lost.copied().collect());
                    resolved.subscriptions.push(wanted.iter().filter_map(place).collect());
                    resolved.subscriptions.len() as u32 - 1
                })
            });
            last = Some((&member.topics, subscription));
            resolved.of_member.push(subscription);
        }
        resolved.missing = missing_topics(members, &resolved.of_member, &unknown);
        resolved
    }
}

/// The topics that do not exist, each with its subscribers; `unknown` is by subscription.
fn missing_topics<C>(
    members: &[MemberInput<C>],
    of_member: &[u32],
    unknown: &[Vec<&Arc<str>>],
) -> Vec<MissingTopic> {
    let mut missing: BTreeMap<&Arc<str>, Vec<MemberId>> = BTreeMap::new();
    for (member, subscription) in members.iter().zip(of_member) {
        for name in unknown.get(*subscription as usize).into_iter().flatten() {
            missing.entry(name).or_default().push(member.id.clone());
        }
    }
    missing
        .into_iter()
        .map(|(name, members)| MissingTopic { name: Arc::clone(name), members })
        .collect()
}

/// Topics that are in the same subscriptions share one list of subscribers.
fn share_subscribers(topics: &mut [TopicEntry], subscribed: &Subscribed) -> Vec<Box<[u32]>> {
    let mut members_of: Vec<Vec<u32>> = vec![Vec::new(); subscribed.subscriptions.len()];
    for (subscription, member) in subscribed.of_member.iter().zip(0..) {
        members_of[*subscription as usize].push(member);
    }
    let mut taking: Vec<Vec<u32>> = vec![Vec::new(); topics.len()];
    for (subscription, place) in subscribed.subscriptions.iter().zip(0..) {
        for topic in subscription {
            taking[*topic as usize].push(place);
        }
    }
    let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
    let mut sets: Vec<Box<[u32]>> = Vec::new();
    for (topic, subscriptions) in topics.iter_mut().zip(taking) {
        if subscriptions.is_empty() {
            continue;
        }
        topic.subscribers = *seen.entry(subscriptions).or_insert_with_key(|subscriptions| {
            let mut members: Vec<u32> = Vec::new();
            for subscription in subscriptions {
                members.extend_from_slice(&members_of[*subscription as usize]);
            }
            members.sort_unstable();
            sets.push(members.into_boxed_slice());
            sets.len() as u32 - 1
        });
    }
    sets
}

/// 64-bit FNV-1a over everything that gives an index its meaning.
fn stamp(model: &Model) -> GroupStamp {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    add(model.group_id.as_bytes());
    add(&model.generation.0.to_be_bytes());
    for member in &model.members {
        add(member.id.as_str().as_bytes());
    }
    for topic in &model.topics {
        add(topic.name.as_bytes());
        add(&topic.count.to_be_bytes());
    }
    GroupStamp(hash)
}
