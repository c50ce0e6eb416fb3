//! Exchanges of copies until they are apart.
//!
//! Two items change places with two members: one item leaves a domain that has more copies of it than of the other,
//! which comes in turn from where it is the more frequent one. If the outer levels are even, such an exchange can always
//! be found that unbalances nothing within the two domains, since whatever has more copies of an item than of another
//! has a part that does. So level by level, from the outermost one inwards, everything becomes as even as can be, and no
//! load changes.

use super::counts::Counts;
use super::table::Table;
use super::tree::Tree;

/// How many possible exchanges are looked at for one that moves little.
const LOOK: usize = 32;

/// Puts copies apart: on each level each domain has of any two items equally many copies, but for one.
pub(super) fn spread(tree: &Tree, table: &mut Table) {
    let mut spread =
        Spread { tree, table, giver: Counts::new(tree), taker: Counts::new(tree), next: 0 };
    for level in 0..tree.depth() {
        // Each exchange makes the level more even, so this ends.
        while spread.make_even(level) {}
    }
}

struct Spread<'a> {
    tree: &'a Tree,
    table: &'a mut Table,
    /// Of the item that gives a copy out of a domain, and of the one that brings one in.
    giver: Counts,
    taker: Counts,
    /// Where the search for other items goes on.
    next: u32,
}

/// A copy of one item and a copy of another that change places.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    giver: (u32, usize),
    taker: (u32, usize),
    /// How many of the two had stayed where they were, less those that would come home.
    moves: i32,
}

/// A copy that may change places.
#[derive(Clone, Copy, Debug)]
struct End {
    copy: usize,
    leaf: u32,
    /// The outermost level from which on inwards the counts of all its domains allow it.
    level: usize,
}

/// A domain that has too many copies of an item, or too few.
#[derive(Clone, Copy, Debug)]
struct Uneven {
    level: usize,
    node: u32,
    has: u32,
    too_many: bool,
}

