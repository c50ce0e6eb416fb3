//! Items of one band that no wish tells apart.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Widths;
use crate::assign::solver::classes::Classes;
use crate::assign::solver::problem::{NONE, Problem};
use crate::assign::solver::racks::Nearness;

/// The classes, and what they have in common.
#[derive(Debug)]
pub(super) struct BandClasses {
    pub(super) classes: Classes,
    /// Per class how many partitions move if one of its items does.
    pub(super) stakes: Vec<u32>,
    /// By takers, then the widest first.
    bands: Vec<Band>,
}

/// The items of one width that the same members take.
#[derive(Debug)]
pub(super) struct Band {
    takers: u32,
    pub(super) width: u32,
    pub(super) supply: u32,
    /// Ascending.
    pub(super) classes: Vec<u32>,
}

/// What tells classes apart: set of racks and stake; takers and width are the band's.
type Key = (u32, u32);

impl BandClasses {
    pub(super) fn of(
        problem: &Problem<'_>,
        nearness: Option<&Nearness<'_>>,
        widths: Widths<'_>,
        owners: &[u32],
    ) -> Self {
        let stake_of = |item: usize| match owners[item] {
            NONE => 0,
            _ => widths.stakes.get(item).copied().unwrap_or(0),
        };
        let racks_of = |item: usize| nearness.map_or(NONE, |nearness| nearness.set_of(item));
        let mut found = Found::default();
        let mut of_item = vec![NONE; problem.item_count()];
        for (place, family) in problem.wanted_families().filter(|(_, family)| family.count > 0) {
            let width = widths.of_family.get(place as usize).copied().unwrap_or(1);
            let band = found.bands.entry((family.takers, Reverse(width))).or_default();
            band.supply += family.count;
            // Neighbours are mostly alike.
            let (mut last, mut class) = (None, NONE);
            for item in family.items() {
                let key = (racks_of(item), stake_of(item));
                if last != Some(key) {
                    (last, class) = (Some(key), found.class(family.takers, width, key));
                }
                of_item[item] = class;
            }
        }
        let bands = found.bands.into_iter().map(|((takers, width), band)| {
            let mut classes: Vec<u32> = band.classes.into_values().collect();
            classes.sort_unstable();
            Band { takers, width: width.0, supply: band.supply, classes }
        });
        let bands = bands.collect();
        let classes = Classes::of_items(of_item, found.takers, found.racks);
        Self { classes, stakes: found.stakes, bands }
    }

    /// The bands of a set of takers, the widest first.
    pub(super) fn of_takers(&self, takers: u32) -> &[Band] {
        let first = self.bands.partition_point(|band| band.takers < takers);
        let bands = &self.bands[first..];
        &bands[..bands.partition_point(|band| band.takers == takers)]
    }
}

/// The classes found so far.
#[derive(Default)]
struct Found {
    bands: BTreeMap<(u32, Reverse<u32>), FoundBand>,
    takers: Vec<u32>,
    racks: Vec<u32>,
    stakes: Vec<u32>,
}

#[derive(Default)]
struct FoundBand {
    supply: u32,
    classes: BTreeMap<Key, u32>,
}

impl Found {
    fn class(&mut self, takers: u32, width: u32, key: Key) -> u32 {
        let band = self.bands.entry((takers, Reverse(width))).or_default();
        *band.classes.entry(key).or_insert_with(|| {
            self.takers.push(takers);
            self.racks.push(key.0);
            self.stakes.push(key.1);
            self.takers.len() as u32 - 1
        })
    }
}
