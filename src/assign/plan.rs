//! The plan: who gets which partition, and what is said to whom.

mod copies;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::Coverage;
use super::codec::MetadataCodec;
use super::index::{MemberIndex, PartitionIndex};
use super::model::{Model, NONE, slice_of};
use crate::types::Partitions;

/// The most faults that a plan remembers; one is enough to refuse it.
const MOST_FAULTS: usize = 8;

/// Who gets which partition: the result of [`assign`](super::PartitionAssigner::assign).
///
/// Made empty by [`GroupSubscription::plan`](super::GroupSubscription::plan). Nothing here fails: what makes no
/// sense (an index of another group, an unknown name) is remembered and refuses the plan when the leader checks it.
#[derive(Clone)]
pub struct GroupAssignment {
    model: Arc<Model>,
    codec: MetadataCodec,
    /// Per partition its first holder.
    first: Vec<u32>,
    /// The further holders, of partitions given more than once.
    more: BTreeMap<u32, Vec<u32>>,
    /// Partitions of which nobody has the first copy for now.
    without_first: BTreeSet<u32>,
    /// Per member.
    loads: Vec<u32>,
    told: BTreeMap<u32, Told>,
    rebalance_after: Option<Duration>,
    /// Per topic, where that is not the same for all.
    coverage: Option<Arc<[Coverage]>>,
    faults: Vec<PlanFault>,
}

/// What a plan says to a member, in bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Told {
    pub(crate) codec: MetadataCodec,
    pub(crate) bytes: Vec<u8>,
}

/// Something that was asked of a plan and cannot be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum PlanFault {
    /// A member's or partition's index of another group.
    OtherGroup,
    UnknownMember(String),
    UnknownTopic(String),
    UnknownPartition {
        topic: String,
        number: i32,
    },
    /// Words to a member that cannot be written.
    Untellable {
        member: String,
        reason: String,
    },
}

impl GroupAssignment {
    pub(crate) fn new(model: Arc<Model>, codec: MetadataCodec) -> Self {
        Self {
            first: vec![NONE; model.partition_count()],
            more: BTreeMap::new(),
            without_first: BTreeSet::new(),
            loads: vec![0; model.members().len()],
            told: BTreeMap::new(),
            rebalance_after: None,
            coverage: None,
            faults: Vec::new(),
            model,
            codec,
        }
    }

    /// A plan that gives each partition to the member at this place, or to nobody where there is none.
    pub(crate) fn of_owners(model: Arc<Model>, codec: MetadataCodec, owners: Vec<u32>) -> Self {
        let mut loads = vec![0; model.members().len()];
        for owner in &owners {
            if let Some(load) = loads.get_mut(*owner as usize) {
                *load += 1;
            }
        }
        Self {
            first: owners,
            more: BTreeMap::new(),
            without_first: BTreeSet::new(),
            loads,
            told: BTreeMap::new(),
            rebalance_after: None,
            coverage: None,
            faults: Vec::new(),
            model,
            codec,
        }
    }

    /// Gives a partition to a member. What it already has stays as it is.
    ///
    /// A partition given to two members has two holders; whether that is allowed is up to
    /// [`coverage`](super::PartitionAssigner::coverage). Who is given it first has the first copy and commits; the others
    /// stand by.
    pub fn give(&mut self, member: impl Into<MemberIndex>, partition: impl Into<PartitionIndex>) {
        let places =
            (self.model.own_member(member.into()), self.model.own_partition(partition.into()));
        match places {
            (Some(member), Some(partition)) => self.give_place(member, partition),
            _ => self.fault(PlanFault::OtherGroup),
        }
    }

    /// Gives a partition to a member, both by name: for assigners that think in names.
    pub fn give_by_name(&mut self, member: &str, topic: &str, number: i32) {
        let Some(place) = self.model.member_index(member) else {
            return self.fault(PlanFault::UnknownMember(member.to_owned()));
        };
        let Some(partition) = self.model.partition_index(topic, number) else {
            let topic = topic.to_owned();
            return self.fault(match self.model.topic_index(&topic) {
                Some(_) => PlanFault::UnknownPartition { topic, number },
                None => PlanFault::UnknownTopic(topic),
            });
        };
        self.give_place(place, partition);
    }

    /// Takes a partition from a member; says whether it had it.
    pub fn take_back(
        &mut self,
        member: impl Into<MemberIndex>,
        partition: impl Into<PartitionIndex>,
    ) -> bool {
        let places =
            (self.model.own_member(member.into()), self.model.own_partition(partition.into()));
        match places {
            (Some(member), Some(partition)) => self.take_place(member, partition),
            _ => false,
        }
    }

