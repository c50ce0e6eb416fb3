//! What a plan is worth.

use super::random::Case;
use crate::assign::solver::{NONE, Priority, Wishes};

/// The least is the best. With slack, the balance of a plan is only whether it keeps the bounds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in crate::assign::solver) struct Score {
    pub(in crate::assign::solver) balance: u128,
    pub(in crate::assign::solver) first: u32,
    pub(in crate::assign::solver) second: u32,
}

impl Score {
    pub(in crate::assign::solver) fn of(case: &Case, plan: &[u32], wishes: Wishes) -> Self {
        let mut loads = vec![0; case.members.len()];
        let (mut moves, mut misses) = (0, 0);
        for (item, eligible) in case.eligible().iter().enumerate() {
            let member = plan[item];
            assert!(
                eligible.contains(&member) || eligible.is_empty() && member == NONE,
                "item {item} of {plan:?}"
            );
            if member != NONE {
                loads[member as usize] += 1;
                moves += u32::from(case.prior(item) != NONE && case.prior(item) != member);
                misses += u32::from(case.is_far(item, member));
            }
        }
        let balance = if wishes.slack > 0 { 0 } else { balance(case, &loads) };
        Self::with(balance, moves, misses, wishes.priority)
    }

    pub(in crate::assign::solver) fn with(
        balance: u128,
        moves: u32,
        misses: u32,
        priority: Priority,
    ) -> Self {
        match priority {
            Priority::MovesThenRacks => Self { balance, first: moves, second: misses },
            Priority::RacksThenMoves => Self { balance, first: misses, second: moves },
        }
    }
}

/// The sum of load² / capacity, in whole numbers.
pub(in crate::assign::solver) fn balance(case: &Case, loads: &[u32]) -> u128 {
    let cost =
        |(load, place): (&u32, u32)| u128::from(*load) * u128::from(*load) * per_item(case, place);
    loads.iter().zip(0..).map(cost).sum()
}

/// What a member's load² counts. Capacities of cases are at most 4.
pub(in crate::assign::solver) fn per_item(case: &Case, member: u32) -> u128 {
    match case.members[member as usize].capacity {
        0 => 12 << 28,
        capacity => 12 / u128::from(capacity),
    }
}
