//! Does what the machine asks for.

use super::{Driver, Given, Said, now};
use crate::error::Error;
use crate::group::hosted::Hosted;
use crate::membership::{Ended, Event, Output};

impl<P: Hosted> Driver<P> {
    /// Does everything that the machine asks for, and what follows from it at once.
    pub(super) fn drain(&mut self) {
        loop {
            while let Some(output) = self.machine.poll_output() {
                self.perform(output);
            }
            if self.machine.ended().is_none() || self.ending.ended.is_some() {
                break;
            }
            // It is over: what the application has yet to take waits in the mailbox, and nobody waits for that.
            self.ending.leaves_the_rest = true;
            self.machine.delivered(now());
        }
        if self.machine.ended().is_some() {
            self.leave_the_rest();
        }
        self.report.observe(&self.machine);
    }

    /// It is over, and the driver waits for nobody: what the application was not told yet is left to it, in order.
    fn leave_the_rest(&mut self) {
        self.ending.over = true;
        while self.ending.ended.is_none() {
            self.machine.delivered(now());
            let Some(output) = self.machine.poll_output() else { return };
            self.perform(output);
        }
    }

    fn perform(&mut self, output: Output<P::Held>) {
        match output {
            Output::FindCoordinator { id } => self.find_coordinator(id),
            Output::Send { id, lane, request, deadline } => {
                self.report.sending(&request, now());
                self.send(id, lane, request, deadline);
            }
            Output::Commit { id, commit, items, identity, deadline } => {
                self.report.committing();
                self.send_commit(id, commit, &items, identity, deadline);
            }
            Output::CommitEnded { commit, items, end } => {
                let part = |offsets: &_| P::offsets_of(&items, offsets);
                let mut left = self.commits.part_ended(commit, part, end);
                if self.ending.asked {
                    self.ending.left.append(&mut left);
                }
            }
            Output::DropRounds => self.client.close_lane(self.lane),
            Output::Work { id, work } => self.work(id, work),
            Output::Event(event) => {
                // Whoever was told of a generation finds it in the status, too: producers commit by it (KIP-447).
                self.report.observe(&self.machine);
                self.tell(event);
            }
        }
    }

    fn tell(&mut self, event: Event<P::Held>) {
        self.report.telling(&event, now());
        if event == Event::NoCommonProtocol {
            self.ask_what_the_group_is();
        }
        if let Event::Ended(ended) = event {
            self.ending.ended = Some(self.error_of(ended));
            return;
        }
        let notices = match &event {
            Event::Assigned { .. } => std::mem::take(&mut self.notices),
            _ => Vec::new(),
        };
        if self.ending.leaves_the_rest {
            return self.mailbox.notice(Said::Event { event, notices });
        }
        if !self.ending.deserted {
            let revocation = match &event {
                Event::Revoked { id, .. } => Some(*id),
                _ => None,
            };
            let said = Said::Event { event, notices };
            if self.ending.over {
                return self.mailbox.put_behind(said);
            }
            self.given = Given { number: self.mailbox.put(said), revocation };
            return;
        }
        if let Event::Revoked { id, .. } = event {
            self.machine.release(now(), id);
        }
        self.machine.delivered(now());
    }

    /// What `next()` says of the end; nothing when it was asked for.
    fn error_of(&self, ended: Ended) -> Option<Error> {
        let group = || self.group_id.to_string();
        Some(match ended {
            Ended::Closed { .. } => return None,
            Ended::Fenced { group_instance_id, refused } => Error::FencedInstanceId {
                group: group(),
                group_instance_id,
                member_id: self.machine.member_id().clone(),
                refused,
                holder: None,
            },
            Ended::Refused { api, code } => self.report.refusal(api, code),
            Ended::Denied { message } => Error::Authentication(message),
            Ended::NoCommonProtocol => Error::NoCommonProtocol {
                group: group(),
                protocol_type: self.protocol.protocol_type().to_owned(),
                ours: self.report.offered().to_vec(),
                theirs: self.nature.as_ref().map(ToString::to_string),
            },
            Ended::GroupFull => Error::GroupFull {
                group: group(),
                group_instance_id: self.report.group_instance_id().cloned(),
            },
            Ended::ManagedByBroker => Error::GroupManagedByBroker(group()),
            Ended::Inconsistent { what } => Error::Inconsistent(what),
            Ended::PlanFailed { message } => Error::AssignFailed(message),
            Ended::Unsupported { message } => Error::Unsupported(message),
        })
    }
}
