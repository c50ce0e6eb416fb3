//! Pure. One member's side of the classic group protocol, without clock, sockets, topics or the application's code.
//!
//! The contract is one sentence: tell the machine something, then do everything that [`Membership::poll_output`]
//! gives out, then sleep no later than [`Membership::poll_timeout`].
//!
//! Inputs come in here (commands) and in `answers`. A round goes through these files: `round` (what must go is given up,
//! what we say is fixed), `join`, `sync` (the leader plans, sooner or later: `settle`; the answer is the plan). Beside it
//! run `heartbeat`, `commits` and `coordinator`; `recover` carries out the error table, `leave` the end, and `events`
//! holds what the application has yet to be told (`progress`: whether it asks).

mod answers;
mod commits;
mod config;
mod coordinator;
mod denied;
mod event;
mod events;
mod heartbeat;
mod jitter;
mod join;
mod leave;
mod output;
mod progress;
mod recover;
mod round;
mod rule;
mod settle;
mod sync;
#[cfg(test)]
mod tests;
mod timers;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

pub(crate) use config::MembershipConfig;
pub use config::{LeavePolicy, OnFenced};
pub(crate) use event::{Ended, Event, RevocationId};
pub use event::{LossCause, MemberState};
pub(crate) use output::{
    CommitEnd, CommitId, Failure, GroupRequest, GroupResponse, Identity, Lane, Output, RequestId,
    Work, WorkId,
};
#[cfg(any(test, feature = "test-util"))]
pub use rule::Rule;
#[cfg(not(any(test, feature = "test-util")))]
use rule::Rule;

use self::commits::Commits;
use self::coordinator::Coordinator;
use self::denied::Denials;
use self::events::Events;
use self::heartbeat::Heartbeats;
use self::jitter::Jitter;
use self::leave::Ending;
use self::recover::OwnFence;
use self::round::{Round, Step, Then};
use self::settle::Settling;
use self::timers::Timers;
use crate::protocol::{Cause, Holding};
use crate::types::{Generation, MemberId};
use crate::wire::ApiKey;

/// A member of a group, as a state machine.
///
/// ```text
///               join()
///  Unjoined ───────────► PreparingRebalance ◄──────────────────────────────────────────────┐
///     ▲                   BeforeJoin, Revoked, commits, Describe                           │
///     │                   JoinGroup ──────► CompletingRebalance                            │ wanted: a heartbeat's
///     │                     ▲   ▲           (leader: Lead) SyncGroup ──────► Stable ───────┤ REBALANCE_IN_PROGRESS,
///     │                     │   └─ rejoin(keep): 27, 14, 16 ┘               Join, Assigned │ rejoin(), a plan's wish
///     │                     └───── Lost: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION ────────────┘
///     └──────────── leave(), close(): Revoked, commits, LeaveGroup ─────────────────── any
/// ```
///
/// Every input ends in `advance`, which does whatever the state allows: that a round is wanted, that a heartbeat is
/// due, that a commit waits, are levels. So no wish is lost because it came at the wrong moment.
#[derive(Debug)]
pub(crate) struct Membership<H> {
    config: MembershipConfig,
    jitter: Jitter,
    last_id: u64,
    timers: Timers,
    outputs: VecDeque<Output<H>>,
    events: Events<H>,

    started: bool,
    identity: Identity,
    /// What the broker chose of the protocols that we offered.
    chosen: Option<String>,
    leader: MemberId,
    role: Role,

    held: H,
    /// The generation in which it was given; none after a loss.
    held_in: Generation,
    ever_held: H,
    /// What of it somebody else commits, and what that will be once the plan is taken up.
    standby: H,
    next_standby: H,

    coordinator: Coordinator,
    /// Lookups since the coordinator last answered as one.
    lookups: u32,
    round: Round<H>,
    settling: Settling<H>,
    heartbeats: Heartbeats,
    commits: Commits<H>,
    fence: OwnFence,
    denials: Denials,

    /// The application does not ask for events.
    stalled: bool,
    ending: Option<Ending>,
    /// A static member's JoinGroup without an id was broken off: the instance id is all we can leave by.
    without_id: bool,
    leave_out: Option<InFlight>,
    ended: Option<Ended>,
    #[cfg(any(test, feature = "test-util"))]
    broken: Option<Rule>,
}

/// What this member is in its generation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Role {
    #[default]
    Follower,
    /// Plans.
    Leader,
    /// Leads, but the plan stands (KIP-814): looks after the group's topics.
    Watcher,
}

/// A request that waits for its answer, and who we were when it was sent.
#[derive(Debug)]
struct InFlight {
    id: RequestId,
    api: ApiKey,
    identity: Identity,
    at: Instant,
}

/// What the member is.
impl<H: Holding> Membership<H> {
    /// A member of no group yet. Jitter and nonces follow from `seed`.
    pub(crate) fn new(config: MembershipConfig, seed: u64) -> Self {
        let mut jitter = Jitter::new(seed);
        let identity =
            Identity { group_instance_id: config.group_instance_id.clone(), ..Identity::default() };
        Self {
            config,
            last_id: 0,
            timers: Timers::default(),
            outputs: VecDeque::new(),
            events: Events::new(),
            started: false,
            identity,
            chosen: None,
            leader: MemberId::default(),
            role: Role::Follower,
            held: H::default(),
            held_in: Generation::NONE,
            ever_held: H::default(),
            standby: H::default(),
            next_standby: H::default(),
            coordinator: Coordinator::Unknown,
            lookups: 0,
            round: Round::new(jitter.next()),
            settling: Settling::new(),
            jitter,
            heartbeats: Heartbeats::default(),
            commits: Commits::new(),
            fence: OwnFence::default(),
            denials: Denials::default(),
            stalled: false,
            ending: None,
            without_id: false,
            leave_out: None,
            ended: None,
            #[cfg(any(test, feature = "test-util"))]
            broken: None,
        }
    }

