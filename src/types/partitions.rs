//! Sets of partitions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// One partition of one topic.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TopicPartition {
    topic: Arc<str>,
    partition: i32,
}

impl TopicPartition {
    /// Names a partition.
    pub fn new(topic: impl Into<Arc<str>>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }

    /// The topic's name.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// The topic's name, shared.
    pub fn shared_topic(&self) -> Arc<str> {
        Arc::clone(&self.topic)
    }

    /// The partition's number, from 0.
    pub fn partition(&self) -> i32 {
        self.partition
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

impl fmt::Debug for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of partitions, in order of topic and number; a topic's name is held once.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Partitions {
    /// Never an empty list; each list sorted, without repeats.
    topics: BTreeMap<Arc<str>, Vec<i32>>,
}

impl Partitions {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; says whether it was missing.
    pub fn insert(&mut self, topic: &Arc<str>, partition: i32) -> bool {
        let numbers = self.topics.entry(Arc::clone(topic)).or_default();
        match numbers.binary_search(&partition) {
            Ok(_) => false,
            Err(at) => {
                numbers.insert(at, partition);
                true
            }
        }
    }

    /// Adds many of one topic, in any order.
    pub fn insert_all(&mut self, topic: &Arc<str>, partitions: impl IntoIterator<Item = i32>) {
        let numbers = self.topics.entry(Arc::clone(topic)).or_default();
        numbers.extend(partitions);
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            self.topics.remove(topic);
        }
    }

    /// Adds everything in `other`.
    pub fn extend_with(&mut self, other: &Self) {
        for (topic, numbers) in &other.topics {
            self.insert_all(topic, numbers.iter().copied());
        }
    }

    /// Takes out everything in `other`.
    pub fn subtract(&mut self, other: &Self) {
        self.retain(|topic, partition| !other.contains(topic, partition));
    }

    /// What is in `self` and not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract(other);
        rest
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.retain(|topic, partition| other.contains(topic, partition));
        both
    }

    /// Keeps what `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, i32) -> bool) {
        self.topics.retain(|topic, numbers| {
            numbers.retain(|number| keep(topic, *number));
            !numbers.is_empty()
        });
    }

    /// Whether this partition is in the set.
    pub fn contains(&self, topic: &str, partition: i32) -> bool {
        self.topics.get(topic).is_some_and(|numbers| numbers.binary_search(&partition).is_ok())
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// How many partitions are in the set.
    pub fn len(&self) -> usize {
        self.topics.values().map(Vec::len).sum()
    }

    /// The topics with their partitions, both in order.
    pub fn by_topic(&self) -> impl Iterator<Item = (&Arc<str>, &[i32])> + Clone {
        self.topics.iter().map(|(topic, numbers)| (topic, numbers.as_slice()))
    }

    /// The partitions, in order.
    pub fn iter(&self) -> impl Iterator<Item = TopicPartition> + '_ {
        self.topics.iter().flat_map(|(topic, numbers)| {
            numbers.iter().map(|number| TopicPartition::new(Arc::clone(topic), *number))
        })
    }
}

impl fmt::Debug for Partitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.topics).finish()
    }
}

impl FromIterator<TopicPartition> for Partitions {
    fn from_iter<I: IntoIterator<Item = TopicPartition>>(partitions: I) -> Self {
        let mut topics: BTreeMap<Arc<str>, Vec<i32>> = BTreeMap::new();
        for TopicPartition { topic, partition } in partitions {
            topics.entry(topic).or_default().push(partition);
        }
        for numbers in topics.values_mut() {
            numbers.sort_unstable();
            numbers.dedup();
        }
        Self { topics }
    }
}

impl<T: Into<Arc<str>>> FromIterator<(T, i32)> for Partitions {
    fn from_iter<I: IntoIterator<Item = (T, i32)>>(partitions: I) -> Self {
        partitions.into_iter().map(|(topic, number)| TopicPartition::new(topic, number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(partitions: &[(&str, i32)]) -> Partitions {
        partitions.iter().copied().collect()
    }

    #[test]
    fn sets_are_ordered_and_hold_each_partition_once() {
        let set = set(&[("b", 1), ("a", 2), ("a", 0), ("a", 2)]);
        assert_eq!(format!("{:?}", set.iter().collect::<Vec<_>>()), "[a-0, a-2, b-1]");
        assert_eq!(set.len(), 3);
    }

    #[test]
    fn a_topic_without_partitions_is_not_in_the_set() {
        let mut left = set(&[("a", 0), ("b", 1)]);
        left.subtract(&set(&[("a", 0), ("b", 7)]));
        assert_eq!(left, set(&[("b", 1)]));
        left.subtract(&set(&[("b", 1)]));
        assert!(left.is_empty());
        assert_eq!(left, Partitions::new());
    }

    #[test]
    fn intersection_and_difference_split_a_set() {
        let whole = set(&[("a", 0), ("a", 1), ("b", 0)]);
        let part = set(&[("a", 1), ("c", 0)]);
        assert_eq!(whole.intersection(&part), set(&[("a", 1)]));
        assert_eq!(whole.difference(&part), set(&[("a", 0), ("b", 0)]));
    }
}
