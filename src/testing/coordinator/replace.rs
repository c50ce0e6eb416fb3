//! A static member restarts: it joins without a member id, under an instance id that the group knows (KIP-345).

use crate::types::{Generation, MemberId};
use crate::wire::ErrorCode;
use crate::wire::api::{JoinGroupRequest, JoinGroupResponse, SyncGroupResponse};

use super::context::{Caller, Context};
use super::group::{Group, GroupState};
use super::member::Member;
use super::rebalance::refuse_join;
use super::request::ResponseBody;

/// From this version on a restarted leader is told that it leads, and that the plan stands (KIP-814).
const FIRST_WITH_SKIP_ASSIGNMENT: i16 = 9;

impl Group {
    /// The new id takes over the old one's assignment and leadership, and the old one is fenced.
    pub(super) fn replace(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        request: &JoinGroupRequest,
        old_id: &MemberId,
        new_id: MemberId,
    ) {
        let leader_before = self.leader.clone().unwrap_or_default();
        let Some(old) = self.rename(context, old_id, &new_id) else { return };
        if let Some(member) = self.members.get_mut(&new_id) {
            // The first session still has the old length: the timer is set before the request is looked at.
            member.renew_session(context.now);
            member.update(request);
            member.awaiting_join = Some(caller.parked);
        }
        let unchanged = self.state == GroupState::Stable && self.vote(context) == self.protocol;
        match unchanged {
            true => self.answer_replacement(context, caller, leader_before, old, new_id),
            false => self.rebalance(context),
        }
    }

    /// Moves a static member to another id, and fences whoever waits under the old one.
    fn rename(
        &mut self,
        context: &mut Context<'_>,
        old_id: &MemberId,
        new_id: &MemberId,
    ) -> Option<Member> {
        let old = self.members.remove(old_id)?;
        let mut new = old.clone();
        new.id = new_id.clone();
        new.is_new = false;
        (new.awaiting_join, new.awaiting_sync) = (None, None);
        if let Some(parked) = old.awaiting_join {
            refuse_join(context, parked, old_id.clone(), ErrorCode::FencedInstanceId);
        }
        if let Some(parked) = old.awaiting_sync {
            let error = ErrorCode::FencedInstanceId;
            let response = SyncGroupResponse { error, ..SyncGroupResponse::default() };
            context.answer(parked, ResponseBody::SyncGroup(response));
        }
        if self.is_leader(old_id) {
            self.leader = Some(new_id.clone());
        }
        if let Some(instance_id) = &new.instance_id {
            self.static_members.insert(instance_id.clone(), new_id.clone());
        }
        self.members.insert(new_id.clone(), new);
        Some(old)
    }

    /// The generation stands, whatever the metadata say now (KAFKA-12759).
    fn answer_replacement(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        leader_before: MemberId,
        old: Member,
        new_id: MemberId,
    ) {
        let record = self.to_record(|member| member.assignment.clone());
        if record.size(&self.id) > context.settings.max_record_size {
            return self.undo_replacement(context, caller, leader_before, old, &new_id);
        }
        self.record = record;
        let mut response = self.joined(&new_id);
        match caller.version >= FIRST_WITH_SKIP_ASSIGNMENT {
            true => response.skip_assignment = self.is_leader(&new_id),
            false => {
                response.leader = leader_before;
                response.members.clear();
            }
        }
        if let Some(member) = self.members.get_mut(&new_id) {
            member.awaiting_join = None;
        }
        context.answer(caller.parked, ResponseBody::JoinGroup(response));
    }

    fn undo_replacement(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        leader_before: MemberId,
        mut old: Member,
        new_id: &MemberId,
    ) {
        self.members.remove(new_id);
        (old.awaiting_join, old.awaiting_sync) = (None, None);
        old.renew_session(context.now);
        if let Some(instance_id) = &old.instance_id {
            self.static_members.insert(instance_id.clone(), old.id.clone());
        }
        self.members.insert(old.id.clone(), old);
        self.leader = Some(leader_before.clone());
        let response = JoinGroupResponse {
            error: ErrorCode::UnknownServerError,
            generation: Generation(self.generation),
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader: leader_before,
            ..JoinGroupResponse::default()
        };
        context.answer(caller.parked, ResponseBody::JoinGroup(response));
    }
}
