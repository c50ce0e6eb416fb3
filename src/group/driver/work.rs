//! Work for the group's protocol. What runs the application's code goes to the job threads.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tracing::Instrument;

use super::round_trip::Answer;
use super::{Driver, now};
use crate::client::{Client, Topics};
use crate::group::gather::Gatherer;
use crate::group::hosted::Hosted;
use crate::group::jobs::{Hanging, Jobs};
use crate::membership::{Work, WorkId};
use crate::protocol::{
    Cause, DescribeJob, Facts, JobError, Joined, Joining, LeadJob, Led, Needs, Plan,
};
use crate::types::{Generation, MemberId};

/// The longest that a leader waits for fresh metadata.
const METADATA: Duration = Duration::from_secs(5);

/// Metadata that is as fresh as this is good enough to plan on: `join()` has just asked, and a round trip saved is one
/// that the whole group does not wait for.
const FRESH: Duration = Duration::from_secs(1);

/// To say what a pattern comes to, metadata must be younger: who says less than others know starts another round.
const RECENT: Duration = Duration::from_millis(100);

/// One job of a member at a time: whoever holds the lock. In it, the job that was given up last.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn(Arc<Mutex<Option<Hanging>>>);

/// A job's result.
pub(super) enum Worked {
    /// The cluster was looked at, so that what is said is what there is.
    Looked {
        id: WorkId,
    },
    Described {
        id: WorkId,
        result: Result<Vec<(String, Bytes)>, JobError>,
    },
    Planned {
        id: WorkId,
        planned: Planned,
    },
}

/// What a member is about to describe.
pub(super) struct Saying<H> {
    id: WorkId,
    held: H,
    generation: Generation,
    member_id: MemberId,
    cause: Cause,
    nonce: u64,
}

/// A leader's work, done or given up.
pub(super) struct Planned {
    result: Result<Plan, JobError>,
    led: Led,
    facts: Facts,
    hook_failed: Option<String>,
}

impl<P: Hosted> Driver<P> {
    pub(super) fn work(&mut self, id: WorkId, work: Work<P::Held>) {
        match work {
            Work::BeforeJoin { held, cause } => {
                self.report.round_began(cause.clone(), held.clone(), now());
                self.refresh_ahead();
                let release = self.protocol.before_join(&held, &cause);
                self.machine.handle_release_wanted(now(), id, release);
            }
            Work::Describe { held, generation, member_id, cause, nonce } => {
                let saying = Saying { id, held, generation, member_id, cause, nonce };
                match self.protocol.interest() {
                    Topics::All => self.look_first(saying),
                    Topics::Named(_) => self.describe(&saying),
                }
            }
            Work::Lead { led, deadline } => {
                self.report.planning(&led, now());
                let (needs, job) = self.protocol.lead(led.clone());
                self.start_lead(id, Lead { needs, job, led, deadline });
            }
            Work::Join { generation, protocol, member_id, leads, held, assignment } => {
                let mut change = self.protocol.joined(Joined {
                    generation,
                    protocol: &protocol,
                    member_id: &member_id,
                    group_instance_id: self.report.group_instance_id(),
                    leads,
                    held: &held,
                    assignment,
                });
                self.notices.append(&mut change.notices);
                self.report.plan_seen(self.protocol.plan_seen());
                self.interest.set(self.protocol.interest());
                self.machine.handle_change(now(), id, change);
            }
        }
    }

    /// Whoever is likely to lead, or subscribes to a pattern, looks at the cluster while things are given up, so that
    /// nobody waits for it later.
    fn refresh_ahead(&self) {
        let interest = self.protocol.interest();
        let age = match interest {
            Topics::All => RECENT,
            Topics::Named(_) if self.machine.is_leader() => FRESH,
            Topics::Named(_) => return,
        };
        let (client, deadline) = (self.client.clone(), now() + METADATA);
        self.client.spawn(async move {
            // A failure is met again, and told, by the leader's own refresh.
            drop(client.refresh_metadata_older_than(age, interest, deadline.into()).await);
        });
    }

    /// Has the cluster looked at before a pattern is said in topics. Those that are not seen cost the group a round.
    fn look_first(&mut self, saying: Saying<P::Held>) {
        let (client, id) = (self.client.clone(), saying.id);
        let deadline = now() + self.describing_time();
        self.saying = Some(saying);
        self.answers.await_here(async move {
            // What cannot be had now is said in the next round.
            drop(client.refresh_metadata_older_than(RECENT, Topics::All, deadline.into()).await);
            Answer::Worked(Worked::Looked { id })
        });
    }

    fn looked(&mut self, id: WorkId) {
        let Some(saying) = self.saying.take_if(|saying| saying.id == id) else { return };
        self.cluster_changed();
        self.describe(&saying);
    }

    fn describe(&mut self, saying: &Saying<P::Held>) {
        let Saying { id, held, generation, member_id, cause, nonce } = saying;
        let (id, generation, nonce) = (*id, *generation, *nonce);
        let job = self.protocol.describe(Joining { held, generation, member_id, cause, nonce });
        self.start_describe(id, job);
    }

    fn describing_time(&self) -> Duration {
        (self.rebalance_timeout / 10).clamp(Duration::from_secs(1), Duration::from_secs(5))
    }

