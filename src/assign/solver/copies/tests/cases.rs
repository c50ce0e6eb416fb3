//! Groups by chance, and what a plan for one is worth.

use std::borrow::Cow;

use super::{Copies, Holders, solve_copies};
use crate::assign::solver::{Family, Member, NONE, Problem};

/// A problem that owns what it consists of.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) families: Vec<Family>,
    pub(super) takers: Vec<Vec<u32>>,
    pub(super) members: Vec<Member>,
    pub(super) groups: usize,
    pub(super) count: u32,
    pub(super) holders: Holders,
    /// Racks, hosts, processes.
    pub(super) domains: Vec<Vec<u32>>,
}

/// At most.
#[derive(Clone, Copy)]
pub(super) struct Size {
    members: usize,
    items: u32,
    copies: u32,
}

impl Size {
    pub(super) const TINY: Self = Self { members: 5, items: 4, copies: 3 };
    pub(super) const SMALL: Self = Self { members: 14, items: 40, copies: 5 };
}

/// What a plan is worth: the least is the best.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Score {
    pub(super) balance: u32,
    /// Copies in a domain beyond the first of an item, in processes, hosts and racks.
    pub(super) together: [u32; 3],
    pub(super) moves: u32,
}

impl Case {
    pub(super) fn random(seed: u64, size: Size) -> Self {
        let mut dice = fastrand::Rng::with_seed(seed);
        let members = dice.usize(1..=size.members);
        let alike = dice.u8(..3) > 0;
        let groups = if alike { 1 } else { dice.usize(1..=members) };
        let members: Vec<Member> = (0..members)
            .map(|_| Member { group: dice.u32(..groups as u32), rack: NONE, capacity: 1 })
            .collect();
        let mut case = Self {
            families: Vec::new(),
            takers: Vec::new(),
            groups,
            count: dice.u32(2..=size.copies),
            holders: Holders::default(),
            domains: domains(&mut dice, members.len()),
            members,
        };
        case.add_families(&mut dice, size.items, alike);
        case.add_holders(&mut dice);
        case
    }

    /// Members of which each may take all, and knows nothing of where it is.
    pub(super) fn alike(members: u32, items: u32, count: u32) -> Self {
        let mut holders = Holders::default();
        (0..items).for_each(|_| holders.push([]));
        Self {
            families: vec![Family { first: 0, count: items, takers: 0 }],
            takers: vec![vec![0]],
            members: vec![Member { group: 0, rack: NONE, capacity: 1 }; members as usize],
            groups: 1,
            count,
            holders,
            domains: vec![(0..members).collect(); 3],
        }
    }

