//! Sets of partitions as ranges, in one piece of memory however many topics there are.

use std::ops::Range;
use std::sync::Arc;

use super::Partitions;

/// Partitions of topics as runs of numbers, both ascending.
///
/// Read from another member it stays so: six bytes can claim two thousand million partitions, and only
/// [`within`](Self::within) what exists are they ever written out.
///
/// Cheap to clone.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct PartitionRanges {
    set: Arc<Ranges>,
}

#[derive(Debug, Default, Eq, PartialEq)]
struct Ranges {
    /// Each topic once, and where its ranges end.
    topics: Vec<(Arc<str>, u32)>,
    /// None empty; those of a topic do not touch.
    ranges: Vec<Range<u32>>,
}

impl PartitionRanges {
    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.topics.is_empty()
    }

    /// How many topics there are.
    pub(crate) fn topic_count(&self) -> usize {
        self.set.topics.len()
    }

    /// How many ranges there are.
    pub(crate) fn range_count(&self) -> usize {
        self.set.ranges.len()
    }

    /// The topics by name, each with its ranges.
    pub(crate) fn by_topic(&self) -> impl Iterator<Item = (&Arc<str>, &[Range<u32>])> {
        self.set.by_topic()
    }

    /// What of these partitions is in it.
    #[must_use]
    pub(crate) fn among(&self, partitions: &Partitions) -> Partitions {
        let mut among = partitions.clone();
        among.retain(|topic, number| {
            let ranges = self.of_topic(topic);
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            // The first range that ends behind it.
            let next = ranges.partition_point(|range| range.end <= number);
            ranges.get(next).is_some_and(|range| range.start <= number)
        });
        among
    }

    /// What is in it of topics that have so many partitions; of other topics nothing.
    pub(crate) fn within(&self, count_of: impl Fn(&str) -> Option<u32>) -> Partitions {
        let mut partitions = Partitions::new();
        for (topic, ranges) in self.by_topic() {
            let Some(count) = count_of(topic) else { continue };
            let numbers = ranges.iter().flat_map(|range| range.start..range.end.min(count));
            partitions.insert_all(topic, numbers.filter_map(|number| i32::try_from(number).ok()));
        }
        partitions
    }

    fn of_topic(&self, topic: &str) -> &[Range<u32>] {
        let Ranges { topics, ranges } = &*self.set;
        let Ok(place) = topics.binary_search_by(|(name, _)| (**name).cmp(topic)) else {
            return &[];
        };
        let start = place.checked_sub(1).and_then(|before| topics.get(before));
        let start = start.map_or(0, |(_, end)| *end as usize);
        let end = topics.get(place).map_or(0, |(_, end)| *end as usize);
        ranges.get(start..end).unwrap_or_default()
    }
}

impl Ranges {
    fn by_topic(&self) -> impl Iterator<Item = (&Arc<str>, &[Range<u32>])> {
        let mut start = 0;
        self.topics.iter().map(move |(name, end)| {
            let ranges = self.ranges.get(start as usize..*end as usize).unwrap_or_default();
            start = *end;
            (name, ranges)
        })
    }
}

impl From<&Partitions> for PartitionRanges {
    fn from(partitions: &Partitions) -> Self {
        let mut gathering = RangesBuilder::default();
        for (topic, numbers) in partitions.by_topic() {
            gathering.topic(Arc::clone(topic));
            numbers.iter().for_each(|number| gathering.number(*number));
        }
        gathering.finish()
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, i32)> for PartitionRanges {
    fn from_iter<I: IntoIterator<Item = (N, i32)>>(partitions: I) -> Self {
        let mut gathering = RangesBuilder::default();
        for (topic, number) in partitions {
            gathering.topic_again(topic.into());
            gathering.number(number);
        }
        gathering.finish()
    }
}

/// Gathers ranges, in order or not.
#[derive(Debug, Default)]
pub(crate) struct RangesBuilder {
    set: Ranges,
    /// Where the ranges of the topic at hand begin.
    start: u32,
    /// Whether topics or ranges are not in order, or overlap.
    is_mixed: bool,
}

impl RangesBuilder {
    /// Room for so many topics with so many ranges.
    pub(crate) fn with_capacity(topics: usize, ranges: usize) -> Self {
        let set = Ranges { topics: Vec::with_capacity(topics), ranges: Vec::with_capacity(ranges) };
        Self { set, ..Self::default() }
    }

    /// What follows is of this topic.
    pub(crate) fn topic(&mut self, name: Arc<str>) {
        let rises = self.set.topics.last().is_none_or(|(last, _)| *last < name);
        self.next_topic(name, rises);
    }

