//! One topic as its partitions are given away.

use crate::assign::GroupAssignment;
use crate::assign::model::{Model, NONE};

/// Who has how many of a topic's partitions, and what is left.
#[derive(Debug)]
pub(super) struct Deal<'g> {
    /// Which set of subscribers its members are.
    subscribers: u32,
    /// The number of its partition 0 among all partitions.
    first: u32,
    count: u32,
    /// In order.
    pub(super) members: &'g [u32],
    /// By the members' places.
    has: Vec<u32>,
    /// By number.
    given: Vec<bool>,
    /// How many partitions each member gets, and how many members get one more.
    share: u32,
    extras: u32,
}

impl<'g> Deal<'g> {
    pub(super) fn new(model: &'g Model, topic: u32) -> Self {
        let members = model.subscribers(topic);
        let entry = model.topics().get(topic as usize);
        let (first, count) = entry.map_or((0, 0), |topic| (topic.first, topic.count));
        let among = (members.len() as u32).max(1);
        Self {
            subscribers: entry.map_or(NONE, |topic| topic.subscribers),
            first,
            count,
            members,
            has: vec![0; members.len()],
            given: vec![false; count as usize],
            share: count / among,
            extras: count % among,
        }
    }

    /// Equal where topics are joined: the same members and as many partitions.
    pub(super) fn shape(&self) -> (u32, u32) {
        (self.subscribers, self.count)
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The place of a partition of the topic among all partitions.
    pub(super) fn partition(&self, number: u32) -> u32 {
        self.first + number
    }

    pub(super) fn is_given(&self, number: u32) -> bool {
        self.given[number as usize]
    }

    /// How many partitions the member at this place may still get.
    pub(super) fn room(&self, place: usize) -> u32 {
        (self.share + u32::from(self.extras > 0)).saturating_sub(self.has[place])
    }

    /// Gives a partition to the member at this place.
    pub(super) fn give(&mut self, place: usize, number: u32, plan: &mut GroupAssignment) {
        self.given[number as usize] = true;
        self.has[place] += 1;
        self.extras -= u32::from(self.has[place] > self.share);
        plan.give_place(self.members[place], self.first + number);
    }

    /// Gives what is left: to each member in turn the next ones, as many as it may still get.
    pub(super) fn deal_rest(&mut self, plan: &mut GroupAssignment) {
        let mut number = 0;
        for place in 0..self.members.len() {
            for _ in 0..self.room(place) {
                while number < self.count && self.is_given(number) {
                    number += 1;
                }
                if number == self.count {
                    return;
                }
                self.give(place, number, plan);
            }
        }
    }
}
