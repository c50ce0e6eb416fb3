//! Which member gets which of the items that move, once numbers are known.

use super::exchange::Exchange;
use super::holdings::{FamilyCursor, Holdings};
use super::problem::{NONE, Problem};

/// How many hungry members are looked at for one item. They stand in a circle, so all get their turn.
const LOOK: usize = 64;

/// Deals ownerless items so that each family lies with many members.
#[derive(Debug)]
pub(super) struct Deal {
    /// Per class the queues that its items go to, in turn.
    shares: Vec<Circle>,
    /// Per queue its members, in turn.
    hungry: Vec<Circle>,
    /// Per member how many items it has of the family at hand.
    of_family: Vec<u32>,
    /// The members of which that is not 0.
    touched: Vec<u32>,
}

/// Places that are served in turn until each has what it is due.
#[derive(Debug)]
struct Circle {
    /// Who, and how many items it still gets.
    due: Vec<(u32, u32)>,
    next: usize,
    /// How many are due nothing more.
    done: usize,
    /// Whoever has no more than this of a family is served when its turn comes.
    level: u32,
    family: u32,
}

impl Deal {
    pub(super) fn new(exchange: Exchange, members: usize) -> Self {
        let circles = |all: Vec<Vec<(u32, u32)>>| all.into_iter().map(Circle::new).collect();
        Self {
            shares: circles(exchange.shares),
            hungry: circles(exchange.hungry),
            of_family: vec![0; members],
            touched: Vec::new(),
        }
    }

    /// Gives all ownerless items of wanted families to those that are due some.
    pub(super) fn deal(
        mut self,
        problem: &Problem<'_>,
        holdings: Option<&Holdings>,
        class_of: impl Fn(u32) -> u32,
        owners: &mut [u32],
    ) {
        let had = holdings.map(|holdings| Had::of(problem, holdings, &self.hungry, owners));
        for (family, place) in problem.wanted_families() {
            let mut is_known = false;
            for item in place.items() {
                if owners[item] != NONE {
                    continue;
                }
                if !is_known {
                    self.begin_family(had.as_ref().map_or(&[], |had| had.of_family(family)));
                    is_known = true;
                }
                owners[item] = self.next_member(class_of(item as u32), family);
            }
        }
    }

    fn begin_family(&mut self, had: &[(u32, u32)]) {
        for member in self.touched.drain(..) {
            self.of_family[member as usize] = 0;
        }
        for (member, count) in had {
            self.of_family[*member as usize] = *count;
            self.touched.push(*member);
        }
    }

    /// Who gets the next item of a class: of those whose turn it is, one that has few of its family.
    fn next_member(&mut self, class: u32, family: u32) -> u32 {
        let Some(queue) = self.shares[class as usize].serve(family, |_| 0) else { return NONE };
        let of_family = &self.of_family;
        let served = self.hungry[queue as usize].serve(family, |member| of_family[member as usize]);
        let Some(member) = served else { return NONE };
        let count = &mut self.of_family[member as usize];
        if *count == 0 {
            self.touched.push(member);
        }
        *count += 1;
        member
    }
}

impl Circle {
    fn new(due: Vec<(u32, u32)>) -> Self {
        Self { due, next: 0, done: 0, level: 0, family: NONE }
    }

    /// Serves the first of the next ones that has least of a family.
    fn serve(&mut self, family: u32, has: impl Fn(u32) -> u32) -> Option<u32> {
        if self.family != family {
            (self.family, self.level) = (family, 0);
        }
        let place = self.find(has)?;
        let (served, due) = &mut self.due[place];
        let served = *served;
        *due -= 1;
        self.done += usize::from(*due == 0);
        self.next = place + 1;
        if self.done * 2 > self.due.len() {
            self.next = self.due[..=place].iter().filter(|(_, due)| *due > 0).count();
            self.due.retain(|(_, due)| *due > 0);
            self.done = 0;
        }
        Some(served)
    }

    fn find(&mut self, has: impl Fn(u32) -> u32) -> Option<usize> {
        let mut place = self.next;
        let (mut best, mut least) = (None, NONE);
        for _ in 0..self.due.len().min(LOOK) {
            if place >= self.due.len() {
                place = 0;
            }
            let (member, due) = self.due[place];
            if due > 0 {
                let has = has(member);
                if has <= self.level {
                    return Some(place);
                }
                if has < least {
                    (best, least) = (Some(place), has);
                }
            }
            place += 1;
        }
        if best.is_some() {
            self.level = least;
            return best;
        }
        (0..self.due.len()).find(|place| self.due[*place].1 > 0)
    }
}

/// How many items the hungry members have of each family before they get any.
struct Had {
    /// Per family where its members begin, and the end of all.
    starts: Vec<u32>,
    /// Members with how many they have.
    counts: Vec<(u32, u32)>,
}

impl Had {
    fn of(problem: &Problem<'_>, holdings: &Holdings, hungry: &[Circle], owners: &[u32]) -> Self {
        // Family, member, count.
        let mut found: Vec<(u32, u32, u32)> = Vec::new();
        let mut starts = vec![0_u32; problem.families.len() + 2];
        for (member, _) in hungry.iter().flat_map(|queue| &queue.due) {
            let mut cursor = FamilyCursor::new(problem);
            let first = found.len();
            for item in holdings.of_member(*member) {
                if owners[*item as usize] != *member {
                    continue;
                }
                let family = cursor.family_of(*item);
                match found[first..].last_mut() {
                    Some(last) if last.0 == family => last.2 += 1,
                    _ => {
                        found.push((family, *member, 1));
                        starts[family as usize + 2] += 1;
                    }
                }
            }
        }
        (2..starts.len()).for_each(|family| starts[family] += starts[family - 1]);
        let mut counts = vec![(0, 0); found.len()];
        for (family, member, count) in found {
            let next = &mut starts[family as usize + 1];
            counts[*next as usize] = (member, count);
            *next += 1;
        }
        Self { starts, counts }
    }

    fn of_family(&self, family: u32) -> &[(u32, u32)] {
        let family = family as usize;
        &self.counts[self.starts[family] as usize..self.starts[family + 1] as usize]
    }
}
