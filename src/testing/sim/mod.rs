//! A whole group in virtual time: many members, one coordinator, and a network that a seed makes as bad as it likes.

mod chaos;
mod drive;
mod network;
mod pieces;
mod process;
mod rules;
mod spoken;

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::network::{Entry, Happening, Weather};
pub(crate) use self::pieces::{PieceProtocol, Pieces};
use self::process::{GROUP, Process};
pub use self::rules::Violation;
use self::spoken::{Listed, Spoken};
pub use crate::membership::Rule;
use crate::membership::{OnFenced, RequestId};
use crate::testing::coordinator::{
    ConnectionId, CoordinatorSettings, FakeCoordinator, Loss, RequestTag,
};
use crate::types::GroupInstanceId;
use crate::wire::ErrorCode;

/// A group that shares out numbered pieces of work, run step by step.
///
/// Members are the crate's own machine; the coordinator is [`FakeCoordinator`]. After each step no piece may have two
/// owners: see [`Violation`]. Everything follows from the seed, so that a failing seed is a test.
#[derive(Debug)]
pub struct Sim {
    dice: fastrand::Rng,
    start: Instant,
    now: Instant,
    coordinator: FakeCoordinator,
    /// Counts coordinators: requests on a connection to an earlier one are refused.
    epoch: u64,
    /// Until when no coordinator can be reached.
    down_until: Instant,
    agenda: BinaryHeap<Entry>,
    last_entry: u64,
    last_tag: u64,
    last_connection: u64,
    last_commit: u64,
    tags: BTreeMap<RequestTag, Sent>,
    processes: Vec<Process>,
    pieces: u16,
    is_cooperative: bool,
    consumes: bool,
    /// What members that are started now list, if they consume.
    listed: Listed,
    /// Members are restarted in the course of the storm, and list more modern assigners then.
    is_rolled_out: bool,
    /// What the first static members do when they are fenced, and whoever they are restarted as.
    on_fenced: OnFenced,
    rebalance_timeout: Duration,
    weather: Weather,
    broken: Option<Rule>,
    violation: Option<Violation>,
    trace: Option<Vec<String>>,
}

/// Who waits for an answer.
#[derive(Clone, Copy, Debug)]
struct Sent {
    process: usize,
    lane: u8,
    connection: ConnectionId,
    id: RequestId,
}

/// A member of a [`Sim`]'s group, by the order in which it was started.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SimMember(usize);

impl Sim {
    /// A group of nobody yet that will share out `pieces` pieces, in good weather. Virtual time begins at `start`,
    /// whenever that is.
    pub fn new(start: Instant, pieces: u16, seed: u64) -> Self {
        let settings = CoordinatorSettings {
            new_member_timeout: Duration::from_secs(20),
            seed,
            ..CoordinatorSettings::default()
        };
        Self {
            dice: fastrand::Rng::with_seed(seed),
            start,
            now: start,
            coordinator: FakeCoordinator::new(settings),
            epoch: 1,
            down_until: start,
            agenda: BinaryHeap::new(),
            last_entry: 0,
            last_tag: 0,
            last_connection: 0,
            last_commit: 0,
            tags: BTreeMap::new(),
            processes: Vec::new(),
            pieces,
            is_cooperative: false,
            consumes: false,
            listed: Listed::Range,
            is_rolled_out: false,
            on_fenced: OnFenced::Fail,
            rebalance_timeout: Duration::from_secs(10),
            weather: Weather::GOOD,
            broken: None,
            violation: None,
            trace: None,
        }
    }

    /// Members give up only what the plan takes from them (KIP-429).
    #[must_use]
    pub fn cooperative(mut self) -> Self {
        self.is_cooperative = true;
        self
    }

    /// Members speak the "consumer" protocol, and pieces are partitions: on "range", or on "cooperative-sticky" where
    /// rounds are cooperative.
    #[must_use]
    pub fn consuming(mut self) -> Self {
        self.consumes = true;
        self.listed = if self.is_cooperative { Listed::Sticky } else { Listed::Range };
        self
    }

    /// Members consume, on "range" first. By two rolling bounces (see [`Self::bounce`]), which the storm is part of,
    /// they come to cooperative rounds.
    #[must_use]
    pub fn rolled_out(mut self) -> Self {
        self.is_cooperative = false;
        self.is_rolled_out = true;
        self.consuming()
    }

    /// Members break `rule`.
    #[must_use]
    pub fn without(mut self, rule: Rule) -> Self {
        self.broken = Some(rule);
        self
    }

    /// Writes down what happens; see [`Self::story`].
    #[must_use]
    pub fn traced(mut self) -> Self {
        self.trace = Some(Vec::new());
        self
    }

    /// What happened, line by line, if it was to be written down.
    pub fn story(&self) -> &[String] {
        self.trace.as_deref().unwrap_or_default()
    }

    /// Whoever fences a member goes away in the end: it waits for so long, and then comes back.
    #[must_use]
    pub fn coming_back(mut self, after: Duration) -> Self {
        self.on_fenced = OnFenced::RetryAfter(after);
        self
    }

    /// Starts a dynamic member.
    pub fn join(&mut self) -> SimMember {
        self.start(None, 0, OnFenced::Fail)
    }

    /// Starts a static member. Where one of this instance id runs already, the coordinator fences that.
    ///
    /// # Panics
    ///
    /// If `instance` is no instance id.
    pub fn join_as(&mut self, instance: &str) -> SimMember {
        let instance = GroupInstanceId::new(instance).expect("a valid instance id");
        self.start(Some(instance), 0, self.on_fenced)
    }

