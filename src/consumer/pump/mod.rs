//! The data plane: one thread that owns an rdkafka consumer, and reads what it is told to.
//!
//! That consumer never subscribes and never commits: it is told partitions and offsets, and gives records back. It has
//! the real `group.id`, since librdkafka assigns nothing without one, and the real one has its permissions already.

mod context;
mod denial;
mod plan;
mod reading;
mod signal;
mod thread;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::Builder;

use rdkafka::ClientConfig;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

pub(super) use self::denial::Denial;
use self::plan::Plan;
pub(super) use self::reading::Start;
pub(super) use self::signal::Signal;
use self::thread::PumpThread;
use super::hand_over::HandOver;
use crate::client::TokenBridge;
use crate::error::Error;
use crate::types::{Partitions, TopicPartition};

/// Reads partitions in a thread of its own. Telling it something never waits.
#[derive(Debug)]
pub(super) struct Pump {
    plan: Arc<Plan>,
    signal: Arc<Signal>,
    failed: oneshot::Receiver<Error>,
    denied: mpsc::Receiver<Denial>,
    ended: oneshot::Receiver<()>,
}

/// What the pump says of itself.
#[derive(Debug)]
pub(super) enum News {
    /// A broker denies librdkafka, which tries again. It is said anew every half minute.
    Denied(Denial),
    /// It has ended.
    Failed(Error),
}

/// How many denials wait to be heard of at the most.
const DENIALS: usize = 16;

impl Pump {
    /// Starts the thread and waits until it has made its consumer; connects to nobody yet. An error says what is wrong
    /// with the configuration. Cancel safe: the thread of a pump that nobody takes ends.
    pub(super) async fn start(
        mut config: ClientConfig,
        tokens: Option<TokenBridge>,
        hand_over: Arc<HandOver>,
        signal: Arc<Signal>,
    ) -> Result<Self, Error> {
        config.set("enable.auto.commit", "false").set("enable.auto.offset.store", "false");
        let plan = Arc::new(Plan::default());
        let (fail, failed) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let (deny, denied) = mpsc::channel(DENIALS);
        let (made, is_made) = oneshot::channel();
        let pump =
            Self { plan: Arc::clone(&plan), signal: Arc::clone(&signal), failed, denied, ended };
        let run = move || {
            let thread = PumpThread::new(&config, tokens, plan, hand_over, signal, deny);
            let (thread, outcome) = match thread {
                Ok(thread) => (Some(thread), Ok(())),
                Err(error) => (None, Err(error)),
            };
            if let (Some(thread), Ok(())) = (thread, made.send(outcome)) {
                thread.run(fail);
            }
            drop(end);
        };
        let started = Builder::new().name("kafka-group-pump".into()).spawn(run);
        started.map_err(|error| Error::DataPlane(format!("no thread: {error}")))?;
        match is_made.await {
            Ok(Ok(())) => Ok(pump),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::DataPlane("its thread ended before it began".into())),
        }
    }

    /// Reads these, too, each from its offset on.
    pub(super) fn assign(&self, starts: impl IntoIterator<Item = (TopicPartition, Start)>) {
        self.plan.assign(starts);
        self.signal.set();
    }

    /// Reads these no more.
    pub(super) fn unassign(&self, partitions: &Partitions) {
        self.plan.unassign(partitions);
        self.signal.set();
    }

    /// Waits for something that is worth knowing. Nothing comes after a failure. Cancel safe.
    pub(super) async fn news(&mut self) -> News {
        tokio::select! {
            Some(denial) = self.denied.recv() => News::Denied(denial),
            failed = &mut self.failed => {
                let ended = |_| Error::DataPlane("its thread has ended".into());
                News::Failed(failed.unwrap_or_else(ended))
            }
        }
    }

    /// Closes the consumer, until the deadline: a librdkafka that hangs is left alone with its thread. Says whether it
    /// ended. Cancel safe: the thread ends by itself.
    pub(super) async fn close(mut self, deadline: Instant) -> bool {
        self.plan.close();
        self.signal.set();
        tokio::time::timeout_at(deadline, &mut self.ended).await.is_ok()
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.plan.close();
        self.signal.set();
    }
}