    /// The same; `rises` says that the name is greater than the one before.
    pub(crate) fn next_topic(&mut self, name: Arc<str>, rises: bool) {
        self.end_topic();
        self.start = self.set.ranges.len() as u32;
        self.is_mixed |= !rises && self.set.topics.last().is_some_and(|(last, _)| *last >= name);
        self.set.topics.push((name, self.start));
    }

    /// What follows is of this topic, which may be the one at hand.
    pub(crate) fn topic_again(&mut self, name: Arc<str>) {
        if self.set.topics.last().is_none_or(|(last, _)| *last != name) {
            self.topic(name);
        }
    }

    /// A partition; a number that none has is left out.
    pub(crate) fn number(&mut self, number: i32) {
        if let Ok(number) = u32::try_from(number) {
            self.range(number..number + 1);
        }
    }

    /// Some partitions.
    pub(crate) fn range(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let of_topic = self.set.ranges.get_mut(self.start as usize..).unwrap_or_default();
        match of_topic.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            last => {
                self.is_mixed |= last.is_some_and(|last| last.end > range.start);
                self.set.ranges.push(range);
            }
        }
    }

    pub(crate) fn finish(mut self) -> PartitionRanges {
        self.end_topic();
        match self.is_mixed {
            true => PartitionRanges { set: Arc::new(self.in_order()) },
            false => PartitionRanges { set: Arc::new(self.set) },
        }
    }

    /// A topic without ranges is none.
    fn end_topic(&mut self) {
        let end = self.set.ranges.len() as u32;
        match self.set.topics.last_mut() {
            Some(_) if end == self.start => drop(self.set.topics.pop()),
            Some((_, last)) => *last = end,
            None => {}
        }
    }

    fn in_order(self) -> Ranges {
        let topics = self.set.by_topic();
        let mut all: Vec<(&Arc<str>, &Range<u32>)> = topics
            .flat_map(|(name, ranges)| ranges.iter().map(move |range| (name, range)))
            .collect();
        all.sort_by_key(|(name, range)| (*name, range.start));
        let mut ordered = Self::with_capacity(self.set.topics.len(), all.len());
        for (name, range) in all {
            if ordered.set.topics.last().is_none_or(|(last, _)| last != name) {
                ordered.topic(Arc::clone(name));
            }
            let of_topic = ordered.set.ranges.get_mut(ordered.start as usize..);
            match of_topic.unwrap_or_default().last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => ordered.range(range.clone()),
            }
        }
        ordered.end_topic();
        ordered.set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(runs: &[(&str, Range<u32>)]) -> PartitionRanges {
        let mut builder = RangesBuilder::default();
        for (name, range) in runs {
            builder.topic((*name).into());
            builder.range(range.clone());
        }
        builder.finish()
    }

    fn text(set: &PartitionRanges) -> String {
        format!("{:?}", set.by_topic().collect::<Vec<_>>())
    }

    #[test]
    fn topics_and_ranges_come_out_in_order_and_once() {
        let set = gathered(&[("b", 3..5), ("a", 7..9), ("b", 0..1), ("b", 4..6), ("c", 2..2)]);
        assert_eq!(text(&set), r#"[("a", [7..9]), ("b", [0..1, 3..6])]"#);
        assert_eq!(set.topic_count(), 2);
    }

    #[test]
    fn neighbours_are_one_range() {
        let mut builder = RangesBuilder::default();
        builder.topic("a".into());
        builder.topic("b".into());
        [-1, 0, 1, 2, 4].into_iter().for_each(|number| builder.number(number));
        assert_eq!(text(&builder.finish()), r#"[("b", [0..3, 4..5])]"#);
        assert!(RangesBuilder::default().finish().is_empty());
    }

    #[test]
    fn a_set_becomes_ranges_and_comes_back() {
        let set: Partitions = [("a", 0), ("a", 1), ("a", 9), ("b", 4)].into_iter().collect();
        let ranges = PartitionRanges::from(&set);
        assert_eq!(text(&ranges), r#"[("a", [0..2, 9..10]), ("b", [4..5])]"#);
        assert_eq!(ranges.within(|_| Some(10)), set);
        let few = [("a", 0), ("a", 1)].into_iter().collect();
        assert_eq!(ranges.within(|topic| (topic == "a").then_some(2)), few);
        let asked: Partitions = [("a", 1), ("a", 2), ("b", 4), ("c", 0)].into_iter().collect();
        assert_eq!(ranges.among(&asked), [("a", 1), ("b", 4)].into_iter().collect());
    }
}