    /// How many partitions a member has been given.
    pub fn load(&self, member: impl Into<MemberIndex>) -> usize {
        let place = self.model.own_member(member.into());
        place.and_then(|place| self.loads.get(place as usize)).map_or(0, |load| *load as usize)
    }

    /// How many partitions the member at this place has been given.
    pub(crate) fn load_at(&self, place: u32) -> u32 {
        self.loads.get(place as usize).copied().unwrap_or(0)
    }

    /// Who has been given a partition, in the order of giving.
    pub fn holders(
        &self,
        partition: impl Into<PartitionIndex>,
    ) -> impl Iterator<Item = MemberIndex> + '_ {
        let place = self.model.own_partition(partition.into()).unwrap_or(NONE);
        let stamp = self.model.stamp();
        self.holder_places(place).map(move |index| MemberIndex { stamp, index })
    }

    /// Says something to one member beside its partitions, which it reads with `assigned.told::<U>()`.
    ///
    /// Written with the assigner's codec, or the crate's preferred one beside raw metadata. It travels with the
    /// assignment and shares its room: keep it small. Said twice, the last counts.
    pub fn tell<U: Serialize + ?Sized>(&mut self, member: impl Into<MemberIndex>, words: &U) {
        let Some(place) = self.model.own_member(member.into()) else {
            return self.fault(PlanFault::OtherGroup);
        };
        let codec = match self.codec {
            MetadataCodec::Raw | MetadataCodec::Parts => MetadataCodec::preferred(),
            codec => codec,
        };
        match codec.write(words) {
            Ok(bytes) => drop(self.told.insert(place, Told { codec, bytes })),
            Err(error) => {
                let member = self.member_name(place).to_owned();
                self.fault(PlanFault::Untellable { member, reason: error.to_string() });
            }
        }
    }

    /// Asks for another round after this time, as when something should be tried again that was left out now. Not sooner
    /// than in a second.
    pub fn rebalance_after(&mut self, delay: Duration) {
        self.rebalance_after = Some(delay);
    }

    /// The plan by member id, with every member: for tests and for people.
    pub fn by_name(&self) -> BTreeMap<String, Partitions> {
        let lists = self.by_member();
        let members = self.model.members().iter().zip(0..);
        members.map(|(member, place)| (member.id.to_string(), lists.partitions(place))).collect()
    }

    pub(crate) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The partitions of each member, in order, without a name.
    pub(crate) fn by_member(&self) -> MemberLists<'_> {
        let mut ends: Vec<u32> = Vec::with_capacity(self.loads.len());
        let mut next: Vec<u32> = Vec::with_capacity(self.loads.len());
        for load in &self.loads {
            let start = ends.last().copied().unwrap_or(0);
            next.push(start);
            ends.push(start + load);
        }
        let mut partitions = vec![0; ends.last().copied().unwrap_or(0) as usize];
        let mut add = |member: u32, partition: u32| {
            let next = &mut next[member as usize];
            partitions[*next as usize] = partition;
            *next += 1;
        };
        for (first, partition) in self.first.iter().zip(0..) {
            match self.more.is_empty() {
                true if *first == NONE => {}
                true => add(*first, partition),
                false => self.holder_places(partition).for_each(|member| add(member, partition)),
            }
        }
        MemberLists { model: &self.model, ends, partitions }
    }

    /// What is said to a member.
    pub(crate) fn told(&self, member: u32) -> Option<&Told> {
        self.told.get(&member)
    }

    /// Says to a member what is in bytes already.
    pub(super) fn set_told(&mut self, member: u32, told: Told) {
        self.told.insert(member, told);
    }

    /// How often partitions of a topic are given, if all of the plan are given so often.
    pub(super) fn coverage_of(&self, topic: u32, of_all: Coverage) -> Coverage {
        let of_topic = self.coverage.as_ref().and_then(|coverage| coverage.get(topic as usize));
        of_topic.copied().unwrap_or(of_all)
    }

    /// The same of a partition.
    pub(super) fn coverage_of_partition(&self, partition: u32, of_all: Coverage) -> Coverage {
        match self.coverage {
            Some(_) => self.coverage_of(self.model.topic_of(partition), of_all),
            None => of_all,
        }
    }

    /// Says how often partitions of each topic are given, where that is not the same for all.
    pub(super) fn set_coverage(&mut self, by_topic: Option<Arc<[Coverage]>>) {
        self.coverage = by_topic;
    }

    /// When another round is asked for.
    pub(crate) fn wanted_rebalance(&self) -> Option<Duration> {
        self.rebalance_after
    }

    pub(crate) fn faults(&self) -> &[PlanFault] {
        &self.faults
    }

    /// Who holds the partition at this place.
    pub(crate) fn holder_places(&self, partition: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.first.get(partition as usize).copied().filter(|first| *first != NONE);
        // Few partitions have more than one holder, and most plans have none such.
        let more = if self.more.is_empty() { None } else { self.more.get(&partition) };
        first.into_iter().chain(more.into_iter().flatten().copied())
    }

    /// Per partition its only holder, or `NONE`; none if some have several.
    pub(crate) fn only_holders(&self) -> Option<&[u32]> {
        self.more.is_empty().then_some(&self.first)
    }

    /// Whether this member has a partition, and nobody else has.
    pub(crate) fn is_given_to(&self, member: u32, partition: u32) -> bool {
        let is_first = member != NONE && self.first.get(partition as usize) == Some(&member);
        is_first && (self.more.is_empty() || !self.more.contains_key(&partition))
    }

    /// Gives by place; both places are this group's.
    pub(crate) fn give_place(&mut self, member: u32, partition: u32) {
        if self.holder_places(partition).any(|holder| holder == member) {
            return;
        }
        match &mut self.first[partition as usize] {
            first if *first == NONE => *first = member,
            _ => self.more.entry(partition).or_default().push(member),
        }
        self.loads[member as usize] += 1;
    }

    /// Takes by place; both places are this group's.
    pub(crate) fn take_place(&mut self, member: u32, partition: u32) -> bool {
        let before = self.loads[member as usize];
        self.take_places(partition, &[member]);
        self.loads[member as usize] < before
    }

    /// Takes a partition from these members, as far as they have it.
    pub(crate) fn take_places(&mut self, partition: u32, members: &[u32]) {
        if members.is_empty() {
            return;
        }
        let (taken, left): (Vec<u32>, Vec<u32>) =
            self.holder_places(partition).partition(|holder| members.contains(holder));
        taken.into_iter().for_each(|member| self.loads[member as usize] -= 1);
        let mut left = left.into_iter();
        self.first[partition as usize] = left.next().unwrap_or(NONE);
        match left.len() {
            0 => drop(self.more.remove(&partition)),
            _ => drop(self.more.insert(partition, left.collect())),
        }
    }

    pub(crate) fn member_name(&self, place: u32) -> &str {
        self.model.members().get(place as usize).map_or("", |member| member.id.as_str())
    }

    fn fault(&mut self, fault: PlanFault) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(fault);
        }
    }
}

