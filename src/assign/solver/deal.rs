//! Which member gets which of the items that move, once numbers are known.

use super::exchange::Exchange;
use super::problem::{NONE, Problem};

/// How many hungry members are looked at for one item. They stand in a circle, so all get their turn.
const LOOK: usize = 64;

/// Deals ownerless items so that each family lies with many members.
#[derive(Debug)]
pub(super) struct Deal {
    /// Per class, where all its items go to one member, that member.
    only: Vec<Only>,
    /// Per class the queues that its items go to.
    shares: Vec<Turns>,
    /// Per queue its members.
    hungry: Vec<Circle>,
    counts: FamilyCounts,
}

impl Deal {
    pub(super) fn new(exchange: Exchange, members: usize) -> Self {
        Self {
            only: exchange.shares.iter().map(|due| Only::of(due, &exchange.hungry)).collect(),
            shares: exchange.shares.into_iter().map(Turns::new).collect(),
            hungry: exchange.hungry.into_iter().map(Circle::new).collect(),
            counts: FamilyCounts { family: NONE, of_member: vec![(NONE, 0); members] },
        }
    }

    /// Gives all ownerless items of wanted families to those that are due some.
    pub(super) fn deal(
        mut self,
        problem: &Problem<'_>,
        class_of: impl Fn(u32, u32) -> u32,
        owners: &mut [u32],
    ) {
        for (place, family) in problem.wanted_families() {
            for item in family.items() {
                if owners[item] != NONE {
                    continue;
                }
                let class = class_of(place, item as u32);
                if let Some(member) = self.only[class as usize].serve() {
                    owners[item] = member;
                    continue;
                }
                if self.counts.family != place {
                    self.counts.begin(place, &owners[family.items()]);
                }
                owners[item] = self.next_member(class).unwrap_or(NONE);
            }
        }
    }

    /// Who gets the next item of a class. By itself it keeps its state in registers, which inlined it does not.
    #[inline(never)]
    fn next_member(&mut self, class: u32) -> Option<u32> {
        let queue = self.shares[class as usize].serve()?;
        self.hungry[queue as usize].serve(&mut self.counts)
    }
}

/// A member to which all items of a class go: there is nothing to choose.
#[derive(Clone, Copy, Debug)]
struct Only {
    member: u32,
    due: u32,
}

impl Only {
    /// Of a class with these shares; due nothing if there is a choice.
    fn of(shares: &[(u32, u32)], hungry: &[Vec<(u32, u32)>]) -> Self {
        match shares {
            [(queue, due)] => match hungry[*queue as usize][..] {
                [(member, _)] => Self { member, due: *due },
                _ => Self { member: NONE, due: 0 },
            },
            _ => Self { member: NONE, due: 0 },
        }
    }

    fn serve(&mut self) -> Option<u32> {
        self.due = self.due.checked_sub(1)?;
        Some(self.member)
    }
}

/// How many items of the family at hand each member has.
#[derive(Debug)]
struct FamilyCounts {
    family: u32,
    /// The number counts if it stands beside this family.
    of_member: Vec<(u32, u32)>,
}

impl FamilyCounts {
    fn begin(&mut self, family: u32, owners: &[u32]) {
        self.family = family;
        for member in owners.iter().filter(|owner| **owner != NONE) {
            self.set(*member, self.of(*member) + 1);
        }
    }

    fn of(&self, member: u32) -> u32 {
        let (family, count) = self.of_member[member as usize];
        if family == self.family { count } else { 0 }
    }

    fn set(&mut self, member: u32, count: u32) {
        self.of_member[member as usize] = (self.family, count);
    }
}

/// Queues that are served in turn until each has what it is due.
#[derive(Debug)]
struct Turns {
    due: Vec<(u32, u32)>,
    next: usize,
}

impl Turns {
    fn new(due: Vec<(u32, u32)>) -> Self {
        Self { due, next: 0 }
    }

    fn serve(&mut self) -> Option<u32> {
        if self.next >= self.due.len() {
            self.next = 0;
        }
        let (queue, due) = self.due.get_mut(self.next)?;
        let queue = *queue;
        *due -= 1;
        match due {
            0 => drop(self.due.remove(self.next)),
            _ => self.next += 1,
        }
        Some(queue)
    }
}

/// Members that are served in turn, those with few items of a family first, until each has what it is due.
#[derive(Debug)]
struct Circle {
    due: Vec<(u32, u32)>,
    next: usize,
    /// How many are due nothing more.
    done: usize,
    /// Whoever has no more than this of a family is served when its turn comes.
    level: u32,
    family: u32,
}

impl Circle {
    fn new(due: Vec<(u32, u32)>) -> Self {
        Self { due, next: 0, done: 0, level: 0, family: NONE }
    }

    fn serve(&mut self, counts: &mut FamilyCounts) -> Option<u32> {
        if self.family != counts.family {
            (self.family, self.level) = (counts.family, 0);
        }
        if self.next >= self.due.len() {
            self.next = 0;
        }
        let (mut member, mut due) = *self.due.get(self.next)?;
        let mut count = counts.of(member);
        if due == 0 || count > self.level {
            self.next = self.find(counts)?;
            (member, due) = self.due[self.next];
            count = counts.of(member);
        }
        counts.set(member, count + 1);
        self.due[self.next].1 = due - 1;
        self.next += 1;
        if due == 1 {
            self.leave_one_out();
        }
        Some(member)
    }

    /// Clears those that are done away once they are the majority, so that all of them together cost little.
    fn leave_one_out(&mut self) {
        self.done += 1;
        if self.done * 2 > self.due.len() {
            self.next = self.due[..self.next].iter().filter(|(_, due)| *due > 0).count();
            self.due.retain(|(_, due)| *due > 0);
            self.done = 0;
        }
    }

    /// Among the next ones the first that has few of the family, or least.
    fn find(&mut self, counts: &FamilyCounts) -> Option<usize> {
        let (mut best, mut least) = (None, NONE);
        let turns = (self.next..self.due.len()).chain(0..self.next);
        for place in turns.filter(|place| self.due[*place].1 > 0).take(LOOK) {
            let count = counts.of(self.due[place].0);
            if count <= self.level {
                return Some(place);
            }
            if count < least {
                (best, least) = (Some(place), count);
            }
        }
        self.level = least;
        best
    }
}
