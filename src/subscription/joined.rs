//! What an assignment changes, and whether another round is needed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::embedded::Assignment;
use super::envelope::Down;
use super::hash::of_partitions;
use super::notice::ConsumerNotice;
use super::outcome::{Outcome, in_peace};
use super::protocol::{ConsumerProtocol, PlanSeen};
use super::sticky::StickyClaim;
use super::watch::Watch;
use crate::protocol::{Cause, Change, Joined, Rejoin};
use crate::types::Partitions;

/// Members that must all come back do so over a moment: the first one calls the others.
const FOLLOW_UP_SPREAD: Duration = Duration::from_millis(50);

/// How many complaints are remembered; the oldest are made again.
const MOST_COMPLAINTS: usize = 64;

impl ConsumerProtocol {
    /// Applies an assignment: our own leader's, another client's, or nobody's.
    pub(super) fn take(
        &mut self,
        joined: &Joined<'_, Partitions>,
        outcome: Option<Outcome>,
    ) -> Change<Partitions, ConsumerNotice> {
        let assignment = match Assignment::decode(joined.assignment.clone()) {
            Ok(assignment) => assignment,
            Err(error) => return self.take_nothing(joined, outcome, &error.to_string()),
        };
        let down = down_of(&assignment, joined);
        self.last_plan = down.as_ref().map(plan_seen);

        let mut wanted = assignment.partitions;
        let all = wanted.clone();
        wanted.retain(|topic, _| self.selection.wants(topic));
        let unwanted = all.difference(&wanted);
        let revoke = joined.held.difference(&wanted);
        let add = wanted.difference(joined.held);
        let standbys = down.as_ref().map(|down| down.standbys.among(&wanted)).unwrap_or_default();
        self.standbys = standbys;
        self.prior =
            Some(StickyClaim { partitions: (&wanted).into(), generation: joined.generation });

        let notices = self.notices(down.as_ref(), &unwanted, outcome.as_ref());
        let planned = outcome.as_ref().is_some_and(|outcome| !outcome.skipped);
        self.watch = self.watch_after(joined, down.as_ref(), outcome);
        let leaders = down.as_ref().filter(|_| joined.leads);
        let rejoin = self
            .rejoin(joined, down.as_ref(), &unwanted, &revoke)
            .or_else(|| leaders_rejoin(leaders?, planned));
        Change {
            revoke,
            add,
            standby: self.standbys.clone(),
            rejoin,
            heartbeat_interval: down.as_ref().and_then(|down| interval(down.group_size)),
            hurried_interval: down.filter(|down| down.second_round).map(hurried_interval),
            notices,
        }
    }

    /// Bytes that cannot be read say nothing: what is held stays.
    fn take_nothing(
        &mut self,
        joined: &Joined<'_, Partitions>,
        outcome: Option<Outcome>,
        error: &str,
    ) -> Change<Partitions, ConsumerNotice> {
        let mut notices = vec![ConsumerNotice::UnreadableAssignment(error.into())];
        notices.extend(self.notices(None, &Partitions::new(), outcome.as_ref()));
        self.last_plan = None;
        self.watch = self.watch_after(joined, None, outcome);
        Change {
            revoke: Partitions::new(),
            add: Partitions::new(),
            standby: self.standbys.clone(),
            rejoin: None,
            heartbeat_interval: None,
            hurried_interval: None,
            notices,
        }
    }

    fn notices(
        &mut self,
        down: Option<&Down>,
        unwanted: &Partitions,
        outcome: Option<&Outcome>,
    ) -> Vec<ConsumerNotice> {
        let mut notices = self.take_description_notices();
        if let Some(failure) = down.and_then(|down| down.failure.as_ref()) {
            let (by, message) = (Arc::clone(&failure.by), Arc::clone(&failure.message));
            notices.push(ConsumerNotice::AssignFailed { by, message });
        }
        if let Some(told) = down.and_then(|down| down.told.as_ref()) {
            notices.push(ConsumerNotice::Told(told.clone()));
        }
        if !unwanted.is_empty() {
            notices.push(ConsumerNotice::Unwanted(unwanted.clone()));
        }
        notices.extend(outcome.into_iter().flat_map(|outcome| outcome.notices.iter().cloned()));
        notices.extend(self.said.changes(&self.selection, &self.cluster));
        notices
    }

    /// What to look after from now on, and what the plan knew of it.
    fn watch_after(
        &self,
        joined: &Joined<'_, Partitions>,
        down: Option<&Down>,
        outcome: Option<Outcome>,
    ) -> Watch {
        // Without the leader's word our own view stands in: what grows from now on is news.
        let mut planned = self.counts_now(&self.described.topics);
        planned.extend(outcome.map(|outcome| outcome.counts).unwrap_or_default());
        planned.extend(self.counts_planned_on(joined.protocol, down));
        Watch::new(planned, joined.leads, self.selection.is_pattern())
    }

