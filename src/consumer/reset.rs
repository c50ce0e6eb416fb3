//! Where to start where nothing is committed.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use crate::subscription::Selection;
use crate::types::{Cluster, TopicPartition};

/// Where to start reading a partition that has no committed offset. Kafka: `auto.offset.reset`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum AutoOffsetReset {
    /// At its first record.
    Earliest,
    /// Behind its last record: what is written from now on. The default, as Kafka's. A partition that appeared after
    /// the member joined is read from its first record all the same, so that nothing is missed while it was not known.
    #[default]
    Latest,
    /// Nowhere: [`Error::NoCommittedOffset`](crate::Error::NoCommittedOffset) is told.
    None,
}

impl AutoOffsetReset {
    /// Kafka's word for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Earliest => "earliest",
            Self::Latest => "latest",
            Self::None => "none",
        }
    }

    /// librdkafka's word for it.
    pub(super) fn rdkafka_name(self) -> &'static str {
        match self {
            Self::None => "error",
            other => other.name(),
        }
    }
}

impl FromStr for AutoOffsetReset {
    type Err = &'static str;

    /// Understands Kafka's words, and librdkafka's other ones.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "earliest" | "beginning" | "smallest" => Ok(Self::Earliest),
            "latest" | "end" | "largest" => Ok(Self::Latest),
            "none" | "error" => Ok(Self::None),
            _ => Err("must be `earliest`, `latest` or `none`"),
        }
    }
}

/// The partitions that were there when the member joined.
#[derive(Debug)]
pub(super) struct Known {
    counts: BTreeMap<Arc<str>, usize>,
    /// What was subscribed to then.
    selection: Selection,
}

impl Known {
    pub(super) fn new(selection: Selection, cluster: &Cluster) -> Self {
        let topics = selection.resolve(cluster);
        let known = topics.into_iter().filter_map(|name| Some((cluster.topic(&name)?, name)));
        let counts = known.map(|(topic, name)| (name, topic.partitions().len())).collect();
        Self { counts, selection }
    }

    /// Whether a partition has appeared since. A topic that was subscribed to only later counts as known from when it
    /// is first met.
    pub(super) fn is_new(&mut self, at: &TopicPartition, cluster: &Cluster) -> bool {
        let number = usize::try_from(at.partition()).unwrap_or_default();
        match self.counts.get(at.topic()) {
            Some(count) => number >= *count,
            None if self.selection.wants(at.topic()) => true,
            None => {
                let count = cluster.topic(at.topic()).map_or(0, |topic| topic.partitions().len());
                self.counts.insert(at.shared_topic(), count.max(number + 1));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Partition, Topic};

    fn cluster(topics: &[(&str, i32)]) -> Cluster {
        let topic = |(name, count): &(&str, i32)| {
            let partitions = (0..*count).map(|number| Partition::new(number, None, Vec::new()));
            Topic::new(*name, partitions.collect())
        };
        Cluster::new([], topics.iter().map(topic))
    }

    fn is_new(known: &mut Known, topic: &str, partition: i32, cluster: &Cluster) -> bool {
        known.is_new(&TopicPartition::new(topic, partition), cluster)
    }

    #[test]
    fn partitions_beyond_the_number_at_the_join_are_new() {
        let then = cluster(&[("orders", 2)]);
        let mut known = Known::new(Selection::topics(["orders"]), &then);
        let now = cluster(&[("orders", 3)]);
        assert!(!is_new(&mut known, "orders", 1, &now));
        assert!(is_new(&mut known, "orders", 2, &now));
    }

    #[test]
    fn a_topic_that_was_waited_for_is_new_as_a_whole() {
        let mut known = Known::new(Selection::topics(["orders"]), &cluster(&[]));
        assert!(is_new(&mut known, "orders", 0, &cluster(&[("orders", 1)])));
    }

    #[test]
    fn a_topic_that_was_subscribed_to_later_is_known_from_then_on() {
        let mut known = Known::new(Selection::topics(["orders"]), &cluster(&[("orders", 1)]));
        assert!(!is_new(&mut known, "customers", 1, &cluster(&[("customers", 2)])));
        assert!(is_new(&mut known, "customers", 2, &cluster(&[("customers", 3)])));
    }
}
