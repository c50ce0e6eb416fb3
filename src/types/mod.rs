//! The nouns: topics, partitions, members, generations, brokers, offsets.

mod cluster;
mod contained;
mod holder;
mod ids;
mod nearest;
mod node;
mod offsets;
mod partitions;
mod random_id;
mod ranges;

pub use cluster::{Cluster, Partition, Topic, TopicError};
pub(crate) use contained::contained;
pub use holder::InstanceHolder;
pub use ids::{Generation, GroupInstanceId, InvalidInstanceId, MemberId};
pub(crate) use nearest::nearest;
pub use node::{Node, NodeId};
pub use offsets::{OffsetAndMetadata, Offsets};
pub use partitions::{Partitions, TopicPartition};
pub(crate) use ranges::{PartitionRanges, RangesBuilder};
