//! The loads of the balanced plans, where nobody holds an item twice.
//!
//! Blocks are found as without copies (see `solver::levels`): everything is routed under the limit that one block would
//! have, and what does not fit, with all that is reachable from it, is balanced by itself. Here a member has at most
//! all items of a class, so what does not fit may have filled others up to that. With those, too, it lies in every
//! balanced plan: they have it all, and what they get beside it comes on top.

use super::classes::Class;
use crate::assign::solver::flow::{ANY, Network, NewArc};
use crate::assign::solver::problem::{NONE, Problem};

/// Which loads members have in balanced plans.
#[derive(Debug)]
pub(super) struct Levels {
    /// A class and a group in one block share as the flow decides. With groups of higher blocks a class fills all
    /// members, with those of lower ones none.
    block_of_class: Vec<u32>,
    block_of_group: Vec<u32>,
    /// Per group how many items each member has of classes that fill it.
    filled: Vec<u64>,
    blocks: Vec<Block>,
}

/// The loads of members that are balanced together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Everybody has this many, or what it is filled with if that is more.
    level: u64,
    /// How many members have one more.
    pub(super) extras: u32,
}

/// How a class and a group go together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Share {
    /// Each member has all items.
    All,
    /// The members have some.
    Some,
    /// No member has any.
    None,
}

impl Levels {
    pub(super) fn of(problem: &Problem<'_>, classes: &[Class]) -> Self {
        let mut search = Search::new(problem, classes);
        // What goes to all fills everybody, and is in the block before all others.
        let (for_all, choosy): (Vec<u32>, Vec<u32>) =
            (0..classes.len() as u32).partition(|class| classes[*class as usize].goes_to_all());
        search.add_block(&Part { classes: for_all.clone(), groups: Vec::new() }, Block::default());
        for class in for_all {
            for group in &problem.takers[classes[class as usize].takers as usize] {
                search.fill(class, *group);
            }
        }
        let groups = (0..problem.groups as u32).filter(|group| search.sizes[*group as usize] > 0);
        search.divide(Part { classes: choosy, groups: groups.collect() });
        search.levels
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn block(&self, block: u32) -> Block {
        self.blocks[block as usize]
    }

    pub(super) fn block_of_group(&self, group: u32) -> u32 {
        self.block_of_group[group as usize]
    }

    pub(super) fn share(&self, class: usize, group: u32) -> Share {
        let (of_class, of_group) =
            (self.block_of_class[class], self.block_of_group[group as usize]);
        match of_class.cmp(&of_group) {
            std::cmp::Ordering::Less => Share::All,
            std::cmp::Ordering::Equal => Share::Some,
            std::cmp::Ordering::Greater => Share::None,
        }
    }

    /// How many items a group's members have of what their block shares, and whether they may have one more.
    pub(super) fn room(&self, group: u32) -> (u32, bool) {
        let filled = self.filled[group as usize];
        let block = self.block(self.block_of_group(group));
        let floor = block.level.saturating_sub(filled).min(u64::from(ANY)) as u32;
        (floor, block.extras > 0 && filled <= block.level)
    }
}

/// Classes and groups that are balanced by themselves.
#[derive(Debug)]
struct Part {
    classes: Vec<u32>,
    groups: Vec<u32>,
}

impl Part {
    fn len(&self) -> usize {
        self.classes.len() + self.groups.len()
    }

    /// What of it is reached, or not.
    fn side(&self, reached: &[bool], wanted: bool) -> Self {
        let (of_classes, of_groups) = reached.split_at(self.classes.len());
        let pick = |list: &[u32], reached: &[bool]| -> Vec<u32> {
            let places = list.iter().zip(reached).filter(|(_, reached)| **reached == wanted);
            places.map(|(item, _)| *item).collect()
        };
        Self { classes: pick(&self.classes, of_classes), groups: pick(&self.groups, of_groups) }
    }
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    classes: &'a [Class],
    /// Per group how many members it has.
    sizes: Vec<u32>,
    /// Per class how many copies are still to be shared out.
    supply: Vec<u64>,
    levels: Levels,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>, classes: &'a [Class]) -> Self {
        let mut sizes = vec![0; problem.groups];
        problem.members.iter().for_each(|member| sizes[member.group as usize] += 1);
        let supply = classes.iter().map(|class| u64::from(class.copies) * class.items.len() as u64);
        let levels = Levels {
            block_of_class: vec![NONE; classes.len()],
            block_of_group: vec![NONE; problem.groups],
            filled: vec![0; problem.groups],
            blocks: Vec::new(),
        };
        Self { problem, classes, sizes, supply: supply.collect(), levels }
    }

    /// Divides until each part is one block; the blocks stand in the order of falling loads.
    fn divide(&mut self, whole: Part) {
        let mut parts = vec![whole];
        while let Some(part) = parts.pop() {
            let block = self.as_one_block(&part);
            match self.overflow(&part, block) {
                Some((full, rest)) if rest.len() > 0 => {
                    self.fill_outside(&full, &rest);
                    parts.extend([rest, full]);
                }
                _ => self.add_block(&part, block),
            }
        }
    }

