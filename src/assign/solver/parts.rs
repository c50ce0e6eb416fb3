//! Problems within the problem: what is exchanged among some members, and with no others.

use super::exchange::Terms;
use super::flow::Network;

/// A division of classes, queues and members: by blocks, since balance keeps these apart, or not at all with slack.
#[derive(Debug)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// Per class, queue and member, its place in its part.
    class_places: Vec<u32>,
    queue_places: Vec<u32>,
    member_places: Vec<u32>,
}

/// Classes, queues and members that have to do with each other, each ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// The block, where the parts are blocks.
    pub(super) block: u32,
    pub(super) classes: Vec<u32>,
    pub(super) queues: Vec<u32>,
    pub(super) members: Vec<u32>,
}

/// The numbers of the nodes of one part's network: classes first, then queues, then members, then the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes<'a> {
    parts: &'a Parts,
    queues: u32,
    members: u32,
    rest: u32,
}

impl Parts {
    pub(super) fn of(terms: Terms<'_>) -> Self {
        let Terms { problem, classes, levels, queues, .. } = terms;
        let count = if terms.wishes.slack > 0 { 1 } else { levels.block_count() };
        let block = |block: u32| if terms.wishes.slack > 0 { 0 } else { block };
        let mut division = Self {
            parts: (0..count as u32).map(|block| Part { block, ..Part::default() }).collect(),
            class_places: Vec::with_capacity(classes.count()),
            queue_places: vec![0; queues.count()],
            member_places: Vec::with_capacity(problem.members.len()),
        };
        for (takers, class) in classes.takers.iter().zip(0..) {
            let part = &mut division.parts[block(levels.block_of_takers(*takers)) as usize];
            division.class_places.push(part.classes.len() as u32);
            part.classes.push(class);
        }
        for (member, place) in problem.members.iter().zip(0..) {
            let part = &mut division.parts[block(levels.block_of_group(member.group)) as usize];
            division.member_places.push(part.members.len() as u32);
            part.members.push(place);
        }
        for group in 0..problem.groups as u32 {
            let part = &mut division.parts[block(levels.block_of_group(group)) as usize];
            for (queue, _) in queues.of_group(group) {
                division.queue_places[queue as usize] = part.queues.len() as u32;
                part.queues.push(queue);
            }
        }
        division
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter()
    }

    pub(super) fn nodes(&self, part: &Part) -> Nodes<'_> {
        let queues = part.classes.len() as u32;
        let members = queues + part.queues.len() as u32;
        Nodes { parts: self, queues, members, rest: members + part.members.len() as u32 }
    }
}

impl Nodes<'_> {
    pub(super) fn class(self, class: u32) -> u32 {
        self.parts.class_places[class as usize]
    }

    pub(super) fn queue(self, queue: u32) -> u32 {
        self.queues + self.parts.queue_places[queue as usize]
    }

    pub(super) fn member(self, member: u32) -> u32 {
        self.members + self.parts.member_places[member as usize]
    }

    /// Through which members get one more than their floor.
    pub(super) fn block(self) -> u32 {
        self.rest
    }

    pub(super) fn source(self) -> u32 {
        self.rest + 1
    }

    pub(super) fn sink(self) -> u32 {
        self.rest + 2
    }

    /// What lies above everybody's least, with slack.
    pub(super) fn second_sink(self) -> u32 {
        self.rest + 3
    }

    pub(super) fn count(self) -> usize {
        self.rest as usize + 4
    }

    /// To which of a part's queues how much flows from a class.
    pub(super) fn shares(
        self,
        part: &Part,
        network: &Network,
        class: u32,
    ) -> impl Iterator<Item = (u32, u32)> {
        let queues = self.queues..self.members;
        let flows = network.flows_from(self.class(class));
        flows.filter(move |(to, flow)| queues.contains(to) && *flow > 0).filter_map(
            move |(to, flow)| {
                let queue = part.queues.get((to - self.queues) as usize)?;
                Some((*queue, flow))
            },
        )
    }
}
