//! The picture of the cluster that all members of a client share, and the one task that renews it.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::ClientError;
use super::brokers::{Brokers, Suspicion};
use super::home::Ended;
use super::pool::Lane;
use crate::types::{Cluster, Partition, Topic, TopicError};
use crate::wire::api::{MetadataRequest, MetadataResponse, PartitionMetadata, TopicMetadata};
use crate::wire::{ApiKey, ErrorCode};

/// Refreshes that are asked for and not yet seen by the task.
const ASKED: usize = 64;

/// After `default.api.timeout.ms` without an answer from anybody, how long until the next attempt.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// Which topics somebody wants to know of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Topics {
    /// These; none at all for the brokers alone.
    Named(BTreeSet<Arc<str>>),
    /// All that the cluster has and we may see.
    All,
}

/// The way to the task, and the interests of all members.
pub(crate) struct Metadata {
    asks: mpsc::Sender<Ask>,
    cluster: watch::Receiver<Arc<Cluster>>,
    interests: Arc<Interests>,
}

/// One member's interest. Ends when it is dropped.
pub(crate) struct Interest {
    id: u64,
    interests: Arc<Interests>,
}

#[derive(Default)]
pub(crate) struct Interests(Mutex<(u64, HashMap<u64, Topics>)>);

struct Ask {
    topics: Topics,
    /// A refresh that began so long ago will do.
    max_age: Duration,
    answer: oneshot::Sender<Result<Arc<Cluster>, ClientError>>,
}

/// What the task needs. It ends with the client.
pub(crate) struct Refresher {
    pub(crate) brokers: Arc<Brokers>,
    pub(crate) publish: watch::Sender<Arc<Cluster>>,
    pub(crate) max_age: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) api_timeout: Duration,
    pub(crate) ended: Ended,
}

impl Metadata {
    /// The handle, and the task for the client's runtime.
    pub(crate) fn new(refresher: Refresher) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (asks, asked) = mpsc::channel(ASKED);
        let interests = Arc::new(Interests::default());
        let cluster = refresher.publish.subscribe();
        let task = refresher.run(asked, Arc::clone(&interests));
        (Self { asks, cluster, interests }, task)
    }

    /// Asks a broker, for `topics` and for everything that anybody is interested in; unless the last refresh covers
    /// them and began no longer than `max_age` ago. Joins one that runs and covers them.
    ///
    /// Cancel safe: the refresh goes on for others.
    pub(crate) async fn refresh(
        &self,
        topics: Topics,
        max_age: Duration,
        deadline: Instant,
    ) -> Result<Arc<Cluster>, ClientError> {
        let (answer, answered) = oneshot::channel();
        let asked = async {
            self.asks
                .send(Ask { topics, max_age, answer })
                .await
                .map_err(|_| ClientError::Closed)?;
            answered.await.unwrap_or(Err(ClientError::Closed))
        };
        let late = || ClientError::TimedOut { api: Some(ApiKey::Metadata), broker: None };
        timeout_at(deadline, asked).await.unwrap_or_else(|_| Err(late()))
    }

    /// The newest picture; the receiver is told when it has changed, not when it was merely renewed.
    pub(crate) fn cluster(&self) -> watch::Receiver<Arc<Cluster>> {
        self.cluster.clone()
    }

    /// Registers an interest in topics, which every refresh serves from the next one on.
    pub(crate) fn interest(&self, topics: Topics) -> Interest {
        let mut interests = self.interests.lock();
        interests.0 += 1;
        let id = interests.0;
        interests.1.insert(id, topics);
        Interest { id, interests: Arc::clone(&self.interests) }
    }
}

impl Interest {
    /// Changes what this member is interested in.
    pub(crate) fn set(&self, topics: Topics) {
        self.interests.lock().1.insert(self.id, topics);
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        self.interests.lock().1.remove(&self.id);
    }
}

impl Interests {
    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Topics>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn union(&self) -> Topics {
        let mut all = Topics::none();
        self.lock().1.values().for_each(|topics| all.add(topics));
        all
    }
}

impl Topics {
    /// The brokers alone.
    pub(crate) fn none() -> Self {
        Self::Named(BTreeSet::new())
    }

    fn add(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Named(names), Self::Named(more)) => names.extend(more.iter().cloned()),
            (_, Self::All) => *self = Self::All,
            (Self::All, _) => {}
        }
    }

    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (Self::Named(names), Self::Named(wanted)) => wanted.is_subset(names),
            (Self::Named(_), Self::All) => false,
        }
    }
}

impl<T: Into<Arc<str>>> FromIterator<T> for Topics {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        Self::Named(names.into_iter().map(Into::into).collect())
    }
}

/// A refresh that runs.
struct Running {
    began: Instant,
    topics: Topics,
    fetch: Pin<Box<dyn Future<Output = Result<Cluster, ClientError>> + Send>>,
}

