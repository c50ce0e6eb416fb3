//! What the members of a simulated group speak: the protocol of pieces, or "consumer", where a piece is a partition.

use std::sync::Arc;

use super::pieces::{PieceProtocol, Pieces};
use super::process::GROUP;
use crate::assign::{ErasedAssigner, RangeAssigner, StickyAssigner};
use crate::protocol::{
    Cause, Change, DescribeJob, Facts, GroupProtocol, Joined, Joining, LeadJob, Led, Needs,
};
use crate::subscription::{ConsumerOptions, ConsumerProtocol, Selection};
use crate::types::{
    Cluster, GroupInstanceId, Node, NodeId, Partition, Partitions, Topic, TopicError,
    TopicPartition,
};

/// Pieces are dealt out to the partitions of these.
const TOPICS: [&str; 2] = ["orders", "customers"];

/// One member's protocol.
#[derive(Debug)]
pub(super) enum Spoken {
    Pieces(PieceProtocol),
    Consumer(Box<Consumer>),
}

/// The "consumer" protocol, where pieces are partitions.
#[derive(Debug)]
pub(super) struct Consumer {
    protocol: ConsumerProtocol,
    cluster: Arc<Cluster>,
}

/// Which assigners a member lists. The order is that of a deployment which leads from eager to cooperative rounds: no
/// first and last may meet.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Listed {
    /// Eager.
    Range,
    /// Eager, whichever of the two is chosen.
    StickyAndRange,
    /// Cooperative.
    Sticky,
}

impl Listed {
    /// What the next deployment lists.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Range => Self::StickyAndRange,
            Self::StickyAndRange | Self::Sticky => Self::Sticky,
        }
    }

    fn assigners(self) -> Vec<ErasedAssigner> {
        let range = || ErasedAssigner::new(RangeAssigner::default());
        let sticky = || ErasedAssigner::new(StickyAssigner::default());
        let assigners = match self {
            Self::Range => vec![range()],
            Self::StickyAndRange => vec![sticky(), range()],
            Self::Sticky => vec![sticky()],
        };
        assigners.into_iter().map(|assigner| assigner.expect("is fit for use")).collect()
    }
}

impl Spoken {
    /// Whoever consumes. A wish is one more topic, which does not exist.
    pub(super) fn consumer(
        total: u16,
        listed: Listed,
        wish: u8,
        instance: Option<GroupInstanceId>,
        jitter: f64,
    ) -> Self {
        let wished = format!("wish-{wish}");
        let cluster = Arc::new(cluster(total, &wished));
        let topics: Vec<&str> =
            TOPICS.into_iter().chain((wish > 0).then_some(wished.as_str())).collect();
        let options = ConsumerOptions {
            group_instance_id: instance,
            ..ConsumerOptions::new(GROUP, Selection::topics(topics), listed.assigners())
        };
        let mut protocol = ConsumerProtocol::new(options);
        protocol.cluster_changed(&cluster, jitter);
        Self::Consumer(Box::new(Consumer { protocol, cluster }))
    }
}

impl GroupProtocol for Spoken {
    type Held = Pieces;
    type Notice = ();

    fn protocol_type(&self) -> &str {
        match self {
            Self::Pieces(pieces) => pieces.protocol_type(),
            Self::Consumer(consumer) => consumer.protocol.protocol_type(),
        }
    }

    fn before_join(&mut self, held: &Pieces, cause: &Cause) -> Pieces {
        match self {
            Self::Pieces(pieces) => pieces.before_join(held, cause),
            Self::Consumer(consumer) => {
                to_pieces(&consumer.protocol.before_join(&to_partitions(held), cause))
            }
        }
    }

    fn describe(&mut self, joining: Joining<'_, Pieces>) -> DescribeJob {
        match self {
            Self::Pieces(pieces) => pieces.describe(joining),
            Self::Consumer(consumer) => {
                let Joining { held, generation, member_id, cause, nonce } = joining;
                let held = &to_partitions(held);
                consumer.protocol.describe(Joining { held, generation, member_id, cause, nonce })
            }
        }
    }

    fn lead(&mut self, led: Led) -> (Needs, LeadJob) {
        match self {
            Self::Pieces(pieces) => pieces.lead(led),
            Self::Consumer(consumer) => {
                let facts = Facts { cluster: Arc::clone(&consumer.cluster), gathered: None };
                let (needs, job) = consumer.protocol.lead(led);
                (needs, Box::new(move |_| job(facts)))
            }
        }
    }

    fn joined(&mut self, joined: Joined<'_, Pieces>) -> Change<Pieces, ()> {
        match self {
            Self::Pieces(pieces) => pieces.joined(joined),
            Self::Consumer(consumer) => {
                let change = consumer.protocol.joined(Joined {
                    generation: joined.generation,
                    protocol: joined.protocol,
                    member_id: joined.member_id,
                    group_instance_id: joined.group_instance_id,
                    leads: joined.leads,
                    held: &to_partitions(joined.held),
                    assignment: joined.assignment,
                });
                Change {
                    revoke: to_pieces(&change.revoke),
                    add: to_pieces(&change.add),
                    standby: to_pieces(&change.standby),
                    rejoin: change.rejoin,
                    heartbeat_interval: change.heartbeat_interval,
                    hurried_interval: change.hurried_interval,
                    notices: Vec::new(),
                }
            }
        }
    }
}

fn cluster(total: u16, wished: &str) -> Cluster {
    let node = Node { id: NodeId(1), host: "kafka-1".into(), port: 9092, rack: None };
    let topics = TOPICS.map(|topic| {
        let partitions = (0..total).map(partition_of).filter(|(of, _)| *of == topic);
        let replicas = vec![NodeId(1)];
        let partition = |(_, number)| Partition::new(number, Some(NodeId(1)), replicas.clone());
        Topic::new(topic, partitions.map(partition).collect())
    });
    Cluster::new([node], topics.into_iter().chain([Topic::failed(wished, TopicError::Missing)]))
}

fn partition_of(piece: u16) -> (&'static str, i32) {
    let [even, odd] = TOPICS;
    (if piece % 2 == 0 { even } else { odd }, i32::from(piece / 2))
}

fn piece_of(partition: &TopicPartition) -> Option<u16> {
    let at = TOPICS.into_iter().position(|topic| topic == partition.topic())?;
    u16::try_from(partition.partition()).ok()?.checked_mul(2)?.checked_add(u16::try_from(at).ok()?)
}

fn to_partitions(pieces: &Pieces) -> Partitions {
    pieces.0.iter().map(|piece| partition_of(*piece)).collect()
}

fn to_pieces(partitions: &Partitions) -> Pieces {
    Pieces(partitions.iter().filter_map(|partition| piece_of(&partition)).collect())
}
