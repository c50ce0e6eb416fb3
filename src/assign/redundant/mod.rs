//! Each partition with several members, apart from each other.

mod domains;
mod holders;
mod roles;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::solver::{Copies, Holders, MOST_COPIES, Problem, solve_copies};
use super::sticky_problem::{Asked, problem};
use super::{
    AssignError, Coverage, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner,
    Racks, StickyPlanner,
};
use domains::domains;
use holders::Had;

/// How often a plan is planned again with what it leaves for this round. The second time nearly always settles it.
const MOST_ROUNDS: usize = 8;

/// Each partition with several members: one has the first copy, the others stand by.
///
/// When to use it: for standbys that take over with warm state, or for readers that all need everything. Loads are as
/// even as they can be, copies counted; the copies of a partition are with different members, and, if that can be, with
/// different processes, hosts and racks, in this order; then few partitions move. That a rack or a host does not get two
/// copies needs room: no more than its fair share of the members may be in it. Processes and hosts are known of members
/// of this crate, racks by `client.rack`; where nothing is known, nothing is the same.
///
/// Each member is told what it is to each partition, see [`Assigned::role`](crate::Assigned::role). Whoever has the
/// first copy keeps that as long as it keeps the partition; when it is gone, a standby becomes the first. In cooperative
/// rounds nobody becomes the first while another still is.
///
/// Where fewer members subscribe than there are to be copies, all of them get the partition, and the leader says so
/// ([`Event::FewCopies`](crate::Event::FewCopies); in a test [`GroupAssignment::few_copies`]).
///
/// ```
/// use kafka_group::assign::{AssignError, GroupSubscription, PartitionAssigner, RedundantAssigner};
///
/// let group = GroupSubscription::builder().topic("orders", 3)
///     .member("a", ["orders"], ())
///     .member("b", ["orders"], ())
///     .member("c", ["orders"], ())
///     .build();
/// let plan = RedundantAssigner::new(2).assign(&group)?;
/// assert_eq!(plan.by_name()["a"].len(), 2);
/// # Ok::<(), AssignError>(())
/// ```
///
/// The traps: the group has one offset a partition, so commits of standbys are refused
/// ([`CommitError::StandsBy`](crate::CommitError::StandsBy)); a standby that reads keeps its position elsewhere. And the
/// number is the leader's: to change it, roll all members.
#[derive(Clone, Copy, Debug)]
pub struct RedundantAssigner {
    copies: u16,
}

impl RedundantAssigner {
    /// An assigner of so many copies of each partition, the first one counted. 0 is taken for 1.
    pub fn new(copies: u16) -> Self {
        Self { copies: copies.max(1) }
    }

    /// How many members hold each partition, if so many subscribe.
    pub fn copies(&self) -> u16 {
        self.copies
    }
}

impl PartitionAssigner for RedundantAssigner {
    fn name(&self) -> &str {
        "redundant"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        if self.copies == 1 {
            return Ok(StickyPlanner::new().racks(Racks::Ignored).plan(group));
        }
        self.check_size(group)?;
        let planner = Planner::new(group, self.copies);
        let mut had = Had::claimed(&group.model, self.copies);
        let mut plan = planner.plan(&had);
        // What waits for its next holder is planned anew when that can have it. So this plans what that will, and the
        // target stays the same until it is reached.
        for _ in 1..MOST_ROUNDS {
            let mut published = plan.clone();
            let withheld = published.withhold(self.coverage());
            if withheld.is_empty() && published.waiting_for_first().is_empty() {
                break;
            }
            let left = Had::published(&published);
            if left == had {
                break;
            }
            plan = planner.plan(&left);
            had = left;
        }
        Ok(plan)
    }

    fn coverage(&self) -> Coverage {
        Coverage::Copies(self.copies)
    }
}

impl RedundantAssigner {
    /// Refuses what no group could be told of anyway, before it fills the memory.
    fn check_size(self, group: &GroupSubscription) -> Result<(), AssignError> {
        let copies_of = |subscribers: usize| subscribers.min(usize::from(self.copies)) as u64;
        let topics = group.topics();
        let copies: u64 = topics
            .map(|topic| {
                topic.partition_count() as u64 * copies_of(group.subscribers(topic.name()).len())
            })
            .sum();
        match copies > MOST_COPIES {
            true => Err(AssignError::other(format!(
                "{copies} copies of partitions, of at most {MOST_COPIES}"
            ))),
            false => Ok(()),
        }
    }
}

/// What stays the same while a plan is planned again.
struct Planner<'g> {
    group: &'g GroupSubscription,
    problem: Problem<'g>,
    copies: u16,
    domains: Vec<Vec<u32>>,
}

impl<'g> Planner<'g> {
    fn new(group: &'g GroupSubscription, copies: u16) -> Self {
        let problem = problem(group, &Asked::of(Racks::Ignored));
        Self { group, problem, copies, domains: domains(group) }
    }

    fn plan(&self, had: &Had) -> GroupAssignment {
        let holders: Holders = solve_copies(&Copies {
            problem: &self.problem,
            count: u32::from(self.copies),
            holders: had.holders(),
            domains: &self.domains,
        });
        let model = &self.group.model;
        let holders = roles::first_copies_first(model, had, holders);
        GroupAssignment::of_holders(Arc::clone(model), self.group.codec, &holders)
    }
}
