//! What the coordinator is asked, and what it answers.

use std::sync::Arc;

use crate::types::{Generation, GroupInstanceId, MemberId, Offsets, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::{
    HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    LeaveGroupResponse, SyncGroupRequest, SyncGroupResponse,
};

use super::describe::{DescribedGroup, ListedGroup};

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
    OffsetCommit(CommitRequest),
    OffsetFetch(FetchRequest),
    DescribeGroup(String),
    ListGroups,
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
            Self::DescribeGroup(group_id) => group_id,
            Self::ListGroups => return None,
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
            Self::OffsetCommit(commit) => ResponseBody::OffsetCommit(CommitResponse {
                partitions: commit
                    .offsets
                    .keys()
                    .map(|partition| (partition.clone(), error))
                    .collect(),
            }),
            Self::OffsetFetch(_) => {
                ResponseBody::OffsetFetch(FetchResponse { error, offsets: Vec::new() })
            }
            Self::DescribeGroup(group_id) => {
                ResponseBody::DescribeGroup(DescribedGroup::refused(group_id.clone(), error))
            }
            Self::ListGroups => ResponseBody::ListGroups(Vec::new()),
        }
    }
}

/// OffsetCommit, as far as the coordinator looks at it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CommitRequest {
    pub(crate) group_id: String,
    pub(crate) generation: Generation,
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<GroupInstanceId>,
    pub(crate) offsets: Offsets,
}

/// What became of each partition's offset, in the order of the request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct CommitResponse {
    pub(crate) partitions: Vec<(TopicPartition, ErrorCode)>,
}

/// OffsetFetch for one group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FetchRequest {
    pub(crate) group_id: String,
    /// All that have an offset, if none are named.
    pub(crate) partitions: Option<Vec<TopicPartition>>,
}

/// The offsets of a group; a partition that was named and has none is there with offset -1.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct FetchResponse {
    pub(crate) error: ErrorCode,
    pub(crate) offsets: Vec<(TopicPartition, crate::types::OffsetAndMetadata)>,
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
    OffsetCommit(CommitResponse),
    OffsetFetch(FetchResponse),
    DescribeGroup(DescribedGroup),
    ListGroups(Vec<ListedGroup>),
}
