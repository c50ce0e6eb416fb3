//! Where partitions live: on which brokers their replicas are, and which of these lead.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::model::{NONE, TopicEntry};
use crate::types::{Cluster, Node, NodeId};

/// A topic as Metadata describes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopicInput {
    pub(super) count: u32,
    leaders: Vec<Option<NodeId>>,
    replica_ends: Vec<u32>,
    replicas: Vec<NodeId>,
}

/// Where partitions live, as indices of nodes. All vectors are empty where nothing is known.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Per partition.
    pub(super) leaders: Vec<u32>,
    /// Per partition, where its replicas end.
    pub(super) replica_ends: Vec<u32>,
    pub(super) replicas: Vec<u32>,
}

/// The layout, laid out when somebody looks at it: most plans do not, and there are as many replicas as there are.
#[derive(Debug)]
pub(super) struct Places {
    layout: OnceLock<Layout>,
    cluster: Option<Arc<Cluster>>,
}

impl TopicInput {
    /// A topic with so many partitions, of which nothing else is known.
    pub(crate) fn new(count: u32) -> Self {
        Self { count, ..Self::default() }
    }

    /// Describes the next partition, from 0 on.
    pub(crate) fn describe(&mut self, leader: Option<NodeId>, replicas: &[NodeId]) {
        self.leaders.push(leader);
        self.replicas.extend_from_slice(replicas);
        self.replica_ends.push(self.replicas.len() as u32);
    }

    /// The leader of a partition and its replicas, as far as described.
    fn described(&self, number: u32) -> (Option<NodeId>, &[NodeId]) {
        let number = number as usize;
        let leader = self.leaders.get(number).copied().flatten();
        let start = number.checked_sub(1).and_then(|before| self.replica_ends.get(before)).copied();
        let (start, end) =
            (start.unwrap_or(0), self.replica_ends.get(number).copied().unwrap_or(0));
        (leader, self.replicas.get(start as usize..end as usize).unwrap_or(&[]))
    }
}

impl Layout {
    fn add(&mut self, nodes: &[Node], leader: Option<NodeId>, replicas: &[NodeId]) {
        let place = |id: &NodeId| {
            nodes.binary_search_by_key(id, |node| node.id).map_or(NONE, |place| place as u32)
        };
        self.leaders.push(leader.as_ref().map_or(NONE, place));
        self.replicas.extend(replicas.iter().map(place).filter(|node| *node != NONE));
        self.replica_ends.push(self.replicas.len() as u32);
    }

    fn of_cluster(cluster: &Cluster, topics: &[TopicEntry], nodes: &[Node]) -> Self {
        let mut layout = Self::default();
        for entry in topics {
            let topic = cluster.topic(&entry.name);
            for number in 0..entry.count {
                let partition = topic.and_then(|topic| topic.partition(number as i32));
                let leader = partition.and_then(|partition| partition.leader());
                let replicas = partition.map_or(&[][..], |partition| partition.replicas());
                layout.add(nodes, leader, replicas);
            }
        }
        layout
    }
}

impl Places {
    pub(super) fn of(
        entries: &[TopicEntry],
        topics: &BTreeMap<Arc<str>, TopicInput>,
        nodes: &[Node],
        cluster: Option<Arc<Cluster>>,
    ) -> Self {
        if cluster.is_some() {
            return Self { layout: OnceLock::new(), cluster };
        }
        let mut layout = Layout::default();
        if topics.values().any(|topic| !topic.leaders.is_empty()) {
            for entry in entries {
                let Some(topic) = topics.get(&entry.name) else { continue };
                for number in 0..entry.count {
                    let (leader, replicas) = topic.described(number);
                    layout.add(nodes, leader, replicas);
                }
            }
        }
        Self { layout: OnceLock::from(layout), cluster: None }
    }

    pub(super) fn layout(&self, topics: &[TopicEntry], nodes: &[Node]) -> &Layout {
        self.layout.get_or_init(|| {
            let cluster = self.cluster.as_deref();
            cluster.map(|cluster| Layout::of_cluster(cluster, topics, nodes)).unwrap_or_default()
        })
    }
}
