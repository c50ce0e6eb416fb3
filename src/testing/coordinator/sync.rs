//! SyncGroup: the plan up, its parts down.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::types::MemberId;
use crate::wire::ErrorCode;
use crate::wire::api::{SyncGroupRequest, SyncGroupResponse};

use super::context::{Caller, Context, Parked};
use super::group::{Group, GroupState};
use super::request::ResponseBody;

/// From this version on type and name of the protocol are said.
const FIRST_WITH_PROTOCOL: i16 = 5;

impl Group {
    pub(super) fn on_sync(
        &mut self,
        context: &mut Context<'_>,
        caller: &Caller,
        request: &SyncGroupRequest,
    ) {
        if let Err(error) = self.check_sync(caller, request) {
            return refuse_sync(context, caller.parked, error);
        }
        let id = &request.member_id;
        self.pending_sync.remove(id);
        if self.pending_sync.is_empty() {
            self.sync_timer = None;
        }
        if self.state == GroupState::Stable {
            let response = ResponseBody::SyncGroup(self.synced(id));
            return context.answer(caller.parked, response);
        }
        // A SyncGroup that was parked before is forgotten without an answer.
        if let Some(member) = self.members.get_mut(id) {
            member.awaiting_sync = Some(caller.parked);
        }
        if self.is_leader(id) {
            self.take_plan(context, &request.assignments);
        }
    }

    fn check_sync(&self, caller: &Caller, request: &SyncGroupRequest) -> Result<(), ErrorCode> {
        let instance_id = request.group_instance_id.as_ref();
        self.validate_generation(&request.member_id, instance_id, request.generation)?;
        let is_ours = |said: &str, ours: &Option<String>| ours.as_deref() == Some(said);
        let says = caller.version >= FIRST_WITH_PROTOCOL;
        if says && !is_ours(&request.protocol_type, &self.protocol_type) {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        if says && !is_ours(&request.protocol, &self.protocol) {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        match self.state {
            GroupState::Empty => Err(ErrorCode::UnknownMemberId),
            GroupState::PreparingRebalance => Err(ErrorCode::RebalanceInProgress),
            GroupState::CompletingRebalance | GroupState::Stable => Ok(()),
        }
    }

    /// The leader's plan is written, and then everyone who waits is told. A member that the plan leaves out gets zero
    /// bytes; of two entries the last counts; entries for strangers are lost.
    fn take_plan(&mut self, context: &mut Context<'_>, plan: &[(MemberId, Bytes)]) {
        let plan: BTreeMap<&MemberId, &Bytes> =
            plan.iter().map(|(id, bytes)| (id, bytes)).collect();
        let part = |id: &MemberId| plan.get(id).map(|&bytes| bytes.clone()).unwrap_or_default();
        let record = self.to_record(|member| part(&member.id));
        if record.size(&self.id) > context.settings.max_record_size {
            self.drop_assignments(context, ErrorCode::UnknownServerError);
            return self.rebalance(context);
        }
        self.record = record;
        for member in self.members.values_mut() {
            member.assignment = part(&member.id);
        }
        self.enter(GroupState::Stable);
        self.answer_syncs(context, ErrorCode::None);
    }

    /// The plan is void: all parts are zero bytes again, and whoever waits is told so.
    pub(super) fn drop_assignments(&mut self, context: &mut Context<'_>, error: ErrorCode) {
        for member in self.members.values_mut() {
            member.assignment = Bytes::new();
        }
        self.answer_syncs(context, error);
    }

    /// Sessions of those that are answered start afresh.
    fn answer_syncs(&mut self, context: &mut Context<'_>, error: ErrorCode) {
        for id in self.members.keys().cloned().collect::<Vec<_>>() {
            let response = self.synced(&id);
            let Some(member) = self.members.get_mut(&id) else { continue };
            let Some(parked) = member.awaiting_sync.take() else { continue };
            member.renew_session(context.now);
            match error.is_none() {
                true => context.answer(parked, ResponseBody::SyncGroup(response)),
                false => refuse_sync(context, parked, error),
            }
        }
    }

    fn synced(&self, id: &MemberId) -> SyncGroupResponse {
        SyncGroupResponse {
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            assignment: self
                .members
                .get(id)
                .map(|member| member.assignment.clone())
                .unwrap_or_default(),
            ..SyncGroupResponse::default()
        }
    }
}

fn refuse_sync(context: &mut Context<'_>, parked: Parked, error: ErrorCode) {
    let response = SyncGroupResponse { error, ..SyncGroupResponse::default() };
    context.answer(parked, ResponseBody::SyncGroup(response));
}
