//! A group with its members, as far as what they wrote can be read.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{GroupState, GroupType};
use crate::assign::{ErasedAssigner, MetadataCodec, MetadataError, MetadataPayload};
use crate::subscription::{Down, SeenSubscription, Up, see_assignment, see_subscription};
use crate::types::{Generation, MemberId, Node, Partitions};
use crate::wire::api::{DescribedGroup, DescribedMember};
use crate::wire::{ReadError, client_host};

/// A group of the classic protocol, or a group of consumers of the new one (KIP-848).
///
/// Of classic groups Kafka tells an observer neither generation nor leader; where a member of this crate planned, its
/// words do ([`PlanWords`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupDescription {
    /// Kafka: `group.id`.
    pub group_id: String,
    /// Which protocol it runs.
    pub group_type: GroupType,
    /// What it is doing.
    pub state: GroupState,
    /// `consumer` for groups of consumers; empty for a group that has only offsets.
    pub protocol_type: String,
    /// The assigner that all agreed on; none unless the group is stable. In the new protocol the broker's assignor.
    pub protocol: Option<String>,
    /// Of a group of the new protocol: raised by the broker whenever it plans anew.
    pub epoch: Option<i32>,
    /// The broker that coordinates it.
    pub coordinator: Node,
    /// In order of their instance ids, those without one last and in order of their member ids.
    pub members: Vec<MemberDescription>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberDescription {
    /// Kafka: `member.id`.
    pub member_id: MemberId,
    /// Kafka: `group.instance.id`. None for a dynamic member, and from brokers before Kafka 2.4.
    pub group_instance_id: Option<String>,
    /// Kafka: `client.id`.
    pub client_id: String,
    /// Where its connection came from.
    pub client_host: String,
    /// What it asked for. Told of a stable group only.
    pub subscription: Content<SubscriptionDescription>,
    /// What it has; while the group rebalances, what it had before.
    pub assignment: Content<AssignmentDescription>,
}

/// What members wrote, as far as it can be read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content<T> {
    /// Nothing is told.
    Nothing,
    /// Of a group of consumers.
    Read(T),
    /// Of a group of another protocol type, whose bytes are its own.
    Foreign(Bytes),
    /// Of a group of consumers, but not what consumers write.
    Unreadable {
        /// The bytes.
        bytes: Bytes,
        /// Where reading ended.
        why: String,
    },
}

/// What a member asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionDescription {
    /// The topics that it subscribes to.
    pub topics: Vec<Arc<str>>,
    /// The pattern that it subscribes to beside them: in the new protocol alone, where brokers know it.
    pub pattern: Option<String>,
    /// What it kept when it joined: none in eager rounds.
    pub owned: Partitions,
    /// When it was given that. In the new protocol, the epoch of the group that it has caught up with.
    pub generation: Generation,
    /// Kafka: `client.rack`.
    pub rack: Option<Arc<str>>,
    /// What its assigner told the leader.
    pub metadata: Option<MemberMetadata>,
    /// What members of this crate tell beside it; none of other clients.
    pub words: Option<MemberWords>,
    /// The bytes that hold all this, or another client's.
    pub user_data: Option<Bytes>,
}

/// What an assigner told the leader of its member.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberMetadata {
    /// The codec that wrote it, if this program has it.
    pub codec: Option<MetadataCodec>,
    /// The assigner's version.
    pub version: u16,
    /// As it was written.
    pub bytes: Bytes,
    /// As the assigner reads it, in JSON where the feature `json` is on; none if that assigner was not given
    /// ([`Admin::assigner`](super::Admin::assigner)).
    pub shown: Option<Result<String, MetadataError>>,
}

/// What members of this crate tell their leader of themselves.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct MemberWords {
    /// Host and process.
    pub process: Option<Arc<str>>,
    /// Kafka: `session.timeout.ms`.
    pub session_timeout: Option<Duration>,
    /// Kafka: `max.poll.interval.ms`.
    pub rebalance_timeout: Option<Duration>,
}

/// What a member has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AssignmentDescription {
    /// The partitions.
    pub partitions: Partitions,
    /// What a leader of this crate told beside it; none of other clients.
    pub words: Option<PlanWords>,
    /// The bytes that hold this, or another client's.
    pub user_data: Option<Bytes>,
}

/// What a leader of this crate tells with a plan.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PlanWords {
    /// The generation that was planned for.
    pub generation: Generation,
    /// The member id of the leader.
    pub leader: Arc<str>,
    /// How many members there were.
    pub group_size: u32,
    /// Why there is no new plan: who could not make one, and what went wrong.
    pub failure: Option<(Arc<str>, Arc<str>)>,
    /// The same for all members of one plan.
    pub digest: u64,
}

impl<T> Content<T> {
    /// What was read, if it could be.
    pub fn read(&self) -> Option<&T> {
        match self {
            Self::Read(content) => Some(content),
            _ => None,
        }
    }
}

impl MemberDescription {
    /// The name that people know it by: its instance id, or else its member id.
    pub fn name(&self) -> &str {
        self.group_instance_id.as_deref().unwrap_or(self.member_id.as_str())
    }

