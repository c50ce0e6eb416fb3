//! What the coordinator is asked, and what it answers.

use std::sync::Arc;

use crate::wire::ErrorCode;
use crate::wire::api::{
    DescribedConsumerGroup, DescribedGroup, HeartbeatRequest, HeartbeatResponse, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupRequest, LeaveGroupResponse, ListGroupsResponse,
    OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest, OffsetDeleteResponse,
    OffsetFetchRequest, OffsetFetchResponse, SyncGroupRequest, SyncGroupResponse,
};

use super::describe::{refused, refused_consumers};

/// A connection to the coordinator. Its requests are answered strictly in order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// What the sender calls a request; comes back with the answer.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct RequestTag(pub(crate) u64);

/// A request as it arrives.
#[derive(Clone, Debug)]
pub(crate) struct CoordinatorRequest {
    pub(crate) connection: ConnectionId,
    pub(crate) tag: RequestTag,
    /// The version of the API it was sent in: what the coordinator does depends on it.
    pub(crate) version: i16,
    pub(crate) client_id: Arc<str>,
    pub(crate) body: RequestBody,
}

/// The requests that a coordinator knows.
#[derive(Clone, Debug)]
pub(crate) enum RequestBody {
    JoinGroup(JoinGroupRequest),
    SyncGroup(SyncGroupRequest),
    Heartbeat(HeartbeatRequest),
    LeaveGroup(LeaveGroupRequest),
    OffsetCommit(OffsetCommitRequest),
    OffsetFetch(OffsetFetchRequest),
    OffsetDelete(OffsetDeleteRequest),
    DescribeGroup(String),
    /// Of the new protocol.
    DescribeConsumerGroup(String),
    DeleteGroup(String),
    /// Those in one of these states and of one of these types; any, if none are named.
    ListGroups {
        states: Vec<String>,
        types: Vec<String>,
    },
}

impl RequestBody {
    /// The group that is meant; none for ListGroups.
    pub(crate) fn group_id(&self) -> Option<&str> {
        Some(match self {
            Self::JoinGroup(join) => &join.group_id,
            Self::SyncGroup(sync) => &sync.group_id,
            Self::Heartbeat(heartbeat) => &heartbeat.group_id,
            Self::LeaveGroup(leave) => &leave.group_id,
            Self::OffsetCommit(commit) => &commit.group_id,
            Self::OffsetFetch(fetch) => &fetch.group_id,
            Self::OffsetDelete(delete) => &delete.group_id,
            Self::DescribeGroup(group_id)
            | Self::DescribeConsumerGroup(group_id)
            | Self::DeleteGroup(group_id) => group_id,
            Self::ListGroups { .. } => return None,
        })
    }

    /// The answer that says nothing but `error`.
    pub(crate) fn refused(&self, error: ErrorCode) -> ResponseBody {
        match self {
            Self::JoinGroup(join) => ResponseBody::JoinGroup(JoinGroupResponse {
                error,
                member_id: join.member_id.clone(),
                ..JoinGroupResponse::default()
            }),
            Self::SyncGroup(_) => {
                ResponseBody::SyncGroup(SyncGroupResponse { error, ..SyncGroupResponse::default() })
            }
            Self::Heartbeat(_) => {
                ResponseBody::Heartbeat(HeartbeatResponse { error, ..HeartbeatResponse::default() })
            }
            Self::LeaveGroup(_) => ResponseBody::LeaveGroup(LeaveGroupResponse {
                error,
                ..LeaveGroupResponse::default()
            }),
            Self::OffsetCommit(commit) => ResponseBody::OffsetCommit(OffsetCommitResponse {
                partitions: commit
                    .offsets
                    .keys()
                    .map(|partition| (partition.clone(), error))
                    .collect(),
                ..OffsetCommitResponse::default()
            }),
            Self::OffsetFetch(_) => ResponseBody::OffsetFetch(OffsetFetchResponse {
                error,
                ..OffsetFetchResponse::default()
            }),
            Self::DescribeGroup(group_id) => {
                ResponseBody::DescribeGroup(refused(group_id.clone(), error))
            }
            Self::OffsetDelete(_) => ResponseBody::OffsetDelete(OffsetDeleteResponse {
                error,
                ..OffsetDeleteResponse::default()
            }),
            Self::DescribeConsumerGroup(group_id) => {
                ResponseBody::DescribeConsumerGroup(refused_consumers(group_id.clone(), error))
            }
            Self::DeleteGroup(group_id) => ResponseBody::DeleteGroup(group_id.clone(), error),
            Self::ListGroups { .. } => ResponseBody::ListGroups(ListGroupsResponse {
                error,
                ..ListGroupsResponse::default()
            }),
        }
    }
}

/// An answer, on its way.
#[derive(Clone, Debug)]
pub(crate) struct CoordinatorResponse {
    pub(crate) connection: ConnectionId,
    pub(crate) tag: RequestTag,
    pub(crate) body: ResponseBody,
}

/// The answers that a coordinator gives.
#[derive(Clone, Debug)]
pub(crate) enum ResponseBody {
    JoinGroup(JoinGroupResponse),
    SyncGroup(SyncGroupResponse),
    Heartbeat(HeartbeatResponse),
    LeaveGroup(LeaveGroupResponse),
    OffsetCommit(OffsetCommitResponse),
    OffsetFetch(OffsetFetchResponse),
    OffsetDelete(OffsetDeleteResponse),
    DescribeGroup(DescribedGroup),
    DescribeConsumerGroup(DescribedConsumerGroup),
    DeleteGroup(String, ErrorCode),
    ListGroups(ListGroupsResponse),
}
