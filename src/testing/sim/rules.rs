//! What must hold after each step, and in the end.

use std::collections::BTreeMap;

use super::process::{GROUP, Process};
use super::{Rule, Sim};
use crate::membership::MemberState;
use crate::protocol::Holding;
use crate::types::GroupInstanceId;

/// A rule of the group was broken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// Two members work on one piece, though neither stands still, or was replaced or removed without knowing yet.
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
        self.note_untold();
        let mut owners: BTreeMap<u16, &Process> = BTreeMap::new();
        let mut behind = None;
        for process in self.processes.iter().filter(|process| self.is_answerable(process)) {
            for piece in &process.works_on.0 {
                let Some(other) = owners.insert(*piece, process) else { continue };
                behind = [other, process].into_iter().find(|process| self.is_left_behind(process));
                if behind.is_none() {
                    let owners = vec![other.name.to_string(), process.name.to_string()];
                    self.violation = Some(Violation::TwoOwners { piece: *piece, owners });
                    return;
                }
            }
        }
        self.untold.extend(behind.map(|process| process.member.member_id().clone()));
    }

    /// Holding something while a round goes on (KIP-429), and left behind by it, since neither JoinGroup arrived nor
    /// the one that was sent after it.
    fn is_left_behind(&self, process: &Process) -> bool {
        let is_cut = process.lanes.get(&0).is_none_or(|connection| connection.is_cut);
        self.is_cooperative && is_cut && process.member.state() != MemberState::Stable
    }

    /// Who was replaced by another process with its instance id does not know yet.
    fn note_untold(&mut self) {
        let group = self.coordinator.describe(GROUP);
        let members = group.map(|group| group.members).unwrap_or_default();
        for process in self.processes.iter().filter(|process| !process.works_on.is_empty()) {
            let id = process.member.member_id();
            let instance = process.instance.as_ref().map(GroupInstanceId::as_str);
            let is_replaced = instance.is_some()
                && members.iter().any(|member| {
                    member.group_instance_id.as_deref() == instance && member.member_id != *id
                });
            if is_replaced {
                self.untold.insert(id.clone());
            }
        }
    }

    /// Whether the process owns what it works on, and cannot but know it. Before it does a thing it compares the
    /// clock with the end of its session (unless that very rule is off).
    fn is_answerable(&self, process: &Process) -> bool {
        if !process.runs() || process.works_on.is_empty() {
            return false;
        }
        let in_session = process.member.owned_until().is_some_and(|until| until > self.now)
            || self.broken == Some(Rule::LoseAtSessionEnd);
        in_session && !self.untold.contains(process.member.member_id())
    }

    /// Such a window ends with the next heartbeat.
    pub(super) fn check_told(&mut self, at: usize) {
        let Some(process) = self.processes.get_mut(at) else { return };
        if std::mem::take(&mut process.was_told) && !process.works_on.is_empty() {
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
