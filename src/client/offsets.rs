//! Offsets of partitions, and of groups: requests that are repeated until each partition has an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::time::{Instant, sleep};

use super::{Client, ClientError, Lane, Target, Topics};
use crate::types::{NodeId, Offsets, Partitions, TopicPartition};
use crate::wire::api::{ListOffsetsRequest, ListedOffset, OffsetAt, OffsetFetchRequest};
use crate::wire::{ApiKey, ErrorCode};

/// What became of each partition that was asked for.
pub(crate) type ByPartition<T> = BTreeMap<TopicPartition, Result<T, ErrorCode>>;

impl Client {
    /// What a group has committed, for the partitions that have something committed.
    ///
    /// An unknown group, and a partition that does not exist any more, have nothing. With `require_stable`, partitions
    /// with offsets in an open transaction are asked for again until the deadline. An error of one partition (no
    /// permission on its topic) is an error of all: whoever wants to know starts from these offsets. Cancel safe.
    pub(crate) async fn offset_fetch(
        &self,
        group: &str,
        partitions: &Partitions,
        require_stable: bool,
        deadline: Instant,
    ) -> Result<Offsets, ClientError> {
        let mut offsets = Offsets::new();
        let mut missing = partitions.clone();
        let mut backoff = self.retry_backoff();
        while !missing.is_empty() {
            let round =
                self.fetch_once(group, &missing, require_stable, deadline, &mut offsets).await;
            let trouble = match round {
                Ok(unstable) => {
                    missing = unstable;
                    refused(ApiKey::OffsetFetch, ErrorCode::UnstableOffsetCommit, group)
                }
                Err(error) if error.is_retriable() || passes(&error) => error,
                Err(error) => return Err(error),
            };
            let pause = backoff.pause();
            if missing.is_empty() {
                break;
            }
            if Instant::now() + pause >= deadline {
                return Err(trouble);
            }
            sleep(pause).await;
        }
        Ok(offsets)
    }

    /// One request; what it tells goes into `offsets`, what is unstable comes back.
    async fn fetch_once(
        &self,
        group: &str,
        partitions: &Partitions,
        require_stable: bool,
        deadline: Instant,
        offsets: &mut Offsets,
    ) -> Result<Partitions, ClientError> {
        let node = self.coordinator(group, deadline).await?;
        let request = OffsetFetchRequest {
            group_id: group.to_owned(),
            partitions: Some(partitions.clone()),
            require_stable,
        };
        let patience = deadline.min(self.request_deadline());
        let answer = self.send(Target::Node(node.id), Lane::Commit, request, patience).await;
        let answer = answer.inspect_err(|error| {
            if error.has_lost_the_broker() {
                self.forget_coordinator(group, node.id);
            }
        })?;
        let whole = self.whole(group, node.id, answer.error)?;
        let mut unstable = Partitions::new();
        for fetched in if whole { answer.partitions } else { Vec::new() } {
            match fetched.error {
                // What nobody asked for is nobody's.
                _ if !partitions
                    .contains(fetched.partition.topic(), fetched.partition.partition()) => {}
                ErrorCode::None => offsets
                    .extend(fetched.committed.map(|committed| (fetched.partition, committed))),
                ErrorCode::UnknownTopicOrPartition | ErrorCode::UnknownTopicId => {}
                ErrorCode::UnstableOffsetCommit => {
                    unstable
                        .insert(&fetched.partition.shared_topic(), fetched.partition.partition());
                }
                code => {
                    self.whole(group, node.id, code)?;
                }
            }
        }
        Ok(unstable)
    }

    /// What an error of the whole answer means; whether there is anything to read in it. Version 1 says it with each
    /// partition.
    fn whole(&self, group: &str, node: NodeId, code: ErrorCode) -> Result<bool, ClientError> {
        match code {
            ErrorCode::None => Ok(true),
            ErrorCode::GroupIdNotFound => Ok(false),
            ErrorCode::NotCoordinator | ErrorCode::CoordinatorNotAvailable => {
                self.forget_coordinator(group, node);
                Err(refused(ApiKey::OffsetFetch, code, group))
            }
            code => Err(refused(ApiKey::OffsetFetch, code, group)),
        }
    }

