//! What an assigner may know when it describes its own member.

use crate::types::{Generation, Partitions};

/// The member that an assigner describes in [`metadata`](super::PartitionAssigner::metadata).
///
/// In a test: `LocalMember::new("search-indexers")`, then set what matters.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LocalMember<'a> {
    /// Kafka: `group.id`.
    pub group_id: &'a str,
    /// Kafka: `client.id`.
    pub client_id: &'a str,
    /// The id that the coordinator gave; empty before the first round.
    pub member_id: &'a str,
    /// Kafka: `group.instance.id`.
    pub instance_id: Option<&'a str>,
    /// Kafka: `client.rack`.
    pub rack: Option<&'a str>,
    /// The name of this machine.
    pub host_name: &'a str,
    /// How many CPUs this process may use; at least 1.
    pub cpus: usize,
    /// The topics subscribed to, sorted.
    pub topics: &'a [&'a str],
    /// What this member holds now.
    pub held: Option<&'a Partitions>,
    /// The generation that gave what is held.
    pub generation: Generation,
}

impl<'a> LocalMember<'a> {
    /// A member of this group about which nothing else is known.
    pub fn new(group_id: &'a str) -> Self {
        Self {
            group_id,
            client_id: "",
            member_id: "",
            instance_id: None,
            rack: None,
            host_name: "",
            cpus: 1,
            topics: &[],
            held: None,
            generation: Generation::NONE,
        }
    }
}
