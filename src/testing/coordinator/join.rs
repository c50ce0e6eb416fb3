//! JoinGroup: new members and those that come again. Restarts of static members are in `replace`.

use crate::types::MemberId;
use crate::wire::ErrorCode;
use crate::wire::api::JoinGroupRequest;

use super::context::{Caller, Context};
use super::group::{Group, GroupState};
use super::member::Member;
use super::rebalance::refuse_join;
use super::request::ResponseBody;

/// From this version on a first join is answered with an id alone (KIP-394).
const FIRST_WITH_GIVEN_ID: i16 = 4;

impl Group {
    pub(super) fn on_join(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        request: &JoinGroupRequest,
    ) {
        let id = &request.member_id;
        if !self.has_room_for(context, id) {
            self.remove(context, id);
            return refuse_join(
                context,
                caller.parked,
                MemberId::default(),
                ErrorCode::GroupMaxSizeReached,
            );
        }
        // Before anything else about the joiner: an incompatible one learns neither that its id is unknown nor a new
        // one.
        if !self.admits(&request.protocol_type, &request.protocols) {
            return refuse_join(
                context,
                caller.parked,
                id.clone(),
                ErrorCode::InconsistentGroupProtocol,
            );
        }
        match id.is_empty() {
            true => self.join_without_id(context, caller, request),
            false => self.join_with_id(context, caller, request),
        }
    }

    /// `group.max.size`. During a join phase it is counted against those that wait, so a member that comes last may
    /// find no room.
    fn has_room_for(&self, context: &Context<'_>, id: &MemberId) -> bool {
        let max_size = context.settings.max_size;
        match self.state {
            GroupState::Empty => true,
            GroupState::PreparingRebalance => {
                let waits =
                    self.members.get(id).is_some_and(|member| member.awaiting_join.is_some());
                waits || self.awaiting_join() < max_size
            }
            _ => self.members.contains_key(id) || self.members.len() < max_size,
        }
    }

    fn join_without_id(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        request: &JoinGroupRequest,
    ) {
        let instance_id = request.group_instance_id.as_ref();
        let new_id = context.new_member_id(caller, instance_id);
        match instance_id.map(|instance_id| self.static_members.get(instance_id).cloned()) {
            Some(Some(old_id)) => self.replace(context, caller, request, &old_id, new_id),
            None if caller.version >= FIRST_WITH_GIVEN_ID => {
                self.pending_ids.insert(new_id.clone(), context.now + request.session_timeout);
                refuse_join(context, caller.parked, new_id, ErrorCode::MemberIdRequired);
            }
            _ => self.add_then_rebalance(context, caller, request, new_id),
        }
    }

    fn join_with_id(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        request: &JoinGroupRequest,
    ) {
        let id = &request.member_id;
        if self.pending_ids.contains_key(id) {
            return match request.group_instance_id {
                // Kafka trips over its own invariant here.
                Some(_) => {
                    let nobody = MemberId::default();
                    refuse_join(context, caller.parked, nobody, ErrorCode::UnknownServerError)
                }
                None => self.add_then_rebalance(context, caller, request, id.clone()),
            };
        }
        if let Err(error) = self.validate(id, request.group_instance_id.as_ref()) {
            return refuse_join(context, caller.parked, id.clone(), error);
        }
        let unchanged =
            self.members.get(id).is_some_and(|member| member.protocols == request.protocols);
        match self.state {
            GroupState::Empty => {
                refuse_join(context, caller.parked, id.clone(), ErrorCode::UnknownMemberId)
            }
            GroupState::CompletingRebalance if unchanged => self.answer_as_is(context, caller, id),
            GroupState::Stable if unchanged && !self.is_leader(id) => {
                self.answer_as_is(context, caller, id)
            }
            _ => self.update_then_rebalance(context, caller, request, id),
        }
    }

    /// Nothing is stored, and the session goes on as it was.
    fn answer_as_is(&self, context: &mut Context<'_>, caller: &Caller, id: &MemberId) {
        context.answer(caller.parked, ResponseBody::JoinGroup(self.joined(id)));
    }

    fn add_then_rebalance(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        request: &JoinGroupRequest,
        id: MemberId,
    ) {
        if self.state == GroupState::PreparingRebalance && self.previous_state == GroupState::Empty
        {
            self.new_member_added = true;
        }
        let mut member = Member::new(id, caller.client_id.clone(), request);
        member.awaiting_join = Some(caller.parked);
        member.session_ends = Some(context.now + context.settings.new_member_timeout);
        self.add(member, &request.protocol_type);
        self.rebalance(context);
    }

    /// A JoinGroup that was parked before is forgotten without an answer.
    fn update_then_rebalance(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        request: &JoinGroupRequest,
        id: &MemberId,
    ) {
        if let Some(member) = self.members.get_mut(id) {
            member.update(request);
            member.awaiting_join = Some(caller.parked);
        }
        self.rebalance(context);
    }
}