    /// Where partitions start or end, or where a time is in them: asked of each partition's leader.
    ///
    /// Leaders that have moved are looked for again, until the deadline; then the last error stands for the partition.
    /// `None` where no record has that time or a later one. Cancel safe.
    pub(crate) async fn list_offsets(
        &self,
        partitions: &Partitions,
        at: OffsetAt,
        deadline: Instant,
    ) -> Result<ByPartition<Option<i64>>, ClientError> {
        let mut found = ByPartition::new();
        let mut missing: BTreeSet<_> = partitions.iter().collect();
        let mut backoff = self.retry_backoff();
        let mut stale = false;
        while !missing.is_empty() {
            let leaders = self.leaders(&missing, stale, deadline).await?;
            stale = true;
            for listed in self.list_once(leaders, at, deadline).await? {
                match listed.error {
                    _ if !missing.contains(&listed.partition) => {}
                    ErrorCode::None => {
                        missing.remove(&listed.partition);
                        found.insert(listed.partition, Ok(listed.offset));
                    }
                    code => {
                        if !leader_may_have_moved(code) {
                            missing.remove(&listed.partition);
                        }
                        found.insert(listed.partition, Err(code));
                    }
                }
            }
            let pause = backoff.pause();
            if missing.is_empty() || Instant::now() + pause >= deadline {
                break;
            }
            sleep(pause).await;
        }
        for partition in missing {
            found.entry(partition).or_insert(Err(ErrorCode::LeaderNotAvailable));
        }
        Ok(found)
    }

    /// Who leads which partitions; those without a leader are left out.
    async fn leaders(
        &self,
        partitions: &BTreeSet<TopicPartition>,
        stale: bool,
        deadline: Instant,
    ) -> Result<BTreeMap<NodeId, Vec<TopicPartition>>, ClientError> {
        let mut cluster = Arc::clone(&self.cluster().borrow());
        let unknown = |partition: &TopicPartition| {
            cluster.leader(partition.topic(), partition.partition()).is_none()
        };
        if stale || partitions.iter().any(unknown) {
            let topics: Topics = partitions.iter().map(TopicPartition::shared_topic).collect();
            cluster = self.refresh_metadata(topics, deadline).await?;
        }
        let mut leaders: BTreeMap<NodeId, Vec<TopicPartition>> = BTreeMap::new();
        for partition in partitions {
            if let Some(node) = cluster.leader(partition.topic(), partition.partition()) {
                leaders.entry(node.id).or_default().push(partition.clone());
            }
        }
        Ok(leaders)
    }

    /// One request to each leader, all at once. A leader that is lost answers nothing, and is tried again.
    async fn list_once(
        &self,
        leaders: BTreeMap<NodeId, Vec<TopicPartition>>,
        at: OffsetAt,
        deadline: Instant,
    ) -> Result<Vec<ListedOffset>, ClientError> {
        let patience = deadline.min(self.request_deadline());
        let mut asking = tokio::task::JoinSet::new();
        for (node, partitions) in leaders {
            let request = ListOffsetsRequest {
                read_committed: false,
                partitions: partitions.into_iter().map(|partition| (partition, at)).collect(),
                timeout: patience.saturating_duration_since(Instant::now()),
            };
            let client = self.clone();
            let ask = async move {
                client.send(Target::Node(node), Lane::Metadata, request, patience).await
            };
            asking.spawn_on(ask, self.runtime());
        }
        let mut listed = Vec::new();
        while let Some(answer) = asking.join_next().await {
            match answer.unwrap_or(Err(ClientError::Closed)) {
                Ok(answer) => listed.extend(answer.partitions),
                Err(error) if error.is_retriable() => {
                    tracing::debug!(%error, "a leader did not answer")
                }
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }
}

fn refused(api: ApiKey, code: ErrorCode, group: &str) -> ClientError {
    ClientError::Refused { api, code, subject: format!("group `{group}`").into() }
}

fn passes(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::Refused {
            code: ErrorCode::CoordinatorLoadInProgress
                | ErrorCode::CoordinatorNotAvailable
                | ErrorCode::NotCoordinator
                | ErrorCode::RequestTimedOut
                | ErrorCode::UnstableOffsetCommit,
            ..
        }
    )
}

fn leader_may_have_moved(code: ErrorCode) -> bool {
    /// FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE, KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE.
    const PASSING: [i16; 5] = [74, 75, 78, 56, 9];
    matches!(
        code,
        ErrorCode::NotLeaderOrFollower
            | ErrorCode::LeaderNotAvailable
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::RequestTimedOut
    ) || PASSING.contains(&code.number())
}
