//! The doors by which bytes of others come in, for fuzzers. Not for applications.

use bytes::{Bytes, BytesMut};

use crate::subscription::{Assignment, Down, StickyClaim, Subscription, Up};
use crate::wire::api::{
    ApiVersionsRequest, ConsumerGroupDescribeRequest, DeleteGroupsRequest, DescribeClusterRequest,
    DescribeGroupsRequest, FindCoordinatorRequest, HeartbeatRequest, JoinGroupRequest,
    LeaveGroupRequest, ListGroupsRequest, ListOffsetsRequest, MetadataRequest, OffsetCommitRequest,
    OffsetDeleteRequest, OffsetFetchRequest, SaslAuthenticateRequest, SaslHandshakeRequest,
    SyncGroupRequest,
};
use crate::wire::{ApiKey, Reader, Request, next_frame, read_response};

/// How many doors there are.
pub const DOORS: u8 = 24;

/// Reads `bytes` as whatever comes in by this door; says whether they could be read. Must never panic.
pub fn read(door: u8, version: i16, bytes: &[u8]) -> bool {
    let bytes = Bytes::copy_from_slice(bytes);
    match door {
        0 => Subscription::decode(bytes).is_ok(),
        1 => Assignment::decode(bytes).is_ok(),
        2 => Up::decode(&bytes).is_ok(),
        3 => Down::decode(&bytes).is_ok(),
        4 => StickyClaim::decode(&bytes).is_some(),
        5 => matches!(next_frame(&mut BytesMut::from(&*bytes), 1 << 20), Ok(Some(_))),
        6 => response::<ApiVersionsRequest>(version, bytes),
        7 => response::<DescribeGroupsRequest>(version, bytes),
        8 => response::<FindCoordinatorRequest>(version, bytes),
        9 => response::<HeartbeatRequest>(version, bytes),
        10 => response::<JoinGroupRequest>(version, bytes),
        11 => response::<LeaveGroupRequest>(version, bytes),
        12 => response::<ListGroupsRequest>(version, bytes),
        13 => response::<ListOffsetsRequest>(version, bytes),
        14 => response::<MetadataRequest>(version, bytes),
        15 => response::<OffsetCommitRequest>(version, bytes),
        16 => response::<OffsetFetchRequest>(version, bytes),
        17 => response::<SyncGroupRequest>(version, bytes),
        18 => response::<DeleteGroupsRequest>(version, bytes),
        19 => response::<OffsetDeleteRequest>(version, bytes),
        20 => response::<ConsumerGroupDescribeRequest>(version, bytes),
        21 => response::<SaslHandshakeRequest>(version, bytes),
        22 => response::<SaslAuthenticateRequest>(version, bytes),
        _ => response::<DescribeClusterRequest>(version, bytes),
    }
}

/// The door of an API's answers.
pub fn door(api: ApiKey) -> u8 {
    match api {
        ApiKey::ApiVersions => 6,
        ApiKey::DescribeGroups => 7,
        ApiKey::FindCoordinator => 8,
        ApiKey::Heartbeat => 9,
        ApiKey::JoinGroup => 10,
        ApiKey::LeaveGroup => 11,
        ApiKey::ListGroups => 12,
        ApiKey::ListOffsets => 13,
        ApiKey::Metadata => 14,
        ApiKey::OffsetCommit => 15,
        ApiKey::OffsetFetch => 16,
        ApiKey::SyncGroup => 17,
        ApiKey::DeleteGroups => 18,
        ApiKey::OffsetDelete => 19,
        ApiKey::ConsumerGroupDescribe => 20,
        ApiKey::SaslHandshake => 21,
        ApiKey::SaslAuthenticate => 22,
        ApiKey::DescribeCluster => 23,
    }
}

fn response<R: Request>(version: i16, bytes: Bytes) -> bool {
    let range = R::API.supported();
    let version = range.min + version.rem_euclid(range.max - range.min + 1);
    read_response::<R>(version, Reader::new(bytes)).is_ok()
}
