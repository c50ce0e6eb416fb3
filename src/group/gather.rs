//! What a leader may ask the cluster before it plans.

use std::any::Any;
use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::driver::now;
use crate::assign::panic_message;
use crate::client::{Client, ClientError};
use crate::types::{Cluster, OffsetAndMetadata, Partitions, TopicPartition, contained};
use crate::wire::api::OffsetAt;

/// Anything that went wrong in the application's code.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// I/O that a plan needs: lag, load, capacity kept elsewhere.
///
/// Runs on the leader alone, once a round, before [`assign`](crate::assign::PartitionAssigner::assign), which finds
/// the result in `group.gathered::<Output>()`. It has what is left of the rebalance timeout, less a tenth of that and a
/// tenth for the assigner. A failure, a panic or an end that does not come is told to the application and leaves `None`.
///
/// Runs on the runtime that drives the member: awaiting is fine, blocking is not.
///
/// Written with the macro of the crate `async-trait`; the example `lag_aware` is a whole one.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use async_trait::async_trait;
/// use kafka_group::types::TopicPartition;
/// use kafka_group::{BoxError, Gather, GroupReader, Topics};
///
/// struct Ends;
///
/// #[async_trait]
/// impl Gather for Ends {
///     type Output = BTreeMap<TopicPartition, i64>;
///
///     async fn gather(&self, topics: &Topics, reader: &GroupReader) -> Result<Self::Output, BoxError> {
///         reader.end_offsets(topics.partitions()).await
///     }
/// }
/// ```
#[async_trait]
pub trait Gather: Send + Sync + 'static {
    /// What the assigner is given.
    type Output: Send + Sync + 'static;

    /// Asks whatever is to be asked about the group's topics. Dropped where it stands at its deadline.
    async fn gather(&self, topics: &Topics, reader: &GroupReader)
    -> Result<Self::Output, BoxError>;
}

/// The topics that a group subscribes to, and the cluster that they are in.
#[derive(Clone, Debug)]
pub struct Topics {
    names: BTreeSet<Arc<str>>,
    cluster: Arc<Cluster>,
}

impl Topics {
    /// The topics' names, in order; some may not exist.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Brokers, topics and partitions, as fresh as the plan will see them.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Every partition of every topic that exists.
    pub fn partitions(&self) -> impl Iterator<Item = TopicPartition> + '_ {
        self.names.iter().filter_map(|name| self.cluster.topic(name)).flat_map(|topic| {
            let name = topic.name();
            topic
                .partitions()
                .iter()
                .map(move |partition| TopicPartition::new(Arc::clone(name), partition.number()))
        })
    }
}

/// Reads offsets of the group, and of the partitions themselves.
#[derive(Clone, Debug)]
pub struct GroupReader {
    client: Client,
    group: Arc<str>,
    deadline: Instant,
}

/// Offsets by partition.
type ByPartition<V> = std::collections::BTreeMap<TopicPartition, V>;

impl GroupReader {
    /// What the group has committed; partitions without a commit are left out. Cancel safe.
    pub async fn committed(
        &self,
        partitions: impl IntoIterator<Item = TopicPartition>,
    ) -> Result<ByPartition<OffsetAndMetadata>, BoxError> {
        let partitions = partitions.into_iter().collect();
        let fetched =
            self.client.offset_fetch(&self.group, &partitions, true, self.deadline.into());
        fetched.await.map_err(boxed)
    }

    /// The offset that the next record of each partition will get; partitions that cannot be asked are left out. Cancel
    /// safe.
    pub async fn end_offsets(
        &self,
        partitions: impl IntoIterator<Item = TopicPartition>,
    ) -> Result<ByPartition<i64>, BoxError> {
        let partitions = partitions.into_iter().collect();
        self.listed(partitions, OffsetAt::Latest).await
    }

    /// The oldest offset that each partition still has; partitions that cannot be asked are left out. Cancel safe.
    pub async fn beginning_offsets(
        &self,
        partitions: impl IntoIterator<Item = TopicPartition>,
    ) -> Result<ByPartition<i64>, BoxError> {
        self.listed(partitions.into_iter().collect(), OffsetAt::Earliest).await
    }

    async fn listed(
        &self,
        partitions: Partitions,
        at: OffsetAt,
    ) -> Result<ByPartition<i64>, BoxError> {
        let listed = self.client.list_offsets(&partitions, at, self.deadline.into());
        let known = |(partition, offset)| Some((partition, Result::ok(offset).flatten()?));
        Ok(listed.await.map_err(boxed)?.into_iter().filter_map(known).collect())
    }

    /// How much time is left.
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(now())
    }
}

fn boxed(error: ClientError) -> BoxError {
    Box::new(error)
}

/// A `Gather` of any output.
#[async_trait]
pub(crate) trait Gatherer: Send + Sync {
    async fn gather(
        &self,
        client: &Client,
        group: &Arc<str>,
        topics: &BTreeSet<Arc<str>>,
        deadline: Instant,
    ) -> Result<Arc<dyn Any + Send + Sync>, String>;
}

/// Wraps the application's.
pub(crate) struct Erased<G>(pub(crate) G);

#[async_trait]
impl<G: Gather> Gatherer for Erased<G> {
    async fn gather(
        &self,
        client: &Client,
        group: &Arc<str>,
        topics: &BTreeSet<Arc<str>>,
        deadline: Instant,
    ) -> Result<Arc<dyn Any + Send + Sync>, String> {
        let reader = GroupReader { client: client.clone(), group: Arc::clone(group), deadline };
        let topics = Topics { names: topics.clone(), cluster: client.cluster().borrow().clone() };
        // A round whose work vanishes is one without a plan, and so is the next.
        let gathering = contained(async { self.0.gather(&topics, &reader).await });
        match tokio::time::timeout_at(deadline.into(), gathering).await {
            Ok(Ok(Ok(output))) => Ok(Arc::new(output)),
            Ok(Ok(Err(problem))) => Err(format!("gather failed: {problem}")),
            Ok(Err(panic)) => Err(format!("gather panicked: {}", panic_message(panic))),
            Err(_) => Err("gather did not end by its deadline".into()),
        }
    }
}
