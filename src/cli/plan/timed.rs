//! How long an assigner takes.

use std::time::Instant;

use super::draft::Group;
use crate::assign::{AssignFailure, ErasedAssigner, GroupAssignment, check_plan, try_assign};
use crate::cli::memory::peak_of;

/// A plan, and what it took to make it.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) plan: GroupAssignment,
    /// In milliseconds, ascending; one a run.
    pub(super) times: Vec<f64>,
    /// The most bytes that a run held at one time, where somebody counts them.
    pub(super) peak: Option<u64>,
}

impl Timed {
    pub(super) fn least(&self) -> f64 {
        self.times.first().copied().unwrap_or(f64::NAN)
    }

    pub(super) fn median(&self) -> f64 {
        self.times.get(self.times.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// Runs the assigner so often. The clock runs for its call alone: the group is read before, the plan checked after.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub(super) fn timed(
    assigner: &ErasedAssigner,
    group: &Group,
    runs: usize,
) -> Result<Timed, AssignFailure> {
    let (mut times, mut peak) = (Vec::with_capacity(runs), None);
    let mut once = || {
        let (planned, held) = peak_of(|| {
            let start = Instant::now();
            let planned = try_assign(assigner, &group.model, &group.told, None);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            planned
        });
        peak = peak.max(held);
        planned
    };
    let mut plan = once()?;
    for _ in 1..runs {
        // Or two of them would be held at one time.
        drop(plan);
        plan = once()?;
    }
    check_plan(&plan, assigner, &group.model)?;
    times.sort_by(f64::total_cmp);
    Ok(Timed { plan, times, peak })
}
