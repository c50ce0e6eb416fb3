//! Where units are near.

use std::collections::HashMap;

use super::units::Band;
use crate::assign::model::Model;
use crate::assign::solver::{ItemRacks, Member, NONE, RackSet};

/// The racks of units: those of members in which most of a unit's partitions are near.
pub(super) fn of_units<'b>(
    model: &Model,
    of_partitions: &ItemRacks,
    members: &[Member],
    bands: impl Iterator<Item = &'b Band>,
) -> ItemRacks {
    let mut racks: Vec<u32> = members.iter().map(|member| member.rack).collect();
    racks.sort_unstable();
    racks.dedup();
    racks.retain(|rack| *rack != NONE);

    let mut of_units = ItemRacks { set_of: Vec::new(), sets: of_partitions.sets.clone() };
    // Units with partitions near the same racks are alike, and there are few kinds of them.
    let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
    for band in bands {
        for number in band.numbers.clone() {
            let set_of = |place: usize| of_partitions.set_of.get(place).copied().unwrap_or(NONE);
            let mut sets: Vec<u32> = band.places(model, number).map(set_of).collect();
            sets.sort_unstable();
            let set = match sets.first() == sets.last() {
                true => sets.first().copied().unwrap_or(NONE),
                false => *known.entry(sets).or_insert_with_key(|sets| {
                    of_units.sets.push(nearest(&racks, sets, &of_partitions.sets));
                    of_units.sets.len() as u32 - 1
                }),
            };
            of_units.set_of.push(set);
        }
    }
    of_units
}

/// The racks that are in the most of some sets. What is known to be nowhere is near everywhere.
fn nearest(racks: &[u32], chosen: &[u32], sets: &[RackSet]) -> RackSet {
    let is_near =
        |set: &u32, rack: u32| sets.get(*set as usize).is_none_or(|set| set.contains(rack));
    let near = |rack: u32| chosen.iter().filter(|set| is_near(set, rack)).count();
    let most = racks.iter().map(|rack| near(*rack)).max().unwrap_or(0);
    let mut nearest = RackSet::default();
    racks.iter().filter(|rack| near(**rack) == most).for_each(|rack| nearest.insert(*rack));
    nearest
}