    /// A member that breaks `rule`, for tests of the tests.
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn without(mut self, rule: Rule) -> Self {
        self.broken = Some(rule);
        self
    }

    /// Where the member stands.
    pub(crate) fn state(&self) -> MemberState {
        match &self.round.step {
            Step::Leading(_) | Step::Syncing | Step::Applying(_) | Step::Confirming { .. } => {
                MemberState::CompletingRebalance
            }
            Step::Revoking(revocation) if !matches!(revocation.then, Then::Join) => {
                MemberState::Stable
            }
            Step::Idle | Step::Leaving if self.identity.generation.is_some() => MemberState::Stable,
            Step::Idle | Step::Leaving => MemberState::Unjoined,
            _ => MemberState::PreparingRebalance,
        }
    }

    pub(crate) fn generation(&self) -> Generation {
        self.identity.generation
    }

    pub(crate) fn member_id(&self) -> &MemberId {
        &self.identity.member_id
    }

    /// The protocol that the broker chose, once it did.
    pub(crate) fn protocol(&self) -> Option<&str> {
        self.chosen.as_deref()
    }

    pub(crate) fn leader(&self) -> &MemberId {
        &self.leader
    }

    /// Whether this member leads its generation, be it only to look after the group's topics.
    pub(crate) fn is_leader(&self) -> bool {
        self.role != Role::Follower
    }

    /// What is held: neither released nor lost.
    pub(crate) fn held(&self) -> &H {
        &self.held
    }

    /// Until when the revocation under way must be released.
    #[cfg(test)]
    pub(crate) fn revocation_deadline(&self) -> Option<Instant> {
        match &self.round.step {
            Step::Revoking(revocation) => Some(revocation.deadline),
            _ => None,
        }
    }

    /// How the membership ended; its events may still be waiting for the application.
    pub(crate) fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }
}

/// What the application wants.
impl<H: Holding> Membership<H> {
    /// Joins the group.
    pub(crate) fn join(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.started, true) {
            self.want(Cause::FirstJoin);
        }
        self.advance(now);
    }

    /// What a revocation named has been given up.
    pub(crate) fn release(&mut self, now: Instant, id: RevocationId) {
        self.on_release(now, id);
        self.advance(now);
    }

    /// Asks for a round, with other bytes than the last one's.
    pub(crate) fn rejoin(&mut self, now: Instant, cause: Cause) {
        self.ask(cause);
        self.advance(now);
    }

    /// Asks for a round in a while, unless one begins before: for what any round puts right.
    pub(crate) fn rejoin_later(&mut self, now: Instant, cause: Cause, wait: Duration) {
        self.schedule(now, cause, wait);
        self.advance(now);
    }

    /// Commits; ends in one or more `CommitEnded`, whose items together are these.
    pub(crate) fn commit(&mut self, now: Instant, id: CommitId, items: H) {
        self.on_commit(now, id, items);
        self.advance(now);
    }

    /// Ends the membership by leaving the group, static or not; `deadline` bounds it.
    pub(crate) fn leave(&mut self, now: Instant, reason: Option<String>, deadline: Instant) {
        self.begin_ending(now, true, reason, deadline);
        self.advance(now);
    }

    /// Ends the membership as the leave policy says; `deadline` bounds it.
    pub(crate) fn close(&mut self, now: Instant, deadline: Instant) {
        self.on_close(now, deadline);
        self.advance(now);
    }

    /// The application took the event that was given out last. An event that is given out before the last one was
    /// taken *replaces* it, so this must be said before the next input that comes after the taking.
    pub(crate) fn delivered(&mut self, now: Instant) {
        self.on_delivered(now);
        self.advance(now);
    }

    /// The application asks for events.
    pub(crate) fn waiting(&mut self, now: Instant) {
        self.resume();
        self.advance(now);
    }
}

/// What is to be done.
impl<H: Holding> Membership<H> {
    /// The next thing to do; events come last.
    #[must_use]
    pub(crate) fn poll_output(&mut self) -> Option<Output<H>> {
        self.outputs.pop_front().or_else(|| self.events.give().map(Output::Event))
    }

    /// When to call `handle_timeout`, if ever.
    #[must_use]
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// Does whatever can be done now.
    fn advance(&mut self, now: Instant) {
        if self.ended.is_some() || !self.started && self.ending.is_none() {
            return;
        }
        self.advance_coordinator();
        match self.ending {
            Some(_) => self.advance_ending(now),
            None => while self.advance_round(now) {},
        }
        self.advance_commits(now);
        self.advance_heartbeats(now);
    }

    fn in_flight(&mut self, now: Instant, api: ApiKey) -> InFlight {
        InFlight { id: self.next_request(), api, identity: self.identity.clone(), at: now }
    }

    fn next_request(&mut self) -> RequestId {
        RequestId(self.next_id())
    }

    fn next_work(&mut self) -> WorkId {
        WorkId(self.next_id())
    }

    fn next_id(&mut self) -> u64 {
        self.last_id = self.last_id.wrapping_add(1);
        self.last_id
    }

    #[cfg(any(test, feature = "test-util"))]
    fn keeps(&self, rule: Rule) -> bool {
        self.broken != Some(rule)
    }

    /// Only tests can break a rule.
    #[cfg(not(any(test, feature = "test-util")))]
    #[expect(clippy::unused_self, reason = "tests look at it")]
    const fn keeps(&self, _rule: Rule) -> bool {
        true
    }
}
