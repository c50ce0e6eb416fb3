//! Brokers, topics, and which broker coordinates which group.

use std::collections::{BTreeMap, BTreeSet};

use crate::types::{Node, NodeId};

/// As many replicas as Kafka's installations usually have.
const REPLICAS: usize = 3;

/// What Metadata and FindCoordinator tell.
#[derive(Debug, Default)]
pub(super) struct Topology {
    nodes: BTreeMap<NodeId, Node>,
    down: BTreeSet<NodeId>,
    topics: BTreeMap<String, FakeTopic>,
    topics_so_far: u64,
    coordinators: BTreeMap<String, NodeId>,
}

/// A topic.
#[derive(Clone, Debug)]
pub(super) struct FakeTopic {
    /// Another one when the topic was deleted and created again.
    pub(super) id: u64,
    pub(super) partitions: i32,
    pub(super) start_offset: i64,
    pub(super) end_offset: i64,
    /// The first offset of a time in milliseconds, of each that a test has set.
    times: BTreeMap<i64, i64>,
}

impl FakeTopic {
    /// The first record of a time or a later one.
    pub(super) fn at(&self, millis: i64) -> Option<i64> {
        self.times.range(millis..).next().map(|(_, offset)| *offset)
    }
}

impl Topology {
    pub(super) fn add_node(&mut self, node: Node) {
        self.nodes.insert(node.id, node);
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(&id)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    pub(super) fn live_nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().filter(|node| !self.down.contains(&node.id))
    }

    pub(super) fn set_up(&mut self, id: NodeId, up: bool) {
        match up {
            true => self.down.remove(&id),
            false => self.down.insert(id),
        };
    }

    pub(super) fn topics(&self) -> impl Iterator<Item = (&str, &FakeTopic)> {
        self.topics.iter().map(|(name, topic)| (name.as_str(), topic))
    }

    pub(super) fn topic(&self, name: &str) -> Option<(&str, &FakeTopic)> {
        self.topics.get_key_value(name).map(|(name, topic)| (name.as_str(), topic))
    }

    /// Creates a topic, or sets the number of its partitions.
    pub(super) fn set_partitions(&mut self, name: &str, partitions: i32) {
        self.topics_so_far += 1;
        let (id, times) = (self.topics_so_far, BTreeMap::new());
        let new = FakeTopic { id, partitions, start_offset: 0, end_offset: 0, times };
        self.topics.entry(name.to_owned()).or_insert(new).partitions = partitions;
    }

    pub(super) fn set_end_offset(&mut self, name: &str, end_offset: i64) {
        if let Some(topic) = self.topics.get_mut(name) {
            topic.end_offset = end_offset;
        }
    }

    pub(super) fn set_start_offset(&mut self, name: &str, start_offset: i64) {
        if let Some(topic) = self.topics.get_mut(name) {
            topic.start_offset = start_offset;
        }
    }

    pub(super) fn set_time(&mut self, name: &str, millis: i64, offset: i64) {
        if let Some(topic) = self.topics.get_mut(name) {
            topic.times.insert(millis, offset);
        }
    }

    pub(super) fn delete_topic(&mut self, name: &str) {
        self.topics.remove(name);
    }

    pub(super) fn partition_counts(&self) -> BTreeMap<String, i32> {
        self.topics.iter().map(|(name, topic)| (name.clone(), topic.partitions)).collect()
    }

    /// The replicas of a partition, the preferred leader first.
    pub(super) fn replicas(&self, partition: i32) -> impl Iterator<Item = &Node> {
        let first = usize::try_from(partition).unwrap_or_default() % self.nodes.len().max(1);
        let replicas = self.nodes.len().min(REPLICAS);
        self.nodes.values().cycle().skip(first).take(replicas)
    }

    pub(super) fn leader(&self, partition: i32) -> Option<&Node> {
        self.replicas(partition).find(|node| !self.down.contains(&node.id))
    }

    /// Who coordinates a group: the same one until it is stopped or the group is moved. None if nobody is up.
    pub(super) fn coordinator(&mut self, group_id: &str) -> Option<Node> {
        if let Some(pinned) = self.coordinators.get(group_id).and_then(|id| self.node(*id)) {
            return Some(pinned.clone());
        }
        let live: Vec<NodeId> = self.live_nodes().map(|node| node.id).collect();
        let hash = group_id
            .bytes()
            .fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
        let chosen = *live.get(hash.checked_rem(live.len())?)?;
        self.coordinators.insert(group_id.to_owned(), chosen);
        self.node(chosen).cloned()
    }

    pub(super) fn set_coordinator(&mut self, group_id: &str, node: NodeId) {
        self.coordinators.insert(group_id.to_owned(), node);
    }

    /// The groups that a node coordinates are given up, and found at another when they are asked for again.
    pub(super) fn orphan(&mut self, node: NodeId) -> Vec<String> {
        let orphans: Vec<_> = self
            .coordinators
            .iter()
            .filter(|(_, it)| **it == node)
            .map(|(group_id, _)| group_id.clone())
            .collect();
        for group_id in &orphans {
            self.coordinators.remove(group_id);
        }
        orphans
    }
}
