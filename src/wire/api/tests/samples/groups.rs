//! JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups, DeleteGroups.

use std::time::Duration;

use kafka_protocol::messages::delete_groups_response::DeletableGroupResult;
use kafka_protocol::messages::describe_groups_response::{
    DescribedGroup as TheirGroup, DescribedGroupMember as TheirDescribed,
};
use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::leave_group_response::MemberResponse;
use kafka_protocol::messages::list_groups_response::ListedGroup as TheirListed;
use kafka_protocol::messages::{
    DeleteGroupsResponse as TheirDelete, DescribeGroupsResponse as TheirDescribe,
    HeartbeatResponse as TheirHeartbeat, JoinGroupResponse as TheirJoin,
    LeaveGroupResponse as TheirLeave, ListGroupsResponse as TheirList,
    SyncGroupResponse as TheirSync,
};
use kafka_protocol::protocol::StrBytes;

use super::{Answer, Sample, made, since};
use crate::types::{Generation, MemberId};
use crate::wire::ErrorCode;
use crate::wire::api::tests::random::Random;
use crate::wire::api::*;

pub(super) fn samples() -> Vec<Box<dyn Sample>> {
    vec![
        made::<JoinGroupRequest, _, _>(join_group),
        made::<SyncGroupRequest, _, _>(sync_group),
        made::<HeartbeatRequest, _, _>(heartbeat),
        made::<LeaveGroupRequest, _, _>(leave_group),
        made::<DescribeGroupsRequest, _, _>(describe_groups),
        made::<ListGroupsRequest, _, _>(list_groups),
        made::<DeleteGroupsRequest, _, _>(delete_groups),
    ]
}

impl Answer for JoinGroupResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

impl Answer for SyncGroupResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

impl Answer for LeaveGroupResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

impl Answer for ListGroupsResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

impl Answer for HeartbeatResponse {}
impl Answer for DescribeGroupsResponse {}
impl Answer for DeleteGroupsResponse {}

pub(super) fn throttled(present: bool, millis: i32) -> Duration {
    Duration::from_millis(since(present, u64::try_from(millis).unwrap(), 0))
}

fn owned(text: &StrBytes) -> String {
    text.to_string()
}

fn member_id(text: &StrBytes) -> MemberId {
    MemberId::new(text.as_str())
}