    fn start_describe(&mut self, id: WorkId, job: DescribeJob) {
        if self.protocol.describes_alone() {
            return self.worked(Worked::Described { id, result: job() });
        }
        let runner = self.runner();
        let deadline = now() + self.describing_time();
        self.answers.await_here(async move {
            let result = runner.run(deadline, job).await;
            Answer::Worked(Worked::Described { id, result })
        });
    }

    fn start_lead(&mut self, id: WorkId, lead: Lead) {
        let (runner, client) = (self.runner(), self.client.clone());
        let (gatherer, group) = (self.gatherer.clone(), self.group_id.clone());
        let planning = async move {
            let planned = lead.run(&client, &group, gatherer, runner).await;
            Answer::Worked(Worked::Planned { id, planned })
        };
        self.answers.spawn(planning.instrument(self.report.span()));
    }

    fn runner(&self) -> Runner {
        Runner {
            jobs: self.jobs.clone(),
            turn: self.turn.clone(),
            holds_the_clock: self.client.shares_its_runtime(),
        }
    }

    pub(super) fn worked(&mut self, worked: Worked) {
        match worked {
            Worked::Looked { id } => self.looked(id),
            Worked::Described { id, result } => {
                if let Ok(protocols) = &result {
                    self.report.described(protocols);
                }
                self.machine.handle_described(now(), id, result);
            }
            Worked::Planned { id, planned } => self.planned(id, planned),
        }
    }
}

impl<P: Hosted> Driver<P> {
    fn planned(&mut self, id: WorkId, planned: Planned) {
        let Planned { result, led, facts, hook_failed } = planned;
        let mut told: Vec<P::Notice> = hook_failed.and_then(P::hook_failed).into_iter().collect();
        self.report.planned(now());
        let leader = match self.report.group_instance_id() {
            Some(static_one) => static_one.as_str().into(),
            None => led.member_id.as_str().into(),
        };
        let result = match result {
            Err(error @ (JobError::TimedOut | JobError::Hanging | JobError::Panicked(_))) => {
                self.protocol.keep_plan(led, facts, error)
            }
            done => done,
        };
        // With nothing published there is no envelope that would tell.
        if let Err(JobError::StepDown(message)) = &result {
            told.extend(P::stepped_down(leader, message));
        }
        told.into_iter().for_each(|notice| self.mailbox.notice(super::Said::Notice(notice)));
        self.machine.handle_planned(now(), id, result);
    }
}

/// A leader's work: what it needs, and the job.
struct Lead {
    needs: Needs,
    job: LeadJob,
    led: Led,
    deadline: Instant,
}

impl Lead {
    async fn run(
        self,
        client: &Client,
        group: &Arc<str>,
        gatherer: Option<Arc<dyn Gatherer>>,
        runner: Runner,
    ) -> Planned {
        let Self { needs, job, led, deadline } = self;
        let wanted = Topics::Named(needs.topics.clone());
        let by = deadline.min(now() + METADATA).into();
        let age = if needs.afresh { Duration::ZERO } else { FRESH };
        let refresh = client.refresh_metadata_older_than(age, wanted, by);
        if !needs.topics.is_empty() && refresh.await.is_err() {
            tracing::warn!(group = &**group, "planning on metadata that could not be refreshed");
        }
        let mut facts = Facts { cluster: client.cluster().borrow().clone(), gathered: None };
        let mut hook_failed = None;
        if let (true, Some(gatherer)) = (needs.gather, gatherer) {
            // The rest is the assigner's, whether this comes to an end or not.
            let by = deadline - deadline.saturating_duration_since(now()) / 10;
            match gatherer.gather(client, group, &needs.topics, by).await {
                Ok(gathered) => facts.gathered = Some(gathered),
                Err(problem) => hook_failed = Some(problem),
            }
        }
        let known = facts.clone();
        let result = runner.run(deadline, move || job(known)).await;
        Planned { result, led, facts, hook_failed }
    }
}

/// Runs a member's jobs, one at a time.
struct Runner {
    jobs: Jobs,
    turn: Turn,
    holds_the_clock: bool,
}

impl Runner {
    /// Runs a job when it is this member's turn; gives it up at its deadline. Cancelling abandons nothing.
    async fn run<R: Send + 'static>(
        self,
        deadline: Instant,
        job: impl FnOnce() -> Result<R, JobError> + Send + 'static,
    ) -> Result<R, JobError> {
        let taken = tokio::time::timeout_at(deadline.into(), self.turn.0.lock_owned()).await;
        let mut turn: OwnedMutexGuard<Option<Hanging>> = taken.map_err(|_| JobError::TimedOut)?;
        if turn.as_ref().is_some_and(|hanging| !hanging.has_ended()) {
            return Err(JobError::Hanging);
        }
        let mut running = self.jobs.start(job);
        let _held = self.holds_the_clock.then(hold_the_clock);
        match tokio::time::timeout_at(deadline.into(), running.result()).await {
            Ok(result) => result,
            Err(_) => {
                *turn = Some(running.abandon());
                Err(JobError::TimedOut)
            }
        }
    }
}

/// A paused clock (`tokio::time::pause`) runs on as soon as its runtime is idle, and knows nothing of our threads. What
/// it does wait for is a blocking task: here until the guard is dropped, or a moment of real time is over.
fn hold_the_clock() -> mpsc::Sender<()> {
    const MOMENT: Duration = Duration::from_millis(200);
    let (guard, dropped) = mpsc::channel();
    drop(tokio::task::spawn_blocking(move || dropped.recv_timeout(MOMENT)));
    guard
}
