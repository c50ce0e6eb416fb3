//! Groups by chance, of every kind: equal, nested, neighbouring and random takers, racks, capacities, weights, priors.

use std::borrow::Cow;

use crate::assign::solver::{Family, ItemRacks, Member, NONE, Problem, RackSet};

/// A problem that owns what it consists of.
#[derive(Clone, Debug)]
pub(in crate::assign::solver) struct Case {
    pub(in crate::assign::solver) families: Vec<Family>,
    pub(in crate::assign::solver) takers: Vec<Vec<u32>>,
    pub(in crate::assign::solver) members: Vec<Member>,
    pub(in crate::assign::solver) groups: usize,
    pub(in crate::assign::solver) owners: Vec<u32>,
    pub(in crate::assign::solver) racks: Option<ItemRacks>,
    pub(in crate::assign::solver) weights: Vec<u64>,
}

/// At most.
#[derive(Clone, Copy)]
pub(in crate::assign::solver) struct Size {
    members: usize,
    families: usize,
    of_family: u32,
    items: u32,
}

impl Size {
    pub(in crate::assign::solver) const TINY: Self =
        Self { members: 4, families: 4, of_family: 4, items: 6 };
    pub(in crate::assign::solver) const SMALL: Self =
        Self { members: 12, families: 10, of_family: 12, items: 50 };
}

impl Case {
    pub(in crate::assign::solver) fn random(seed: u64, size: Size) -> Self {
        let mut dice = fastrand::Rng::with_seed(seed);
        let members = dice.usize(1..=size.members);
        let families = dice.usize(1..=size.families);
        let may_take = takes(&mut dice, members, families);
        let mut case = Self {
            families: Vec::new(),
            takers: Vec::new(),
            members: Vec::new(),
            groups: 0,
            owners: Vec::new(),
            racks: None,
            weights: Vec::new(),
        };
        case.add_members(&mut dice, &may_take);
        case.add_families(&mut dice, &may_take, size);
        case.add_racks(&mut dice);
        case.add_owners(&mut dice);
        if dice.u8(..4) == 0 {
            case.weights = (0..case.item_count()).map(|_| dice.u64(0..9)).collect();
        }
        case
    }

    pub(in crate::assign::solver) fn problem(&self) -> Problem<'_> {
        Problem {
            families: self.families.clone(),
            takers: self.takers.clone(),
            members: self.members.clone(),
            groups: self.groups,
            owners: Cow::Borrowed(&self.owners),
            racks: self.racks.clone(),
            weights: self.weights.clone(),
        }
    }

    pub(in crate::assign::solver) fn item_count(&self) -> usize {
        self.families.iter().map(|family| family.count as usize).sum()
    }

    /// Per item who may take it, member by member.
    pub(in crate::assign::solver) fn eligible(&self) -> Vec<Vec<u32>> {
        let of_family = |family: &Family| -> Vec<u32> {
            let Some(groups) = self.takers.get(family.takers as usize) else { return Vec::new() };
            let members = self.members.iter().zip(0..);
            members
                .filter(|(member, _)| groups.contains(&member.group))
                .map(|(_, place)| place)
                .collect()
        };
        self.families
            .iter()
            .flat_map(|family| vec![of_family(family); family.count as usize])
            .collect()
    }

    pub(in crate::assign::solver) fn prior(&self, item: usize) -> u32 {
        self.owners
            .get(item)
            .copied()
            .filter(|owner| (*owner as usize) < self.members.len())
            .unwrap_or(NONE)
    }

    pub(in crate::assign::solver) fn is_far(&self, item: usize, member: u32) -> bool {
        let rack = self.members[member as usize].rack;
        let set = self.racks.as_ref().and_then(|racks| racks.sets.get(racks.set_of[item] as usize));
        rack != NONE && set.is_some_and(|set| !set.contains(rack))
    }

    fn add_members(&mut self, dice: &mut fastrand::Rng, may_take: &[Vec<bool>]) {
        let racks = [0, 0, 1, 2, 3, 70][dice.usize(..6)];
        let capacities = [1, 1, 1, 4][dice.usize(..4)];
        let mut groups: Vec<&Vec<bool>> = Vec::new();
        for takes in may_take {
            let known = groups.iter().position(|group| *group == takes);
            let group = known.unwrap_or(groups.len());
            if known.is_none() || dice.u8(..9) == 0 {
                groups.push(takes);
            }
            self.members.push(Member {
                group: group as u32,
                rack: if racks == 0 || dice.u8(..6) == 0 { NONE } else { dice.u32(..racks) },
                capacity: if capacities == 1 { 1 } else { dice.u32(..=capacities) },
            });
        }
        self.groups = groups.len();
    }

    fn add_families(&mut self, dice: &mut fastrand::Rng, may_take: &[Vec<bool>], size: Size) {
        let mut left = size.items;
        for family in 0..may_take[0].len() {
            let members = self.members.iter().zip(may_take).filter(|(_, takes)| takes[family]);
            let mut groups: Vec<u32> = members.map(|(member, _)| member.group).collect();
            groups.sort_unstable();
            groups.dedup();
            let takers = match self.takers.iter().position(|known| *known == groups) {
                _ if groups.is_empty() => NONE,
                Some(known) => known as u32,
                None => {
                    self.takers.push(groups);
                    self.takers.len() as u32 - 1
                }
            };
            let count = dice.u32(..=size.of_family).min(left);
            self.families.push(Family { first: size.items - left, count, takers });
            left -= count;
        }
    }

    fn add_racks(&mut self, dice: &mut fastrand::Rng) {
        let known: Vec<u32> =
            self.members.iter().map(|member| member.rack).filter(|rack| *rack != NONE).collect();
        if known.is_empty() {
            return;
        }
        let mut racks = ItemRacks::default();
        for _ in 0..3 {
            let mut set = RackSet::default();
            (0..dice.usize(..3)).for_each(|_| set.insert(known[dice.usize(..known.len())]));
            racks.sets.push(set);
        }
        racks.set_of = (0..self.item_count())
            .map(|_| if dice.u8(..5) == 0 { NONE } else { dice.u32(..3) })
            .collect();
        self.racks = Some(racks);
    }

    /// Often lopsided; some items of nobody, some in doubt.
    fn add_owners(&mut self, dice: &mut fastrand::Rng) {
        let (owned, hot) = (dice.u8(..5), dice.bool());
        for eligible in self.eligible() {
            let owner = match eligible.len() {
                0 => NONE,
                _ if dice.u8(..4) >= owned => NONE - u32::from(dice.bool()),
                _ if hot && dice.u8(..3) == 0 => eligible[0],
                count => eligible[dice.usize(..count)],
            };
            self.owners.push(owner);
        }
    }
}

/// Per member which families it takes.
fn takes(dice: &mut fastrand::Rng, members: usize, families: usize) -> Vec<Vec<bool>> {
    let (style, density) = (dice.u8(..4), 1 + dice.u8(..4));
    let takes = |dice: &mut fastrand::Rng, member: usize, family: usize| match style {
        0 => true,
        1 => dice.u8(..4) < density,
        2 => family.abs_diff(member % families) <= 1,
        _ => family % (1 + member % 4) == 0,
    };
    (0..members)
        .map(|member| (0..families).map(|family| takes(dice, member, family)).collect())
        .collect()
}
