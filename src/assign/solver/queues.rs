//! Members of one group in one rack: whoever moves to one of them could as well move to another.

use super::problem::{Member, Problem};

/// Where items wait that move, by what can be said about their next member before it is chosen.
#[derive(Debug)]
pub(super) struct Queues {
    /// Per member.
    of_member: Vec<u32>,
    /// Per queue its rack.
    racks: Vec<u32>,
    /// Per group its first queue, and the end of all.
    starts: Vec<u32>,
}

impl Queues {
    /// One for each group, or for each group and rack if racks matter.
    pub(super) fn of(problem: &Problem<'_>, racks_matter: bool) -> Self {
        let key = |member: &Member| (member.group, if racks_matter { member.rack } else { 0 });
        let mut order: Vec<u32> = (0..problem.members.len() as u32).collect();
        order.sort_by_key(|member| key(&problem.members[*member as usize]));
        let mut queues =
            Self { of_member: vec![0; order.len()], racks: Vec::new(), starts: vec![0] };
        let mut last = None;
        for member in order {
            let key = key(&problem.members[member as usize]);
            if last != Some(key) {
                last = Some(key);
                queues.begin(key.0, problem.members[member as usize].rack);
            }
            queues.of_member[member as usize] = queues.racks.len() as u32 - 1;
        }
        queues.starts.resize(problem.groups + 1, queues.racks.len() as u32);
        queues
    }

    pub(super) fn count(&self) -> usize {
        self.racks.len()
    }

    pub(super) fn of_member(&self, member: u32) -> u32 {
        self.of_member[member as usize]
    }

    /// The queues of a group's members with their racks.
    pub(super) fn of_group(&self, group: u32) -> impl Iterator<Item = (u32, u32)> {
        let queues = self.starts[group as usize]..self.starts[group as usize + 1];
        queues.map(|queue| (queue, self.racks[queue as usize]))
    }

    fn begin(&mut self, group: u32, rack: u32) {
        self.starts.resize(group as usize + 1, self.racks.len() as u32);
        self.racks.push(rack);
    }
}
