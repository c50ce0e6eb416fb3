//! Frames of other clients, as they went over the wire.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use kafka_protocol::messages::{
    ApiKey as Theirs, DescribeGroupsRequest as TheirDescribe, FindCoordinatorRequest as TheirFind,
    HeartbeatRequest as TheirHeartbeat, JoinGroupRequest as TheirJoin,
    LeaveGroupRequest as TheirLeave, OffsetCommitRequest as TheirCommit,
    OffsetFetchRequest as TheirFetch, RequestHeader, SyncGroupRequest as TheirSync,
};
use kafka_protocol::protocol::{Decodable, StrBytes};
use serde_json::Value;

use crate::types::{Generation, GroupInstanceId, MemberId, OffsetAndMetadata, TopicPartition};
use crate::wire::api::*;
use crate::wire::{
    ApiKey, ReadError, Reader, Request, correlation_id, next_frame, read_response, request_frame,
};

struct Frame {
    from: String,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    whole: Bytes,
}

/// Those of versions that we speak: Java is ahead with some.
fn frames(direction: &str) -> Vec<Frame> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/wire/frames.json");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let captured = json.as_array().unwrap().iter().filter(|frame| frame["direction"] == direction);
    let frames: Vec<_> = captured.map(frame).filter(spoken).collect();
    assert!(frames.len() > 200, "{} frames", frames.len());
    frames
}

