//! LeaveGroup: not here any more.
//!
//! | version | adds |
//! |---|---|
//! | 0 | one member, by its id alone |
//! | 1 | the answer's throttle time |
//! | 3 | many members, by member id, instance id or both (KIP-345), each with its own error |
//! | 4 | flexible |
//! | 5 | reasons (KIP-800): below, they are not sent |

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use kafka_protocol::messages::leave_group_request::{LeaveGroupRequest as Message, MemberIdentity};

use super::{id, instance_id, or_only_the_error, reason, text, throttle};
use crate::types::{GroupInstanceId, MemberId};
use crate::wire::request::append;
use crate::wire::{ApiKey, EncodeError, ErrorCode, Layout, ReadError, Reader, Request};

/// Takes members out of the group: ourselves, or others by an administrator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct LeaveGroupRequest {
    pub(crate) group_id: String,
    /// One, on brokers below v3.
    pub(crate) members: Vec<LeavingMember>,
}

/// One to be taken out: by member id, by instance id (then the member id is empty), or by both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct LeavingMember {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    /// KIP-800, v5; cut at 255 characters when it is encoded.
    pub(crate) reason: Option<String>,
}

/// What became of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LeaveGroupResponse {
    pub(crate) throttle: Duration,
    pub(crate) error: ErrorCode,
    /// Empty below v3, where the one member's error is the error of the whole.
    pub(crate) members: Vec<MemberLeft>,
}

/// What became of one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct MemberLeft {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<String>,
    pub(crate) error: ErrorCode,
}

impl Request for LeaveGroupRequest {
    const API: ApiKey = ApiKey::LeaveGroup;
    type Response = LeaveGroupResponse;

    fn encode(&self, version: i16, body: &mut BytesMut) -> Result<(), EncodeError> {
        let message = Message::default().with_group_id(text(&self.group_id).into());
        let message = if version >= 3 {
            message.with_members(self.members.iter().map(identity).collect())
        } else {
            message.with_member_id(id(self.only_member_id(version)?))
        };
        append(Self::API, version, &message, body)
    }

    fn read(version: i16, body: &mut Reader) -> Result<LeaveGroupResponse, ReadError> {
        let layout = Self::API.layout(version);
        let throttle = throttle(body, version >= 1)?;
        let error = ErrorCode::from(body.i16()?);
        let members = match version {
            3.. => body.array(layout, 5, |body| member(layout, body)),
            _ => Ok(Vec::new()),
        };
        let members = or_only_the_error(error, members, Vec::new())?;
        Ok(LeaveGroupResponse { throttle, error, members })
    }
}

impl LeaveGroupRequest {
    /// What versions below 3 can say. The member id alone takes a static member out as well.
    fn only_member_id(&self, version: i16) -> Result<&MemberId, EncodeError> {
        match self.members.as_slice() {
            [member] if !member.member_id.is_empty() => Ok(&member.member_id),
            [_] => Err(EncodeError::new(
                Self::API,
                version,
                "a member without a member id (needs Kafka 2.4)",
            )),
            _ => Err(EncodeError::new(
                Self::API,
                version,
                "not exactly one member (needs Kafka 2.4)",
            )),
        }
    }
}

fn identity(member: &LeavingMember) -> MemberIdentity {
    MemberIdentity::default()
        .with_member_id(id(&member.member_id))
        .with_group_instance_id(instance_id(member.group_instance_id.as_ref()))
        .with_reason(reason(member.reason.as_deref()))
}

fn member(layout: Layout, body: &mut Reader) -> Result<MemberLeft, ReadError> {
    let member = MemberLeft {
        member_id: MemberId::new(body.string_or_empty::<Arc<str>>(layout)?),
        group_instance_id: body.nullable_string(layout)?,
        error: body.i16()?.into(),
    };
    body.skip_tags(layout)?;
    Ok(member)
}
