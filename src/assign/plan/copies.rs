//! Partitions that several members hold: one has the first copy, the others stand by.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::GroupAssignment;
use crate::assign::codec::MetadataCodec;
use crate::assign::index::{MemberIndex, PartitionIndex};
use crate::assign::model::{Model, NONE};
use crate::assign::solver::Holders;
use crate::types::Partitions;

impl GroupAssignment {
    /// A plan that gives each partition to these members, whoever is named first having the first copy. No member is
    /// named twice for one partition.
    pub(in crate::assign) fn of_holders(
        model: Arc<Model>,
        codec: MetadataCodec,
        holders: &Holders,
    ) -> Self {
        let mut plan = Self::new(model, codec);
        for (first, partition) in plan.first.iter_mut().zip(0..) {
            let members = holders.of(partition);
            members.iter().for_each(|member| plan.loads[*member as usize] += 1);
            let Some((holder, others)) = members.split_first() else { continue };
            *first = *holder;
            if !others.is_empty() {
                plan.more.insert(partition, others.to_vec());
            }
        }
        plan
    }

    /// Who has the first copy of a partition, and so commits its offsets.
    ///
    /// Nobody while the one to have it waits until another has given it up.
    pub fn first_holder(&self, partition: impl Into<PartitionIndex>) -> Option<MemberIndex> {
        let index = self.first_place(self.model.own_partition(partition.into())?)?;
        Some(MemberIndex { stamp: self.model.stamp(), index })
    }

    /// Partitions of which nobody has the first copy in this round: whoever is to have it waits until another has given
    /// it up, and all that have the partition stand by.
    pub fn waiting_for_first(&self) -> Partitions {
        let mut waiting = Partitions::new();
        for partition in &self.without_first {
            let is_held = self.holder_places(*partition).next().is_some();
            if let Some(name) = self.model.partition_name(*partition).filter(|_| is_held) {
                waiting.insert(&name.shared_topic(), name.partition());
            }
        }
        waiting
    }

    /// What members stand by for, by member id, with every member: for tests and for people.
    pub fn standbys_by_name(&self) -> BTreeMap<String, Partitions> {
        let members = self.model.members().iter().zip(0..);
        let given = self.by_name();
        members
            .filter_map(|(member, place)| {
                let standbys = self.standbys(place, given.get(member.id.as_str())?);
                Some((member.id.to_string(), standbys))
            })
            .collect()
    }

    /// Who has the first copy of the partition at this place.
    pub(crate) fn first_place(&self, partition: u32) -> Option<u32> {
        let first = self.first.get(partition as usize).copied().filter(|first| *first != NONE);
        first.filter(|_| !self.without_first.contains(&partition))
    }

    /// Whether anybody stands by for anything.
    pub(crate) fn has_standbys(&self) -> bool {
        !self.more.is_empty() || !self.without_first.is_empty()
    }

    /// What a member holds and stands by for: others have the first copies, or nobody has.
    pub(crate) fn standbys(&self, member: u32, given: &Partitions) -> Partitions {
        let mut standbys = Partitions::new();
        if self.more.is_empty() && self.without_first.is_empty() {
            return standbys;
        }
        for (topic, numbers) in given.by_topic() {
            let places = numbers
                .iter()
                .filter_map(|number| Some((*number, self.model.partition_index(topic, *number)?)));
            let stands_by = |place: &(i32, u32)| self.first_place(place.1) != Some(member);
            standbys.insert_all(topic, places.filter(stands_by).map(|(number, _)| number));
        }
        standbys
    }

    /// Makes all holders of a partition stand by.
    pub(crate) fn keep_first_copy_back(&mut self, partition: u32) {
        self.without_first.insert(partition);
    }
}
