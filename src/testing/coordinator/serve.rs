//! Which group a request is for, and what is refused before the group is looked at.

use std::time::Instant;

use crate::types::TopicPartition;
use crate::wire::ErrorCode;
use crate::wire::api::{
    HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, LeaveGroupResponse,
    ListGroupsResponse, OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest,
    OffsetDeleteResponse,
};

use super::context::{Caller, Parked};
use super::group::{Group, GroupState};
use super::request::{CoordinatorRequest, CoordinatorResponse, RequestBody, ResponseBody};
use super::{FakeCoordinator, describe, leave, offsets};

impl FakeCoordinator {
    pub(super) fn serve(&mut self, now: Instant, request: CoordinatorRequest) {
        let CoordinatorRequest { connection, tag, version, client_id, body } = request;
        let caller = Caller { parked: Parked { connection, tag }, version, client_id };
        if let Some(response) = self.answer_at_once(now, &caller, &body) {
            self.answers.push_back(CoordinatorResponse { connection, tag, body: response });
        }
    }

    /// The answer, unless it is the group's to give or the request is parked.
    fn answer_at_once(
        &mut self,
        now: Instant,
        caller: &Caller,
        body: &RequestBody,
    ) -> Option<ResponseBody> {
        if let Some(refusal) = self.refuse(now, body) {
            return Some(refusal);
        }
        Some(match body {
            RequestBody::JoinGroup(join) => return self.join(now, caller, join),
            RequestBody::SyncGroup(sync) => {
                let Some((group, mut context)) = self.group(now, &sync.group_id) else {
                    return Some(body.refused(ErrorCode::UnknownMemberId));
                };
                group.on_sync(&mut context, caller, sync);
                return None;
            }
            RequestBody::Heartbeat(heartbeat) => {
                let error = match self.group(now, &heartbeat.group_id) {
                    Some((group, context)) => group.on_heartbeat(&context, heartbeat),
                    None => ErrorCode::UnknownMemberId,
                };
                ResponseBody::Heartbeat(HeartbeatResponse { error, ..HeartbeatResponse::default() })
            }
            RequestBody::LeaveGroup(leave) => ResponseBody::LeaveGroup(self.leave(now, leave)),
            RequestBody::OffsetCommit(commit) => {
                ResponseBody::OffsetCommit(self.commit(now, caller, commit))
            }
            RequestBody::OffsetFetch(fetch) => ResponseBody::OffsetFetch(offsets::fetch_offsets(
                self.groups.get(&fetch.group_id),
                fetch,
            )),
            RequestBody::DescribeGroup(group_id) => {
                let unknown = || describe::unknown(group_id, caller.version);
                ResponseBody::DescribeGroup(self.describe(group_id).unwrap_or_else(unknown))
            }
            // All groups here are of the classic protocol.
            RequestBody::DescribeConsumerGroup(_) => body.refused(ErrorCode::GroupIdNotFound),
            RequestBody::OffsetDelete(delete) => {
                ResponseBody::OffsetDelete(self.delete_offsets(delete))
            }
            RequestBody::DeleteGroup(group_id) => {
                ResponseBody::DeleteGroup(group_id.clone(), self.delete(group_id))
            }
            RequestBody::ListGroups { states, types } => {
                ResponseBody::ListGroups(self.list(states, types))
            }
        })
    }

    fn list(&self, states: &[String], types: &[String]) -> ListGroupsResponse {
        let matches = |wanted: &[String], is: &Option<String>| {
            wanted.is_empty()
                || is
                    .as_ref()
                    .is_some_and(|is| wanted.iter().any(|name| name.eq_ignore_ascii_case(is)))
        };
        let groups = self.groups.values().map(Group::listed);
        let groups = groups
            .filter(|group| matches(states, &group.state) && matches(types, &group.group_type));
        ListGroupsResponse { groups: groups.collect(), ..ListGroupsResponse::default() }
    }

    /// Nobody may be in it.
    fn delete(&mut self, group_id: &str) -> ErrorCode {
        match self.groups.get(group_id) {
            None => ErrorCode::GroupIdNotFound,
            Some(group) if group.state != GroupState::Empty => ErrorCode::NonEmptyGroup,
            Some(_) => {
                self.groups.remove(group_id);
                ErrorCode::None
            }
        }
    }

