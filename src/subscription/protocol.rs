//! The "consumer" protocol as one member speaks it, round after round.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use super::describe::{Described, Describing, rounds_of};
use super::dialect::Dialect;
use super::envelope::{Rounds, TopicCounts};
use super::lead::Leading;
use super::members::{ReadMember, count_in, some_know_more, union_of_topics};
use super::notice::ConsumerNotice;
use super::options::ConsumerOptions;
use super::outcome::Outcome;
use super::reading::Reading;
use super::selection::Selection;
use super::sticky::StickyClaim;
use super::topics_said::TopicsSaid;
use super::watch::Watch;
use crate::assign::ErasedAssigner;
use crate::protocol::{
    Cause, Change, DescribeJob, Facts, GroupProtocol, JobError, Joined, Joining, LeadJob, Led,
    Needs, Plan, Rejoin,
};
use crate::types::{Cluster, Generation, Partitions};

/// Topics in, partitions out: what members of type "consumer" say, plan and take.
///
/// Pure, and quick in every method: the application's code runs in the jobs that it hands out.
#[derive(Debug)]
pub(crate) struct ConsumerProtocol {
    pub(super) options: Arc<ConsumerOptions>,
    pub(super) rounds: Rounds,
    pub(super) selection: Selection,
    /// What the selection comes to, sorted.
    pub(super) topics: Vec<Arc<str>>,
    pub(super) cluster: Arc<Cluster>,
    /// A round has begun, and its assignment is not known.
    in_round: bool,
    /// A round was asked for, and has not begun.
    asked: bool,
    /// The selection is another than what this round's bytes said.
    pub(super) resubscribed: bool,
    /// What was had last, given up or not: the claim of the next round.
    pub(super) prior: Option<StickyClaim>,
    /// Of which of it another has the first copy.
    pub(super) standbys: Partitions,
    /// What this round's bytes said.
    pub(super) described: Arc<Described>,
    description: Arc<OnceLock<Described>>,
    outcome: Arc<OnceLock<Outcome>>,
    /// Plans that failed in a row.
    failures: u32,
    spare: SpareName,
    pub(super) watch: Watch,
    jitter: f64,
    /// Pairs of what a plan was made on and what we are that a round was asked for already.
    pub(super) complaints: VecDeque<(u64, u64)>,
    pub(super) said: TopicsSaid,
    pub(super) last_plan: Option<PlanSeen>,
}

/// The plan that this member is part of, as its leader described it: for a line in the log, the same on all members.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PlanSeen {
    pub(crate) generation: Generation,
    /// The leader's member id.
    pub(crate) leader: Arc<str>,
    pub(crate) digest: u64,
    pub(crate) group_size: u32,
}

/// Topics whose changes matter to a member.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Watched {
    pub(crate) topics: BTreeSet<Arc<str>>,
    /// All there are: a pattern is subscribed to.
    pub(crate) all: bool,
}

/// What a change of the cluster asks for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Reaction {
    pub(crate) rejoin: Option<Rejoin>,
    pub(crate) notices: Vec<ConsumerNotice>,
}

impl ConsumerProtocol {
    /// A member that has not joined yet.
    pub(crate) fn new(options: ConsumerOptions) -> Self {
        Self {
            rounds: rounds_of(&options.assigners),
            selection: options.selection.clone(),
            topics: options.selection.resolve(&Cluster::default()),
            cluster: Arc::default(),
            in_round: false,
            asked: false,
            resubscribed: false,
            prior: None,
            standbys: Partitions::new(),
            described: Arc::default(),
            description: Arc::default(),
            outcome: Arc::default(),
            failures: 0,
            spare: SpareName::default(),
            watch: Watch::default(),
            jitter: 0.0,
            complaints: VecDeque::new(),
            said: TopicsSaid::default(),
            last_plan: None,
            options: Arc::new(options),
        }
    }

    /// Whether partitions that stay are kept while a round runs (KIP-429).
    pub(crate) fn is_cooperative(&self) -> bool {
        self.rounds.cooperative
    }

    /// The topics whose changes this member must see: as leader those of all members.
    pub(crate) fn watched(&self) -> Watched {
        let topics = self.topics.iter().chain(self.watch.topics()).map(Arc::clone).collect();
        Watched { topics, all: self.selection.is_pattern() }
    }