    /// The partitions that it has, if they can be read.
    pub fn partitions(&self) -> Option<&Partitions> {
        self.assignment.read().map(|assignment| &assignment.partitions)
    }
}

impl fmt::Display for GroupDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group `{}`, {}, {} members", self.group_id, self.state, self.members.len())
    }
}

/// Reads what a coordinator said.
pub(super) fn describe(
    coordinator: Node,
    described: DescribedGroup,
    assigners: &[ErasedAssigner],
) -> GroupDescription {
    let reader = Reader {
        of_consumers: described.protocol_type == "consumer",
        protocol: &described.protocol,
        assigner: assigners.iter().rev().find(|known| **known.name() == *described.protocol),
    };
    let members = described.members.into_iter().map(|member| reader.member(member));
    let members = in_order(members.collect());
    GroupDescription {
        group_type: GroupType::Classic,
        epoch: None,
        state: GroupState::from(described.state.as_str()),
        protocol: Some(described.protocol.clone()).filter(|name| !name.is_empty()),
        group_id: described.group_id,
        protocol_type: described.protocol_type,
        coordinator,
        members,
    }
}

/// By their instance ids, those without one last and by their member ids.
pub(super) fn in_order(mut members: Vec<MemberDescription>) -> Vec<MemberDescription> {
    fn key(member: &MemberDescription) -> (bool, Option<&str>, &MemberId) {
        let instance_id = member.group_instance_id.as_deref();
        (instance_id.is_none(), instance_id, &member.member_id)
    }
    members.sort_by(|one, other| key(one).cmp(&key(other)));
    members
}

/// What is needed to read members' bytes.
struct Reader<'a> {
    of_consumers: bool,
    protocol: &'a str,
    assigner: Option<&'a ErasedAssigner>,
}

impl Reader<'_> {
    fn member(&self, member: DescribedMember) -> MemberDescription {
        MemberDescription {
            client_host: client_host::shown(&member.client_host).to_owned(),
            subscription: self.content(member.metadata, |bytes| self.subscription(bytes)),
            assignment: self.content(member.assignment, assignment),
            member_id: member.member_id,
            group_instance_id: member.group_instance_id,
            client_id: member.client_id,
        }
    }

    fn content<T>(
        &self,
        bytes: Bytes,
        read: impl FnOnce(Bytes) -> Result<T, ReadError>,
    ) -> Content<T> {
        if bytes.is_empty() {
            return Content::Nothing;
        }
        if !self.of_consumers {
            return Content::Foreign(bytes);
        }
        match read(bytes.clone()) {
            Ok(content) => Content::Read(content),
            Err(error) => Content::Unreadable { bytes, why: error.to_string() },
        }
    }

    fn subscription(&self, bytes: Bytes) -> Result<SubscriptionDescription, ReadError> {
        let raw = self.assigner.is_some_and(|known| known.codec() == MetadataCodec::Raw);
        let seen = see_subscription(self.protocol, raw, bytes)?;
        let SeenSubscription { subscription, envelope, metadata } = seen;
        let metadata = metadata.and_then(Result::ok).map(|told| self.metadata(told));
        Ok(SubscriptionDescription {
            topics: subscription.topics.to_vec(),
            pattern: None,
            // Each number stands in the bytes by itself.
            owned: subscription.owned.within(|_| Some(u32::MAX)),
            generation: subscription.generation,
            rack: subscription.rack,
            metadata,
            words: envelope.map(MemberWords::from),
            user_data: subscription.user_data,
        })
    }

    fn metadata(&self, told: MetadataPayload) -> MemberMetadata {
        MemberMetadata {
            shown: self.assigner.map(|known| known.show(&told)),
            codec: MetadataCodec::from_id(told.codec),
            version: told.version,
            bytes: told.bytes,
        }
    }
}

fn assignment(bytes: Bytes) -> Result<AssignmentDescription, ReadError> {
    let (assignment, envelope) = see_assignment(bytes)?;
    Ok(AssignmentDescription {
        partitions: assignment.partitions,
        words: envelope.map(PlanWords::from),
        user_data: assignment.user_data,
    })
}

impl From<Up> for MemberWords {
    fn from(up: Up) -> Self {
        Self {
            process: up.process,
            session_timeout: up.session_timeout,
            rebalance_timeout: up.rebalance_timeout,
        }
    }
}

impl From<Down> for PlanWords {
    fn from(down: Down) -> Self {
        Self {
            generation: down.generation,
            leader: down.leader,
            group_size: down.group_size,
            failure: down.failure.map(|failure| (failure.by, failure.message)),
            digest: down.digest,
        }
    }
}

/// A group as an answer tells it.
#[cfg(all(test, feature = "cli"))]
pub(crate) fn read(version: i16, answer: Bytes) -> Option<GroupDescription> {
    use crate::types::NodeId;
    use crate::wire::api::DescribeGroupsRequest;
    use crate::wire::{Reader, Request};

    let answer = DescribeGroupsRequest::read(version, &mut Reader::new(answer)).ok()?;
    let coordinator = Node { id: NodeId(1), host: "broker".into(), port: 9092, rack: None };
    let described = answer.groups.into_iter().next()?;
    Some(describe(coordinator, described, &[]))
}