    pub(super) fn problem(&self) -> Problem<'_> {
        Problem {
            families: self.families.clone(),
            takers: self.takers.clone(),
            members: self.members.clone(),
            groups: self.groups,
            owners: Cow::Borrowed(&[]),
            racks: None,
            weights: Vec::new(),
        }
    }

    pub(super) fn solve(&self) -> Holders {
        let problem = self.problem();
        let (holders, domains) = (&self.holders, &self.domains);
        solve_copies(&Copies { problem: &problem, count: self.count, holders, domains })
    }

    pub(super) fn item_count(&self) -> u32 {
        self.families.iter().map(|family| family.count).sum()
    }

    /// Per item who may take it.
    pub(super) fn eligible(&self) -> Vec<Vec<u32>> {
        let of_family = |family: &Family| -> Vec<u32> {
            let Some(groups) = self.takers.get(family.takers as usize) else { return Vec::new() };
            let members = self.members.iter().zip(0..);
            let takers = members.filter(|(member, _)| groups.contains(&member.group));
            takers.map(|(_, place)| place).collect()
        };
        let families = self.families.iter();
        families.flat_map(|family| vec![of_family(family); family.count as usize]).collect()
    }

    pub(super) fn loads(&self, plan: &Holders) -> Vec<u32> {
        let mut loads = vec![0; self.members.len()];
        let holders = (0..self.item_count()).flat_map(|item| plan.of(item));
        holders.for_each(|member| loads[*member as usize] += 1);
        loads
    }

    /// The families that somebody takes, those together that the same members take.
    pub(super) fn families_by_takers(&self) -> Vec<Vec<Family>> {
        let of = |takers: u32| self.families.iter().filter(move |family| family.takers == takers);
        (0..self.takers.len() as u32).map(|takers| of(takers).copied().collect()).collect()
    }

    fn add_families(&mut self, dice: &mut fastrand::Rng, items: u32, alike: bool) {
        let mut left = dice.u32(..=items);
        let mut first = 0;
        for _ in 0..3 {
            let count = dice.u32(..=left);
            let takes = |dice: &mut fastrand::Rng| alike || dice.u8(..3) > 0;
            let groups: Vec<u32> = (0..self.groups as u32).filter(|_| takes(dice)).collect();
            let takers = match self.takers.iter().position(|known| *known == groups) {
                _ if groups.is_empty() => NONE,
                Some(known) => known as u32,
                None => {
                    self.takers.push(groups);
                    self.takers.len() as u32 - 1
                }
            };
            self.families.push(Family { first, count, takers });
            first += count;
            left -= count;
        }
    }

    /// Too few, too many, all with some, or what was planned for one member less.
    fn add_holders(&mut self, dice: &mut fastrand::Rng) {
        let (style, density) = (dice.u8(..4), dice.u8(..4));
        if style == 0 {
            (0..self.item_count()).for_each(|_| self.holders.push([]));
            return;
        }
        if style == 1 && self.members.len() > 1 {
            return self.add_planned_holders(dice);
        }
        for eligible in self.eligible() {
            let had = eligible.into_iter().filter(|_| dice.u8(..4) < density);
            let had: Vec<u32> = had.collect();
            self.holders.push(had);
        }
    }

    fn add_planned_holders(&mut self, dice: &mut fastrand::Rng) {
        let gone = dice.u32(..self.members.len() as u32);
        let mut before = self.clone();
        let group = before.members.len() as u32;
        before.groups = group as usize + 1;
        before.members[gone as usize].group = group;
        before.holders = Holders::default();
        self.holders = before.solve();
    }
}

/// Racks, hosts and processes, each within the one before.
fn domains(dice: &mut fastrand::Rng, members: usize) -> Vec<Vec<u32>> {
    let [racks, hosts, processes] = [1, 2, 3].map(|most| dice.u32(1..=most));
    let processes: Vec<u32> = (0..members).map(|_| dice.u32(..racks * hosts * processes)).collect();
    let hosts: Vec<u32> = processes.iter().map(|process| process % (racks * hosts)).collect();
    let racks: Vec<u32> = hosts.iter().map(|host| host % racks).collect();
    vec![racks, hosts, processes]
}

impl Score {
    pub(super) fn of(case: &Case, plan: &Holders) -> Self {
        let mut loads = vec![0_u32; case.members.len()];
        let (mut together, mut moves) = ([0; 3], 0);
        for (item, eligible) in (0..).zip(case.eligible()) {
            let holders = plan.of(item);
            assert_eq!(holders.len(), eligible.len().min(case.count as usize), "{plan:?}");
            for (place, holder) in holders.iter().enumerate() {
                assert!(
                    eligible.contains(holder) && !holders[..place].contains(holder),
                    "{plan:?}"
                );
                loads[*holder as usize] += 1;
                moves += u32::from(!case.holders.of(item).contains(holder));
            }
            for (together, level) in together.iter_mut().zip(case.domains.iter().rev()) {
                let mut domains: Vec<u32> =
                    holders.iter().map(|holder| level[*holder as usize]).collect();
                domains.sort_unstable();
                domains.dedup();
                *together += (holders.len() - domains.len()) as u32;
            }
        }
        Self { balance: loads.iter().map(|load| load * load).sum(), together, moves }
    }
}
