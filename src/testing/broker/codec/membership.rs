//! JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

use std::time::Duration;

use bytes::Bytes;
use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::leave_group_response::MemberResponse;
use kafka_protocol::messages::{self, GroupId};
use kafka_protocol::protocol::StrBytes;

use super::{Decoded, Malformed, instance_id, member_id, read, text, write};
use crate::testing::coordinator::RequestBody;
use crate::types::{Generation, MemberId};
use crate::wire::ErrorCode;
use crate::wire::api::{
    HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, JoinedMember,
    LeaveGroupRequest, LeaveGroupResponse, LeavingMember, SyncGroupRequest, SyncGroupResponse,
};

pub(super) fn join(version: i16, body: &mut Bytes) -> Result<Decoded, Malformed> {
    let message: messages::JoinGroupRequest = read(version, body)?;
    let instance = instance_id(message.group_instance_id.as_ref());
    let protocols = message
        .protocols
        .iter()
        .map(|protocol| (protocol.name.to_string(), protocol.metadata.clone()));
    let request = RequestBody::JoinGroup(JoinGroupRequest {
        group_id: group(&message.group_id),
        session_timeout: milliseconds(message.session_timeout_ms),
        rebalance_timeout: milliseconds(message.rebalance_timeout_ms),
        member_id: member_id(&message.member_id),
        group_instance_id: instance.clone().unwrap_or_default(),
        protocol_type: message.protocol_type.to_string(),
        protocols: protocols.collect(),
        reason: message.reason.as_ref().map(ToString::to_string),
    });
    Ok(checked(request, instance.err()))
}

pub(super) fn sync(version: i16, body: &mut Bytes) -> Result<Decoded, Malformed> {
    let message: messages::SyncGroupRequest = read(version, body)?;
    let instance = instance_id(message.group_instance_id.as_ref());
    let named = message.protocol_type.is_some() && message.protocol_name.is_some();
    let assignments = message
        .assignments
        .iter()
        .map(|part| (member_id(&part.member_id), part.assignment.clone()));
    let request = RequestBody::SyncGroup(SyncGroupRequest {
        group_id: group(&message.group_id),
        generation: Generation(message.generation_id),
        member_id: member_id(&message.member_id),
        group_instance_id: instance.clone().unwrap_or_default(),
        protocol_type: message.protocol_type.as_ref().map(ToString::to_string).unwrap_or_default(),
        protocol: message.protocol_name.as_ref().map(ToString::to_string).unwrap_or_default(),
        assignments: assignments.collect(),
    });
    // Mandatory from version 5 on, and looked at before all else.
    let unnamed = (version >= 5 && !named).then_some(ErrorCode::InconsistentGroupProtocol);
    Ok(checked(request, unnamed.or_else(|| instance.err())))
}

pub(super) fn heartbeat(version: i16, body: &mut Bytes) -> Result<Decoded, Malformed> {
    let message: messages::HeartbeatRequest = read(version, body)?;
    let instance = instance_id(message.group_instance_id.as_ref());
    let request = RequestBody::Heartbeat(HeartbeatRequest {
        group_id: group(&message.group_id),
        generation: Generation(message.generation_id),
        member_id: member_id(&message.member_id),
        group_instance_id: instance.clone().unwrap_or_default(),
    });
    Ok(checked(request, instance.err()))
}

pub(super) fn leave(version: i16, body: &mut Bytes) -> Result<Decoded, Malformed> {
    let mut message: messages::LeaveGroupRequest = read(version, body)?;
    if version < 3 {
        message.members = vec![MemberIdentity::default().with_member_id(message.member_id.clone())];
    }
    let mut illegal = None;
    let members = message.members.iter().map(|member| {
        let instance = instance_id(member.group_instance_id.as_ref());
        illegal = illegal.or_else(|| instance.as_ref().err().copied());
        LeavingMember {
            member_id: member_id(&member.member_id),
            group_instance_id: instance.unwrap_or_default(),
            reason: member.reason.as_ref().map(ToString::to_string),
        }
    });
    let members = members.collect();
    let request =
        RequestBody::LeaveGroup(LeaveGroupRequest { group_id: group(&message.group_id), members });
    Ok(checked(request, illegal))
}

pub(super) fn joined(version: i16, joined: &JoinGroupResponse) -> Result<Bytes, Malformed> {
    let member = |member: &JoinedMember| {
        let instance = member.group_instance_id.clone().filter(|_| version >= 5).map(text);
        JoinGroupResponseMember::default()
            .with_member_id(id(&member.member_id))
            .with_group_instance_id(instance)
            .with_metadata(member.metadata.clone())
    };
    let protocol = joined.protocol.clone().map(text);
    let message = messages::JoinGroupResponse::default()
        .with_error_code(joined.error.number())
        .with_generation_id(joined.generation.0)
        .with_protocol_type(joined.protocol_type.clone().filter(|_| version >= 7).map(text))
        .with_protocol_name(if version >= 7 {
            protocol
        } else {
            Some(protocol.unwrap_or_default())
        })
        .with_leader(id(&joined.leader))
        .with_skip_assignment(version >= 9 && joined.skip_assignment)
        .with_member_id(id(&joined.member_id))
        .with_members(joined.members.iter().map(member).collect());
    write(version, &message)
}

pub(super) fn synced(version: i16, synced: &SyncGroupResponse) -> Result<Bytes, Malformed> {
    let named = |name: &Option<String>| name.clone().filter(|_| version >= 5).map(text);
    let message = messages::SyncGroupResponse::default()
        .with_error_code(synced.error.number())
        .with_protocol_type(named(&synced.protocol_type))
        .with_protocol_name(named(&synced.protocol))
        .with_assignment(synced.assignment.clone());
    write(version, &message)
}

pub(super) fn beat(version: i16, beat: &HeartbeatResponse) -> Result<Bytes, Malformed> {
    write(version, &messages::HeartbeatResponse::default().with_error_code(beat.error.number()))
}

/// Below version 3 the one member's error is the error of the whole.
pub(super) fn left(version: i16, left: &LeaveGroupResponse) -> Result<Bytes, Malformed> {
    let mut message = messages::LeaveGroupResponse::default().with_error_code(left.error.number());
    if version < 3 {
        if let Some(member) = left.members.first().filter(|_| left.error.is_none()) {
            message.error_code = member.error.number();
        }
        return write(version, &message);
    }
    let members = left.members.iter().map(|member| {
        MemberResponse::default()
            .with_member_id(id(&member.member_id))
            .with_group_instance_id(member.group_instance_id.clone().map(text))
            .with_error_code(member.error.number())
    });
    message.members = members.collect();
    write(version, &message)
}

fn checked(request: RequestBody, illegal: Option<ErrorCode>) -> Decoded {
    match illegal {
        Some(error) => Decoded::Refused(request, error),
        None => Decoded::Coordinator(vec![request]),
    }
}

pub(super) fn group(id: &GroupId) -> String {
    id.0.to_string()
}

fn id(id: &MemberId) -> StrBytes {
    text(id.as_str())
}

/// Negative times are legal on the wire; they are over at once.
fn milliseconds(number: i32) -> Duration {
    Duration::from_millis(u64::try_from(number).unwrap_or_default())
}
