//! Where to start reading: what the listener says, what is committed, or `auto.offset.reset`.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::{info, warn};

use crate::client::{ApiKey, Backoff};
use crate::consumer::hand_over::HandOver;
use crate::consumer::ledger::Epoch;
use crate::consumer::pump::Start;
use crate::consumer::reset::AutoOffsetReset;
use crate::error::Error;
use crate::group::{Edge, MemberHandle};
use crate::types::{Offsets, Partitions, TopicPartition};

/// How long one look at where partitions start and end may take; then the ones without an answer are tried again.
const LOOK: Duration = Duration::from_secs(10);

/// A partition that is to be read.
#[derive(Clone, Debug)]
pub(super) struct Starting {
    pub(super) at: TopicPartition,
    pub(super) epoch: Epoch,
    /// Where it starts if nobody says otherwise.
    pub(super) reset: AutoOffsetReset,
}

/// What was found out, and what is still to be found out.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) starts: Vec<(TopicPartition, Start)>,
    pub(super) search: Option<Box<Search>>,
}

/// Looks for the start of partitions, until each has one or is not ours any more.
#[derive(Debug)]
pub(super) struct Search {
    handle: MemberHandle,
    hand_over: Arc<HandOver>,
    starting: Vec<Starting>,
    backoff: Backoff,
    /// What was told already.
    told: Option<Error>,
}

impl Search {
    pub(super) fn new(
        handle: MemberHandle,
        hand_over: Arc<HandOver>,
        starting: Vec<Starting>,
    ) -> Self {
        let backoff = handle.client().retry_backoff();
        Self { handle, hand_over, starting, backoff, told: None }
    }

    /// Takes what the listener said.
    pub(super) fn begin(mut self, given: Option<Offsets>) -> Found {
        let given = given.unwrap_or_default();
        let start = |starting: &Starting| {
            given.get(&starting.at).map(|given| given.offset).filter(|offset| *offset >= 0)
        };
        let starts = self.take(start);
        self.found(starts)
    }

    /// One try. What it does not find is left for the next, which comes after a pause. Cancel safe.
    pub(super) async fn go_on(mut self) -> Found {
        let Self { hand_over, starting, .. } = &mut self;
        starting.retain(|starting| hand_over.is_open(&starting.at, starting.epoch));
        let mut starts = Vec::new();
        if let Err(error) = self.look(&mut starts).await {
            self.tell(error);
            tokio::time::sleep(self.backoff.pause()).await;
        }
        self.found(starts)
    }

    async fn look(&mut self, starts: &mut Vec<(TopicPartition, Start)>) -> Result<(), Error> {
        let wanted = self.starting.iter().map(|starting| starting.at.clone());
        let committed = self.handle.committed(wanted).await?;
        // The broker stores negative offsets, too; nothing can be read from there.
        let start = |starting: &Starting| {
            committed.get(&starting.at).map(|committed| committed.offset).filter(|at| *at >= 0)
        };
        starts.extend(self.take(start));
        self.refuse_to_guess();
        for (reset, edge) in
            [(AutoOffsetReset::Earliest, Edge::Start), (AutoOffsetReset::Latest, Edge::End)]
        {
            self.reset(reset, edge, starts).await?;
        }
        Ok(())
    }

    /// Under `none`, a partition without a committed offset is told and not read.
    fn refuse_to_guess(&mut self) {
        let (refused, starting): (Vec<_>, Vec<_>) = mem::take(&mut self.starting)
            .into_iter()
            .partition(|starting| starting.reset == AutoOffsetReset::None);
        self.starting = starting;
        let refused: Partitions = refused.into_iter().map(|starting| starting.at).collect();
        if !refused.is_empty() {
            self.hand_over.trouble(Error::NoCommittedOffset(refused));
        }
    }

    async fn reset(
        &mut self,
        reset: AutoOffsetReset,
        edge: Edge,
        starts: &mut Vec<(TopicPartition, Start)>,
    ) -> Result<(), Error> {
        let wanted = self.starting.iter().filter(|starting| starting.reset == reset);
        let wanted: Partitions = wanted.map(|starting| starting.at.clone()).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        info!(?wanted, ?reset, "no offset is committed");
        let edges = self.handle.edges(&wanted, edge, Instant::now() + LOOK).await?;
        let offset = |starting: &Starting| edges.get(&starting.at).and_then(|edge| edge.ok());
        starts.extend(self.take(offset));
        match edges.values().find_map(|edge| edge.err()) {
            Some(code) => Err(Error::Refused { api: ApiKey::ListOffsets, code }),
            None => Ok(()),
        }
    }

    /// Takes out those that `start` knows the start of.
    fn take(&mut self, start: impl Fn(&Starting) -> Option<i64>) -> Vec<(TopicPartition, Start)> {
        let mut starts = Vec::new();
        self.starting.retain(|starting| match start(starting) {
            Some(offset) => {
                starts.push((starting.at.clone(), Start { epoch: starting.epoch, offset }));
                false
            }
            None => true,
        });
        starts
    }

    fn found(self, starts: Vec<(TopicPartition, Start)>) -> Found {
        let search = (!self.starting.is_empty()).then(|| Box::new(self));
        Found { starts, search }
    }

    /// What passes is logged; what may stay is told to the application, once.
    fn tell(&mut self, error: Error) {
        warn!(%error, "where to start reading is not known yet");
        if !error.is_retriable() && self.told.as_ref() != Some(&error) {
            self.hand_over.trouble(error.clone());
            self.told = Some(error);
        }
    }
}