    fn start(
        &mut self,
        instance: Option<GroupInstanceId>,
        wish: u8,
        on_fenced: OnFenced,
    ) -> SimMember {
        let at = self.processes.len();
        let name: Arc<str> = match &instance {
            Some(instance) => format!("{at}={instance}").into(),
            None => format!("{at}").into(),
        };
        let (total, listed) = (self.pieces, self.listed);
        let protocol = match self.consumes {
            true => {
                let jitter = self.dice.f64();
                Spoken::consumer(total, listed, wish, instance.clone(), jitter)
            }
            false => Spoken::Pieces(PieceProtocol::new(total, self.is_cooperative, wish)),
        };
        let seed = self.dice.u64(..);
        let timeout = self.rebalance_timeout;
        let process = Process::new(name, instance, protocol, timeout, on_fenced, seed, self.broken);
        self.note(|| format!("{} starts", process.name));
        self.processes.push(Process { wish, listed, ..process });
        self.with(at, |process, now| process.member.join(now));
        SimMember(at)
    }

    /// The process is gone, without a word.
    pub fn kill(&mut self, member: SimMember) {
        let Some(process) = self.processes.get_mut(member.0) else { return };
        process.is_dead = true;
        process.works_on = Pieces::default();
        let name = Arc::clone(&process.name);
        self.note(|| format!("{name} is killed"));
        for lane in 0..3 {
            self.close_lane(member.0, lane);
        }
    }

    /// Kills the process and starts it again, perhaps with other metadata.
    pub fn restart(&mut self, member: SimMember, is_changed: bool) -> SimMember {
        self.kill(member);
        let Some(process) = self.processes.get(member.0) else { return member };
        let wish = process.wish.wrapping_add(u8::from(is_changed));
        let on_fenced = process.on_fenced;
        self.start(process.instance.clone(), wish, on_fenced)
    }

    /// Restarts a member of the last deployment with what the present one lists: at first "cooperative-sticky" before
    /// "range", and when nobody lists "range" alone any more, "cooperative-sticky" alone. Whether there was any.
    pub fn bounce(&mut self) -> bool {
        let listed: Vec<(SimMember, Listed)> = self
            .members()
            .into_iter()
            .filter_map(|member| Some((member, self.processes.get(member.0)?.listed)))
            .collect();
        let oldest = listed.iter().min_by_key(|(_, listed)| *listed).copied();
        let Some((member, listed)) = oldest.filter(|(_, listed)| *listed < Listed::Sticky) else {
            return false;
        };
        self.listed = listed.next();
        self.restart(member, false);
        true
    }

    /// The process stands still.
    pub fn pause(&mut self, member: SimMember, span: Duration) {
        let until = self.now + span;
        let Some(process) = self.processes.get_mut(member.0).filter(|process| process.runs())
        else {
            return;
        };
        process.paused_until = Some(until);
        process.stood_still = true;
        let name = Arc::clone(&process.name);
        self.note(|| format!("{name} pauses for {span:?}"));
        self.schedule(until, Happening::Resumes { process: member.0 });
    }

    /// The application asks for a round.
    pub fn rejoin(&mut self, member: SimMember) {
        let cause = crate::protocol::Cause::Requested("because".into());
        self.with(member.0, |process, now| process.member.rejoin(now, cause));
    }

    /// The process ends in good order: a dynamic member leaves, a static one stays registered.
    pub fn close(&mut self, member: SimMember) {
        self.with(member.0, |process, now| {
            process.member.close(now, now + Duration::from_secs(8));
        });
    }

    /// An administrator takes the member out of the group.
    pub fn remove(&mut self, member: SimMember) {
        let Some(process) = self.processes.get(member.0) else { return };
        let (id, name) = (process.member.member_id().clone(), Arc::clone(&process.name));
        if id.is_empty() {
            return;
        }
        self.note(|| format!("{name} is removed"));
        self.coordinator.remove_member(self.now, GROUP, &id);
        if let Some(process) = self.processes.get_mut(member.0) {
            process.untold = Some(process.out_with(ErrorCode::UnknownMemberId));
        }
        self.collect_answers();
    }

    /// The group gets another coordinator, after `span` without any.
    pub fn fail_over(&mut self, is_killed: bool, span: Duration) {
        self.note(|| format!("the coordinator moves (killed: {is_killed})"));
        let loss = if is_killed { Loss::Killed } else { Loss::HandedOver };
        self.coordinator.fail_over(self.now, loss);
        self.collect_answers();
        self.epoch += 1;
        self.down_until = self.now + span;
        if is_killed {
            for at in 0..self.processes.len() {
                for lane in 0..3 {
                    self.reset_lane(at, lane);
                }
            }
        }
    }

    /// The pieces that the member's application works on.
    pub fn owned(&self, member: SimMember) -> BTreeSet<u16> {
        self.processes.get(member.0).map(|process| process.works_on.0.clone()).unwrap_or_default()
    }

    /// All members whose process runs and whose membership has not ended.
    pub fn members(&self) -> Vec<SimMember> {
        let living = self.processes.iter().enumerate().filter(|(_, process)| process.lives());
        living.map(|(at, _)| SimMember(at)).collect()
    }

    /// Lets time pass.
    pub fn pass(&mut self, span: Duration) -> Result<(), Violation> {
        let until = self.now + span;
        while self.next_happening().is_some_and(|at| at <= until) {
            self.step();
            if let Some(violation) = self.violation.take() {
                return Err(violation);
            }
        }
        self.now = until;
        Ok(())
    }

    fn note(&mut self, what: impl FnOnce() -> String) {
        let passed = self.now - self.start;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>9.3} {}", passed.as_secs_f64(), what()));
        }
    }
}
