//! What DescribeGroups and ListGroups tell of a group; ConsumerGroupDescribe finds none.

use crate::wire::ErrorCode;
use crate::wire::api::{DescribedConsumerGroup, DescribedGroup, DescribedMember, ListedGroup};

use super::group::{Group, GroupState};
use super::record::CLIENT_HOST;

/// Nothing but an error.
pub(super) fn refused(group_id: String, error: ErrorCode) -> DescribedGroup {
    let state = if error == ErrorCode::GroupIdNotFound { "Dead" } else { "" };
    DescribedGroup {
        error,
        error_message: None,
        group_id,
        state: state.to_owned(),
        protocol_type: String::new(),
        protocol: String::new(),
        members: Vec::new(),
    }
}

/// The same of a group of the new protocol.
pub(super) fn refused_consumers(group_id: String, error: ErrorCode) -> DescribedConsumerGroup {
    DescribedConsumerGroup {
        error,
        group_id,
        state: "Dead".to_owned(),
        epoch: 0,
        assignor: String::new(),
        members: Vec::new(),
    }
}

/// A group that does not exist; an error only from v6 on.
pub(super) fn unknown(group_id: &str, version: i16) -> DescribedGroup {
    let mut described = refused(group_id.to_owned(), ErrorCode::GroupIdNotFound);
    match version >= 6 {
        true => described.error_message = Some(format!("Group {group_id} not found.")),
        false => described.error = ErrorCode::None,
    }
    described
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
    /// Neither leader nor generation is told; protocol and metadata only of a stable group.
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
            error_message: None,
            state: self.state.name().to_owned(),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            members: members.collect(),
            protocol,
        }
    }

    pub(super) fn listed(&self) -> ListedGroup {
        ListedGroup {
            group_id: self.id.clone(),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            state: Some(self.state.name().to_owned()),
            group_type: Some("classic".to_owned()),
        }
    }
}
