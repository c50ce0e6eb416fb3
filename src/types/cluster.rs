//! What is known of a cluster: its brokers, and the topics that somebody here is interested in.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Node, NodeId};

/// One moment of a cluster, as one broker described it. Immutable; shared as `Arc<Cluster>`.
///
/// It holds every live broker, and the topics that were asked for. A topic that is not in it was not asked for; one
/// that was asked for and does not exist is in it, with [`TopicError::Missing`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Cluster {
    nodes: BTreeMap<NodeId, Node>,
    topics: BTreeMap<Arc<str>, Topic>,
}

impl Cluster {
    /// Puts a cluster together. Of two nodes with one id, and of two topics with one name, the later one counts.
    pub fn new(
        nodes: impl IntoIterator<Item = Node>,
        topics: impl IntoIterator<Item = Topic>,
    ) -> Self {
        Self {
            nodes: nodes.into_iter().map(|node| (node.id, node)).collect(),
            topics: topics.into_iter().map(|topic| (Arc::clone(&topic.name), topic)).collect(),
        }
    }

    /// The live brokers, by id.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.nodes.values()
    }

    /// A broker; `None` where it is not alive.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(&id)
    }

    /// The topics, by name.
    pub fn topics(&self) -> impl ExactSizeIterator<Item = &Topic> {
        self.topics.values()
    }

    /// A topic; `None` where it was not asked for.
    pub fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.get(name)
    }

    /// The broker that leads a partition, if it has a live leader.
    pub fn leader(&self, topic: &str, partition: i32) -> Option<&Node> {
        self.node(self.topic(topic)?.partition(partition)?.leader()?)
    }

    /// Whether nothing is known yet. A cluster that answered has at least one broker.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// A topic, as Metadata describes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Topic {
    name: Arc<str>,
    id: Option<[u8; 16]>,
    internal: bool,
    error: Option<TopicError>,
    partitions: Vec<Partition>,
}

impl Topic {
    /// Describes a topic. Partitions are put in order.
    pub fn new(name: impl Into<Arc<str>>, mut partitions: Vec<Partition>) -> Self {
        partitions.sort_by_key(|partition| partition.number);
        Self { name: name.into(), id: None, internal: false, error: None, partitions }
    }

    /// A topic that could not be described, and why.
    pub fn failed(name: impl Into<Arc<str>>, error: TopicError) -> Self {
        Self {
            name: name.into(),
            id: None,
            internal: false,
            error: Some(error),
            partitions: Vec::new(),
        }
    }

    /// Marks a topic as one of Kafka's own (`__consumer_offsets`), which patterns never match.
    #[must_use]
    pub fn internal(mut self, internal: bool) -> Self {
        self.internal = internal;
        self
    }

    /// Adds the topic's id (KIP-516).
    #[must_use]
    pub fn with_id(mut self, id: Option<[u8; 16]>) -> Self {
        self.id = id;
        self
    }

    /// What it is called for as long as it exists: a topic that was deleted and made again has another one. `None` from
    /// brokers before Kafka 2.8.
    pub fn id(&self) -> Option<[u8; 16]> {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether it is one of Kafka's own.
    pub fn is_internal(&self) -> bool {
        self.internal
    }

    /// Why it could not be described; then it has no partitions here, whatever it has in truth.
    pub fn error(&self) -> Option<TopicError> {
        self.error
    }

    /// How many partitions it has: 0 where it could not be described.
    pub fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// Its partitions, by number.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// One of its partitions.
    pub fn partition(&self, number: i32) -> Option<&Partition> {
        let at =
            self.partitions.binary_search_by_key(&number, |partition| partition.number).ok()?;
        self.partitions.get(at)
    }
}

/// A partition, as Metadata describes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Partition {
    number: i32,
    leader: Option<NodeId>,
    leader_epoch: Option<i32>,
    replicas: Vec<NodeId>,
}

impl Partition {
    /// Describes a partition.
    pub fn new(number: i32, leader: Option<NodeId>, replicas: Vec<NodeId>) -> Self {
        Self { number, leader, leader_epoch: None, replicas }
    }

    /// Adds how often the leader has changed (KIP-320).
    #[must_use]
    pub fn with_leader_epoch(mut self, epoch: Option<i32>) -> Self {
        self.leader_epoch = epoch;
        self
    }

    /// Its number, from 0.
    pub fn number(&self) -> i32 {
        self.number
    }

    /// Who leads it; `None` while it is offline.
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// How often the leader has changed, where the broker says so.
    pub fn leader_epoch(&self) -> Option<i32> {
        self.leader_epoch
    }

    /// Who holds copies, the preferred leader first. Some may be dead, and so have no [`Node`].
    pub fn replicas(&self) -> &[NodeId] {
        &self.replicas
    }
}

/// Why a topic could not be described.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TopicError {
    /// It does not exist, or not yet everywhere: a new topic takes a moment to be known by all brokers.
    #[error("does not exist")]
    Missing,
    /// The principal may not DESCRIBE it.
    #[error("may not be described: DESCRIBE on it is needed")]
    NotAuthorized,
    /// No topic can have this name.
    #[error("is no legal name")]
    InvalidName,
    /// Anything else, by Kafka's number; most of it passes.
    #[error("is not available (error {0})")]
    Unavailable(i16),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_found_by_number_whatever_order_they_came_in() {
        let leader = |number| Partition::new(number, Some(NodeId(number * 10)), Vec::new());
        let topic = Topic::new("orders", vec![leader(2), leader(0), leader(1)]);
        assert_eq!(topic.partition(2).and_then(Partition::leader), Some(NodeId(20)));
        assert_eq!(topic.partition(3), None);
    }

    #[test]
    fn a_leader_that_is_not_alive_is_no_node() {
        let node = Node { id: NodeId(1), host: "a".into(), port: 9092, rack: None };
        let partitions = vec![
            Partition::new(0, Some(NodeId(1)), vec![]),
            Partition::new(1, Some(NodeId(2)), vec![]),
        ];
        let cluster = Cluster::new([node], [Topic::new("orders", partitions)]);
        assert!(cluster.leader("orders", 0).is_some());
        assert!(cluster.leader("orders", 1).is_none());
        assert!(cluster.leader("customers", 0).is_none());
    }
}
