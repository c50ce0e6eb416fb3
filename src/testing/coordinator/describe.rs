//! What DescribeGroups and ListGroups tell of a group.

use bytes::Bytes;

use crate::types::MemberId;
use crate::wire::ErrorCode;

use super::group::{Group, GroupState};
use super::record::CLIENT_HOST;

/// A group as DescribeGroups tells it. Neither leader nor generation is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DescribedGroup {
    pub(crate) error: ErrorCode,
    pub(crate) group_id: String,
    /// Kafka's name of the state; "Dead" for a group that does not exist.
    pub(crate) state: &'static str,
    pub(crate) protocol_type: String,
    /// Empty unless the group is stable.
    pub(crate) protocol: String,
    pub(crate) members: Vec<DescribedMember>,
}

/// A member as DescribeGroups tells it. Its metadata are empty unless the group is stable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DescribedMember {
    pub(crate) member_id: MemberId,
    pub(crate) group_instance_id: Option<String>,
    pub(crate) client_id: String,
    pub(crate) client_host: String,
    pub(crate) metadata: Bytes,
    pub(crate) assignment: Bytes,
}

/// A group as ListGroups tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ListedGroup {
    pub(crate) group_id: String,
    pub(crate) protocol_type: String,
    pub(crate) state: &'static str,
}

impl DescribedGroup {
    /// Nothing but an error.
    pub(crate) fn refused(group_id: String, error: ErrorCode) -> Self {
        let state = if error == ErrorCode::GroupIdNotFound { "Dead" } else { "" };
        let (protocol_type, protocol) = (String::new(), String::new());
        Self { error, group_id, state, protocol_type, protocol, members: Vec::new() }
    }

    /// A group that does not exist; an error only from v6 on.
    pub(super) fn unknown(group_id: String, version: i16) -> Self {
        let mut described = Self::refused(group_id, ErrorCode::GroupIdNotFound);
        if version < 6 {
            described.error = ErrorCode::None;
        }
        described
    }
}

impl GroupState {
    /// Kafka's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}

impl Group {
    pub(super) fn described(&self) -> DescribedGroup {
        let protocol =
            self.protocol.clone().filter(|_| self.state == GroupState::Stable).unwrap_or_default();
        let members = self.members.values().map(|member| DescribedMember {
            member_id: member.id.clone(),
            group_instance_id: member.instance_id.as_ref().map(|id| id.as_str().to_owned()),
            client_id: member.client_id.to_string(),
            client_host: CLIENT_HOST.to_owned(),
            metadata: member.metadata(&protocol),
            assignment: member.assignment.clone(),
        });
        DescribedGroup {
            error: ErrorCode::None,
            group_id: self.id.clone(),
            state: self.state.name(),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            members: members.collect(),
            protocol,
        }
    }

    pub(super) fn listed(&self) -> ListedGroup {
        ListedGroup {
            group_id: self.id.clone(),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            state: self.state.name(),
        }
    }
}
