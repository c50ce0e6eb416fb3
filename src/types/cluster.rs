//! Brokers and topics, as Metadata last told.

/// What is known of a cluster: brokers, topics, partitions.
#[derive(Clone, Debug, Default)]
pub struct Cluster {}
