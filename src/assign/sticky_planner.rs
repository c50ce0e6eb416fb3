//! What the sticky assigners do, for assigners that have wishes of their own.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "cli")]
use super::index::{MemberIndex, PartitionIndex};
use super::refs::{MemberRef, PartitionRef};
use super::solver::{Priority, Solver, Wishes};
use super::sticky_problem::{Asked, problem};
use super::sticky_rounds::Waiting;
use super::{GroupAssignment, GroupSubscription};
use crate::types::Node;

/// How often a plan is planned again with what it leaves. The second time settles it unless claims contradict each
/// other.
const MOST_ROUNDS: usize = 4;

/// Plans as the sticky assigners do, with capacities of members and weights of partitions beside.
///
/// When to use it: in an assigner of one's own that wants balance and few moves and knows more than partition counts.
/// In this order it looks for: the balanced plans (the least sum of load² / capacity); among them the fewest moves,
/// and the fewest partitions far from their members, or the other way round; then even weights.
///
/// ```
/// use kafka_group::assign::{GroupSubscription, StickyPlanner};
///
/// let group = GroupSubscription::builder().topic("orders", 12)
///     .member("a", ["orders"], 8_u32)
///     .member("b", ["orders"], 4)
///     .build();
/// let plan = StickyPlanner::new().capacity(|member| member.metadata().copied().unwrap_or(1)).plan(&group);
/// assert_eq!(plan.by_name()["a"].len(), 8);
/// ```
pub struct StickyPlanner<'f, T = ()> {
    racks: Racks,
    slack: u32,
    member_rack: Option<Box<MemberRack<'f, T>>>,
    broker_rack: Option<Box<BrokerRack<'f>>>,
    capacity: Option<Box<Capacity<'f, T>>>,
    weight: Option<Box<Weight<'f>>>,
    #[cfg(feature = "cli")]
    forced: Option<(u32, u32)>,
}

pub(super) type MemberRack<'f, T> = dyn Fn(MemberRef<'_, T>) -> Option<String> + 'f;
pub(super) type BrokerRack<'f> = dyn Fn(&Node) -> Option<String> + 'f;
pub(super) type Capacity<'f, T> = dyn Fn(MemberRef<'_, T>) -> u32 + 'f;
pub(super) type Weight<'f> = dyn Fn(PartitionRef<'_>) -> f64 + 'f;

/// What the racks of members (`client.rack`) and brokers (`broker.rack`) count for.
///
/// Whether they come from these properties or from elsewhere: [`StickyPlanner::member_rack`],
/// [`StickyPlanner::broker_rack`].
///
/// A partition is far from a member if both are known to be in racks and none of its replicas is in the member's.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Racks {
    /// Nothing.
    Ignored,
    /// As few partitions far from their members as balance and the fewest moves allow.
    #[default]
    AfterMoves,
    /// The same, but only the leader's rack counts: for members that do not fetch from followers (KIP-392).
    LeadersAfterMoves,
    /// As few partitions far from their members as balance allows, and only then few moves.
    ///
    /// The trap: where brokers or members change their racks, much moves.
    BeforeMoves,
    /// The same, but only the leader's rack counts. The trap: each change of leaders moves partitions.
    LeadersBeforeMoves,
}

impl Racks {
    pub(super) fn only_leaders(self) -> bool {
        matches!(self, Self::LeadersAfterMoves | Self::LeadersBeforeMoves)
    }

    pub(super) fn priority(self) -> Priority {
        match self {
            Self::BeforeMoves | Self::LeadersBeforeMoves => Priority::RacksThenMoves,
            Self::Ignored | Self::AfterMoves | Self::LeadersAfterMoves => Priority::MovesThenRacks,
        }
    }
}

impl<'f, T> StickyPlanner<'f, T> {
    /// A planner that plans like [`StickyAssigner`](super::StickyAssigner).
    pub fn new() -> Self {
        Self {
            racks: Racks::default(),
            slack: 0,
            member_rack: None,
            broker_rack: None,
            capacity: None,
            weight: None,
            #[cfg(feature = "cli")]
            forced: None,
        }
    }