impl Spread<'_> {
    /// Makes exchanges for each item; true if there was one.
    fn make_even(&mut self, level: usize) -> bool {
        let nodes = 0..self.tree.level(level).node_count() as u32;
        let always: Vec<u32> = nodes.filter(|node| self.tree.bounds(level, *node).0 > 0).collect();
        let mut exchanged = false;
        for item in 0..self.table.items {
            while let Some(uneven) = self.uneven(level, item, &always) {
                let Some(exchange) = self.find(item, uneven) else { break };
                self.apply(exchange);
                exchanged = true;
            }
        }
        exchanged
    }

    /// A domain of this level in which an item is too frequent or too rare.
    fn uneven(&mut self, level: usize, item: u32, always: &[u32]) -> Option<Uneven> {
        let (tree, counts) = (self.tree, &mut self.giver);
        counts.begin(tree, self.table.holders(item));
        let holders = self.table.holders(item).iter();
        let mut nodes = holders.map(|leaf| tree.level(level).node_of(*leaf));
        let too_many = nodes.find(|node| counts.of(level, *node) > tree.bounds(level, *node).1);
        let too_few = || {
            let mut always = always.iter().copied();
            always.find(|node| counts.of(level, *node) < tree.bounds(level, *node).0)
        };
        let (node, too_many) = match too_many {
            Some(node) => (node, true),
            None => (too_few()?, false),
        };
        Some(Uneven { level, node, has: counts.of(level, node), too_many })
    }

    /// An exchange that makes it better, the cheapest of some.
    fn find(&mut self, item: u32, uneven: Uneven) -> Option<Exchange> {
        let mut best: Option<Exchange> = None;
        let mut looked = 0;
        for _ in 0..self.table.items {
            self.next = if self.next + 1 < self.table.items { self.next + 1 } else { 0 };
            let Some(found) = self.exchange_with(item, self.next, uneven) else { continue };
            if best.is_none_or(|best| found.moves < best.moves) {
                best = Some(found);
            }
            looked += 1;
            if looked == LOOK || found.moves <= 0 {
                break;
            }
        }
        best
    }

    /// The cheapest exchange of two items, if the other one has the opposite trouble.
    fn exchange_with(&mut self, item: u32, other: u32, uneven: Uneven) -> Option<Exchange> {
        let nodes = self.tree.level(uneven.level);
        let holders = self.table.holders(other).iter();
        let has = holders.filter(|leaf| nodes.node_of(**leaf) == uneven.node).count() as u32;
        let (giver, taker, helps) = match uneven.too_many {
            true => (item, other, has + 2 <= uneven.has),
            false => (other, item, uneven.has + 2 <= has),
        };
        if !helps {
            return None;
        }
        self.giver.begin(self.tree, self.table.holders(giver));
        self.taker.begin(self.tree, self.table.holders(taker));
        let is_here = |leaf: u32| nodes.node_of(leaf) == uneven.node;
        let from = self.ends(giver, uneven, is_here, |giver, taker| giver > taker);
        let to = self.ends(taker, uneven, |leaf| !is_here(leaf), |giver, taker| giver < taker);
        self.cheapest((giver, &from), (taker, &to), uneven.level)
    }

    /// The copies of an item that may change places, as far as their domains' counts allow.
    fn ends(
        &self,
        item: u32,
        uneven: Uneven,
        is_at: impl Fn(u32) -> bool,
        allows: impl Fn(u32, u32) -> bool,
    ) -> Vec<End> {
        let ends = self.table.holders(item).iter().enumerate().filter(|(_, leaf)| is_at(**leaf));
        let ends = ends.map(|(copy, leaf)| {
            let allows = |level: &usize| {
                let node = self.tree.level(*level).node_of(*leaf);
                allows(self.giver.of(*level, node), self.taker.of(*level, node))
            };
            let allowed = (0..self.tree.depth()).rev().take_while(allows).count();
            End { copy, leaf: *leaf, level: self.tree.depth() - allowed }
        });
        ends.filter(|end| end.level <= uneven.level).collect()
    }

    fn cheapest(
        &self,
        (giver, from): (u32, &[End]),
        (taker, to): (u32, &[End]),
        level: usize,
    ) -> Option<Exchange> {
        let mut best: Option<Exchange> = None;
        for (one, other) in from.iter().flat_map(|one| to.iter().map(move |other| (one, other))) {
            // Above the fork both are in the same domains, which do not change.
            let fork = self.fork(one.leaf, other.leaf);
            if fork > level || one.level > fork || other.level > fork {
                continue;
            }
            let moves = self.moves((giver, one.leaf), (taker, other.leaf));
            if best.is_none_or(|best| moves < best.moves) {
                let (giver, taker) = ((giver, one.copy), (taker, other.copy));
                best = Some(Exchange { giver, taker, moves });
            }
            if moves <= 0 {
                break;
            }
        }
        best
    }

    /// The outermost level on which two leaves are in different domains.
    fn fork(&self, one: u32, other: u32) -> usize {
        let differ = |level: &usize| {
            let level = self.tree.level(*level);
            level.node_of(one) != level.node_of(other)
        };
        (0..self.tree.depth()).find(differ).unwrap_or_else(|| self.tree.depth())
    }

    fn moves(&self, giver: (u32, u32), taker: (u32, u32)) -> i32 {
        let had = |item: u32, leaf: u32| i32::from(self.table.had(item, leaf));
        had(giver.0, giver.1) + had(taker.0, taker.1)
            - had(giver.0, taker.1)
            - had(taker.0, giver.1)
    }

    fn apply(&mut self, exchange: Exchange) {
        let Exchange { giver: (giver, copy), taker: (taker, other_copy), .. } = exchange;
        let (from, to) = (self.table.holders(giver)[copy], self.table.holders(taker)[other_copy]);
        self.table.replace(giver, copy, to);
        self.table.replace(taker, other_copy, from);
    }
}
