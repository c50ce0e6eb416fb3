//! The loads of the balanced plans.
//!
//! They all have one form: members fall into blocks, and within a block each member has its floor or, if it is one
//! of a fixed number of members, one item more. Blocks are found by routing everything under the limit that one
//! block would have. What does not fit, and all that is reachable from it, can only lie with the groups reached; in
//! every balanced plan nothing else lies there. So the two sides are balanced by themselves.

use super::classes::Classes;
use super::holdings::Rows;
use super::problem::{Member, NONE, Problem};
use super::quota::{Kind, Quota, positive};
use super::routing::{Graph, Part, Routing};

/// Which loads members have in balanced plans.
#[derive(Debug)]
pub(super) struct Levels {
    /// Per set of takers.
    block_of_takers: Vec<u32>,
    /// Per group.
    block_of_group: Vec<u32>,
    blocks: Vec<Quota>,
    /// Per group whether one of its members can have more than its floor, and whether one can have no more.
    can_rise: Vec<bool>,
    can_fall: Vec<bool>,
    /// Per member.
    kinds: Vec<Kind>,
}

/// The loads of one member in all balanced plans.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Level {
    pub(super) block: u32,
    pub(super) floor: u32,
    pub(super) may_have_more: bool,
}

impl Levels {
    /// `loads` is what members carry beside the items; a missing end carries nothing.
    pub(super) fn of(problem: &Problem<'_>, classes: &Classes, rows: &Rows, loads: &[u32]) -> Self {
        let mut supply = vec![0; problem.takers.len()];
        for (takers, count) in classes.takers.iter().zip(&classes.supply) {
            supply[*takers as usize] += count;
        }
        let crews = Crews::of(problem, loads);
        let graph = Graph::new(&problem.takers, problem.groups);
        let mut routing = Routing::new(&graph, supply.clone());
        start_with_holdings(problem, classes, rows, &graph, &mut routing);
        let levels = Self {
            block_of_takers: vec![0; problem.takers.len()],
            block_of_group: vec![0; problem.groups],
            blocks: Vec::new(),
            can_rise: vec![false; problem.groups],
            can_fall: vec![false; problem.groups],
            kinds: Vec::new(),
        };
        let mut search = Search { crews: &crews, supply: &supply, routing, levels, next_part: 1 };
        search.divide(Part {
            id: 0,
            classes: (0..graph.class_count() as u32).collect(),
            groups: (0..graph.group_count() as u32).collect(),
        });
        let levels = search.levels;
        Self { kinds: crews.of_member, ..levels }
    }

    /// How many members of a block have more than their floor.
    pub(super) fn extras(&self, block: u32) -> u32 {
        self.blocks[block as usize].extras
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn block_of_takers(&self, takers: u32) -> u32 {
        self.block_of_takers[takers as usize]
    }

    pub(super) fn block_of_group(&self, group: u32) -> u32 {
        self.block_of_group[group as usize]
    }

    pub(super) fn level(&self, problem: &Problem<'_>, member: u32) -> Level {
        let block = self.block_of_group[problem.members[member as usize].group as usize];
        let share = self.blocks[block as usize].of_kind(self.kinds[member as usize]);
        Level { block, floor: share.floor, may_have_more: share.may_have_more }
    }

    /// The least and the most that a member has in any balanced plan.
    pub(super) fn range(&self, problem: &Problem<'_>, member: u32) -> (u32, u32) {
        let group = problem.members[member as usize].group as usize;
        let level = self.level(problem, member);
        let least = level.floor + u32::from(level.may_have_more && !self.can_fall[group]);
        (least, level.floor + u32::from(level.may_have_more && self.can_rise[group]))
    }
}

/// What the groups' members have is a good begin: little has to be routed anew.
fn start_with_holdings(
    problem: &Problem<'_>,
    classes: &Classes,
    rows: &Rows,
    graph: &Graph,
    routing: &mut Routing<'_>,
) {
    let mut order: Vec<u32> = (0..problem.members.len() as u32).collect();
    let group_of = |member: &u32| problem.members[*member as usize].group;
    order.sort_by_key(group_of);
    // Per set of takers the edge to a group, good if it stands beside the group at hand.
    let mut edges = vec![(NONE, 0); problem.takers.len()];
    for members in order.chunk_by(|one, other| group_of(one) == group_of(other)) {
        let group = group_of(&members[0]);
        for (edge, takers) in graph.edges_to(group) {
            edges[*takers as usize] = (group, *edge);
        }
        for row in members.iter().flat_map(|member| rows.of_member(*member)) {
            let (of_group, edge) = edges[classes.takers[row.class as usize] as usize];
            if of_group == group {
                routing.start_with(edge, row.count);
            }
        }
    }
}

/// Of which kinds each group's members are.
struct Crews {
    of_member: Vec<Kind>,
    /// Per group, by kind, how many members there are.
    of_group: Vec<Vec<(Kind, u32)>>,
}

impl Crews {
    fn of(problem: &Problem<'_>, loads: &[u32]) -> Self {
        let some_have_none = problem.members.iter().any(|member| member.capacity == 0);
        let loads = loads.iter().copied().chain(std::iter::repeat(0));
        let kind = |(member, load): (&Member, u32)| Kind {
            capacity: positive(member.capacity, some_have_none),
            load,
        };
        let of_member: Vec<Kind> = problem.members.iter().zip(loads).map(kind).collect();
        let mut of_group = vec![Vec::new(); problem.groups];
        for (member, kind) in problem.members.iter().zip(&of_member) {
            of_group[member.group as usize].push((*kind, 1));
        }
        of_group.iter_mut().for_each(add_up);
        Self { of_member, of_group }
    }

