//! Which broker coordinates which group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex as Turn;
use tokio::time::{Instant, sleep, timeout_at};

use super::brokers::{Brokers, Suspicion};
use super::pool::{Broker, Lane};
use super::{ClientError, passes};
use crate::types::{Node, NodeId};
use crate::wire::api::FindCoordinatorRequest;
use crate::wire::{ApiKey, ErrorCode};

/// How long one broker may take to answer before another is asked; doubled each time that none did. FindCoordinator
/// waits for nothing at the broker, so a late answer is one that stands behind something else.
const PATIENCE: Duration = Duration::from_secs(2);

/// The coordinators of the groups that were asked for.
#[derive(Default)]
pub(crate) struct Coordinators {
    groups: Mutex<HashMap<Arc<str>, Arc<Entry>>>,
}

#[derive(Default)]
struct Entry {
    found: Mutex<Option<Node>>,
    /// Held by whoever searches, so that the many members of a group search once. In it, whom was asked last.
    search: Turn<Option<Broker>>,
}

impl Coordinators {
    /// The coordinator of a group: the one that was found last, unless it was forgotten since.
    ///
    /// COORDINATOR_NOT_AVAILABLE is normal on a fresh cluster, which creates its offsets topic now; it is asked again,
    /// each time at another broker, until the deadline. Cancel safe: the next who asks goes on.
    pub(crate) async fn find(
        &self,
        brokers: &Brokers,
        group: &str,
        request_timeout: Duration,
        deadline: Instant,
    ) -> Result<Node, ClientError> {
        let entry = self.entry(group);
        if let Some(node) = entry.known() {
            return Ok(node);
        }
        let Ok(mut asked) = timeout_at(deadline, entry.search.lock()).await else {
            return Err(ClientError::TimedOut { api: Some(ApiKey::FindCoordinator), broker: None });
        };
        if let Some(node) = entry.known() {
            return Ok(node);
        }
        let node = search(brokers, group, &mut asked, request_timeout, deadline).await?;
        tracing::debug!(group, coordinator = %node.id, host = %node.host, port = node.port, "found the coordinator");
        *entry.found() = Some(node.clone());
        Ok(node)
    }

    /// Forgets the coordinator of a group, if it is still `node`: what a late answer says about an old coordinator
    /// says nothing about the new one.
    pub(crate) fn forget(&self, group: &str, node: NodeId) {
        let groups = self.groups();
        if let Some(entry) = groups.get(group) {
            entry.found().take_if(|found| found.id == node);
        }
    }

    /// A node that coordinates some group. It may be newer than what Metadata said.
    pub(crate) fn node(&self, id: NodeId) -> Option<Node> {
        self.groups().values().filter_map(|entry| entry.known()).find(|node| node.id == id)
    }

    fn entry(&self, group: &str) -> Arc<Entry> {
        let mut groups = self.groups();
        if let Some(entry) = groups.get(group) {
            return Arc::clone(entry);
        }
        Arc::clone(groups.entry(group.into()).or_default())
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Entry>>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn found(&self) -> MutexGuard<'_, Option<Node>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> Option<Node> {
        self.found().clone()
    }
}

/// Asks one broker after the other.
async fn search(
    brokers: &Brokers,
    group: &str,
    asked: &mut Option<Broker>,
    request_timeout: Duration,
    deadline: Instant,
) -> Result<Node, ClientError> {
    let request = FindCoordinatorRequest { group_id: group.to_owned() };
    let mut backoff = brokers.retry_backoff();
    let mut suspicion = Suspicion::default();
    let mut patience = PATIENCE.min(request_timeout);
    loop {
        let (broker, connection) = brokers.any(Lane::Metadata, asked.as_ref(), deadline).await?;
        *asked = Some(broker.clone());
        let answer = connection.call(&request, deadline.min(Instant::now() + patience)).await;
        let answer = brokers.explained(&broker, answer, deadline).await;
        let trouble = match answer {
            Ok(answer) => match (answer.error, answer.coordinator) {
                (ErrorCode::None, Some(node)) => return Ok(node),
                (ErrorCode::None, None) => refused(group, ErrorCode::CoordinatorNotAvailable),
                (code, _) if passes(code) || code == ErrorCode::LeaderNotAvailable => {
                    refused(group, code)
                }
                (code, _) => return Err(refused(group, code)),
            },
            Err(error @ ClientError::TimedOut { .. }) => {
                patience = (patience * 2).min(request_timeout);
                error
            }
            Err(error) if suspicion.is_confirmed_by(error.has_hung_up()) => return Err(error),
            Err(error) if error.is_retriable() => error,
            Err(error) => return Err(error),
        };
        let pause = backoff.pause();
        if Instant::now() + pause >= deadline {
            return Err(trouble);
        }
        tracing::debug!(group, %trouble, "no coordinator yet");
        sleep(pause).await;
    }
}

fn refused(group: &str, code: ErrorCode) -> ClientError {
    ClientError::of_group(ApiKey::FindCoordinator, code, group)
}
