//! Items that no wish tells apart: the same takers, and near in the same racks.

use super::problem::{Family, NONE, Problem};
use super::racks::Nearness;

/// The classes of a problem. A plan is as good as its numbers of items per class and member.
#[derive(Debug)]
pub(super) struct Classes {
    /// Per family; `NONE` if nobody takes it.
    of_family: Vec<u32>,
    /// Per item, if racks matter; else all of a family are alike.
    of_item: Vec<u32>,
    /// Per class its set of takers.
    pub(super) takers: Vec<u32>,
    /// Per class its set of racks; `NONE` if that tells nobody apart.
    pub(super) racks: Vec<u32>,
    /// Per class how many items it has.
    pub(super) supply: Vec<u32>,
}

impl Classes {
    pub(super) fn of(problem: &Problem<'_>, nearness: Option<&Nearness<'_>>) -> Self {
        let mut classes = Self {
            of_family: vec![NONE; problem.families.len()],
            of_item: vec![NONE; if nearness.is_some() { problem.item_count() } else { 0 }],
            takers: Vec::new(),
            racks: Vec::new(),
            supply: Vec::new(),
        };
        let mut families: Vec<u32> = problem.wanted_families().map(|(place, _)| place).collect();
        families.sort_by_key(|family| problem.families[*family as usize].takers);
        let sets = nearness.map_or(0, Nearness::set_count);
        // Per set of racks, the last one being none, its class among those of the takers at hand.
        let mut found = vec![NONE; sets + 1];
        let mut takers = NONE;
        for place in families {
            let family = &problem.families[place as usize];
            if family.takers != takers {
                takers = family.takers;
                found.fill(NONE);
            }
            let Some(nearness) = nearness else {
                let class = classes.class(&mut found[0], takers, NONE);
                classes.supply[class as usize] += family.count;
                classes.of_family[place as usize] = class;
                continue;
            };
            classes.add_by_rack(family, nearness, &mut found);
        }
        classes
    }

    /// Classes that were found otherwise: per item its class, or `NONE`, and per class its takers and set of racks.
    pub(super) fn of_items(of_item: Vec<u32>, takers: Vec<u32>, racks: Vec<u32>) -> Self {
        let mut supply = vec![0; takers.len()];
        of_item
            .iter()
            .filter(|class| **class != NONE)
            .for_each(|class| supply[*class as usize] += 1);
        Self { of_family: Vec::new(), of_item, takers, racks, supply }
    }

    /// The class of an item of a family that somebody takes.
    pub(super) fn class_of(&self, family: u32, item: u32) -> u32 {
        match self.of_item.is_empty() {
            true => self.of_family[family as usize],
            false => self.of_item[item as usize],
        }
    }

    /// Whether the items of each family are all of one class.
    pub(super) fn follow_families(&self) -> bool {
        self.of_item.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.supply.len()
    }

    /// Adds a family's items, those near in different racks to different classes. Twice as fast if not inlined.
    #[inline(never)]
    fn add_by_rack(&mut self, family: &Family, nearness: &Nearness<'_>, found: &mut [u32]) {
        for item in family.items() {
            let set = nearness.set_of(item);
            let place = (set as usize).min(found.len() - 1);
            if found[place] == NONE {
                self.class(&mut found[place], family.takers, set);
            }
            self.of_item[item] = found[place];
            self.supply[found[place] as usize] += 1;
        }
    }

    /// The class that was found, or a new one.
    fn class(&mut self, found: &mut u32, takers: u32, racks: u32) -> u32 {
        if *found == NONE {
            *found = self.supply.len() as u32;
            self.takers.push(takers);
            self.racks.push(racks);
            self.supply.push(0);
        }
        *found
    }
}
