//! The offsets of a group. Whose partition it is, is never checked.

use crate::subscription::Subscription;
use crate::types::{OffsetAndMetadata, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::{
    FetchedOffset, OffsetCommitRequest, OffsetDeleteRequest, OffsetDeleteResponse,
    OffsetFetchRequest, OffsetFetchResponse,
};

use super::context::Context;
use super::group::{Group, GroupState};

impl Group {
    /// Whether this committer may commit now; a member that may is alive.
    pub(super) fn check_commit(
        &mut self,
        context: &Context<'_>,
        request: &OffsetCommitRequest,
    ) -> Result<(), ErrorCode> {
        if self.state == GroupState::Empty && !request.generation.is_some() {
            return Ok(());
        }
        let instance_id = request.group_instance_id.as_ref();
        self.validate_generation(&request.member_id, instance_id, request.generation)?;
        if self.state == GroupState::CompletingRebalance {
            return Err(ErrorCode::RebalanceInProgress);
        }
        self.renew_session(context, &request.member_id);
        Ok(())
    }

    /// Stores one offset.
    pub(super) fn store_offset(
        &mut self,
        context: &Context<'_>,
        partition: &TopicPartition,
        offset: &OffsetAndMetadata,
    ) -> ErrorCode {
        if offset.metadata.len() > context.settings.max_offset_metadata {
            return ErrorCode::OffsetMetadataTooLarge;
        }
        self.offsets.insert(partition.clone(), offset.clone());
        ErrorCode::None
    }
}

/// Offsets are forgotten (KIP-496).
impl Group {
    /// In a group of consumers that has members, the topics that nobody subscribes to; `known` says of each partition
    /// whether the cluster has it.
    pub(super) fn delete_offsets(
        &mut self,
        request: &OffsetDeleteRequest,
        known: &[bool],
    ) -> OffsetDeleteResponse {
        let is_live = self.state != GroupState::Empty;
        if is_live && self.protocol_type.as_deref() != Some("consumer") {
            let error = ErrorCode::NonEmptyGroup;
            return OffsetDeleteResponse { error, ..OffsetDeleteResponse::default() };
        }
        let mut partitions = Vec::with_capacity(known.len());
        for (partition, known) in request.partitions.iter().zip(known) {
            let error = match known {
                false => ErrorCode::UnknownTopicOrPartition,
                true if is_live && self.subscribes_to(partition.topic()) => {
                    ErrorCode::GroupSubscribedToTopic
                }
                true => {
                    self.offsets.remove(&partition);
                    ErrorCode::None
                }
            };
            partitions.push((partition, error));
        }
        OffsetDeleteResponse { partitions, ..OffsetDeleteResponse::default() }
    }

    /// Also where it cannot be read what members subscribe to.
    fn subscribes_to(&self, topic: &str) -> bool {
        let Some(protocol) = &self.protocol else { return true };
        self.members.values().any(|member| match Subscription::decode(member.metadata(protocol)) {
            Ok(subscription) => subscription.topics.iter().any(|known| **known == *topic),
            Err(_) => true,
        })
    }
}

/// The offsets of a group, which need not exist.
pub(super) fn fetch_offsets(
    group: Option<&Group>,
    request: &OffsetFetchRequest,
) -> OffsetFetchResponse {
    let stored =
        |partition: &TopicPartition| group.and_then(|group| group.offsets.get(partition)).cloned();
    let named = match &request.partitions {
        Some(partitions) => partitions.clone(),
        None => group.into_iter().flat_map(|group| group.offsets.keys().cloned()).collect(),
    };
    let partitions = named.iter().map(|partition| {
        let committed = stored(&partition);
        FetchedOffset { partition, error: ErrorCode::None, committed }
    });
    OffsetFetchResponse { partitions: partitions.collect(), ..OffsetFetchResponse::default() }
}
