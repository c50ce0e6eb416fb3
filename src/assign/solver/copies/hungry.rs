//! The parts of a domain by what they have yet to get.

use std::collections::BTreeMap;

use super::tree::Tree;

/// How many equally hungry parts are compared.
const LOOK: usize = 16;

/// The nodes of a node.
#[derive(Debug, Default)]
pub(super) struct Hungry {
    /// Those that get a copy of each item, and perhaps more.
    pub(super) always: Vec<u32>,
    /// The others by hunger, as long as they have some.
    others: BTreeMap<u32, Vec<u32>>,
}

impl Hungry {
    /// Per node of the level above, or for the whole.
    pub(super) fn of_level(tree: &Tree, level: usize, hunger: &[u32]) -> Vec<Self> {
        let split = |nodes: std::ops::Range<u32>| {
            let mut hungry = Self::default();
            for node in nodes {
                match tree.bounds(level, node).0 {
                    0 => hungry.add(node, hunger[node as usize]),
                    _ => hungry.always.push(node),
                }
            }
            hungry
        };
        match level.checked_sub(1) {
            None => vec![split(0..hunger.len() as u32)],
            Some(outer) => {
                let outer = tree.level(outer);
                (0..outer.node_count() as u32).map(|parent| split(outer.children(parent))).collect()
            }
        }
    }

    /// Adds one of the others.
    pub(super) fn add(&mut self, node: u32, hunger: u32) {
        if hunger > 0 {
            self.others.entry(hunger).or_default().push(node);
        }
    }

    /// Of the hungriest others that fit, the one with the least `cost` of some, looking from a place that `turn` says.
    pub(super) fn hungriest(
        &self,
        turn: u32,
        fits: impl Fn(u32) -> bool,
        cost: impl Fn(u32) -> u32,
    ) -> Option<Place> {
        self.others.iter().rev().find_map(|(hunger, nodes)| {
            let start = (u64::from(turn.wrapping_mul(0x9e37_79b9)) * nodes.len() as u64) >> 32;
            let (before, after) = nodes.split_at(start as usize);
            let turns = after.iter().chain(before).zip(start as usize..);
            let fitting = turns.filter(|(node, _)| fits(**node)).take(LOOK);
            let (node, place) = fitting.min_by_key(|(node, _)| cost(**node))?;
            Some(Place { node: *node, hunger: *hunger, place: place % nodes.len() })
        })
    }

    /// Takes one of the others out.
    pub(super) fn take(&mut self, place: Place) {
        if let Some(nodes) = self.others.get_mut(&place.hunger) {
            nodes.swap_remove(place.place);
            if nodes.is_empty() {
                self.others.remove(&place.hunger);
            }
        }
    }

    /// Where a node with this hunger is among the others, if it is there.
    pub(super) fn place_of(&self, node: u32, hunger: u32) -> Option<Place> {
        let place = self.others.get(&hunger)?.iter().position(|other| *other == node)?;
        Some(Place { node, hunger, place })
    }
}

/// Where one of the others is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) node: u32,
    pub(super) hunger: u32,
    place: usize,
}
