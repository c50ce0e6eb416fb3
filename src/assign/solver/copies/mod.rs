//! Items that several members hold at once.
//!
//! As for items that one member holds, balance comes first. Then come the domains in which copies can be lost together
//! (processes, hosts, racks): no two copies of an item are in one, if that can be. Then come few moves.
//!
//! 1. The loads of the balanced plans; nobody holds an item twice, which bounds what a member can have ([`levels`]).
//! 2. How many items of which class each member has: one cheapest flow, in which a domain that has more copies than
//!    the class has items pays for each ([`shares`]).
//! 3. Which items these are, class by class: what stays ([`keep`]), who gets what is missing ([`fill`]), and then
//!    exchanges until each domain has of all items equally many copies, but for one ([`spread`]).
//!
//! The first two are exact, and so is that copies are apart; that few items move is a heuristic in the third.

mod classes;
mod counts;
mod fill;
mod hungry;
mod keep;
mod levels;
mod partners;
mod shares;
mod spread;
mod table;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use table::Holders;

use super::problem::{NONE, Problem};
use classes::Class;
use levels::Levels;
use table::Table;
use tree::Tree;

/// More copies than any group can be told of; whoever asks keeps within it.
pub(crate) const MOST_COPIES: u64 = 1 << 27;

/// Items of which there are to be several copies.
#[derive(Debug)]
pub(crate) struct Copies<'a> {
    /// Who may take what. Owners, racks, capacities and weights are not looked at.
    pub(crate) problem: &'a Problem<'a>,
    /// How many members are to hold each item; all that may, where there are fewer.
    pub(crate) count: u32,
    /// Per item who has it and may still take it.
    pub(crate) holders: &'a Holders,
    /// Per level, the outermost first, and member the domain that it is in. Members that share an inner domain share
    /// the outer ones.
    pub(crate) domains: &'a [Vec<u32>],
}

/// Per item who holds it, and those that had it before first.
pub(crate) fn solve_copies(asked: &Copies<'_>) -> Holders {
    let classes = Class::all(asked);
    let levels = Levels::of(asked.problem, &classes);
    let dues = shares::shares(asked, &classes, &levels);
    let placed: Vec<Vec<u32>> =
        classes.iter().zip(&dues).map(|(class, due)| place(asked, class, due)).collect();
    assemble(asked.problem, &classes, &placed)
}

/// The holders of a class's items, so many an item; `due` says how many items each of the class's members has.
fn place(asked: &Copies<'_>, class: &Class, due: &[u32]) -> Vec<u32> {
    if class.goes_to_all() {
        return class.members.repeat(class.items.len());
    }
    let tree = Tree::of(asked.domains, class, due);
    let mut table = Table::new(asked.holders, class, &tree);
    keep::keep(&tree, class, &mut table);
    fill::fill(&tree, &mut table);
    spread::spread(&tree, &mut table);
    table.into_members(&tree)
}

fn assemble(problem: &Problem<'_>, classes: &[Class], placed: &[Vec<u32>]) -> Holders {
    let mut of_takers = vec![NONE; problem.takers.len()];
    for (class, place) in classes.iter().zip(0..) {
        of_takers[class.takers as usize] = place;
    }
    // A class's items ascend, as families do.
    let mut next = vec![0; classes.len()];
    let mut holders = Holders::default();
    for family in &problem.families {
        let class = of_takers.get(family.takers as usize).copied().unwrap_or(NONE);
        for _ in family.items() {
            let Some(class) = classes.get(class as usize).map(|_| class as usize) else {
                holders.push([]);
                continue;
            };
            let copies = classes[class].copies as usize;
            let of_item = &placed[class][next[class]..next[class] + copies];
            next[class] += copies;
            holders.push(of_item.iter().copied().filter(|member| *member != NONE));
        }
    }
    holders
}
