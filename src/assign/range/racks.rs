//! What members get of their own racks (KIP-881).
//!
//! A topic by itself: each member in turn gets the first partitions with a replica in its rack, as many as it may get
//! at all. Topics with equal subscribers and counts stay joined: a number goes to the first member with room in whose
//! rack it has replicas of all of them. A member without a rack matches everything. What matches nobody is left for
//! the ranges.

use std::collections::{BTreeMap, BTreeSet};

use super::deal::Deal;
use crate::assign::GroupAssignment;
use crate::assign::model::{Model, NONE};

/// The racks of members and brokers, by number.
pub(super) struct Racks<'g> {
    model: &'g Model,
    /// `NONE` where there is none.
    of_member: Vec<u32>,
    of_node: Vec<u32>,
    count: usize,
}

impl<'g> Racks<'g> {
    pub(super) fn of(model: &'g Model) -> Self {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut number = |rack: Option<&'g str>| match rack {
            Some(rack) => {
                let next = numbers.len() as u32;
                *numbers.entry(rack).or_insert(next)
            }
            None => NONE,
        };
        // An empty name is none, as in Java.
        let members = model.members().iter();
        let of_member =
            members.map(|member| number(member.rack.as_deref().filter(|r| !r.is_empty())));
        let of_member = of_member.collect();
        let of_node = model.nodes().iter().map(|node| number(node.rack.as_deref())).collect();
        Self { model, of_member, of_node, count: numbers.len() }
    }

    /// Gives what matches, of all topics.
    pub(super) fn match_all(&self, deals: &mut [Deal<'_>], plan: &mut GroupAssignment) {
        if !deals.iter().any(|deal| self.tell_apart(deal)) {
            return;
        }
        for joined in joined(deals) {
            match joined[..] {
                [alone] if self.tell_apart(&deals[alone]) => {
                    self.match_one(&mut deals[alone], plan)
                }
                [_] => {}
                _ => self.match_joined(deals, &joined, plan),
            }
        }
    }

    /// Whether racks make a difference to a topic: some are members' and partitions', and not all partitions are in all.
    fn tell_apart(&self, deal: &Deal<'_>) -> bool {
        let members: BTreeSet<u32> = self.racks_of(deal).filter(|rack| *rack != NONE).collect();
        let sets: BTreeSet<Vec<u32>> =
            (0..deal.count()).map(|n| self.of_partition(deal, n)).collect();
        let all: BTreeSet<u32> = sets.iter().flatten().copied().collect();
        let is_whole = |set: &Vec<u32>| set.len() == all.len();
        !members.is_disjoint(&all) && !sets.iter().all(is_whole)
    }

    fn match_one(&self, deal: &mut Deal<'_>, plan: &mut GroupAssignment) {
        // Per rack its partitions, and all of them for members without one; with how many are looked at already.
        let mut of_rack: Vec<(Vec<u32>, usize)> = vec![Default::default(); self.count];
        let mut of_all = ((0..deal.count()).collect(), 0);
        for number in 0..deal.count() {
            for rack in self.of_partition(deal, number) {
                of_rack[rack as usize].0.push(number);
            }
        }
        for place in 0..deal.members.len() {
            let rack = self.rack(deal.members[place]);
            let (numbers, next) = of_rack.get_mut(rack as usize).unwrap_or(&mut of_all);
            let mut room = deal.room(place);
            while room > 0 && *next < numbers.len() {
                let number = numbers[*next];
                *next += 1;
                if !deal.is_given(number) {
                    deal.give(place, number, plan);
                    room -= 1;
                }
            }
        }
    }

    /// Topics of which the same members have the same numbers.
    fn match_joined(&self, deals: &mut [Deal<'_>], joined: &[usize], plan: &mut GroupAssignment) {
        let Some(deal) = joined.first().map(|first| &deals[*first]) else { return };
        let (count, members) = (deal.count(), deal.members);
        let mut waiting = Waiting::of(members.iter().map(|member| self.rack(*member)), self.count);
        for number in 0..count {
            let mut common = self.of_partition(&deals[joined[0]], number);
            for deal in &joined[1..] {
                let racks = self.of_partition(&deals[*deal], number);
                common.retain(|rack| racks.binary_search(rack).is_ok());
            }
            // They are dealt alike, so one of them knows about room in all.
            let Some(place) = waiting.first(&common, |place| deals[joined[0]].room(place) > 0)
            else {
                continue;
            };
            joined.iter().for_each(|deal| deals[*deal].give(place, number, plan));
        }
    }

    fn racks_of(&self, deal: &Deal<'_>) -> impl Iterator<Item = u32> {
        deal.members.iter().map(|member| self.rack(*member))
    }

    fn rack(&self, member: u32) -> u32 {
        self.of_member.get(member as usize).copied().unwrap_or(NONE)
    }

    /// The racks of a partition's replicas, ascending.
    fn of_partition(&self, deal: &Deal<'_>, number: u32) -> Vec<u32> {
        let nodes = self.model.replicas(deal.partition(number)).iter();
        let racks = nodes.filter_map(|node| self.of_node.get(*node as usize).copied());
        let mut racks: Vec<u32> = racks.filter(|rack| *rack != NONE).collect();
        racks.sort_unstable();
        racks.dedup();
        racks
    }
}

/// Topics with equal subscribers and equal counts, together.
fn joined(deals: &[Deal<'_>]) -> Vec<Vec<usize>> {
    let mut joined: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (deal, place) in deals.iter().zip(0..) {
        joined.entry(deal.shape()).or_default().push(place);
    }
    joined.into_values().collect()
}

/// Members that wait for partitions, those of each rack in order.
struct Waiting {
    of_rack: Vec<Queue>,
    without: Queue,
}

/// Places of members, and how many of them are done with.
#[derive(Clone, Default)]
struct Queue {
    places: Vec<usize>,
    done: usize,
}

impl Waiting {
    fn of(racks: impl Iterator<Item = u32>, count: usize) -> Self {
        let mut waiting =
            Self { of_rack: vec![Queue::default(); count], without: Queue::default() };
        for (rack, place) in racks.zip(0..) {
            let queue = waiting.of_rack.get_mut(rack as usize).unwrap_or(&mut waiting.without);
            queue.places.push(place);
        }
        waiting
    }

    /// The first member with room that is in one of these racks, or in none.
    fn first(&mut self, racks: &[u32], has_room: impl Fn(usize) -> bool) -> Option<usize> {
        let without = self.without.first(&has_room);
        let matching =
            racks.iter().filter_map(|rack| self.of_rack[*rack as usize].first(&has_room));
        matching.chain(without).min()
    }
}

impl Queue {
    /// Who has no room has none for ever.
    fn first(&mut self, has_room: impl Fn(usize) -> bool) -> Option<usize> {
        let waiting = self.places[self.done..].iter();
        self.done += waiting.take_while(|place| !has_room(**place)).count();
        self.places.get(self.done).copied()
    }
}