fn frame(json: &Value) -> Frame {
    let number = |key: &str| json[key].as_i64().unwrap();
    let api = i16::try_from(number("api_key")).unwrap();
    let api = ApiKey::ALL.into_iter().find(|key| key.number() == api).unwrap();
    let hex = json["hex"].as_str().unwrap();
    Frame {
        from: format!("{} {} {api:?}", json["client"], json["scenario"]),
        api,
        version: i16::try_from(number("version")).unwrap(),
        correlation_id: i32::try_from(number("correlation_id")).unwrap(),
        whole: (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect(),
    }
}

fn spoken(frame: &Frame) -> bool {
    let versions = frame.api.supported();
    (versions.min..=versions.max).contains(&frame.version)
}

#[test]
fn every_captured_answer_is_read() {
    for frame in frames("response") {
        let mut received = BytesMut::from(&frame.whole[..]);
        let taken = next_frame(&mut received, 1 << 20).unwrap().expect("a whole frame");
        let (correlation_id, rest) = correlation_id(taken).unwrap();
        assert_eq!(correlation_id, frame.correlation_id, "{}", frame.from);
        answer_of(frame.api, frame.version, rest)
            .unwrap_or_else(|error| panic!("{}: {error}", frame.from));
    }
}

fn answer_of(api: ApiKey, version: i16, rest: Reader) -> Result<(), ReadError> {
    match api {
        ApiKey::ListOffsets => read_response::<ListOffsetsRequest>(version, rest).map(drop),
        ApiKey::Metadata => read_response::<MetadataRequest>(version, rest).map(drop),
        ApiKey::OffsetCommit => read_response::<OffsetCommitRequest>(version, rest).map(drop),
        ApiKey::OffsetFetch => read_response::<OffsetFetchRequest>(version, rest).map(drop),
        ApiKey::FindCoordinator => read_response::<FindCoordinatorRequest>(version, rest).map(drop),
        ApiKey::JoinGroup => read_response::<JoinGroupRequest>(version, rest).map(drop),
        ApiKey::Heartbeat => read_response::<HeartbeatRequest>(version, rest).map(drop),
        ApiKey::LeaveGroup => read_response::<LeaveGroupRequest>(version, rest).map(drop),
        ApiKey::SyncGroup => read_response::<SyncGroupRequest>(version, rest).map(drop),
        ApiKey::DescribeGroups => read_response::<DescribeGroupsRequest>(version, rest).map(drop),
        ApiKey::ListGroups => read_response::<ListGroupsRequest>(version, rest).map(drop),
        ApiKey::ApiVersions => read_response::<ApiVersionsRequest>(version, rest).map(drop),
        ApiKey::DeleteGroups => read_response::<DeleteGroupsRequest>(version, rest).map(drop),
        ApiKey::OffsetDelete => read_response::<OffsetDeleteRequest>(version, rest).map(drop),
        ApiKey::DescribeCluster => read_response::<DescribeClusterRequest>(version, rest).map(drop),
        ApiKey::ConsumerGroupDescribe => {
            read_response::<ConsumerGroupDescribeRequest>(version, rest).map(drop)
        }
        ApiKey::SaslHandshake => read_response::<SaslHandshakeRequest>(version, rest).map(drop),
        ApiKey::SaslAuthenticate => {
            read_response::<SaslAuthenticateRequest>(version, rest).map(drop)
        }
    }
}

/// Saying the same, we write the same bytes: header, order of fields, nulls.
#[test]
fn what_other_clients_ask_is_written_by_us_byte_for_byte() {
    let mut compared = 0;
    for frame in frames("request") {
        let mut rest = frame.whole.slice(4..);
        let header_version =
            Theirs::try_from(frame.api.number()).unwrap().request_header_version(frame.version);
        let header = RequestHeader::decode(&mut rest, header_version).unwrap();
        let client_id = header.client_id.unwrap();
        let ours = match frame.api {
            ApiKey::FindCoordinator => {
                rewritten(&frame, &client_id, find_coordinator(rest, frame.version))
            }
            ApiKey::JoinGroup => rewritten(&frame, &client_id, join_group(rest, frame.version)),
            ApiKey::SyncGroup => rewritten(&frame, &client_id, sync_group(rest, frame.version)),
            ApiKey::Heartbeat => rewritten(&frame, &client_id, heartbeat(rest, frame.version)),
            ApiKey::LeaveGroup => rewritten(&frame, &client_id, leave_group(rest, frame.version)),
            ApiKey::OffsetCommit => {
                rewritten(&frame, &client_id, offset_commit(rest, frame.version))
            }
            ApiKey::OffsetFetch => rewritten(&frame, &client_id, offset_fetch(rest, frame.version)),
            ApiKey::DescribeGroups => {
                rewritten(&frame, &client_id, describe_groups(rest, frame.version))
            }
            // The software's name differs.
            ApiKey::ApiVersions => continue,
            api => panic!("no comparison for {api:?}"),
        };
        let topics_in_any_order = matches!(frame.api, ApiKey::OffsetCommit | ApiKey::OffsetFetch);
        let seen = |bytes: &Bytes| if topics_in_any_order { sorted(bytes) } else { bytes.to_vec() };
        assert_eq!(seen(&ours), seen(&frame.whole), "{}", frame.from);
        compared += 1;
    }
    assert!(compared > 100, "{compared} requests");
}

/// The same bytes, wherever they stand: Java's topics come out of a hash map, ours are sorted.
fn sorted(bytes: &Bytes) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.sort_unstable();
    bytes
}

fn rewritten<R: Request>(frame: &Frame, client_id: &str, request: R) -> Bytes {
    request_frame(&request, frame.version, frame.correlation_id, client_id).unwrap()
}

fn decoded<T: Decodable>(mut body: Bytes, version: i16) -> T {
    let message = T::decode(&mut body, version).unwrap();
    assert!(!body.has_remaining());
    message
}

fn instance_id(id: Option<StrBytes>) -> Option<GroupInstanceId> {
    id.map(|id| GroupInstanceId::new(id.as_str()).unwrap())
}

fn find_coordinator(body: Bytes, version: i16) -> FindCoordinatorRequest {
    let theirs: TheirFind = decoded(body, version);
    let key = if version >= 4 { &theirs.coordinator_keys[0] } else { &theirs.key };
    FindCoordinatorRequest { group_id: key.to_string() }
}

fn join_group(body: Bytes, version: i16) -> JoinGroupRequest {
    let theirs: TheirJoin = decoded(body, version);
    let millis = |millis: i32| Duration::from_millis(u64::try_from(millis).unwrap());
    JoinGroupRequest {
        group_id: theirs.group_id.to_string(),
        session_timeout: millis(theirs.session_timeout_ms),
        rebalance_timeout: millis(theirs.rebalance_timeout_ms),
        member_id: MemberId::new(theirs.member_id.as_str()),
        group_instance_id: instance_id(theirs.group_instance_id),
        protocol_type: theirs.protocol_type.to_string(),
        protocols: theirs
            .protocols
            .into_iter()
            .map(|one| (one.name.to_string(), one.metadata))
            .collect(),
        reason: theirs.reason.map(|reason| reason.to_string()),
    }
}

