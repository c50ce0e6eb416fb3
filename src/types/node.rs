//! Brokers.

use std::fmt;
use std::sync::Arc;

/// A broker's number. Kafka: `node.id`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub i32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A broker, as Metadata describes it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Node {
    /// Kafka: `node.id`.
    pub id: NodeId,
    /// The advertised host.
    pub host: Arc<str>,
    /// The advertised port.
    pub port: u16,
    /// Kafka: `broker.rack`.
    pub rack: Option<Arc<str>>,
}