impl Refresher {
    /// One refresh at a time; those who ask meanwhile join it, or wait together for the next one.
    async fn run(self, mut asked: mpsc::Receiver<Ask>, interests: Arc<Interests>) {
        let mut waiting: Vec<Ask> = Vec::new();
        let mut running: Option<Running> = None;
        let mut due: Option<Instant> = None;
        let mut latest: Option<(Instant, Topics)> = None;
        let mut ended = self.ended.clone();
        loop {
            if running.is_none() && !waiting.is_empty() {
                running = Some(self.start(&waiting, &interests));
            }
            tokio::select! {
                ask = asked.recv() => match ask {
                    Some(ask) if ask.is_met_by(latest.as_ref()) => self.tell_one(ask),
                    Some(ask) => waiting.push(ask),
                    None => return,
                },
                (began, topics, outcome) = finished(&mut running) => {
                    due = Some(Instant::now() + self.next_after(&outcome));
                    if outcome.is_ok() {
                        latest = Some((began, topics.clone()));
                    }
                    self.tell(&topics, outcome, &mut waiting);
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() && running.is_none() => {
                    running = Some(self.start(&[], &interests));
                }
                () = ended.wait() => return,
            }
        }
    }

    fn start(&self, waiting: &[Ask], interests: &Interests) -> Running {
        let mut topics = interests.union();
        waiting.iter().for_each(|ask| topics.add(&ask.topics));
        let fetch = fetch(
            Arc::clone(&self.brokers),
            topics.clone(),
            self.request_timeout,
            Instant::now() + self.api_timeout,
        );
        Running { began: Instant::now(), topics, fetch: Box::pin(fetch) }
    }

    fn next_after(&self, outcome: &Result<Cluster, ClientError>) -> Duration {
        match outcome {
            Ok(_) => self.max_age,
            Err(_) => self.max_age.min(AFTER_FAILURE),
        }
    }

    /// Publishes what was learned, and tells those who wanted no more than that.
    fn tell(&self, topics: &Topics, outcome: Result<Cluster, ClientError>, waiting: &mut Vec<Ask>) {
        let outcome = outcome.map(|cluster| {
            self.publish.send_if_modified(|known| {
                let changed = **known != cluster;
                if changed {
                    *known = Arc::new(cluster);
                }
                changed
            });
            self.brokers.pool.prune(true);
            Arc::clone(&self.publish.borrow())
        });
        let (served, rest) = waiting.drain(..).partition(|ask| topics.covers(&ask.topics));
        *waiting = rest;
        let served: Vec<Ask> = served;
        for ask in served {
            ask.answer.send(outcome.clone()).ok();
        }
        waiting.retain(|ask| !ask.answer.is_closed());
    }

    /// What is known is new enough.
    fn tell_one(&self, ask: Ask) {
        ask.answer.send(Ok(Arc::clone(&self.publish.borrow()))).ok();
    }
}

impl Ask {
    fn is_met_by(&self, latest: Option<&(Instant, Topics)>) -> bool {
        latest.is_some_and(|(began, topics)| {
            began.elapsed() < self.max_age && topics.covers(&self.topics)
        })
    }
}

/// Waits for the refresh that runs, and takes it away; for ever if none does.
async fn finished(
    running: &mut Option<Running>,
) -> (Instant, Topics, Result<Cluster, ClientError>) {
    let Some(refresh) = running else { return std::future::pending().await };
    let outcome = refresh.fetch.as_mut().await;
    let (began, topics) = (refresh.began, refresh.topics.clone());
    *running = None;
    (began, topics, outcome)
}

/// Asks one broker after the other until one answers.
async fn fetch(
    brokers: Arc<Brokers>,
    topics: Topics,
    request_timeout: Duration,
    deadline: Instant,
) -> Result<Cluster, ClientError> {
    let topics = match topics {
        Topics::All => None,
        Topics::Named(names) => Some(names.into_iter().collect()),
    };
    let request = MetadataRequest { topics };
    let mut backoff = brokers.retry_backoff();
    let mut suspicion = Suspicion::default();
    let mut avoid = None;
    loop {
        let (broker, connection) = brokers.any(Lane::Metadata, avoid.as_ref(), deadline).await?;
        avoid = Some(broker.clone());
        let patience = deadline.min(Instant::now() + request_timeout);
        let answer = connection.call(&request, patience).await;
        let answer = brokers.explained(&broker, answer, deadline).await;
        let trouble = match answer {
            // A broker that has just started may know of nobody, not even of itself.
            Ok(answer) if answer.error.is_none() && !answer.brokers.is_empty() => {
                return Ok(cluster(answer));
            }
            Ok(answer) => ClientError::Refused {
                api: ApiKey::Metadata,
                code: if answer.error.is_none() {
                    ErrorCode::LeaderNotAvailable
                } else {
                    answer.error
                },
                subject: "the cluster".into(),
            },
            Err(error) if suspicion.is_confirmed_by(error.has_hung_up()) => return Err(error),
            Err(error) if error.is_retriable() => error,
            Err(error) => return Err(error),
        };
        let pause = backoff.pause();
        if Instant::now() + pause >= deadline {
            return Err(trouble);
        }
        tracing::debug!(%trouble, "no metadata yet");
        sleep(pause).await;
    }
}

fn cluster(answer: MetadataResponse) -> Cluster {
    Cluster::new(answer.brokers, answer.topics.into_iter().map(topic))
}

fn topic(answer: TopicMetadata) -> Topic {
    let error = match answer.error {
        ErrorCode::None => None,
        ErrorCode::UnknownTopicOrPartition | ErrorCode::UnknownTopicId => Some(TopicError::Missing),
        ErrorCode::TopicAuthorizationFailed => Some(TopicError::NotAuthorized),
        ErrorCode::InvalidTopic => Some(TopicError::InvalidName),
        code => Some(TopicError::Unavailable(code.number())),
    };
    let topic = match error {
        Some(error) => Topic::failed(answer.name, error),
        None => Topic::new(answer.name, answer.partitions.into_iter().map(partition).collect()),
    };
    topic.internal(answer.internal).with_id(answer.topic_id.map(|id| id.0))
}

/// A partition without a leader is one all the same: its error only says so.
fn partition(answer: PartitionMetadata) -> Partition {
    Partition::new(answer.partition, answer.leader, answer.replicas)
        .with_leader_epoch(answer.leader_epoch)
}
