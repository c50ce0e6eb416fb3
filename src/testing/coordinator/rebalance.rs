//! A rebalance: how it begins, who is waited for, how it ends.

use std::time::Duration;

use bytes::Bytes;

use crate::types::{Generation, MemberId};
use crate::wire::ErrorCode;
use crate::wire::api::{JoinGroupResponse, JoinedMember, SyncGroupResponse};

use super::context::{Context, Parked};
use super::group::{Group, GroupState, JoinTimer};
use super::request::ResponseBody;

impl Group {
    /// Something changed: a rebalance begins, or the one that is on may be able to end.
    pub(super) fn rebalance(&mut self, context: &mut Context<'_>) {
        match self.state {
            GroupState::PreparingRebalance => self.try_complete_join(context),
            _ => self.prepare_rebalance(context),
        }
    }

    pub(super) fn prepare_rebalance(&mut self, context: &mut Context<'_>) {
        if self.state == GroupState::CompletingRebalance {
            self.drop_assignments(context, ErrorCode::RebalanceInProgress);
        }
        self.pending_sync.clear();
        self.sync_timer = None;
        let initial = self.state == GroupState::Empty;
        self.enter(GroupState::PreparingRebalance);
        if initial {
            let delay = context.settings.initial_rebalance_delay;
            let left = self.rebalance_timeout().saturating_sub(delay);
            self.join_timer = Some(JoinTimer::Initial { at: context.now + delay, delay, left });
        } else if self.all_have_joined() {
            self.complete_join(context);
        } else {
            self.wait_for_joins(context);
        }
    }

    /// The initial rebalance is ended by its timer alone.
    pub(super) fn try_complete_join(&mut self, context: &mut Context<'_>) {
        let initial = self.previous_state == GroupState::Empty;
        if self.state == GroupState::PreparingRebalance && !initial && self.all_have_joined() {
            self.complete_join(context);
        }
    }

    fn wait_for_joins(&mut self, context: &Context<'_>) {
        // A rebalance timeout of zero is legal; time must pass all the same while nobody comes.
        let timeout = self.rebalance_timeout().max(Duration::from_millis(1));
        self.join_timer = Some(JoinTimer::Rebalance { at: context.now + timeout });
    }

    /// The join phase has lasted as long as it may.
    pub(super) fn on_join_timer(&mut self, context: &mut Context<'_>) {
        match self.join_timer.take() {
            Some(JoinTimer::Initial { delay, left, .. })
                if self.new_member_added && !left.is_zero() =>
            {
                self.new_member_added = false;
                let next = delay.min(left);
                let left = left.saturating_sub(delay);
                self.join_timer =
                    Some(JoinTimer::Initial { at: context.now + next, delay: next, left });
            }
            Some(_) => self.complete_join(context),
            None => {}
        }
    }

    /// Whoever is here makes the next generation. Static members are kept though they be absent.
    fn complete_join(&mut self, context: &mut Context<'_>) {
        self.join_timer = None;
        let absent = |id: &MemberId| {
            let member = self.members.get(id);
            member.is_some_and(|member| {
                member.awaiting_join.is_none() && member.instance_id.is_none()
            })
        };
        for id in self.members.keys().filter(|id| absent(id)).cloned().collect::<Vec<_>>() {
            self.remove(context, &id);
        }
        if !self.members.is_empty() && !self.elect_joined_leader(context) {
            return self.wait_for_joins(context);
        }
        self.generation += 1;
        self.pending_sync.clear();
        if self.members.is_empty() {
            self.protocol = None;
            self.enter(GroupState::Empty);
            self.record = self.to_record(|_| Bytes::new());
            return;
        }
        // Where somebody cannot vote, having named a protocol twice, Kafka trips here and the group hangs for ever.
        let Some(protocol) = self.vote(context) else { return };
        self.protocol = Some(protocol);
        self.enter(GroupState::CompletingRebalance);
        self.answer_joins(context);
        self.sync_timer = Some(context.now + self.rebalance_timeout());
    }

    /// Every session starts afresh and every member owes a SyncGroup, absent ones too.
    fn answer_joins(&mut self, context: &mut Context<'_>) {
        for id in self.members.keys().cloned().collect::<Vec<_>>() {
            let response = self.joined(&id);
            let Some(member) = self.members.get_mut(&id) else { continue };
            member.renew_session(context.now);
            member.is_new = false;
            if let Some(parked) = member.awaiting_join.take() {
                context.answer(parked, ResponseBody::JoinGroup(response));
            }
            self.pending_sync.insert(id);
        }
    }

    /// The leader stays if it has joined, else any that has. False if nobody has.
    fn elect_joined_leader(&mut self, context: &Context<'_>) -> bool {
        let joined = |id: &&MemberId| {
            self.members.get(id).is_some_and(|member| member.awaiting_join.is_some())
        };
        if self.leader.as_ref().filter(joined).is_some() {
            return true;
        }
        let elected =
            self.members.keys().filter(joined).min_by_key(|id| context.rank(id.as_str())).cloned();
        if elected.is_some() {
            self.leader.clone_from(&elected);
        }
        elected.is_some()
    }

    /// What a member is told of the current generation; only the leader is told who is in it.
    pub(super) fn joined(&self, id: &MemberId) -> JoinGroupResponse {
        let members = match self.is_leader(id) {
            true => self.joined_members(),
            false => Vec::new(),
        };
        JoinGroupResponse {
            generation: Generation(self.generation),
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader: self.leader.clone().unwrap_or_default(),
            member_id: id.clone(),
            members,
            ..JoinGroupResponse::default()
        }
    }

    fn joined_members(&self) -> Vec<JoinedMember> {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let members = self.members.values().map(|member| JoinedMember {
            member_id: member.id.clone(),
            group_instance_id: member.instance_id.as_ref().map(|id| id.as_str().to_owned()),
            metadata: member.metadata(protocol),
        });
        members.collect()
    }

    /// A member is out, by expiry or by LeaveGroup. Its JoinGroup is answered, its SyncGroup never.
    pub(super) fn expel(&mut self, context: &mut Context<'_>, id: &MemberId) {
        let removed = self.remove(context, id);
        if let Some(parked) = removed.and_then(|member| member.awaiting_join) {
            refuse_join(context, parked, MemberId::default(), ErrorCode::UnknownMemberId);
        }
    }

    /// Every parked request is answered with an error: the coordinator gives the group up.
    pub(super) fn answer_all(&mut self, context: &mut Context<'_>, error: ErrorCode) {
        for member in self.members.values_mut() {
            if let Some(parked) = member.awaiting_join.take() {
                refuse_join(context, parked, member.id.clone(), error);
            }
            if let Some(parked) = member.awaiting_sync.take() {
                let response = SyncGroupResponse { error, ..SyncGroupResponse::default() };
                context.answer(parked, ResponseBody::SyncGroup(response));
            }
        }
    }
}

/// A JoinGroup is answered with an error.
pub(super) fn refuse_join(
    context: &mut Context<'_>,
    parked: Parked,
    member_id: MemberId,
    error: ErrorCode,
) {
    let response = JoinGroupResponse { error, member_id, ..JoinGroupResponse::default() };
    context.answer(parked, ResponseBody::JoinGroup(response));
}
