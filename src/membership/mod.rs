//! Pure. One member's side of the classic group protocol, without clock, sockets, topics or the application's code.
//!
//! The contract is one sentence: tell the machine something, then do everything that [`Membership::poll_output`]
//! gives out, then sleep no later than [`Membership::poll_timeout`].

mod config;
mod event;
mod output;

use std::time::Instant;

use bytes::Bytes;

pub(crate) use config::{LeavePolicy, MembershipConfig};
pub(crate) use event::{Ended, Event, LossCause, MemberState, RevocationId};
pub(crate) use output::{
    CommitEnd, CommitId, Failure, GroupRequest, GroupResponse, Identity, Lane, Output, RequestId,
    Work, WorkId,
};

use crate::protocol::{Cause, Change, Holding, JobError, Plan};
use crate::types::{Generation, MemberId};

/// A member of a group, as a state machine.
#[derive(Debug)]
pub(crate) struct Membership<H> {
    config: MembershipConfig,
    held: H,
    member_id: MemberId,
}

// Signatures first: the driver is written against them.

impl<H: Holding> Membership<H> {
    /// A member of no group yet. Jitter and nonces follow from `seed`.
    pub(crate) fn new(config: MembershipConfig, _seed: u64) -> Self {
        Self { config, held: H::default(), member_id: MemberId::default() }
    }

    // Getters.

    /// Where the member stands.
    pub(crate) fn state(&self) -> MemberState {
        MemberState::Unjoined
    }
    pub(crate) fn generation(&self) -> Generation {
        Generation::NONE
    }
    pub(crate) fn member_id(&self) -> &MemberId {
        &self.member_id
    }
    /// The protocol that the broker chose, once it did.
    pub(crate) fn protocol(&self) -> Option<&str> {
        None
    }
    pub(crate) fn leader(&self) -> &MemberId {
        &self.member_id
    }
    pub(crate) fn is_leader(&self) -> bool {
        false
    }
    /// What is held: told as assigned, and neither released nor lost.
    pub(crate) fn held(&self) -> &H {
        &self.held
    }
    /// Until when what is held is surely ours.
    pub(crate) fn owned_until(&self) -> Option<Instant> {
        None
    }
    /// Until when the revocation under way must be released.
    pub(crate) fn revocation_deadline(&self) -> Option<Instant> {
        None
    }
    /// How the membership ended; its events may still be waiting for the application.
    pub(crate) fn ended(&self) -> Option<&Ended> {
        None
    }

    // Commands.

    /// Joins the group.
    pub(crate) fn join(&mut self, _now: Instant) {}
    /// The application (or whoever holds it for it) has given up a revocation.
    pub(crate) fn release(&mut self, _now: Instant, _id: RevocationId) {}
    /// Asks for a round, with other bytes than the last one's.
    pub(crate) fn rejoin(&mut self, _now: Instant, _cause: Cause) {}
    /// Commits; ends in one or more `CommitEnded`, whose items together are these.
    pub(crate) fn commit(&mut self, _now: Instant, _id: CommitId, _items: H) {}
    /// Ends the membership by leaving the group, static or not; `deadline` bounds it.
    pub(crate) fn leave(&mut self, _now: Instant, _reason: Option<String>, _deadline: Instant) {}
    /// Ends the membership as the leave policy says; `deadline` bounds it.
    pub(crate) fn close(&mut self, _now: Instant, _deadline: Instant) {}
    /// The application took the event that was given out last. An event that is given out before the last one was
    /// delivered *replaces* it, so this must be said before the next input after the event was taken.
    pub(crate) fn delivered(&mut self, _now: Instant) {}
    /// The application asks for events.
    pub(crate) fn waiting(&mut self, _now: Instant) {}

    // Results of what was given out.

    /// `Err(Failure::Refused(code))` where FindCoordinator was answered with an error.
    pub(crate) fn handle_coordinator(
        &mut self,
        _now: Instant,
        _id: RequestId,
        _found: Result<(), Failure>,
    ) {
    }
    pub(crate) fn handle_response(
        &mut self,
        _now: Instant,
        _id: RequestId,
        _answer: Result<GroupResponse, Failure>,
    ) {
    }
    pub(crate) fn handle_release_wanted(&mut self, _now: Instant, _id: WorkId, _wanted: H) {}
    pub(crate) fn handle_described(
        &mut self,
        _now: Instant,
        _id: WorkId,
        _described: Result<Vec<(String, Bytes)>, JobError>,
    ) {
    }
    pub(crate) fn handle_planned(
        &mut self,
        _now: Instant,
        _id: WorkId,
        _planned: Result<Plan, JobError>,
    ) {
    }
    /// The change's notices are not for the machine: take them out first.
    pub(crate) fn handle_change<N>(&mut self, _now: Instant, _id: WorkId, _change: Change<H, N>) {}
    pub(crate) fn handle_timeout(&mut self, _now: Instant) {}

    // What is to be done.

    pub(crate) fn poll_output(&mut self) -> Option<Output<H>> {
        None
    }
    /// When to call `handle_timeout`, if ever.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
