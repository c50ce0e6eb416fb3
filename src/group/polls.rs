//! How often a task is polled: what an idle member costs.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A count of polls, shared with the task that is counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Polls(Arc<AtomicU64>);

impl Polls {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The same future, counted.
    pub(super) async fn of<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.0.fetch_add(1, Ordering::Relaxed);
            future.as_mut().poll(context)
        })
        .await
    }
}
