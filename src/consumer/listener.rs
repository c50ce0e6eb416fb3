//! What an application may hear of rebalances, and say to them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tracing::{error, info, warn};

use crate::error::CommitError;
use crate::group::{Assigned, Event, Lost, Revoked};
use crate::types::Offsets;

/// Hears what happens to a consumer's partitions. Every method has a default that does nothing, or logs.
///
/// The methods are called one after the other, on the runtime that `join()` was called on; heartbeats and other
/// partitions go on meanwhile. A method that never returns ends as an application does that asks for no events: after
/// `max.poll.interval.ms` the member gives its place up.
///
/// Written with the macro of the crate `async-trait`; the example `join_topics` has one that starts where its own store
/// says.
///
/// ```
/// use async_trait::async_trait;
/// use kafka_group::{Lost, RebalanceListener, Revoked};
///
/// struct Flush;
///
/// #[async_trait]
/// impl RebalanceListener for Flush {
///     async fn revoked(&self, revoked: &Revoked) {
///         println!("write out {:?} before {:?}", revoked.partitions(), revoked.deadline());
///     }
///
///     async fn lost(&self, lost: &Lost) {
///         println!("throw away {:?}", lost.partitions());
///     }
/// }
/// ```
#[async_trait]
pub trait RebalanceListener: Send + Sync + 'static {
    /// A round has ended; reading begins when this returns. Offsets that it returns are where reading starts, instead
    /// of what is committed; partitions that are not new are passed over.
    async fn assigned(&self, assigned: &Assigned) -> Option<Offsets> {
        let _ = assigned;
        None
    }

    /// Partitions are to be given up. Nothing of them is handed out any more; they are given up, with a commit of what
    /// is marked, when this has returned and the application is back at `recv()` or has marked what it was given, at
    /// the latest shortly before `revoked.deadline()`.
    async fn revoked(&self, revoked: &Revoked) {
        let _ = revoked;
    }

    /// Partitions are gone, and other members may have them. Nothing of them can be committed.
    async fn lost(&self, lost: &Lost) {
        let _ = lost;
    }

    /// Marks could not be committed. They are tried again at the next interval if their partitions stayed.
    async fn commit_failed(&self, error: &CommitError) {
        warn!(%error, "marks were not committed");
    }

    /// Something else that is worth knowing: an assigner that failed, topics that do not exist.
    async fn told(&self, event: &Event) {
        match event {
            // What every restart of a static member says.
            Event::TookOver { .. } => info!(?event, "the membership says"),
            event => warn!(?event, "the membership says"),
        }
    }
}

/// How many calls wait at the most; with so many, no further event is asked for.
const CALLS: usize = 16;

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Calls a listener, one method after the other, where the application runs. Without one, it calls nobody.
#[derive(Clone)]
pub(super) struct Listening {
    listener: Option<Arc<dyn RebalanceListener>>,
    calls: mpsc::Sender<Call>,
}

impl Listening {
    pub(super) fn new(listener: Option<Arc<dyn RebalanceListener>>, runtime: &Handle) -> Self {
        let (calls, waiting) = mpsc::channel(CALLS);
        if listener.is_some() {
            runtime.spawn(call_all(waiting));
        }
        Self { listener, calls }
    }

    /// Whether there is room for an event.
    pub(super) fn has_room(&self) -> bool {
        self.listener.is_none() || self.calls.capacity() > 1
    }

    /// The answer says where to start.
    pub(super) fn assigned(&self, assigned: Assigned) -> Answer<Option<Offsets>> {
        self.call(|listener| async move { listener.assigned(&assigned).await })
    }

    pub(super) fn revoked(&self, revoked: Revoked) -> Answer<()> {
        self.call(|listener| async move { listener.revoked(&revoked).await })
    }

    pub(super) fn lost(&self, lost: Lost) {
        self.call(|listener| async move { listener.lost(&lost).await });
    }

    pub(super) fn commit_failed(&self, error: CommitError) {
        match self.is_behind() {
            true => warn!(%error, "marks were not committed"),
            false => {
                self.call(|listener| async move { listener.commit_failed(&error).await });
            }
        }
    }

    pub(super) fn told(&self, event: Event) {
        match self.is_behind() {
            true => warn!(?event, "the membership says"),
            false => {
                self.call(|listener| async move { listener.told(&event).await });
            }
        }
    }

    /// Whether what is not about partitions is logged instead: nobody listens, or much waits already.
    fn is_behind(&self) -> bool {
        self.listener.is_none() || self.calls.capacity() < CALLS / 2
    }

    fn call<R, F>(&self, call: impl FnOnce(Arc<dyn RebalanceListener>) -> F) -> Answer<R>
    where
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        if let Some(listener) = &self.listener {
            let call = call(Arc::clone(listener));
            // Nobody waits for an answer that comes too late.
            let call = async move { drop(reply.send(call.await)) };
            if self.calls.try_send(Box::pin(call)).is_err() {
                error!("a rebalance listener was not called: its runtime has ended, or it hangs");
            }
        }
        Answer(answer)
    }
}

/// A listener's answer. None comes where nobody listens, or the listener panicked.
#[derive(Debug)]
pub(super) struct Answer<R>(oneshot::Receiver<R>);

impl<R> Answer<R> {
    /// Waits for it. Cancel safe.
    pub(super) async fn get(&mut self) -> Option<R> {
        (&mut self.0).await.ok()
    }
}

async fn call_all(mut waiting: mpsc::Receiver<Call>) {
    while let Some(call) = waiting.recv().await {
        // A task of its own, so that a panic ends the call and not the listening.
        if tokio::spawn(call).await.is_err() {
            error!("a rebalance listener panicked");
        }
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening")
            .field("somebody", &self.listener.is_some())
            .finish_non_exhaustive()
    }
}
