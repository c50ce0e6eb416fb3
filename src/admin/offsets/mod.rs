//! What groups have committed, changed from outside.

mod commit;
mod delete;
mod plan;
mod positions;
mod selection;

pub use plan::{Adjusted, OffsetReset, OffsetResetOptions, OffsetResetPlan, Unresettable};
pub(super) use positions::positions;
pub use selection::{OffsetSelection, ResetTo};

use super::{Admin, AdminError, checked};
use crate::types::{Offsets, Partitions, TopicPartition};
use crate::wire::ErrorCode;

impl Admin {
    /// Says what resetting a group's offsets would do, and does nothing: a dry run, for
    /// [`reset_offsets`](Self::reset_offsets) to carry out.
    ///
    /// Positions that a partition does not have are moved to its nearer end, and said to be
    /// ([`OffsetReset::adjusted`]). Needs DESCRIBE on the group and on its topics.
    ///
    /// # Errors
    ///
    /// The group does not exist (unless [one is to be made](OffsetResetOptions::create_group)), a topic that is named
    /// does not exist, or the brokers cannot be asked. A partition that cannot be reset says why, and stops no other.
    pub async fn plan_offset_reset(
        &self,
        group: impl Into<String>,
        which: OffsetSelection,
        to: ResetTo,
        options: OffsetResetOptions,
    ) -> Result<OffsetResetPlan, AdminError> {
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(async move { plan::plan(&client, &group, &which, to, &options).await }).await
    }

    /// Commits what a plan says, in one request; what became of each partition, in the plan's order.
    ///
    /// The broker takes it for groups alone that nobody is in. The trap: what was planned may be old by now, as members
    /// may have come, committed and left; what they committed is overwritten. Needs READ on the group and on its topics.
    ///
    /// Dropping the future after the request was sent takes nothing back.
    ///
    /// # Errors
    ///
    /// Nothing was committed: somebody is in the group ([`AdminError::NotEmpty`] names who), this user may not. After
    /// [`AdminError::Client`] all of it may have been: the same call again does no harm.
    pub async fn reset_offsets(
        &self,
        plan: &OffsetResetPlan,
    ) -> Result<Vec<(TopicPartition, Result<i64, Unresettable>)>, AdminError> {
        let (client, plan) = (self.client.clone(), plan.clone());
        self.run(async move { commit::commit(&client, &plan).await }).await
    }

    /// Says what [`delete_offsets`](Self::delete_offsets) would forget: what the group has committed for these
    /// partitions. Needs DESCRIBE on the group and its topics.
    ///
    /// # Errors
    ///
    /// The coordinator cannot be asked.
    pub async fn plan_offset_deletion(
        &self,
        group: impl Into<String>,
        which: OffsetSelection,
    ) -> Result<Offsets, AdminError> {
        let mut committed = self.committed(group).await?;
        committed.retain(|partition, _| which.takes(partition));
        Ok(committed)
    }

    /// Has a group forget what it has committed for partitions, in one request (KIP-496); what became of each.
    ///
    /// A group of consumers may have members, but none that subscribes to the topic
    /// ([`GroupSubscribedToTopic`](ErrorCode::GroupSubscribedToTopic)); any other must be empty. A partition for which
    /// nothing was committed is none the worse. Needs DELETE on the group and READ on the topics.
    ///
    /// Dropping the future after the request was sent takes nothing back.
    ///
    /// # Errors
    ///
    /// Nothing was forgotten: no partition is named, the group does not exist, or is of another type and not empty,
    /// this user may not, the broker is older than Kafka 2.4.
    pub async fn delete_offsets(
        &self,
        group: impl Into<String>,
        partitions: impl IntoIterator<Item = TopicPartition>,
    ) -> Result<Vec<(TopicPartition, Result<(), ErrorCode>)>, AdminError> {
        let partitions: Partitions = partitions.into_iter().collect();
        let (client, group) = (self.client.clone(), checked(group.into())?);
        self.run(async move { delete::delete(&client, &group, partitions).await }).await
    }
}