    /// What racks count for. Default: [`Racks::default`].
    #[must_use]
    pub fn racks(mut self, racks: Racks) -> Self {
        self.racks = racks;
        self
    }

    /// In which rack a member is, if that is known. Default: its `client.rack`.
    ///
    /// For members whose rack is in what they told the leader.
    #[must_use]
    pub fn member_rack(mut self, rack: impl Fn(MemberRef<'_, T>) -> Option<String> + 'f) -> Self {
        self.member_rack = Some(Box::new(rack));
        self
    }

    /// In which rack a broker is, if that is known. Default: its `broker.rack`.
    ///
    /// For clusters without that property, where the rack is in the names of the hosts.
    #[must_use]
    pub fn broker_rack(mut self, rack: impl Fn(&Node) -> Option<String> + 'f) -> Self {
        self.broker_rack = Some(Box::new(rack));
        self
    }

    /// How far loads may be from the balanced ones, in partitions, where that saves moves. Default: 0.
    #[must_use]
    pub fn slack(mut self, partitions: u32) -> Self {
        self.slack = partitions;
        self
    }

    /// A member's share among the others. Default: 1 for all.
    ///
    /// Members with 0 get only what no other member may take.
    #[must_use]
    pub fn capacity(mut self, capacity: impl Fn(MemberRef<'_, T>) -> u32 + 'f) -> Self {
        self.capacity = Some(Box::new(capacity));
        self
    }

    /// What a partition weighs, as its lag or its bytes per second. Default: all the same.
    ///
    /// How many partitions each member has, and how many move, does not depend on it; which ones does. Infinity
    /// counts as the heaviest finite weight, and what is no weight as 0. The trap: partitions that stay are not
    /// exchanged for a better spread.
    #[must_use]
    pub fn weight(mut self, weight: impl Fn(PartitionRef<'_>) -> f64 + 'f) -> Self {
        self.weight = Some(Box::new(weight));
        self
    }

    /// Gives this partition to this member, whatever that costs: to find out what it costs.
    #[cfg(feature = "cli")]
    #[must_use]
    pub(crate) fn force(
        mut self,
        member: impl Into<MemberIndex>,
        partition: impl Into<PartitionIndex>,
    ) -> Self {
        self.forced = Some((member.into().index, partition.into().index));
        self
    }

    /// The plan for a group, or for the topics of it that a view shows.
    pub fn plan(&self, group: &GroupSubscription<T>) -> GroupAssignment {
        let asked = Asked {
            racks: self.racks,
            member_rack: self.member_rack.as_deref(),
            broker_rack: self.broker_rack.as_deref(),
            capacity: self.capacity.as_deref(),
            weight: self.weight.as_deref(),
        };
        let wishes = Wishes { priority: self.racks.priority(), slack: self.slack };
        let problem = problem(group, &asked);
        #[cfg(feature = "cli")]
        let problem = match self.forced {
            Some((member, partition)) => problem.forced(member, partition),
            None => problem,
        };
        let mut solver = Solver::new(&problem, &wishes, &[]);
        let mut owners = solver.plan(&problem.owners);
        // What somebody still holds goes to its next member one round later, and that round plans anew. So this one
        // plans what that will, and the target stays the same until it is reached.
        if let Some(waiting) = Waiting::of(group) {
            for _ in 1..MOST_ROUNDS {
                let Some(first) = waiting.published(&owners) else { break };
                owners = solver.plan(&first);
                if waiting.publishes(&owners, &first) {
                    break;
                }
            }
        }
        GroupAssignment::of_owners(Arc::clone(&group.model), group.codec, owners)
    }
}

impl<T> Default for StickyPlanner<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for StickyPlanner<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StickyPlanner")
            .field("racks", &self.racks)
            .field("slack", &self.slack)
            .field("member_rack", &self.member_rack.is_some())
            .field("broker_rack", &self.broker_rack.is_some())
            .field("capacity", &self.capacity.is_some())
            .field("weight", &self.weight.is_some())
            .finish()
    }
}
