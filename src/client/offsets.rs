//! Offsets of partitions, and of groups: requests that are repeated until each partition has an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::time::{Instant, sleep};

use super::{Client, ClientError, Lane, Target, Topics, passes};
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
                    ClientError::of_group(
                        ApiKey::OffsetFetch,
                        ErrorCode::UnstableOffsetCommit,
                        group,
                    )
                }
                Err(error) if error.is_retriable() || may_pass(&error) => error,
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
        let request = OffsetFetchRequest {
            group_id: group.to_owned(),
            partitions: Some(partitions.clone()),
            require_stable,
        };
        let (node, answer) = self.ask_coordinator(group, Lane::Commit, request, deadline).await?;
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
                Err(ClientError::of_group(ApiKey::OffsetFetch, code, group))
            }
            code => Err(ClientError::of_group(ApiKey::OffsetFetch, code, group)),
        }
    }

    /// Where partitions start or end, or where a time is in them: asked of each partition's leader.
    ///
    /// Leaders that have moved are looked for again, until the deadline; then the last error stands for the partition.
    /// Cancel safe.
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

/// Whether a later try may say something else.
fn may_pass(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { code, .. }
        if passes(*code) || *code == ErrorCode::UnstableOffsetCommit)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::time::Duration;

    use kafka_protocol::messages::list_offsets_response::{
        ListOffsetsPartitionResponse, ListOffsetsResponse, ListOffsetsTopicResponse,
    };
    use kafka_protocol::messages::offset_fetch_response::{
        OffsetFetchResponse, OffsetFetchResponsePartition, OffsetFetchResponseTopic,
    };
    use kafka_protocol::protocol::StrBytes;

    use super::*;
    use crate::client::tests::script::{
        Received, Reply, Script, coordinator, encoded, metadata, soon,
    };

    fn committed(asked: &Received, whole: i16, partitions: &[(i32, i16, i64)]) -> Reply {
        let partition = |(number, code, offset): &(i32, i16, i64)| {
            OffsetFetchResponsePartition::default()
                .with_partition_index(*number)
                .with_error_code(*code)
                .with_committed_offset(*offset)
        };
        let topic = OffsetFetchResponseTopic::default()
            .with_name(StrBytes::from_static_str("orders").into())
            .with_partitions(partitions.iter().map(partition).collect());
        let message =
            OffsetFetchResponse::default().with_error_code(whole).with_topics(vec![topic]);
        encoded(&message, asked.version)
    }

    /// A cluster whose coordinator answers OffsetFetch so, by how often it was asked before.
    fn group(answer: impl Fn(&Received, i32) -> Reply + Send + Sync + 'static) -> Script {
        let times = AtomicI32::new(0);
        Script::new(move |_, request| match request.api {
            3 => metadata(request, &[1, 2], &[("orders", 3)]),
            10 => coordinator(request, 1),
            _ => answer(request, times.fetch_add(1, Ordering::Relaxed)),
        })
    }

    async fn fetch(script: &Script) -> Result<Vec<(i32, i64)>, ClientError> {
        let partitions = [("orders", 0), ("orders", 1), ("orders", 2)].into_iter().collect();
        let client = script.client("bootstrap:9092");
        let offsets = client.offset_fetch("group", &partitions, true, soon()).await?;
        Ok(offsets.into_iter().map(|(partition, at)| (partition.partition(), at.offset)).collect())
    }

    #[tokio::test(start_paused = true)]
    async fn offsets_in_an_open_transaction_are_waited_for() {
        let script = group(|asked, times| match times {
            0 => committed(asked, 0, &[(0, 0, 5), (1, 88, -1), (2, 0, -1)]),
            1 => committed(asked, 0, &[(1, 88, -1)]),
            _ => committed(asked, 0, &[(1, 0, 7)]),
        });
        assert_eq!(fetch(&script).await, Ok(vec![(0, 5), (1, 7)]));
    }

    #[tokio::test(start_paused = true)]
    async fn offsets_that_stay_unstable_are_an_error_at_the_deadline() {
        let script = group(|asked, _| committed(asked, 0, &[(1, 88, -1)]));
        let outcome = fetch(&script).await;
        assert!(
            matches!(
                outcome,
                Err(ClientError::Refused { code: ErrorCode::UnstableOffsetCommit, .. })
            ),
            "{outcome:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_coordinator_that_is_none_any_more_is_looked_for_and_asked_again() {
        let script = group(|asked, times| match times {
            0 => committed(asked, 16, &[]),
            1 => committed(asked, 14, &[]),
            2 => Reply::Close,
            _ => committed(asked, 0, &[(0, 0, 5), (1, 0, -1), (2, 3, -1)]),
        });
        assert_eq!(fetch(&script).await, Ok(vec![(0, 5)]));
        assert_eq!(script.count(ApiKey::FindCoordinator), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unknown_group_has_committed_nothing_and_a_forbidden_topic_is_an_error() {
        let unknown = group(|asked, _| committed(asked, 69, &[]));
        assert_eq!(fetch(&unknown).await, Ok(vec![]));
        let forbidden = group(|asked, _| committed(asked, 0, &[(0, 29, -1)]));
        let outcome = fetch(&forbidden).await;
        assert!(
            matches!(
                outcome,
                Err(ClientError::Refused { code: ErrorCode::TopicAuthorizationFailed, .. })
            ),
            "{outcome:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn offsets_are_asked_of_the_leader_also_after_it_has_moved() {
        let script = Script::new(|broker, request| match request.api {
            3 if broker == "bootstrap:9092" => metadata(request, &[1, 2], &[("orders", 1)]),
            3 => metadata(request, &[2, 1], &[("orders", 1)]),
            _ => {
                let (code, offset) = if broker == "broker-2:9092" { (0, 42) } else { (6, -1) };
                let partition = ListOffsetsPartitionResponse::default()
                    .with_error_code(code)
                    .with_offset(offset);
                let topic = ListOffsetsTopicResponse::default()
                    .with_name(StrBytes::from_static_str("orders").into())
                    .with_partitions(vec![partition]);
                let message = ListOffsetsResponse::default().with_topics(vec![topic]);
                encoded(&message, request.version)
            }
        });
        let client = script.client("bootstrap:9092");
        let partitions = [("orders", 0)].into_iter().collect();
        let found = client.list_offsets(&partitions, OffsetAt::Latest, soon()).await.unwrap();
        assert_eq!(found.into_values().collect::<Vec<_>>(), [Ok(Some(42))]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_partition_without_a_leader_is_told_at_the_deadline() {
        let script = Script::new(|_, request| metadata(request, &[1], &[("orders", 1)]));
        let client = script.client("bootstrap:9092");
        let partitions = [("orders", 7)].into_iter().collect();
        let begun = Instant::now();
        let found = client.list_offsets(&partitions, OffsetAt::Earliest, soon()).await.unwrap();
        assert_eq!(found.into_values().collect::<Vec<_>>(), [Err(ErrorCode::LeaderNotAvailable)]);
        assert!(begun.elapsed() > Duration::from_secs(3));
    }
}
