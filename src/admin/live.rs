//! A group that lives, as whoever plans for it sees it.

use std::sync::Arc;

use super::{Admin, AdminError, GroupDescription, MemberDescription};
use crate::assign::{MemberInput, MetadataError, MetadataPayload};
use crate::client::Topics;
use crate::subscription::Down;
use crate::types::{Cluster, Generation, PartitionRanges, Partitions};

impl Admin {
    /// The brokers, and the topics that a group's members subscribe to. Cancel safe.
    pub(crate) async fn cluster_of(
        &self,
        group: &GroupDescription,
    ) -> Result<Arc<Cluster>, AdminError> {
        let subscriptions = group.members.iter().filter_map(|member| member.subscription.read());
        let topics = subscriptions.flat_map(|subscription| subscription.topics.iter().cloned());
        let (client, topics) = (self.client.clone(), topics.collect::<Topics>());
        self.run(async move { Ok(client.refresh_metadata(topics, client.api_deadline()).await?) })
            .await
    }
}

impl GroupDescription {
    /// The newest generation that a leader of this crate planned for; Kafka itself tells none.
    pub(crate) fn generation(&self) -> Option<Generation> {
        let assignments = self.members.iter().filter_map(|member| member.assignment.read());
        assignments.filter_map(|assignment| Some(assignment.words.as_ref()?.generation)).max()
    }

    /// The members as they would be if the group rebalanced now: they claim what they were given last.
    ///
    /// `holds`: whether they would go on with it while the round runs.
    pub(crate) fn to_plan(
        &self,
        holds: bool,
    ) -> Vec<MemberInput<Result<MetadataPayload, MetadataError>>> {
        // All were given it in one round, whose number only some may have been told.
        let generation = self.generation().unwrap_or(Generation::NONE);
        let members = self.members.iter();
        members.map(|member| MemberInput { generation, holds, ..input(member) }).collect()
    }
}

fn input(member: &MemberDescription) -> MemberInput<Result<MetadataPayload, MetadataError>> {
    let subscription = member.subscription.read();
    let metadata = subscription.and_then(|subscription| subscription.metadata.as_ref());
    let told = metadata.ok_or(MetadataError::Missing).and_then(|metadata| {
        let codec = metadata.codec.ok_or_else(|| MetadataError::undecodable("an unknown codec"))?;
        let (version, bytes) = (metadata.version, metadata.bytes.clone());
        Ok(MetadataPayload { codec: codec.id(), version, bytes })
    });
    let topics = subscription.map(|subscription| subscription.topics.clone()).unwrap_or_default();
    let mut input = MemberInput::new(member.member_id.clone(), topics, told);
    input.instance_id = member.group_instance_id.as_deref().map(Into::into);
    input.rack = subscription.and_then(|subscription| subscription.rack.clone());
    let words = subscription.and_then(|subscription| subscription.words.as_ref());
    input.process = words.and_then(|words| words.process.clone());
    if let Some(partitions) = member.partitions() {
        input.claims = partitions.into();
        input.standbys = standbys(member, partitions);
    }
    input
}

/// Of what a member has that of which another has the first copy.
fn standbys(member: &MemberDescription, partitions: &Partitions) -> PartitionRanges {
    let user_data = member.assignment.read().and_then(|assignment| assignment.user_data.as_ref());
    let down = user_data.and_then(|user_data| Down::decode(user_data).ok());
    down.map(|down| (&down.standbys.among(partitions)).into()).unwrap_or_default()
}