    /// The cluster is another now. `jitter`, from 0 to 1, spreads members that see the same change.
    pub(crate) fn cluster_changed(&mut self, cluster: &Arc<Cluster>, jitter: f64) -> Reaction {
        self.cluster = Arc::clone(cluster);
        self.jitter = jitter;
        self.topics = self.selection.resolve(cluster);
        let notices = self.said.changes(&self.selection, cluster);
        let at_rest = !self.in_round && !self.asked && self.watch.is_set();
        let rejoin = if at_rest { self.growth() } else { None };
        self.asked |= rejoin.is_some();
        Reaction { rejoin, notices }
    }

    /// Subscribes to something else. Asks for a round if that is a change and the member has joined.
    pub(crate) fn subscribe(&mut self, selection: Selection) -> Option<Cause> {
        if self.selection == selection {
            return None;
        }
        self.topics = selection.resolve(&self.cluster);
        self.selection = selection;
        self.resubscribed = true;
        // A round under way finds out at its end.
        (!self.in_round && self.watch.is_set()).then_some(Cause::SubscriptionChanged)
    }

    /// Whether what this member says is all the crate's own: no assigner of the application's is asked.
    pub(crate) fn describes_alone(&self) -> bool {
        self.options.assigners.iter().all(ErasedAssigner::is_builtin)
    }

    /// The plan without the assigner, which hangs or was not reached: everyone keeps what they validly have.
    pub(crate) fn keep_plan(
        &mut self,
        led: Led,
        facts: &Facts,
        error: JobError,
    ) -> Result<Plan, JobError> {
        match error {
            JobError::StepDown(_) | JobError::Fail(_) => Err(error),
            // Whatever the job still does goes into the old slot.
            _ => self.leading(led).run_without(facts, &error),
        }
    }

    /// The plan that was joined last, if its leader described it.
    pub(crate) fn last_plan(&self) -> Option<&PlanSeen> {
        self.last_plan.as_ref()
    }

    /// A round for topics that grew, appeared or vanished, if one is due.
    pub(super) fn growth(&self) -> Option<Rejoin> {
        let is_new = |topic: &Arc<str>| self.described.topics.binary_search(topic).is_err();
        let matches_more = self.selection.is_pattern() && self.topics.iter().any(is_new);
        let due = matches_more || self.watch.is_due(&self.cluster);
        due.then(|| Rejoin {
            cause: Cause::MetadataChanged,
            after: self.watch.delay(self.jitter()),
        })
    }

    /// From 0 to 1, differently for every member.
    pub(super) fn jitter(&self) -> f64 {
        if self.jitter.is_nan() { 0.0 } else { self.jitter.clamp(0.0, 1.0) }
    }

    /// How many partitions these topics have, as far as this member knows.
    pub(super) fn counts_now(&self, topics: &[Arc<str>]) -> BTreeMap<Arc<str>, u32> {
        let known = topics.iter().filter_map(|topic| {
            let count = count_in(&self.cluster, topic)?;
            Some((Arc::clone(topic), count))
        });
        known.collect()
    }

    /// Takes over what the last describing job said.
    fn settle_description(&mut self) {
        if let Some(described) = std::mem::take(&mut self.description).get() {
            self.described = Arc::new(described.clone());
        }
    }

    /// What went wrong in describing, said once.
    pub(super) fn take_description_notices(&mut self) -> Vec<ConsumerNotice> {
        std::mem::take(&mut Arc::make_mut(&mut self.described).notices)
    }

    /// Takes over what the last leading job found out.
    fn settle_outcome(&mut self) -> Option<Outcome> {
        let outcome = std::mem::take(&mut self.outcome).get().cloned()?;
        self.failures = if outcome.failed { self.failures.saturating_add(1) } else { 0 };
        Some(outcome)
    }

    fn leading(&mut self, led: Led) -> Leading {
        self.settle_outcome();
        let assigner =
            self.options.assigners.iter().find(|assigner| **assigner.name() == *led.protocol);
        let dialect = assigner.map_or(Dialect::Own, Dialect::of);
        let mut reading = Reading::default();
        Leading {
            options: Arc::clone(&self.options),
            assigner: assigner.cloned(),
            protocol: led.protocol,
            generation: led.generation,
            leader: led.member_id,
            members: led
                .members
                .iter()
                .map(|led| ReadMember::read(led, dialect, &mut reading))
                .collect(),
            skip_assignment: led.skip_assignment,
            failures: self.failures,
            slot: Arc::clone(&self.outcome),
        }
    }
}

