//! Frames that are encoded once, and of answers only what a member cannot do without.

use bytes::{BufMut as _, Bytes, BytesMut};
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    FindCoordinatorRequest, FindCoordinatorResponse, GroupId, JoinGroupRequest, LeaveGroupRequest,
    RequestHeader, SyncGroupRequest, leave_group_request::MemberIdentity,
};
use kafka_protocol::protocol::{
    Decodable as _, Encodable, Request, StrBytes, encode_request_header_into_buffer,
};

const FIND: i16 = 4;
const JOIN: i16 = 9;
const SYNC: i16 = 5;
const LEAVE: i16 = 5;
/// Where a number stands that differs from round to round.
const MARK: i32 = 0x5AB1_7E5A;
/// About what our members write for range.
const METADATA: usize = 100;
const ASSIGNMENT: usize = 100;

/// A frame with a number in it that can be replaced.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    bytes: Vec<u8>,
    at: usize,
}

impl Frame {
    fn new<R: Request + Encodable>(version: i16, request: &R) -> Self {
        let bytes = encode(version, request);
        let mark = MARK.to_be_bytes();
        let at = bytes.windows(4).position(|four| four == mark).expect("the mark was encoded");
        Self { bytes, at }
    }

    /// The bytes to be sent, with this number.
    pub(crate) fn with(&mut self, number: i32) -> &[u8] {
        self.bytes[self.at..self.at + 4].copy_from_slice(&number.to_be_bytes());
        &self.bytes
    }
}

/// FindCoordinator.
pub(crate) fn find_coordinator(group: &str) -> Vec<u8> {
    encode(FIND, &FindCoordinatorRequest::default().with_coordinator_keys(vec![string(group)]))
}

/// The coordinator's address, if there is one already.
pub(crate) fn coordinator(mut answer: &[u8]) -> Option<String> {
    take(&mut answer, 5); // Correlation id, no tags.
    let answer = FindCoordinatorResponse::decode(&mut Bytes::copy_from_slice(answer), FIND);
    let found = answer.ok()?.coordinators.into_iter().next()?;
    (found.error_code == 0).then(|| format!("{}:{}", found.host.as_str(), found.port))
}

/// JoinGroup of a consumer; its number is in the metadata, so that another makes it a change.
pub(crate) fn join(group: &str, topic: &str, member_id: &str) -> Frame {
    let mut metadata = BytesMut::new();
    metadata.put_i16(0);
    metadata.put_i32(1);
    metadata.put_i16(i16::try_from(topic.len()).expect("a topic's name"));
    metadata.put_slice(topic.as_bytes());
    metadata.put_i32(i32::try_from(METADATA).expect("little"));
    metadata.put_i32(MARK);
    metadata.put_bytes(7, METADATA - 4);
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(string("range"))
        .with_metadata(metadata.freeze());
    let request = JoinGroupRequest::default()
        .with_group_id(GroupId(string(group)))
        .with_session_timeout_ms(300_000)
        .with_rebalance_timeout_ms(300_000)
        .with_member_id(string(member_id))
        .with_protocol_type(string("consumer"))
        .with_protocols(vec![protocol]);
    Frame::new(JOIN, &request)
}

/// SyncGroup; its number is the generation. The leader's names everyone.
pub(crate) fn sync(group: &str, member_id: &str, everyone: &[String]) -> Frame {
    let plan = Bytes::from(vec![0; ASSIGNMENT]);
    let assignments = everyone.iter().map(|id| {
        SyncGroupRequestAssignment::default()
            .with_member_id(string(id))
            .with_assignment(plan.clone())
    });
    let request = SyncGroupRequest::default()
        .with_group_id(GroupId(string(group)))
        .with_generation_id(MARK)
        .with_member_id(string(member_id))
        .with_protocol_type(Some(string("consumer")))
        .with_protocol_name(Some(string("range")))
        .with_assignments(assignments.collect());
    Frame::new(SYNC, &request)
}

/// LeaveGroup of everyone at once.
pub(crate) fn leave(group: &str, everyone: &[String]) -> Vec<u8> {
    let members = everyone.iter().map(|id| MemberIdentity::default().with_member_id(string(id)));
    let request = LeaveGroupRequest::default()
        .with_group_id(GroupId(string(group)))
        .with_members(members.collect());
    encode(LEAVE, &request)
}

fn encode<R: Request + Encodable>(version: i16, request: &R) -> Vec<u8> {
    let mut frame = BytesMut::new();
    frame.put_i32(0);
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(1)
        .with_client_id(Some(string("raw")));
    encode_request_header_into_buffer(&mut frame, &header).expect("a header");
    request.encode(&mut frame, version).expect("a request");
    let length = u32::try_from(frame.len() - 4).expect("a small frame");
    frame[..4].copy_from_slice(&length.to_be_bytes());
    frame.to_vec()
}

fn string(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// The beginning of JoinGroup's answer (version 9).
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) error: i16,
    pub(crate) generation: i32,
    pub(crate) leader: String,
    pub(crate) member_id: String,
}

impl Joined {
    pub(crate) fn read(frame: &[u8]) -> Self {
        let mut rest = &frame[9..]; // Correlation id, no tags, throttle time.
        let error = i16::from_be_bytes(take(&mut rest, 2).try_into().expect("two"));
        let generation = i32::from_be_bytes(take(&mut rest, 4).try_into().expect("four"));
        let mut text = || {
            let length = usize::from(take(&mut rest, 1)[0]).saturating_sub(1);
            String::from_utf8_lossy(take(&mut rest, length)).into_owned()
        };
        let (_protocol_type, _protocol, leader) = (text(), text(), text());
        let _skip_assignment = take(&mut rest, 1);
        let length = usize::from(take(&mut rest, 1)[0]).saturating_sub(1);
        let member_id = String::from_utf8_lossy(take(&mut rest, length)).into_owned();
        Self { error, generation, leader, member_id }
    }
}

/// SyncGroup's error code (version 5).
pub(crate) fn sync_error(frame: &[u8]) -> i16 {
    i16::from_be_bytes([frame[9], frame[10]])
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(length);
    *rest = left;
    taken
}