    fn delete_offsets(&mut self, request: &OffsetDeleteRequest) -> OffsetDeleteResponse {
        let known: Vec<bool> = request.partitions.iter().map(|one| self.knows(&one)).collect();
        let Some(group) = self.groups.get_mut(&request.group_id) else {
            let error = ErrorCode::GroupIdNotFound;
            return OffsetDeleteResponse { error, ..OffsetDeleteResponse::default() };
        };
        group.delete_offsets(request, &known)
    }

    fn leave(&mut self, now: Instant, request: &LeaveGroupRequest) -> LeaveGroupResponse {
        match self.group(now, &request.group_id) {
            Some((group, mut context)) => group.on_leave(&mut context, request),
            None => leave::nobody_left(request),
        }
    }

    /// Refusals that come before the group is looked at.
    fn refuse(&self, now: Instant, body: &RequestBody) -> Option<ResponseBody> {
        let group_id = body.group_id()?;
        let membership = matches!(
            body,
            RequestBody::JoinGroup(_)
                | RequestBody::SyncGroup(_)
                | RequestBody::Heartbeat(_)
                | RequestBody::LeaveGroup(_)
        );
        if membership && group_id.is_empty() {
            return Some(body.refused(ErrorCode::InvalidGroupId));
        }
        if self.loading.get(group_id).is_some_and(|until| *until > now) {
            // A heartbeat says nothing while the group is loaded, not even that the member exists.
            return Some(body.refused(match body {
                RequestBody::Heartbeat(_) => ErrorCode::None,
                _ => ErrorCode::CoordinatorLoadInProgress,
            }));
        }
        None
    }

    fn join(
        &mut self,
        now: Instant,
        caller: &Caller,
        request: &JoinGroupRequest,
    ) -> Option<ResponseBody> {
        let bounds = self.settings.min_session_timeout..=self.settings.max_session_timeout;
        let refused = |error, member_id| {
            Some(ResponseBody::JoinGroup(JoinGroupResponse {
                error,
                member_id,
                ..JoinGroupResponse::default()
            }))
        };
        if !bounds.contains(&request.session_timeout) {
            return refused(ErrorCode::InvalidSessionTimeout, request.member_id.clone());
        }
        let mut request = request.clone();
        if caller.version == 0 {
            request.rebalance_timeout = request.session_timeout;
        }
        if request.member_id.is_empty() && !self.groups.contains_key(&request.group_id) {
            self.groups.insert(request.group_id.clone(), Group::new(request.group_id.clone()));
        }
        let Some((group, mut context)) = self.group(now, &request.group_id) else {
            return refused(ErrorCode::UnknownMemberId, request.member_id);
        };
        group.on_join(&mut context, caller, &request);
        None
    }

    fn commit(
        &mut self,
        now: Instant,
        caller: &Caller,
        request: &OffsetCommitRequest,
    ) -> OffsetCommitResponse {
        let known: Vec<bool> =
            request.offsets.keys().map(|partition| self.knows(partition)).collect();
        let checked = match known.contains(&true) {
            true => self.check_commit(now, caller, request),
            false => Ok(()),
        };
        let mut partitions = Vec::with_capacity(request.offsets.len());
        for ((partition, offset), known) in request.offsets.iter().zip(known) {
            let error = match (known, checked) {
                (false, _) => ErrorCode::UnknownTopicOrPartition,
                (true, Err(error)) => error,
                (true, Ok(())) => match self.group(now, &request.group_id) {
                    Some((group, context)) => group.store_offset(&context, partition, offset),
                    None => ErrorCode::GroupIdNotFound,
                },
            };
            partitions.push((partition.clone(), error));
        }
        OffsetCommitResponse { partitions, ..OffsetCommitResponse::default() }
    }

    /// A committer without a generation needs no group: it makes one.
    fn check_commit(
        &mut self,
        now: Instant,
        caller: &Caller,
        request: &OffsetCommitRequest,
    ) -> Result<(), ErrorCode> {
        if let Some((group, context)) = self.group(now, &request.group_id) {
            return group.check_commit(&context, request);
        }
        if request.generation.is_some() {
            return Err(match caller.version >= 9 {
                true => ErrorCode::GroupIdNotFound,
                false => ErrorCode::IllegalGeneration,
            });
        }
        self.groups.insert(request.group_id.clone(), Group::new(request.group_id.clone()));
        Ok(())
    }

    fn knows(&self, partition: &TopicPartition) -> bool {
        let Some(topics) = &self.topics else { return true };
        topics
            .get(partition.topic())
            .is_some_and(|count| (0..*count).contains(&partition.partition()))
    }
}
