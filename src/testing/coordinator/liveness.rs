//! Who is alive: heartbeats, and the timers of members and of the phases of a rebalance.

use std::time::Instant;

use crate::types::MemberId;
use crate::wire::ErrorCode;
use crate::wire::api::HeartbeatRequest;

use super::context::Context;
use super::group::{Group, GroupState, JoinTimer};

impl Group {
    pub(super) fn on_heartbeat(
        &mut self,
        context: &Context<'_>,
        request: &HeartbeatRequest,
    ) -> ErrorCode {
        let (id, instance_id) = (&request.member_id, request.group_instance_id.as_ref());
        if let Err(error) = self.validate_generation(id, instance_id, request.generation) {
            return error;
        }
        self.renew_session(context, id);
        match self.state {
            GroupState::Empty => ErrorCode::UnknownMemberId,
            GroupState::PreparingRebalance => ErrorCode::RebalanceInProgress,
            GroupState::CompletingRebalance | GroupState::Stable => ErrorCode::None,
        }
    }

    pub(super) fn renew_session(&mut self, context: &Context<'_>, id: &MemberId) {
        if let Some(member) = self.members.get_mut(id) {
            member.renew_session(context.now);
        }
    }

    /// When the group's next timer runs out.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let sessions = self.members.values().filter_map(|member| member.session_ends);
        let ids = self.pending_ids.values().copied();
        let phases = self.join_timer.as_ref().map(JoinTimer::at).into_iter().chain(self.sync_timer);
        sessions.chain(ids).chain(phases).min()
    }

    /// Does what is due, the oldest first.
    pub(super) fn on_timeout(&mut self, context: &mut Context<'_>) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= context.now) {
            if self.join_timer.as_ref().is_some_and(|timer| timer.at() == at) {
                self.on_join_timer(context);
            } else if self.sync_timer == Some(at) {
                self.on_sync_timer(context);
            } else {
                self.on_session_end(context, at);
            }
        }
    }

    /// Members that owe a SyncGroup since the rebalance timeout are out, and it does not matter that they heartbeat.
    ///
    /// A static member that was replaced meanwhile owes it under its old id: nobody is removed then, but there is a
    /// rebalance.
    fn on_sync_timer(&mut self, context: &mut Context<'_>) {
        self.sync_timer = None;
        let late: Vec<_> = self.pending_sync.iter().cloned().collect();
        if late.is_empty() {
            return;
        }
        for id in &late {
            self.remove(context, id);
        }
        self.prepare_rebalance(context);
    }

    fn on_session_end(&mut self, context: &mut Context<'_>, at: Instant) {
        if let Some(id) =
            self.pending_ids.iter().find(|(_, until)| **until == at).map(|(id, _)| id.clone())
        {
            self.pending_ids.remove(&id);
            return self.try_complete_join(context);
        }
        let Some(member) = self.members.values_mut().find(|member| member.session_ends == Some(at))
        else {
            return;
        };
        member.session_ends = None;
        if member.is_waiting() {
            return;
        }
        let id = member.id.clone();
        self.expel(context, &id);
        if self.state != GroupState::Empty {
            self.rebalance(context);
        }
    }
}
