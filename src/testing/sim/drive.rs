//! The driver of each process, and one step of the whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::network::{Happening, Worked, commit_body, request_body};
use super::process::{Process, Waiting, lane_key};
use super::rules::Violation;
use super::{Pieces, Sent, Sim};
use crate::membership::{
    CommitId, Event, Failure, GroupResponse, Lane, Output, RequestId, RevocationId, Work, WorkId,
};
use crate::protocol::{Facts, GroupProtocol, Holding, JobError, Joined, Joining};
use crate::types::Cluster;
use crate::wire::ErrorCode;

impl Sim {
    /// When something happens next.
    pub(super) fn next_happening(&self) -> Option<Instant> {
        let members = self.processes.iter().filter(|process| process.runs());
        let timers = members.filter_map(|process| process.member.poll_timeout());
        let coordinator = self.coordinator.poll_timeout();
        let next = self.agenda.peek().map(|entry| entry.at);
        timers.chain(coordinator).chain(next).min().map(|at| at.max(self.now))
    }

    /// Has one thing happen, and looks whether the rules hold.
    pub(super) fn step(&mut self) {
        let Some(at) = self.next_happening() else { return };
        self.now = at;
        if self.coordinator.poll_timeout().is_some_and(|due| due <= at) {
            self.coordinator.handle_timeout(at);
            self.collect_answers();
        } else if let Some(process) = self.whose_timer(at) {
            self.with(process, |process, now| process.member.handle_timeout(now));
        } else if let Some(entry) = self.agenda.pop() {
            self.happen(entry.happening);
        }
        self.check();
    }

    fn whose_timer(&self, at: Instant) -> Option<usize> {
        self.processes.iter().position(|process| {
            process.runs() && process.member.poll_timeout().is_some_and(|due| due <= at)
        })
    }

    fn happen(&mut self, happening: Happening) {
        let process = happening.process().and_then(|process| self.processes.get(process));
        if process.is_some_and(|process| process.is_dead) {
            return;
        }
        if let Some(until) = process.and_then(|process| process.paused_until) {
            return self.schedule(until, happening);
        }
        match happening {
            Happening::RequestArrives { request, epoch } => self.on_request(request, epoch),
            Happening::ConnectionCloses(connection) => self.coordinator.disconnect(connection),
            Happening::AnswerArrives { sent, answer } => self.on_arrival(sent, answer),
            Happening::Overdue { process, lane, id } => self.on_overdue(process, lane, id),
            Happening::CoordinatorFound { process, id, found } => {
                self.on_found(process, id, found);
            }
            Happening::Worked { process, id, worked } => self.on_worked(process, id, worked),
            Happening::Asks { process } => self.on_asking(process),
            Happening::Releases { process, id } => self.on_releasing(process, id),
            Happening::Resumes { process } => {
                if let Some(process) = self.processes.get_mut(process) {
                    process.paused_until = None;
                }
            }
        }
    }

