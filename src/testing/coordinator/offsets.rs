//! The offsets of a group. Whose partition it is, is never checked.

use crate::types::{OffsetAndMetadata, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::{
    FetchedOffset, OffsetCommitRequest, OffsetFetchRequest, OffsetFetchResponse,
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
