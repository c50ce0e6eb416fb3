//! What goes together.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::groups::CoGroups;
use crate::assign::GroupSubscription;
use crate::assign::model::{Model, NONE};
use crate::assign::refs::{PartitionRef, TopicRef};

/// The units of a group, from [`CoPartitionAssigner::units`](super::CoPartitionAssigner::units).
///
/// When to use it: to make one piece of work of what has to be together, as a processor makes its tasks.
pub struct CoPartitionUnits<'g> {
    model: &'g Model,
    bands: Vec<Band>,
}

/// Partitions of one number, of topics that belong together and that the same members subscribe to.
#[derive(Clone, Copy)]
pub struct CoPartitionUnit<'u> {
    model: &'u Model,
    band: &'u Band,
    number: u32,
}

/// Units that hold the same topics.
#[derive(Debug)]
pub(super) struct Band {
    group: Option<usize>,
    /// Which of the model's sets of subscribers.
    pub(super) subscribers: u32,
    /// By name.
    topics: Vec<u32>,
    pub(super) numbers: Range<u32>,
    /// Whether a topic of it has company: if none does, its partitions are like those of any other topic.
    pub(super) is_joined: bool,
}

impl<'g> CoPartitionUnits<'g> {
    pub(super) fn of<T>(group: &'g GroupSubscription<T>, groups: &CoGroups) -> Self {
        let model = &*group.model;
        let mut alone = Vec::new();
        let mut joined: BTreeMap<(usize, u32), Vec<u32>> = BTreeMap::new();
        for (topic, place) in model.topics().iter().zip(0..) {
            if topic.subscribers == NONE || !group.shows(place) {
                continue;
            }
            match groups.of_topic(&topic.name) {
                Some(group) => joined.entry((group, topic.subscribers)).or_default().push(place),
                None => alone.push(place),
            }
        }
        let mut units = Self { model, bands: Vec::new() };
        for ((group, subscribers), topics) in joined {
            units.add_bands(Some(group), subscribers, topics);
        }
        for topic in alone {
            units.add_bands(None, model.topics()[topic as usize].subscribers, vec![topic]);
        }
        units
    }

    /// The units, by group, then by number; at last the partitions of all other topics, each by itself.
    pub fn iter(&self) -> impl Iterator<Item = CoPartitionUnit<'_>> + Clone {
        let units = |band| CoPartitionUnit { model: self.model, band, number: 0 };
        self.bands.iter().flat_map(move |band| {
            band.numbers.clone().map(move |number| CoPartitionUnit { number, ..units(band) })
        })
    }

    /// The units whose topics have company, by what they hold.
    pub(super) fn joined(&self) -> impl Iterator<Item = &Band> {
        self.bands.iter().filter(|band| band.is_joined)
    }

    /// From number to number that another topic ends, a band.
    fn add_bands(&mut self, group: Option<usize>, subscribers: u32, topics: Vec<u32>) {
        let count = |topic: &u32| self.model.topics()[*topic as usize].count;
        let mut ends: Vec<u32> = topics.iter().map(count).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut first = 0;
        for end in ends {
            if end > first {
                self.bands.push(Band {
                    group,
                    subscribers,
                    topics: topics.iter().copied().filter(|topic| count(topic) >= end).collect(),
                    numbers: first..end,
                    is_joined: topics.len() > 1,
                });
            }
            first = end;
        }
    }
}

impl fmt::Debug for CoPartitionUnits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'u> CoPartitionUnit<'u> {
    /// The number of each of its partitions.
    pub fn number(self) -> i32 {
        self.number as i32
    }

    /// Which of the declared groups it belongs to, from 0; none if its topic is in none.
    ///
    /// Groups that share topics count as the first of them. Where a group is split by its topics' subscribers, units
    /// of one group and one number are different ones.
    pub fn co_group(self) -> Option<usize> {
        self.band.group
    }

    /// Its partitions, by topic.
    pub fn partitions(self) -> impl Iterator<Item = PartitionRef<'u>> + Clone {
        let topics = self.band.topics.iter();
        topics.filter_map(move |topic| {
            TopicRef::at(self.model, *topic)?.partition(self.number as i32)
        })
    }
}

impl fmt::Debug for CoPartitionUnit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.partitions()).finish()
    }
}

impl Band {
    /// How many partitions one of its units holds.
    pub(super) fn width(&self) -> u32 {
        self.topics.len() as u32
    }

    pub(super) fn topics(&self) -> &[u32] {
        &self.topics
    }

    /// How many units it has.
    pub(super) fn count(&self) -> u32 {
        self.numbers.end - self.numbers.start
    }

    /// The places of one unit's partitions in the model.
    pub(super) fn places(&self, model: &Model, number: u32) -> impl Iterator<Item = usize> {
        let topics = self.topics.iter();
        topics.map(move |topic| (model.topics()[*topic as usize].first + number) as usize)
    }
}