    /// The leader's word, where both sides mean the same topics.
    fn counts_planned_on(&self, protocol: &str, down: Option<&Down>) -> BTreeMap<Arc<str>, u32> {
        let topics = &self.described.topics;
        let counts = down
            .filter(|down| down.planned_on == self.described.hash(protocol))
            .and_then(|down| down.counts.as_ref())
            .filter(|counts| counts.len() == topics.len());
        topics.iter().map(Arc::clone).zip(counts.into_iter().flatten().copied()).collect()
    }

    fn rejoin(
        &mut self,
        joined: &Joined<'_, Partitions>,
        down: Option<&Down>,
        unwanted: &Partitions,
        revoke: &Partitions,
    ) -> Option<Rejoin> {
        let at_once = |cause| Some(Rejoin { cause, after: Duration::ZERO });
        if self.was_planned_on_other(joined.protocol, down) {
            return at_once(Cause::PlannedOnOther);
        }
        if self.resubscribed {
            return at_once(Cause::SubscriptionChanged);
        }
        if !unwanted.is_empty() && self.complain_of(joined.protocol, unwanted) {
            return at_once(Cause::UnwantedAssignment);
        }
        // An envelope says whether somebody waits for what is given up, also by who gave it up when it restarted: a
        // static member is handed its old part again. Without one, somebody may.
        let is_waited_for = down.map_or(!revoke.is_empty(), |down| down.follow_up);
        if self.is_cooperative() && is_waited_for {
            // Not at once: who has not synced yet would be told to join instead, and not hear what it has to give up.
            let after = FOLLOW_UP_SPREAD.mul_f64(self.jitter());
            return Some(Rejoin { cause: Cause::FollowUp, after });
        }
        self.growth()
    }

    /// A static member that restarted with other metadata is handed the plan that was made on the old one
    /// (KAFKA-12759). It asks for one round, and never twice for the same difference.
    fn was_planned_on_other(&mut self, protocol: &str, down: Option<&Down>) -> bool {
        let pair = down.and_then(|down| down.planned_on).zip(self.described.hash(protocol));
        pair.is_some_and(|(theirs, ours)| theirs != ours && self.complain(theirs, ours))
    }

    fn complain_of(&mut self, protocol: &str, unwanted: &Partitions) -> bool {
        let ours = self.described.hash(protocol).unwrap_or_default();
        let mut topics = Partitions::new();
        unwanted.by_topic().for_each(|(topic, _)| topics.insert_all(topic, [0]));
        self.complain(of_partitions(&topics), ours)
    }

    /// Whether this is the first time.
    fn complain(&mut self, theirs: u64, ours: u64) -> bool {
        if self.complaints.contains(&(theirs, ours)) {
            return false;
        }
        self.complaints.truncate(MOST_COMPLAINTS - 1);
        self.complaints.push_front((theirs, ours));
        true
    }
}

/// The leader's envelope, if it is one of this crate and meant for this generation: Sarama carries old ones on, and
/// librdkafka hands members their own.
fn down_of(assignment: &Assignment, joined: &Joined<'_, Partitions>) -> Option<Down> {
    let down = Down::decode(assignment.user_data.as_ref()?).ok()?;
    (down.generation == joined.generation).then_some(down)
}

fn plan_seen(down: &Down) -> PlanSeen {
    PlanSeen {
        generation: down.generation,
        leader: Arc::clone(&down.leader),
        digest: down.digest,
        group_size: down.group_size,
    }
}

/// A leader that restarted finds in its own envelope what it would otherwise have forgotten.
fn leaders_rejoin(down: &Down, planned: bool) -> Option<Rejoin> {
    if down.failure.is_some() && !planned {
        return Some(Rejoin { cause: Cause::PlanFailed, after: Duration::from_secs(1) });
    }
    Some(Rejoin { cause: Cause::Scheduled, after: in_peace(down.rebalance_after?) })
}

/// A coordinator has a thousand members to answer as often as ten, so large groups beat more slowly.
fn interval(group_size: u32) -> Option<Duration> {
    let (shortest, longest) = (Duration::from_millis(300), Duration::from_secs(3));
    let interval = Duration::from_millis(5).saturating_mul(group_size).clamp(shortest, longest);
    (group_size > 0).then_some(interval)
}

/// The same, while a second round is expected: what moves stands still until the last member has heard of it.
fn hurried_interval(down: Down) -> Duration {
    let (shortest, longest) = (Duration::from_millis(50), Duration::from_secs(1));
    (Duration::from_micros(500).saturating_mul(down.group_size)).clamp(shortest, longest)
}