    /// The kinds of all members of some groups.
    fn of_groups(&self, groups: &[u32]) -> Vec<(Kind, u32)> {
        let mut all: Vec<(Kind, u32)> =
            groups.iter().flat_map(|group| &self.of_group[*group as usize]).copied().collect();
        add_up(&mut all);
        all
    }

    fn floor(&self, group: u32, quota: &Quota) -> u64 {
        let crew = self.of_group[group as usize].iter();
        crew.map(|(kind, members)| u64::from(quota.of_kind(*kind).floor) * u64::from(*members))
            .sum()
    }

    /// How many of a group's members may have more than their floor.
    fn aspirants(&self, group: u32, quota: &Quota) -> u64 {
        let crew = self.of_group[group as usize].iter();
        crew.filter(|(kind, _)| quota.of_kind(*kind).may_have_more)
            .map(|(_, members)| u64::from(*members))
            .sum()
    }
}

/// Makes one entry of those of one kind.
fn add_up(crew: &mut Vec<(Kind, u32)>) {
    crew.sort_unstable();
    crew.dedup_by(|next, kept| {
        let equal = next.0 == kept.0;
        kept.1 += if equal { next.1 } else { 0 };
        equal
    });
}

struct Search<'a> {
    crews: &'a Crews,
    /// Per set of takers.
    supply: &'a [u32],
    routing: Routing<'a>,
    levels: Levels,
    next_part: u32,
}

impl Search<'_> {
    /// Divides until each part is one block.
    fn divide(&mut self, whole: Part) {
        let mut parts = vec![whole];
        while let Some(part) = parts.pop() {
            let crew = self.crews.of_groups(&part.groups);
            let items =
                part.classes.iter().map(|class| u64::from(self.supply[*class as usize])).sum();
            let quota = Quota::of(items, crew);
            match part.groups.len() < 2 || self.fits(&part, &quota) {
                true => self.add_block(&part, quota),
                false => parts.extend(self.split(part)),
            }
        }
    }

    /// Whether all groups can be filled to their floors, and everything finds a place with one item more.
    fn fits(&mut self, part: &Part, quota: &Quota) -> bool {
        let crews = self.crews;
        let left = self.routing.route(part, |group| crews.floor(group, quota));
        if left != u64::from(quota.extras) {
            return false;
        }
        let more = |group| crews.floor(group, quota) + crews.aspirants(group, quota);
        left == 0 || self.routing.route(part, more) == 0
    }

    /// What is reachable from what found no place, and the rest.
    fn split(&mut self, part: Part) -> [Part; 2] {
        let routing = &self.routing;
        let (full_classes, classes) =
            part.classes.iter().partition(|class| routing.is_reached(**class));
        let (full_groups, groups) =
            part.groups.iter().partition(|group| routing.is_group_reached(**group));
        let full = Part { id: self.next_part, classes: full_classes, groups: full_groups };
        let rest = Part { id: self.next_part + 1, classes, groups };
        self.next_part += 2;
        self.routing.separate(&full);
        self.routing.separate(&rest);
        [full, rest]
    }

    fn add_block(&mut self, part: &Part, quota: Quota) {
        let block = self.levels.blocks.len() as u32;
        part.classes.iter().for_each(|class| self.levels.block_of_takers[*class as usize] = block);
        part.groups.iter().for_each(|group| self.levels.block_of_group[*group as usize] = block);
        if quota.extras > 0 {
            self.find_ranges(part, &quota);
        }
        self.levels.blocks.push(quota);
    }

    /// Which groups' members can have more than their floor, and which need not.
    fn find_ranges(&mut self, part: &Part, quota: &Quota) {
        if let [group] = part.groups[..] {
            (self.levels.can_rise[group as usize], self.levels.can_fall[group as usize]) =
                (true, true);
            return;
        }
        let (crews, routing) = (self.crews, &self.routing);
        let above = |group| routing.load(group).saturating_sub(crews.floor(group, quota));
        let rise = routing.connected(part, |group| above(group) > 0, false);
        let fall =
            routing.connected(part, |group| above(group) < crews.aspirants(group, quota), true);
        for group in &part.groups {
            self.levels.can_rise[*group as usize] = rise[*group as usize];
            self.levels.can_fall[*group as usize] = fall[*group as usize];
        }
    }
}