impl fmt::Debug for GroupAssignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.by_name()).finish()
    }
}

/// The partitions of each member, ascending.
#[derive(Debug)]
pub(crate) struct MemberLists<'a> {
    model: &'a Model,
    ends: Vec<u32>,
    partitions: Vec<u32>,
}

impl MemberLists<'_> {
    /// The places of a member's partitions.
    pub(crate) fn places(&self, member: u32) -> &[u32] {
        slice_of(&self.ends, &self.partitions, member)
    }

    /// A member's topics by place, each once, with the places of its partitions ascending.
    pub(crate) fn runs(&self, member: u32) -> impl Iterator<Item = (u32, &[u32])> + Clone {
        let topics = self.model.topics();
        let end =
            |topic: u32| topics.get(topic as usize).map_or(0, |topic| topic.first + topic.count);
        let (mut rest, mut next) = (self.places(member), 0);
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            // Mostly the topic behind the one before.
            let topic = if first < end(next) { next } else { self.model.topic_of(first) };
            let (topic_end, count) = (end(topic), rest.iter());
            let (run, after) = rest.split_at(count.take_while(|place| **place < topic_end).count());
            (rest, next) = (after, topic + 1);
            Some((topic, run))
        })
    }

    /// A member's topics by name, each once, with the numbers of its partitions ascending.
    pub(crate) fn by_topic(
        &self,
        member: u32,
    ) -> impl Iterator<Item = (&Arc<str>, impl ExactSizeIterator<Item = i32>)> + Clone {
        self.runs(member).filter_map(|(topic, places)| {
            let topic = self.model.topics().get(topic as usize)?;
            Some((&topic.name, places.iter().map(|place| (place - topic.first) as i32)))
        })
    }

    /// A member's partitions as a set with names.
    pub(crate) fn partitions(&self, member: u32) -> Partitions {
        let mut set = Partitions::new();
        for (topic, numbers) in self.by_topic(member) {
            set.insert_all(topic, numbers);
        }
        set
    }
}
