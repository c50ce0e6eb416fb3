//! Which members are near which items.

use super::problem::{NONE, Problem};

/// In which racks the items are near, each distinct set of racks held once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemRacks {
    /// Per item its set; `NONE` where nothing is known, and nothing is far from anybody.
    pub(crate) set_of: Vec<u32>,
    pub(crate) sets: Vec<RackSet>,
}

/// A set of racks of any number.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct RackSet {
    words: Vec<u64>,
}

impl RackSet {
    pub(crate) fn insert(&mut self, rack: u32) {
        let word = rack as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (rack % 64);
    }

    pub(crate) fn contains(&self, rack: u32) -> bool {
        self.words.get(rack as usize / 64).is_some_and(|word| word >> (rack % 64) & 1 == 1)
    }

    /// What both have, without a tail of zeros, so that equal sets compare equal.
    fn intersection(&self, other: &Self) -> Self {
        let mut words: Vec<u64> = self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect();
        while words.last() == Some(&0) {
            words.pop();
        }
        Self { words }
    }
}

/// The rack sets as far as they tell members apart.
#[derive(Debug)]
pub(super) struct Nearness<'a> {
    racks: &'a ItemRacks,
    /// Per set of racks what stands for it; `NONE` if it tells nobody apart.
    stands_for: Vec<u32>,
}

impl<'a> Nearness<'a> {
    /// None if racks make no difference to anybody.
    pub(super) fn of(problem: &'a Problem<'_>) -> Option<Self> {
        let racks = problem.racks.as_ref()?;
        let mut all = RackSet::default();
        let known = problem.members.iter().map(|member| member.rack).filter(|rack| *rack != NONE);
        known.for_each(|rack| all.insert(rack));
        let somewhere = problem.members.iter().any(|member| member.rack == NONE);

        let mut seen = std::collections::BTreeMap::new();
        let stands_for = racks.sets.iter().zip(0..).map(|(set, place)| {
            let common = set.intersection(&all);
            let is_far_from_all = common.words.is_empty() && !somewhere;
            match common == all || is_far_from_all {
                true => NONE,
                false => *seen.entry(common.words).or_insert(place),
            }
        });
        let stands_for: Vec<u32> = stands_for.collect();
        let matters = stands_for.iter().any(|set| *set != NONE);
        matters.then_some(Self { racks, stands_for })
    }

    pub(super) fn set_count(&self) -> usize {
        self.stands_for.len()
    }

    /// The set of racks that stands for an item's; `NONE` if nobody is far from it, or everybody.
    pub(super) fn set_of(&self, item: usize) -> u32 {
        let set = self.racks.set_of.get(item).copied().unwrap_or(NONE);
        self.stands_for.get(set as usize).copied().unwrap_or(NONE)
    }

    /// Whether an item near these racks is far from this one.
    pub(super) fn is_far(&self, set: u32, rack: u32) -> bool {
        let set = self.racks.sets.get(set as usize);
        rack != NONE && set.is_some_and(|set| !set.contains(rack))
    }
}
