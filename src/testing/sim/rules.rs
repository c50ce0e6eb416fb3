//! What must hold after each step, and in the end.

use std::collections::BTreeMap;

use super::process::{Out, Process};
use super::{Rule, Sim};
use crate::membership::{Lane, MemberState};
use crate::protocol::Holding;
use crate::wire::ErrorCode;

/// A rule of the group was broken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// Two members work on one piece, though neither stands still, or was replaced or removed without having been told:
    /// by another process, by an administrator, or by a round that ended without it because the network held up what it
    /// had sent, or been sent. Its next heartbeat tells it.
    #[error("piece {piece} has two owners: {owners:?}")]
    TwoOwners {
        /// What both work on.
        piece: u16,
        /// Who they are.
        owners: Vec<String>,
    },
    /// A member was told that it is out, and works on.
    #[error("{member} was told that it is out, and works on")]
    WorksOn {
        /// Who it is.
        member: String,
    },
    /// A commit ended twice, for more than it was, or never.
    #[error("commits: {0}")]
    Commit(String),
    /// In good weather the group did not come to rest.
    #[error("did not settle: {0}")]
    Unsettled(String),
}

impl Sim {
    pub(super) fn check(&mut self) {
        if self.violation.is_some() {
            return;
        }
        let mut owners: BTreeMap<u16, &Process> = BTreeMap::new();
        for process in self.processes.iter().filter(|process| self.owns(process)) {
            for piece in &process.works_on.0 {
                let Some(other) = owners.insert(*piece, process) else { continue };
                if !self.is_untold(other) && !self.is_untold(process) {
                    let owners = vec![other.name.to_string(), process.name.to_string()];
                    self.violation = Some(Violation::TwoOwners { piece: *piece, owners });
                    return;
                }
            }
        }
    }

    /// Whether the process owns what it works on, as far as it knows. Before it does a thing it compares the clock with
    /// the end of its session (unless that very rule is off).
    fn owns(&self, process: &Process) -> bool {
        if !process.runs() || process.works_on.is_empty() {
            return false;
        }
        process.member.owned_until().is_some_and(|until| until > self.now)
            || self.broken == Some(Rule::LoseAtSessionEnd)
    }

    /// Whether the process is out, through no fault of its own, and has not been told.
    fn is_untold(&self, process: &Process) -> bool {
        let Some(untold) = &process.untold else { return false };
        // An id that is out stays out; a generation that went on without a member is left for the next.
        let is_same = untold.member_id == *process.member.member_id()
            && (untold.error != ErrorCode::IllegalGeneration
                || untold.generation == process.member.generation());
        is_same && self.coordinator.refuses(&process.heartbeat()).is_some()
    }

    /// Who is out since the coordinator did its last thing: another process took its place, or a round ended without it
    /// while it stood still, or while the network held up what it had sent, or been sent.
    pub(super) fn note_untold(&mut self) {
        for at in 0..self.processes.len() {
            let Some(process) = self.processes.get(at).filter(|process| process.has_generation())
            else {
                continue;
            };
            let Some(error) = self.coordinator.refuses(&process.heartbeat()) else { continue };
            let out = process.out_with(error);
            let is_news = ![&process.untold, &process.told].contains(&&Some(out.clone()));
            let is_faultless = || {
                error == ErrorCode::FencedInstanceId
                    || process.stood_still
                    || self.is_held_up(process)
            };
            if is_news && is_faultless() {
                if let Some(process) = self.processes.get_mut(at) {
                    process.untold = Some(out);
                }
            }
        }
    }

    /// Whether its JoinGroup or SyncGroup, or the answer, is under way or lost.
    fn is_held_up(&self, process: &Process) -> bool {
        let mut rounds = process.out.values().filter(|waiting| waiting.lane == Lane::Rounds);
        rounds.any(|waiting| {
            let sent = waiting.tag.and_then(|tag| Some((tag, self.tags.get(&tag)?)));
            !sent.is_some_and(|(tag, sent)| self.coordinator.has(sent.connection, tag))
        })
    }

    /// A heartbeat of the process's generation was answered. That ends every window in which it works on in good faith.
    pub(super) fn was_told(&mut self, at: usize, told: Out) {
        let Some(process) = self.processes.get_mut(at) else { return };
        let is_out = matches!(told.error, ErrorCode::UnknownMemberId | ErrorCode::FencedInstanceId);
        // An answer that was given before the member was put out, and comes after, does not tell it.
        process.untold.take_if(|untold| is_out || untold.error == told.error);
        process.told = Some(told);
        process.stood_still = false;
        if is_out && !process.works_on.is_empty() {
            let member = process.name.to_string();
            self.violation.get_or_insert(Violation::WorksOn { member });
        }
    }

    /// Whether all is as it should be when nothing has happened for a while: every living member stable, every piece
    /// with one owner, every commit ended.
    pub fn settled(&self) -> Result<(), Violation> {
        let living = || self.processes.iter().filter(|process| process.lives());
        if living().next().is_none() {
            return Ok(());
        }
        if let Some(restless) =
            living().find(|process| process.member.state() != MemberState::Stable)
        {
            let what = format!("{} is {:?}", restless.name, restless.member.state());
            return Err(Violation::Unsettled(what));
        }
        let mut owned: Vec<u16> =
            living().flat_map(|process| process.works_on.0.iter().copied()).collect();
        owned.sort_unstable();
        if !owned.iter().copied().eq(0..self.pieces) {
            return Err(Violation::Unsettled(format!("owned are {owned:?}")));
        }
        match self.processes.iter().find(|process| !process.is_dead && !process.commits.is_empty())
        {
            Some(process) => {
                Err(Violation::Commit(format!("{} waits for {:?}", process.name, process.commits)))
            }
            None => Ok(()),
        }
    }
}
