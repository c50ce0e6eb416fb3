//! What came of a check.

use std::collections::BTreeMap;
use std::fmt;

use super::Variant;
use super::change::GroupChange;
use crate::assign::{AssignError, Coverage, Worth};

/// The most faults that are remembered.
const MOST_FAULTS: usize = 16;

/// What an assigner did with the groups that it was driven through.
///
/// Printed, it is a table with a line for each kind of change, and the faults below it.
#[derive(Clone, Debug)]
pub struct AssignerReport {
    name: String,
    groups: usize,
    seed: u64,
    /// Whether balance and moves can be compared with the best: where each partition goes to one member.
    is_compared: bool,
    changes: BTreeMap<GroupChange, ChangeReport>,
    /// Why it made no plan, the first time.
    refusal: Option<String>,
    faults: Vec<AssignerFault>,
}

/// What an assigner did after one kind of change, in all groups together.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ChangeReport {
    /// How many plans it made.
    pub plans: usize,
    /// How often it made none, with an error.
    pub refused: usize,
    /// How many plans are balanced: no plan has a smaller sum of squared loads.
    pub balanced: usize,
    /// By how many partitions the fullest member of a plan is above the fullest of the balanced plan, at most.
    pub excess: u64,
    /// How many partitions moved away from members that could have kept them.
    pub moves: u64,
    /// How many move in the balanced plans that move least.
    pub fewest_moves: u64,
    /// How many plans are balanced and move no more than that.
    pub least_moving: usize,
    /// How many rounds a plan took to come true, at most.
    pub rounds: usize,
}

/// Something that no assigner may do.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssignerFault {
    /// No member could list it.
    #[error("no member could list it: {0}")]
    Unfit(String),
    /// Its metadata does not come back from its bytes.
    #[error("its metadata: {0}")]
    Metadata(String),
    /// It panicked, or what it planned cannot be.
    #[error("{group}: {failure}")]
    NoPlan {
        /// For which group.
        group: CheckedGroup,
        /// What happened.
        failure: String,
    },
    /// It made two plans of one group: it draws, or looks at a clock, or goes through a map in no order.
    #[error("{0}: planned twice, the same group has two plans")]
    Unsteady(CheckedGroup),
    /// The plan depends on the order in which members and their topics were told.
    #[error("{0}: told in another order, the same group has another plan")]
    OrderMatters(CheckedGroup),
    /// Members would make different plans of one group.
    #[error("{0}: another leader makes another plan of the same group")]
    LeadersDiffer(CheckedGroup),
    /// Static members that restarted did not get theirs back: it goes by member ids.
    #[error("{0}: a static member restarted, and something moved")]
    RestartMoves(CheckedGroup),
    /// The plan made after partitions were given up is another one, so that they come to rest late or never.
    #[error(
        "{group}: not settled after {rounds} rounds: once what moves was given up, the plan must be the same again"
    )]
    Unsettled {
        /// For which group.
        group: CheckedGroup,
        /// How many rounds there were; two must do.
        rounds: usize,
    },
    /// It refused every group, so that nothing is known of its plans. Where it reads what a
    /// [`Gather`](crate::Gather) brings, [`AssignerCheck::gathered`](super::AssignerCheck::gathered) brings that here.
    #[error("it planned for no group: {0}")]
    NeverPlanned(String),
}

impl AssignerFault {
    /// What draws the group that it showed in, if it is of one.
    fn seed(&self) -> Option<u64> {
        match self {
            Self::Unfit(_) | Self::Metadata(_) | Self::NeverPlanned(_) => None,
            Self::NoPlan { group, .. }
            | Self::Unsteady(group)
            | Self::OrderMatters(group)
            | Self::LeadersDiffer(group)
            | Self::RestartMoves(group)
            | Self::Unsettled { group, .. } => Some(group.seed),
        }
    }
}

/// For which group of a check, and when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CheckedGroup {
    /// The seed that draws the group, if it is the only one.
    pub seed: u64,
    /// What had just happened to it.
    pub change: GroupChange,
}

impl AssignerReport {
    pub(super) fn new(variants: &[Variant], groups: usize, seed: u64) -> Self {
        let first = variants.first().map(|variant| &variant.assigner);
        let codec = variants.iter().find_map(|variant| variant.codec.clone());
        Self {
            name: first.map(|assigner| assigner.name().to_string()).unwrap_or_default(),
            groups,
            seed,
            is_compared: first.is_none_or(|assigner| assigner.coverage() == Coverage::ExactlyOnce),
            changes: BTreeMap::new(),
            refusal: None,
            faults: codec.map(AssignerFault::Metadata).into_iter().collect(),
        }
    }

