//! Which offsets of a group, and where to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::types::TopicPartition;

/// Which partitions of a group. By default those for which it has committed something.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OffsetSelection {
    /// Numbers by topic; none for all of the topic. No topic stands for everything.
    topics: BTreeMap<Arc<str>, Option<BTreeSet<i32>>>,
}

/// Where offsets are reset to.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ResetTo {
    /// Where partitions start.
    Earliest,
    /// Behind their last record.
    Latest,
    /// What is committed now; behind the last record where nothing is. What Kafka's tool exports as a backup.
    Current,
    /// This offset, in each.
    Offset(i64),
    /// So many records on from what is committed now, or back.
    ShiftBy(i64),
    /// The first record of this time or a later one; behind the last record where there is none.
    Time(SystemTime),
    /// The first record of so long ago or later.
    Ago(Duration),
    /// Each partition's own offset. Partitions that are not in here are left alone.
    Each(BTreeMap<TopicPartition, i64>),
}

impl OffsetSelection {
    /// All partitions for which the group has committed something.
    pub fn all() -> Self {
        Self::default()
    }

    /// And all partitions of this topic.
    #[must_use]
    pub fn topic(mut self, topic: impl Into<Arc<str>>) -> Self {
        self.topics.insert(topic.into(), None);
        self
    }

    /// And these partitions of this topic. After [`topic`](Self::topic) with the same name, still all of it.
    #[must_use]
    pub fn partitions(
        mut self,
        topic: impl Into<Arc<str>>,
        numbers: impl IntoIterator<Item = i32>,
    ) -> Self {
        let named = self.topics.entry(topic.into()).or_insert_with(|| Some(BTreeSet::new()));
        if let Some(named) = named {
            named.extend(numbers);
        }
        self
    }

    /// Whether this partition is meant.
    pub fn takes(&self, partition: &TopicPartition) -> bool {
        match self.topics.get(partition.topic()) {
            Some(Some(numbers)) => numbers.contains(&partition.partition()),
            Some(None) => true,
            None => self.topics.is_empty(),
        }
    }

    /// The topics that are named, each with its numbers, or none for all of it.
    pub(super) fn named(&self) -> impl Iterator<Item = (&Arc<str>, Option<&BTreeSet<i32>>)> {
        self.topics.iter().map(|(topic, numbers)| (topic, numbers.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_named_is_everything_and_a_whole_topic_stays_whole() {
        let partition = |number| TopicPartition::new("t", number);
        assert!(OffsetSelection::all().takes(&partition(7)));
        let some = OffsetSelection::all().partitions("t", [0, 2]).partitions("t", [3]);
        let taken: Vec<i32> = (0..5).filter(|number| some.takes(&partition(*number))).collect();
        assert_eq!(taken, [0, 2, 3]);
        assert!(!some.takes(&TopicPartition::new("u", 0)));
        assert!(some.clone().topic("t").takes(&partition(4)));
        assert!(some.topic("t").partitions("t", [0]).takes(&partition(4)));
    }
}
