//! What a group is, for those whom it has no place for.

use std::fmt;

use tokio::time::Instant;

use super::{Client, ClientError, Lane, Target};
use crate::wire::ErrorCode;
use crate::wire::api::{DescribeGroupsRequest, ListGroupsRequest};

/// What a group is, as far as its coordinator tells.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum GroupNature {
    /// Nobody is in it.
    Empty,
    /// A group of the classic protocol.
    Classic {
        protocol_type: String,
        /// The protocol that was chosen last; empty while the group rebalances.
        protocol: String,
        members: usize,
    },
    /// The broker assigns (KIP-848).
    ManagedByBroker,
}

impl fmt::Display for GroupNature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nobody is in it now"),
            Self::ManagedByBroker => {
                f.write_str("it runs the new protocol (group.protocol=consumer, KIP-848), in which the broker assigns")
            }
            Self::Classic { protocol_type, protocol, members } if protocol.is_empty() => {
                write!(f, "it is of type `{protocol_type}`, has {members} members, and is rebalancing")
            }
            Self::Classic { protocol_type, protocol, members } => {
                write!(f, "it is of type `{protocol_type}`, and its {members} members are on `{protocol}`")
            }
        }
    }
}

impl Client {
    /// Asks a group's coordinator what the group is. Needs DESCRIBE on it. Cancel safe.
    pub(crate) async fn group_nature(
        &self,
        group: &str,
        deadline: Instant,
    ) -> Result<GroupNature, ClientError> {
        let node = self.coordinator(group, deadline).await?;
        let to = Target::Node(node.id);
        let request = DescribeGroupsRequest { group_ids: vec![group.to_owned()] };
        let described = self.send(to, Lane::Metadata, request, deadline).await?;
        let found = described.groups.into_iter().find(|described| described.group_id == group);
        match found {
            Some(described) if described.error.is_none() && !described.members.is_empty() => {
                Ok(GroupNature::Classic {
                    protocol_type: described.protocol_type,
                    protocol: described.protocol,
                    members: described.members.len(),
                })
            }
            // Not found as a classic group: the list says whether it is one of the new protocol.
            Some(described) if described.error == ErrorCode::GroupIdNotFound => {
                let listed = self.send(to, Lane::Metadata, ListGroupsRequest, deadline).await?;
                let mut ours = listed.groups.iter().filter(|listed| listed.group_id == group);
                let is_new = |kind: &Option<String>| kind.as_deref() == Some("consumer");
                Ok(match ours.any(|listed| is_new(&listed.group_type)) {
                    true => GroupNature::ManagedByBroker,
                    false => GroupNature::Empty,
                })
            }
            _ => Ok(GroupNature::Empty),
        }
    }
}
