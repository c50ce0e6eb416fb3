//! I/O. Records through rdkafka: a membership, a reader that follows it, and the marks in between.
//!
//! ```text
//!              events                 starts, stops
//! GroupMember ───────► Task ─────────────────────────► Pump ── librdkafka
//!     ▲                 │ open, close                    │
//!     │ commits         ▼                                │ records
//!     └────────────── HandOver ◄─────────────────────────┘
//!                       │ ▲
//!               records ▼ │ marks
//!                     Consumer
//! ```

mod builder;
mod convert;
mod denials;
mod hand_over;
mod ledger;
mod listener;
mod pump;
mod queue;
mod raw;
mod record;
mod reset;
mod security;
mod task;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use builder::ConsumerBuilder;
pub use convert::{list_to_offsets, offsets_to_list};
pub use listener::RebalanceListener;
pub use record::{Header, Record, Timestamp};
pub use reset::AutoOffsetReset;

use self::hand_over::{HandOver, Next};
use crate::error::{CommitError, Error};
use crate::group::{MemberHandle, Status, now};
use crate::types::{Offsets, Partitions};

/// A member of a group that reads what it is assigned.
///
/// ```no_run
/// use kafka_group::{Consumer, assign::RangeAssigner};
///
/// # async fn run() -> Result<(), kafka_group::Error> {
/// let mut consumer = Consumer::builder()
///     .bootstrap_servers("localhost:9092")
///     .group_id("search-indexers")
///     .subscribe(["orders"])
///     .assigner(RangeAssigner::default())
///     .join()
///     .await?;
///
/// while let Some(record) = consumer.recv().await? {
///     println!("{record:?}");
///     consumer.mark_processed(&record);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Marks are committed every `auto.commit.interval.ms`, when their partition is revoked, and on closing, always with
/// this member's identity and generation: each record is processed at least once. Records come through rdkafka, which
/// neither joins the group nor commits.
///
/// Dropping a consumer closes it in the background, at best: a process that exits at once may leave without its last
/// commits. Call [`close`](Self::close).
pub struct Consumer {
    handle: MemberHandle,
    status: watch::Receiver<Status<Partitions>>,
    hand_over: Arc<HandOver>,
    /// Whether asking for a record marks the one before.
    marks: bool,
    close_timeout: Duration,
    task: Option<JoinHandle<Offsets>>,
}

/// How often it is looked whether what is held is surely ours again.
const DOUBT: Duration = Duration::from_millis(50);

impl Consumer {
    /// Starts to say what the consumer is to be.
    pub fn builder() -> ConsumerBuilder {
        ConsumerBuilder::default()
    }

    /// The next record; `None` when the membership is over.
    ///
    /// Asking says that the records before are finished with, as far as giving their partitions up is concerned: where
    /// records are handed to other tasks, it is their marks that count. With `enable.auto.commit`, asking marks what
    /// the call before returned.
    ///
    /// An error with which the membership ended is returned once, and then `None`. After any other error, such as a
    /// topic that may not be read or [`Error::NoCommittedOffset`], the consumer goes on and may be asked again. So it does
    /// when a broker has not let rdkafka in for longer than `session.timeout.ms` ([`Error::DataPlane`], once): what other
    /// brokers lead is read on. [`Event::Denied`](crate::Event::Denied) has told the listener before.
    ///
    /// Cancel safe: a record that was not returned is not lost.
    pub async fn recv(&mut self) -> Result<Option<Record>, Error> {
        self.hand_over.ask(self.marks);
        loop {
            let arrived = self.hand_over.arrived();
            match self.hand_over.take(|| self.is_ours()) {
                Next::Record(record) => return Ok(Some(record)),
                Next::Trouble(error) => return Err(error),
                Next::Ended(error) => return error.map_or(Ok(None), Err),
                Next::Nothing => arrived.await,
                Next::Doubtful => drop(timeout(DOUBT, arrived).await),
            }
        }
    }

    /// Whether the coordinator cannot have given away what we hold.
    fn is_ours(&self) -> bool {
        self.status.borrow().owned_until.is_some_and(|until| now() < until)
    }

    /// Marks this record, and all before it in its partition, as processed. Says whether that counts: not if the
    /// partition was given up or lost since.
    ///
    /// Marks only go forward; what is marked is committed at the next interval. Of partitions that this member
    /// [stands by](crate::Assigned::standbys) for it is committed when the member has the first copy.
    pub fn mark_processed(&self, record: &Record) -> bool {
        self.hand_over.mark(record)
    }

    /// Commits what is marked, now, and waits for the answer. Dropping the future takes nothing back. Cancel safe.
    pub async fn commit(&self) -> Result<(), CommitError> {
        let marks = self.hand_over.uncommitted(None);
        self.handle.commit(marks.offsets.clone()).await?;
        self.hand_over.committed(&marks);
        Ok(())
    }

    /// Asks things of the membership from anywhere: its status, a rejoin, commits of offsets kept elsewhere, the end.
    pub fn handle(&self) -> MemberHandle {
        self.handle.clone()
    }

    /// Commits what is marked and leaves the group, whether dynamic or static. Returns marks that were not committed.
    ///
    /// Bounded by the close timeout. Not cancel safe: dropping the future closes as dropping the consumer does.
    pub async fn leave(mut self) -> Result<Offsets, Error> {
        let handle = self.handle();
        self.end(handle.leave()).await
    }

    /// As [`leave`](Self::leave), but a static member stays registered until its session ends, so that a restart within
    /// it costs nobody a rebalance.
    pub async fn close(mut self) -> Result<Offsets, Error> {
        let handle = self.handle();
        self.end(handle.close()).await
    }

    async fn end(
        &mut self,
        ending: impl Future<Output = Result<Offsets, Error>>,
    ) -> Result<Offsets, Error> {
        self.hand_over.ask(self.marks);
        self.hand_over.stop();
        let Some(task) = &mut self.task else {
            return Ok(Offsets::new());
        };
        let both = async {
            let ended = ending.await;
            (ended, task.await.unwrap_or_default())
        };
        let within = self.close_timeout;
        let Ok((ended, marked)) = timeout(within, both).await else {
            return Err(Error::TimedOut { what: "closing", within });
        };
        self.task = None;
        match ended {
            Ok(mut left) => {
                left.extend(marked);
                Ok(left)
            }
            // It was over already.
            Err(Error::Closed) => Ok(marked),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        if self.task.is_some() {
            self.hand_over.stop();
            let handle = self.handle.clone();
            let close = async move { drop(handle.close().await) };
            self.handle.client().spawn(close);
        }
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("member", &self.handle).finish_non_exhaustive()
    }
}
