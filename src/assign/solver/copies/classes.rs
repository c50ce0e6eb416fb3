//! Items that the same members may take.

use super::Copies;

/// The items of the families with one set of takers.
#[derive(Debug)]
pub(super) struct Class {
    /// Which of the sets of takers.
    pub(super) takers: u32,
    /// Ascending.
    pub(super) items: Vec<u32>,
    /// Per item which family it is of.
    pub(super) families: Vec<u32>,
    /// Who may take them, ascending.
    pub(super) members: Vec<u32>,
    /// How many members hold each item.
    pub(super) copies: u32,
}

impl Class {
    /// The classes that have items and members, in the order of their takers.
    pub(super) fn all(asked: &Copies<'_>) -> Vec<Self> {
        let problem = asked.problem;
        let mut of_group = vec![Vec::new(); problem.groups];
        for (member, place) in problem.members.iter().zip(0..) {
            of_group[member.group as usize].push(place);
        }
        let class = |(groups, takers): (&Vec<u32>, u32)| {
            let mut members: Vec<u32> =
                groups.iter().flat_map(|group| &of_group[*group as usize]).copied().collect();
            members.sort_unstable();
            let copies = asked.count.min(members.len() as u32);
            Self { takers, items: Vec::new(), families: Vec::new(), members, copies }
        };
        let mut classes: Vec<Self> = problem.takers.iter().zip(0..).map(class).collect();
        for (place, family) in problem.wanted_families() {
            let class = &mut classes[family.takers as usize];
            class.items.extend(family.first..family.first + family.count);
            class.families.resize(class.items.len(), place);
        }
        classes.retain(|class| !class.items.is_empty() && class.copies > 0);
        classes
    }

    /// Whether nobody is left out, so that there is nothing to choose.
    pub(super) fn goes_to_all(&self) -> bool {
        self.copies as usize == self.members.len()
    }

    pub(super) fn item_count(&self) -> u32 {
        self.items.len() as u32
    }
}
