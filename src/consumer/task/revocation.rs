//! Giving partitions up: the application finishes, what is marked is committed, and then they go.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use crate::consumer::hand_over::HandOver;
use crate::consumer::ledger::Marks;
use crate::consumer::listener::{Answer, Listening};
use crate::error::CommitError;
use crate::group::{Hold, MemberHandle};
use crate::types::Partitions;

/// How much of the time is kept for the commit, if the application takes the rest: a tenth, and at the most this.
const KEPT: Duration = Duration::from_secs(3);

/// The wait before a commit is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Partitions that are being given up. Their records are held back already.
#[derive(Debug)]
pub(super) struct Revocation {
    pub(super) partitions: Partitions,
    pub(super) deadline: Instant,
    pub(super) hold: Hold,
    pub(super) heard: Answer<()>,
    pub(super) commits: Commits,
}

impl Revocation {
    /// Waits for listener and application, commits, and gives up. At the deadline the partitions are lost by
    /// themselves; this does not look beyond it. Cancel safe: dropped, it gives up without a commit.
    pub(super) async fn run(mut self) {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let finish_by = self.deadline - KEPT.min(left / 10);
        let finished = async {
            self.heard.get().await;
            self.commits.hand_over.finished(&self.partitions).await;
        };
        let in_time = timeout_at(finish_by, finished).await.is_ok();
        tracing::debug!(partitions = ?self.partitions, in_time, "giving up");
        // Whoever comes next reads on from the last commit. A coordinator that does not answer holds up the group for a
        // quarter of its time, as it does the commits of applications.
        let left = self.deadline.saturating_duration_since(Instant::now());
        let commit_by = self.deadline - left.mul_f64(0.75);
        let committed = self.commits.commit_until(commit_by, &self.partitions);
        drop(timeout_at(commit_by, committed).await);
        self.commits.hand_over.forget(&self.partitions);
        drop(self.hold);
    }
}

/// Commits marks, and keeps what became of them.
#[derive(Clone, Debug)]
pub(super) struct Commits {
    pub(super) handle: MemberHandle,
    pub(super) hand_over: Arc<HandOver>,
    pub(super) listening: Listening,
}

impl Commits {
    /// Commits what is marked, once. A failure is told, and tried again with the next. What is being given up is left
    /// to its revocation: a commit that comes behind that one meets partitions that are nobody's, and fails.
    pub(super) async fn commit(&self) {
        let marks = self.hand_over.uncommitted_open();
        if let Err(error) = self.send(&marks).await {
            self.listening.commit_failed(error);
        }
    }

    /// Commits what is marked of these, again and again where that may help.
    async fn commit_until(&self, deadline: Instant, partitions: &Partitions) {
        while Instant::now() < deadline {
            let marks = self.hand_over.uncommitted(Some(partitions));
            match self.send(&marks).await {
                Ok(()) => return,
                Err(error) if error.is_retriable() => sleep(PAUSE).await,
                Err(error) => return self.listening.commit_failed(error),
            }
        }
    }

    async fn send(&self, marks: &Marks) -> Result<(), CommitError> {
        self.handle.commit(marks.offsets.clone()).await?;
        self.hand_over.committed(marks);
        Ok(())
    }
}