    pub(super) fn unfit(seed: u64, fault: AssignerFault) -> Self {
        Self { faults: vec![fault], ..Self::new(&[], 0, seed) }
    }

    /// What is wrong with the assigner; at most 16 faults.
    pub fn faults(&self) -> &[AssignerFault] {
        &self.faults
    }

    /// What it did after each kind of change.
    pub fn changes(&self) -> impl Iterator<Item = (GroupChange, &ChangeReport)> {
        self.changes.iter().map(|(change, report)| (*change, report))
    }

    /// Whether every plan is balanced.
    ///
    /// Members count alike here; an assigner that gives some more than others on purpose is not balanced. One that made
    /// no plan is not, either.
    pub fn is_balanced(&self) -> bool {
        self.holds_for_all(|change| change.balanced)
    }

    /// Whether every plan is balanced and moves no more than any balanced one must.
    pub fn moves_least(&self) -> bool {
        self.holds_for_all(|change| change.least_moving)
    }

    fn holds_for_all(&self, count: impl Fn(&ChangeReport) -> usize) -> bool {
        let all = self.changes.values().all(|change| count(change) == change.plans);
        self.is_compared && self.has_plans() && all
    }

    fn has_plans(&self) -> bool {
        self.changes.values().any(|change| change.plans > 0)
    }

    /// Panics with the whole report if there is a fault.
    #[track_caller]
    pub fn assert_sound(&self) {
        assert!(self.faults.is_empty(), "{self}");
    }

    pub(super) fn add_fault(&mut self, fault: AssignerFault) {
        if self.faults.len() < MOST_FAULTS && !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    pub(super) fn add_refusal(&mut self, change: GroupChange, why: &AssignError) {
        self.changes.entry(change).or_default().refused += 1;
        self.refusal.get_or_insert_with(|| why.to_string());
    }

    /// That nothing was planned is a fault, where it is not the consequence of another one.
    pub(super) fn finish(&mut self) {
        if self.faults.is_empty() && !self.has_plans() {
            self.faults.extend(self.refusal.take().map(AssignerFault::NeverPlanned));
        }
    }

    pub(super) fn add_plan(
        &mut self,
        change: GroupChange,
        worth: &Worth,
        best: &Worth,
        rounds: usize,
    ) {
        let report = self.changes.entry(change).or_default();
        let is_balanced = worth.sumsq == best.sumsq && worth.unassigned == 0;
        report.plans += 1;
        report.balanced += usize::from(is_balanced);
        report.least_moving += usize::from(is_balanced && worth.moves == best.moves);
        report.excess = report.excess.max(worth.max.saturating_sub(best.max));
        report.moves += worth.moves;
        report.fewest_moves += best.moves;
        report.rounds = report.rounds.max(rounds);
    }
}

impl fmt::Display for AssignerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} over {} groups, seed {}", self.name, self.groups, self.seed)?;
        writeln!(
            f,
            "{:<14} {:>6} {:>7} {:>8} {:>6} {:>6} {:>6} {:>6}",
            "change", "plans", "refused", "balanced", "excess", "moves", "fewest", "rounds"
        )?;
        for (change, report) in &self.changes {
            write!(f, "{change:<14} {:>6} {:>7} ", report.plans, report.refused)?;
            match self.is_compared {
                true => write!(f, "{:>8} {:>6} ", report.balanced, report.excess)?,
                false => write!(f, "{:>8} {:>6} ", "-", "-")?,
            }
            let fewest = report.fewest_moves.to_string();
            let fewest = if self.is_compared { &fewest } else { "-" };
            writeln!(f, "{:>6} {fewest:>6} {:>6}", report.moves, report.rounds)?;
        }
        for fault in &self.faults {
            writeln!(f, "FAULT: {fault}")?;
        }
        if let Some(seed) = self.faults.iter().find_map(AssignerFault::seed) {
            writeln!(
                f,
                "`AssignerCheck::new(..).seed({seed}).groups(1)` drives that group alone; \
                 `dbg!` in `assign` shows it"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for CheckedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}, {}", self.seed, self.change)
    }
}