fn join_group(version: i16, random: &mut Random) -> (TheirJoin, JoinGroupResponse) {
    let mut theirs = TheirJoin::default()
        .with_throttle_time_ms(random.millis())
        .with_error_code(random.error())
        .with_generation_id(random.i32())
        .with_protocol_type(random.maybe_text())
        .with_protocol_name(Some(random.text()))
        .with_leader(random.text())
        .with_skip_assignment(version >= 9 && random.bool())
        .with_member_id(random.text());
    if version >= 7 && random.bool() {
        theirs.protocol_name = None;
    }
    theirs.members = random.many(|random| {
        JoinGroupResponseMember::default()
            .with_member_id(random.text())
            .with_group_instance_id(since(version >= 5, random.maybe_text(), None))
            .with_metadata(random.bytes())
    });
    let member = |member: &JoinGroupResponseMember| JoinedMember {
        member_id: member_id(&member.member_id),
        group_instance_id: member.group_instance_id.as_ref().map(owned),
        metadata: member.metadata.clone(),
    };
    let ours = JoinGroupResponse {
        throttle: throttled(version >= 2, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
        generation: Generation(theirs.generation_id),
        protocol_type: since(version >= 7, theirs.protocol_type.as_ref().map(owned), None),
        protocol: theirs.protocol_name.as_ref().map(owned),
        leader: member_id(&theirs.leader),
        member_id: member_id(&theirs.member_id),
        skip_assignment: theirs.skip_assignment,
        members: theirs.members.iter().map(member).collect(),
    };
    (theirs, ours)
}

fn sync_group(version: i16, random: &mut Random) -> (TheirSync, SyncGroupResponse) {
    let theirs = TheirSync::default()
        .with_throttle_time_ms(random.millis())
        .with_error_code(random.error())
        .with_protocol_type(random.maybe_text())
        .with_protocol_name(random.maybe_text())
        .with_assignment(random.bytes());
    let ours = SyncGroupResponse {
        throttle: throttled(version >= 1, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
        protocol_type: since(version >= 5, theirs.protocol_type.as_ref().map(owned), None),
        protocol: since(version >= 5, theirs.protocol_name.as_ref().map(owned), None),
        assignment: theirs.assignment.clone(),
    };
    (theirs, ours)
}

fn heartbeat(version: i16, random: &mut Random) -> (TheirHeartbeat, HeartbeatResponse) {
    let theirs = TheirHeartbeat::default()
        .with_throttle_time_ms(random.millis())
        .with_error_code(random.i16());
    let ours = HeartbeatResponse {
        throttle: throttled(version >= 1, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
    };
    (theirs, ours)
}

fn leave_group(version: i16, random: &mut Random) -> (TheirLeave, LeaveGroupResponse) {
    let mut theirs = TheirLeave::default()
        .with_throttle_time_ms(random.millis())
        .with_error_code(random.error());
    if version >= 3 {
        theirs.members = random.many(|random| {
            MemberResponse::default()
                .with_member_id(random.text())
                .with_group_instance_id(random.maybe_text())
                .with_error_code(random.error())
        });
    }
    let member = |member: &MemberResponse| MemberLeft {
        member_id: member_id(&member.member_id),
        group_instance_id: member.group_instance_id.as_ref().map(owned),
        error: member.error_code.into(),
    };
    let ours = LeaveGroupResponse {
        throttle: throttled(version >= 1, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
        members: theirs.members.iter().map(member).collect(),
    };
    (theirs, ours)
}

fn describe_groups(version: i16, random: &mut Random) -> (TheirDescribe, DescribeGroupsResponse) {
    let mut theirs = TheirDescribe::default().with_throttle_time_ms(random.millis());
    theirs.groups = random.many(|random| {
        let mut group = TheirGroup::default()
            .with_error_code(random.error())
            .with_error_message(since(version >= 6, random.maybe_text(), None))
            .with_group_id(random.text().into())
            .with_group_state(random.text())
            .with_protocol_type(random.text())
            .with_protocol_data(random.text())
            .with_members(random.many(|random| described_member(version, random)));
        if version >= 3 {
            group.authorized_operations = random.i32();
        }
        group
    });
    let ours = DescribeGroupsResponse {
        throttle: throttled(version >= 1, theirs.throttle_time_ms),
        groups: theirs.groups.iter().map(our_group).collect(),
    };
    (theirs, ours)
}

fn described_member(version: i16, random: &mut Random) -> TheirDescribed {
    TheirDescribed::default()
        .with_member_id(random.text())
        .with_group_instance_id(since(version >= 4, random.maybe_text(), None))
        .with_client_id(random.text())
        .with_client_host(random.text())
        .with_member_metadata(random.bytes())
        .with_member_assignment(random.bytes())
}

fn our_group(group: &TheirGroup) -> DescribedGroup {
    let member = |member: &TheirDescribed| DescribedMember {
        member_id: member_id(&member.member_id),
        group_instance_id: member.group_instance_id.as_ref().map(owned),
        client_id: owned(&member.client_id),
        client_host: owned(&member.client_host),
        metadata: member.member_metadata.clone(),
        assignment: member.member_assignment.clone(),
    };
    DescribedGroup {
        error: group.error_code.into(),
        error_message: group.error_message.as_ref().map(owned),
        group_id: owned(&group.group_id),
        state: owned(&group.group_state),
        protocol_type: owned(&group.protocol_type),
        protocol: owned(&group.protocol_data),
        members: group.members.iter().map(member).collect(),
    }
}

fn list_groups(version: i16, random: &mut Random) -> (TheirList, ListGroupsResponse) {
    let mut theirs =
        TheirList::default().with_throttle_time_ms(random.millis()).with_error_code(random.error());
    theirs.groups = random.many(|random| {
        TheirListed::default()
            .with_group_id(random.text().into())
            .with_protocol_type(random.text())
            .with_group_state(random.text())
            .with_group_type(random.text())
    });
    let group = |group: &TheirListed| ListedGroup {
        group_id: owned(&group.group_id),
        protocol_type: owned(&group.protocol_type),
        state: since(version >= 4, Some(owned(&group.group_state)), None),
        group_type: since(version >= 5, Some(owned(&group.group_type)), None),
    };
    let ours = ListGroupsResponse {
        throttle: throttled(version >= 1, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
        groups: theirs.groups.iter().map(group).collect(),
    };
    (theirs, ours)
}

fn delete_groups(_version: i16, random: &mut Random) -> (TheirDelete, DeleteGroupsResponse) {
    let mut theirs = TheirDelete::default().with_throttle_time_ms(random.millis());
    theirs.results = random.many(|random| {
        DeletableGroupResult::default()
            .with_group_id(random.text().into())
            .with_error_code(random.error())
    });
    let group = |group: &DeletableGroupResult| (owned(&group.group_id), group.error_code.into());
    let ours = DeleteGroupsResponse {
        throttle: throttled(true, theirs.throttle_time_ms),
        groups: theirs.results.iter().map(group).collect(),
    };
    (theirs, ours)
}