impl GroupProtocol for ConsumerProtocol {
    type Held = Partitions;
    type Notice = ConsumerNotice;

    fn protocol_type(&self) -> &str {
        "consumer"
    }

    /// Eager: everything. Cooperative: what is not wanted any more.
    fn before_join(&mut self, held: &Partitions, _cause: &Cause) -> Partitions {
        self.in_round = true;
        self.asked = false;
        let mut released = held.clone();
        if self.is_cooperative() {
            released.retain(|topic, _| !self.selection.wants(topic));
        }
        released
    }

    fn describe(&mut self, joining: Joining<'_, Partitions>) -> DescribeJob {
        self.in_round = true;
        self.resubscribed = false;
        self.settle_description();
        self.topics = self.selection.resolve(&self.cluster);
        if !joining.generation.is_some() {
            // Thrown out: what was had is somebody else's by now.
            self.prior = None;
            self.standbys = Partitions::new();
        }
        let allow_migration = self.options.allow_migration;
        let has_room = |assigner| Dialect::of(assigner).has_room(allow_migration);
        let needs_name = !self.options.assigners.iter().all(has_room);
        let describing = Describing {
            options: Arc::clone(&self.options),
            rounds: self.rounds,
            topics: self.topics.clone(),
            counts: TopicCounts(Arc::new(self.counts_now(&self.topics))),
            held: joining.held.clone(),
            prior: self.prior.clone(),
            standbys: self.standbys.clone(),
            generation: joining.generation,
            member_id: joining.member_id.clone(),
            nonce: joining.nonce,
            spare_name: self.spare.name(&self.options, &joining).filter(|_| needs_name),
            before: Arc::clone(&self.described),
            slot: Arc::clone(&self.description),
        };
        Box::new(move || Ok(describing.run()))
    }

    fn lead(&mut self, led: Led) -> (Needs, LeadJob) {
        let leading = self.leading(led);
        let needs = Needs {
            topics: union_of_topics(&leading.members),
            afresh: some_know_more(&leading.members, &self.cluster),
            gather: self.options.gathers && !leading.skip_assignment,
        };
        (needs, Box::new(move |facts| leading.run(&facts)))
    }

    fn joined(&mut self, joined: Joined<'_, Partitions>) -> Change<Partitions, ConsumerNotice> {
        self.in_round = false;
        self.settle_description();
        let outcome = self
            .settle_outcome()
            .filter(|outcome| joined.leads && outcome.generation == joined.generation);
        if !joined.leads {
            self.failures = 0;
        }
        let change = self.take(&joined, outcome);
        // A round that is wanted some day keeps nothing from asking for one now.
        self.asked = change.rejoin.as_ref().is_some_and(|rejoin| rejoin.cause != Cause::Scheduled);
        change
    }
}

/// A protocol name that nobody uses, for bytes that have no room for a nonce: the broker compares the list as well.
///
/// Once there it stays as it is, since taking it away is a change too and costs a round.
#[derive(Debug, Default)]
struct SpareName {
    first_nonce: Option<u64>,
    name: Option<(u64, String)>,
}

impl SpareName {
    fn name(
        &mut self,
        options: &ConsumerOptions,
        joining: &Joining<'_, Partitions>,
    ) -> Option<String> {
        let first = *self.first_nonce.get_or_insert(joining.nonce);
        let known = self.name.as_ref().map_or(first, |(nonce, _)| *nonce);
        if known != joining.nonce {
            // No two members may share it: a third that has only this name would make the group choose it.
            let instance_id = options.group_instance_id.as_ref().map(|id| id.as_str());
            let unique = match joining.member_id.as_str() {
                "" => instance_id.unwrap_or(&options.process),
                id => id,
            };
            self.name = Some((joining.nonce, format!("rejoin-{unique}-{:x}", joining.nonce)));
        }
        self.name.as_ref().map(|(_, name)| name.clone())
    }
}