fn sync_group(body: Bytes, version: i16) -> SyncGroupRequest {
    let theirs: TheirSync = decoded(body, version);
    let assignments = theirs.assignments.into_iter();
    SyncGroupRequest {
        group_id: theirs.group_id.to_string(),
        generation: Generation(theirs.generation_id),
        member_id: MemberId::new(theirs.member_id.as_str()),
        group_instance_id: instance_id(theirs.group_instance_id),
        protocol_type: theirs.protocol_type.unwrap_or_default().to_string(),
        protocol: theirs.protocol_name.unwrap_or_default().to_string(),
        assignments: assignments
            .map(|one| (MemberId::new(one.member_id.as_str()), one.assignment))
            .collect(),
    }
}

fn heartbeat(body: Bytes, version: i16) -> HeartbeatRequest {
    let theirs: TheirHeartbeat = decoded(body, version);
    HeartbeatRequest {
        group_id: theirs.group_id.to_string(),
        generation: Generation(theirs.generation_id),
        member_id: MemberId::new(theirs.member_id.as_str()),
        group_instance_id: instance_id(theirs.group_instance_id),
    }
}

fn leave_group(body: Bytes, version: i16) -> LeaveGroupRequest {
    let theirs: TheirLeave = decoded(body, version);
    let mut members: Vec<_> = theirs
        .members
        .into_iter()
        .map(|member| LeavingMember {
            member_id: MemberId::new(member.member_id.as_str()),
            group_instance_id: instance_id(member.group_instance_id),
            reason: member.reason.map(|reason| reason.to_string()),
        })
        .collect();
    if version < 3 {
        let member_id = MemberId::new(theirs.member_id.as_str());
        members.push(LeavingMember { member_id, group_instance_id: None, reason: None });
    }
    LeaveGroupRequest { group_id: theirs.group_id.to_string(), members }
}

fn offset_commit(body: Bytes, version: i16) -> OffsetCommitRequest {
    let theirs: TheirCommit = decoded(body, version);
    let offsets = theirs.topics.iter().flat_map(|topic| {
        topic.partitions.iter().map(|one| {
            let committed = OffsetAndMetadata {
                offset: one.committed_offset,
                leader_epoch: (one.committed_leader_epoch >= 0)
                    .then_some(one.committed_leader_epoch),
                metadata: one
                    .committed_metadata
                    .as_ref()
                    .map(StrBytes::to_string)
                    .unwrap_or_default(),
            };
            (TopicPartition::new(topic.name.as_str(), one.partition_index), committed)
        })
    });
    OffsetCommitRequest {
        group_id: theirs.group_id.to_string(),
        generation: Generation(theirs.generation_id_or_member_epoch),
        member_id: MemberId::new(theirs.member_id.as_str()),
        group_instance_id: instance_id(theirs.group_instance_id.clone()),
        offsets: offsets.collect(),
    }
}

fn offset_fetch(body: Bytes, version: i16) -> OffsetFetchRequest {
    let theirs: TheirFetch = decoded(body, version);
    let group = &theirs.groups[0];
    let partitions = group.topics.as_ref().map(|topics| {
        let numbers = topics.iter().flat_map(|topic| {
            topic
                .partition_indexes
                .iter()
                .map(|number| TopicPartition::new(topic.name.as_str(), *number))
        });
        numbers.collect()
    });
    OffsetFetchRequest {
        group_id: group.group_id.to_string(),
        partitions,
        require_stable: theirs.require_stable,
    }
}

fn describe_groups(body: Bytes, version: i16) -> DescribeGroupsRequest {
    let theirs: TheirDescribe = decoded(body, version);
    DescribeGroupsRequest { group_ids: theirs.groups.iter().map(|id| id.to_string()).collect() }
}