    /// Tells a process's machine something, then does what it says.
    pub(super) fn with(&mut self, at: usize, tell: impl FnOnce(&mut Process, Instant)) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(at).filter(|process| process.runs()) else {
            return;
        };
        tell(process, now);
        while let Some(output) =
            self.processes.get_mut(at).and_then(|process| process.member.poll_output())
        {
            self.act(at, output);
        }
    }

    fn act(&mut self, at: usize, output: Output<Pieces>) {
        match output {
            Output::FindCoordinator { id } => self.find_coordinator(at, id),
            Output::Send { id, lane, request, deadline } => {
                self.note_of(at, || format!("sends {request:?}"));
                self.expect(at, lane, id, deadline);
                self.send(at, lane, id, request_body(request));
            }
            Output::Commit { id, items, identity, deadline, .. } => {
                self.expect(at, Lane::Commits, id, deadline);
                self.send(at, Lane::Commits, id, commit_body(&items, identity));
            }
            Output::CommitEnded { commit, items, .. } => {
                let process = self.processes.get_mut(at);
                if let Some(Err(why)) = process.map(|process| process.part_ended(commit, &items)) {
                    self.violation = Some(Violation::Commit(why));
                }
            }
            Output::DropRounds => {
                self.close_lane(at, lane_key(Lane::Rounds));
            }
            Output::Work { id, work } => self.work(at, id, work),
            Output::Event(event) => {
                self.note_of(at, || format!("says {event:?}"));
                if let Some(process) = self.processes.get_mut(at) {
                    process.say(event);
                }
                self.ask_soon(at);
            }
        }
    }

    fn expect(&mut self, at: usize, lane: Lane, id: RequestId, deadline: Instant) {
        if let Some(process) = self.processes.get_mut(at) {
            let asked_in = process.member.generation();
            process.out.insert(id, Waiting { lane, asked_in, deadline, tag: None });
        }
        let lane = lane_key(lane);
        self.schedule(deadline, Happening::Overdue { process: at, lane, id });
    }

    /// What is not answered in time is never answered. Connections that many share are closed here; the one of the
    /// rounds is the machine's to drop.
    fn on_overdue(&mut self, at: usize, lane: u8, id: RequestId) {
        let waits =
            self.processes.get_mut(at).is_some_and(|process| process.out.remove(&id).is_some());
        if !waits {
            return;
        }
        if lane != lane_key(Lane::Rounds) {
            self.close_lane(at, lane);
        }
        self.with(at, |process, now| {
            process.member.handle_response(now, id, Err(Failure::TimedOut));
        });
    }

    fn on_arrival(&mut self, sent: Sent, answer: Result<GroupResponse, Failure>) {
        let is_failure = answer.is_err();
        if !is_failure && self.connection_of(sent).is_none() {
            return; // On a connection that was closed meanwhile.
        }
        let Some(process) = self.processes.get_mut(sent.process) else { return };
        let waiting = process.out.remove(&sent.id);
        if is_failure && waiting.is_none() {
            return;
        }
        let told = waiting.and_then(|waiting| process.hears(self.now, waiting, &answer));
        self.note_of(sent.process, || format!("is answered {answer:?}"));
        self.with(sent.process, |process, now| {
            process.member.handle_response(now, sent.id, answer);
        });
        if let Some(told) = told {
            self.was_told(sent.process, told);
        }
    }

    fn find_coordinator(&mut self, at: usize, id: RequestId) {
        let heard = self.now + self.latency();
        let is_down = self.now < self.down_until;
        let found = if is_down && self.dice.bool() {
            Err(Failure::Refused(ErrorCode::CoordinatorNotAvailable))
        } else {
            Ok(())
        };
        self.schedule(heard, Happening::CoordinatorFound { process: at, id, found });
    }

    fn on_found(&mut self, at: usize, id: RequestId, found: Result<(), Failure>) {
        let epoch = self.epoch;
        let Some(process) = self.processes.get_mut(at) else { return };
        process.epoch = epoch;
        let stale: Vec<_> = process
            .lanes
            .iter()
            .filter(|(_, lane)| lane.epoch < epoch)
            .map(|(key, _)| *key)
            .collect();
        for lane in stale {
            self.reset_lane(at, lane);
        }
        self.with(at, |process, now| process.member.handle_coordinator(now, id, found));
    }

    fn work(&mut self, at: usize, id: WorkId, work: Work<Pieces>) {
        let fails = self.chance(self.weather.no_plan);
        let takes = match work {
            Work::Describe { .. } | Work::Lead { .. } => self.latency(),
            _ => Duration::ZERO,
        };
        let Some(process) = self.processes.get_mut(at) else { return };
        let instance = process.instance.clone();
        let protocol = &mut process.protocol;
        let worked = match work {
            Work::BeforeJoin { held, cause } => {
                Worked::BeforeJoin(protocol.before_join(&held, &cause))
            }
            Work::Describe { held, generation, member_id, cause, nonce } => {
                let joining = Joining {
                    held: &held,
                    generation,
                    member_id: &member_id,
                    cause: &cause,
                    nonce,
                };
                Worked::Described(protocol.describe(joining)())
            }
            Work::Lead { led, .. } => {
                let facts = Facts { cluster: Arc::new(Cluster::default()), gathered: None };
                let (_, job) = protocol.lead(led);
                Worked::Planned(match fails {
                    true => Err(JobError::StepDown("no idea".to_owned())),
                    false => job(facts),
                })
            }
            Work::Join { generation, protocol: chosen, member_id, leads, held, assignment } => {
                let joined = Joined {
                    generation,
                    protocol: &chosen,
                    member_id: &member_id,
                    group_instance_id: instance.as_ref(),
                    leads,
                    held: &held,
                    assignment,
                };
                Worked::Joined(protocol.joined(joined))
            }
        };
        self.schedule(self.now + takes, Happening::Worked { process: at, id, worked });
    }

    fn on_worked(&mut self, at: usize, id: WorkId, worked: Worked) {
        self.with(at, |process, now| {
            let member = &mut process.member;
            match worked {
                Worked::BeforeJoin(wanted) => member.handle_release_wanted(now, id, wanted),
                Worked::Described(described) => member.handle_described(now, id, described),
                Worked::Planned(planned) => member.handle_planned(now, id, planned),
                Worked::Joined(change) => member.handle_change(now, id, change),
            }
        });
    }

    /// The application comes round to the event in the slot, sooner or much later.
    fn ask_soon(&mut self, at: usize) {
        let idles = self.chance(self.weather.idle / 10);
        let wait = match idles {
            true => Duration::from_secs(self.dice.u64(5..25)),
            false => self.latency() / 10,
        };
        let Some(process) = self.processes.get_mut(at) else { return };
        if std::mem::take(&mut process.asks) {
            self.schedule(self.now + wait, Happening::Asks { process: at });
        }
    }

    fn on_asking(&mut self, at: usize) {
        let Some(process) = self.processes.get_mut(at) else { return };
        process.asks = true;
        let Some(event) = process.slot.take() else { return };
        match event {
            Event::Assigned { added, .. } => process.works_on.add(&added),
            Event::Revoked { id, revoked, .. } => {
                process.releasing = Some((id, revoked));
                self.release_soon(at, id);
            }
            _ => {}
        }
        self.with(at, |process, now| process.member.delivered(now));
        self.with(at, |process, now| process.member.waiting(now));
    }

    /// Work on what is revoked is finished and committed, mostly in time.
    fn release_soon(&mut self, at: usize, id: RevocationId) {
        let idles = self.chance(self.weather.idle);
        let wait = match idles {
            true => Duration::from_millis(self.dice.u64(2000..20_000)),
            false => self.latency(),
        };
        if self.chance(500) {
            self.commit(at);
        }
        self.schedule(self.now + wait, Happening::Releases { process: at, id });
    }

    fn on_releasing(&mut self, at: usize, id: RevocationId) {
        let Some(process) = self.processes.get_mut(at) else { return };
        let Some((_, pieces)) = process.releasing.take_if(|(releasing, _)| *releasing == id) else {
            return;
        };
        process.works_on.remove(&pieces);
        self.with(at, |process, now| process.member.release(now, id));
    }

    /// The application commits what it works on.
    pub(super) fn commit(&mut self, at: usize) {
        self.last_commit += 1;
        let id = CommitId(self.last_commit);
        let Some(process) = self.processes.get_mut(at).filter(|process| process.runs()) else {
            return;
        };
        let items = process.works_on.clone();
        if items.is_empty() {
            return;
        }
        process.commits.insert(id, items.clone());
        self.with(at, |process, now| process.member.commit(now, id, items));
    }

    pub(super) fn note_of(&mut self, at: usize, what: impl FnOnce() -> String) {
        if self.trace.is_some() {
            let name = self.processes.get(at).map(|process| Arc::clone(&process.name));
            self.note(|| format!("{} {}", name.unwrap_or_default(), what()));
        }
    }
}