    /// What did not fit into one part has filled all members outside of it that may take it.
    fn fill_outside(&mut self, full: &Part, rest: &Part) {
        let mut is_outside = vec![false; self.problem.groups];
        rest.groups.iter().for_each(|group| is_outside[*group as usize] = true);
        for class in &full.classes {
            for group in self.takers(*class).iter().filter(|group| is_outside[**group as usize]) {
                self.fill(*class, *group);
            }
        }
    }

    /// Gives all of a class to each member of a group.
    fn fill(&mut self, class: u32, group: u32) {
        let items = self.classes[class as usize].items.len() as u64;
        let members = u64::from(self.sizes[group as usize]);
        self.levels.filled[group as usize] += items;
        let supply = &mut self.supply[class as usize];
        *supply = supply.saturating_sub(items * members);
    }

    /// The loads of a part's members if nothing stood in the way: like water over a floor that is not even.
    fn as_one_block(&self, part: &Part) -> Block {
        let supply: u64 = part.classes.iter().map(|class| self.supply[*class as usize]).sum();
        let mut floors: Vec<(u64, u64)> = part
            .groups
            .iter()
            .map(|group| {
                (self.levels.filled[*group as usize], u64::from(self.sizes[*group as usize]))
            })
            .collect();
        floors.sort_unstable();
        // The members that the water reaches, and what it would take to bring them all to nothing.
        let (mut members, mut filled, mut block) = (0, 0, Block::default());
        for (place, (floor, size)) in floors.iter().enumerate() {
            members += size;
            filled += floor * size;
            let next = floors.get(place + 1).map_or(u64::MAX, |next| next.0);
            let level = (supply + filled) / members;
            if level < next || place + 1 == floors.len() {
                block = Block { level, extras: ((supply + filled) % members) as u32 };
                break;
            }
        }
        block
    }

    /// What is too much for one block with all that it drags along, and the rest; none if it all fits.
    fn overflow(&self, part: &Part, block: Block) -> Option<(Part, Part)> {
        if part.groups.len() < 2 {
            return None;
        }
        let filled = |group: u32| self.levels.filled[group as usize];
        let size = |group: u32| u64::from(self.sizes[group as usize]);
        let floor = |group: u32| block.level.saturating_sub(filled(group)) * size(group);
        let more =
            |group: u32| floor(group) + if filled(group) <= block.level { size(group) } else { 0 };
        self.route(part, floor, u64::from(block.extras)).or_else(|| self.route(part, more, 0))
    }

    /// Routes a part's supply under a limit for each group. What is not routed should be so much, or else the part is
    /// split: what is reachable from it, and the rest.
    fn route(
        &self,
        part: &Part,
        limit: impl Fn(u32) -> u64,
        expected: u64,
    ) -> Option<(Part, Part)> {
        let source = part.len() as u32;
        let mut network = self.network(part, limit);
        let supply: u64 = part.classes.iter().map(|class| self.supply[*class as usize]).sum();
        if supply - network.send(source, source + 1) == expected {
            return None;
        }
        let reached = network.reachable_from(source);
        Some((part.side(&reached, true), part.side(&reached, false)))
    }

    /// Classes come first, then groups, source and sink.
    fn network(&self, part: &Part, limit: impl Fn(u32) -> u64) -> Network {
        let (source, sink) = (part.len() as u32, part.len() as u32 + 1);
        let groups = || part.groups.iter().zip(part.classes.len() as u32..);
        let mut node_of = vec![NONE; self.problem.groups];
        groups().for_each(|(group, node)| node_of[*group as usize] = node);
        let any = |room: u64| room.min(u64::from(ANY)) as u32;
        Network::lay(part.len() + 2, |lay| {
            for (class, node) in part.classes.iter().zip(0..) {
                lay(NewArc::free(source, node, any(self.supply[*class as usize])));
                let items = self.classes[*class as usize].items.len() as u64;
                let groups = self.takers(*class).iter();
                for group in groups.filter(|group| node_of[**group as usize] != NONE) {
                    let room = any(items * u64::from(self.sizes[*group as usize]));
                    lay(NewArc::free(node, node_of[*group as usize], room));
                }
            }
            for (group, node) in groups() {
                lay(NewArc::free(node, sink, any(limit(*group))));
            }
        })
    }

    fn takers(&self, class: u32) -> &'a [u32] {
        &self.problem.takers[self.classes[class as usize].takers as usize]
    }

    fn add_block(&mut self, part: &Part, block: Block) {
        let place = self.levels.blocks.len() as u32;
        for class in &part.classes {
            self.levels.block_of_class[*class as usize] = place;
        }
        for group in &part.groups {
            self.levels.block_of_group[*group as usize] = place;
        }
        self.levels.blocks.push(block);
    }
}
