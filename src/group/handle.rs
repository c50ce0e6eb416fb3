//! What an application may ask of a member while it runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::command::{Command, End};
use super::status::Status;
use crate::client::{Client, Topics};
use crate::error::{CommitError, Error};
use crate::membership::MemberState;
use crate::protocol::Cause;
use crate::subscription::{ConsumerProtocol, Selection};
use crate::types::{
    Generation, GroupInstanceId, MemberId, OffsetAndMetadata, Offsets, Partitions, TopicPartition,
};

/// Asks things of a running member; cheap to clone, and of no weight: a member does not live on for its handles.
#[derive(Clone)]
pub struct MemberHandle {
    pub(super) group_id: Arc<str>,
    pub(super) client: Client,
    pub(super) commands: mpsc::Sender<Command<ConsumerProtocol>>,
    pub(super) status: watch::Receiver<Status<Partitions>>,
    pub(super) api_timeout: Duration,
    #[cfg(any(test, feature = "test-util"))]
    pub(super) polls: super::polls::Polls,
}

/// Who a member is, in one snapshot: for producers that commit offsets in a transaction (KIP-447), and for logs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GroupMetadata {
    /// Kafka: `group.id`.
    pub group_id: Arc<str>,
    /// The generation. No fencing token: see [`Generation`].
    pub generation: Generation,
    /// Kafka: `member.id`.
    pub member_id: MemberId,
    /// Kafka: `group.instance.id`.
    pub group_instance_id: Option<GroupInstanceId>,
}

impl MemberHandle {
    /// Commits offsets with this member's identity and generation.
    ///
    /// A commit that meets a rebalance is held until the round has ended; what stayed ours is then sent, and the rest
    /// ends with [`CommitError::NoLongerOwned`]. Partitions that are not ours are refused, since the broker would
    /// accept them, and so are those of which another member has the first copy, and offsets below 0. Dropping the future
    /// takes nothing back: the commit goes on. Cancel safe in that sense.
    pub async fn commit(&self, offsets: Offsets) -> Result<(), CommitError> {
        if offsets.is_empty() {
            return Ok(());
        }
        refuse_what_cannot_be_stored(&offsets)?;
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(Command::Commit { offsets, reply }).await;
        sent.map_err(|_| CommitError::Closed)?;
        answer.await.unwrap_or(Err(CommitError::Closed))
    }

    /// What the group has committed for these partitions; those without a commit are left out.
    ///
    /// Offsets of open transactions are waited for (`require_stable`, KIP-447), for `default.api.timeout.ms` at most.
    /// Cancel safe.
    pub async fn committed(
        &self,
        partitions: impl IntoIterator<Item = TopicPartition>,
    ) -> Result<Offsets, Error> {
        let partitions = partitions.into_iter().collect();
        let deadline = tokio::time::Instant::now() + self.api_timeout;
        let fetched = self.client.offset_fetch(&self.group_id, &partitions, true, deadline).await;
        fetched.map_err(|error| super::reach::refused(&self.group_id, error))
    }

    /// Who this member is. One snapshot: the parts belong together.
    pub fn group_metadata(&self) -> GroupMetadata {
        let status = self.status.borrow();
        GroupMetadata {
            group_id: Arc::clone(&self.group_id),
            generation: status.generation,
            member_id: status.member_id.clone(),
            group_instance_id: status.group_instance_id.clone(),
        }
    }

    /// Whether this member leads its group: plans, that is. Leadership moves for reasons of the broker's, so it is no
    /// sign of anything else.
    pub fn is_leader(&self) -> bool {
        self.status.borrow().is_leader
    }

    /// Asks the group for a round; `reason` goes into the broker's log (KIP-800, 255 characters). Cancel safe.
    pub async fn rejoin(&self, reason: &str) -> Result<(), Error> {
        self.tell(Command::Rejoin(Cause::Requested(Arc::from(reason)))).await
    }

    /// Subscribes to these topics instead. Topics that are dropped are revoked first. Cancel safe.
    pub async fn subscribe<T: Into<String>>(
        &self,
        topics: impl IntoIterator<Item = T>,
    ) -> Result<(), Error> {
        let selection = super::join::topics(topics.into_iter().map(Into::into).collect())?;
        self.select(selection).await
    }

    /// Subscribes to the topics that match instead. Internal topics never match. Cancel safe.
    pub async fn subscribe_pattern(&self, pattern: &str) -> Result<(), Error> {
        self.select(super::join::pattern(pattern)?).await
    }

    async fn select(&self, selection: Selection) -> Result<(), Error> {
        let change = move |protocol: &mut ConsumerProtocol| protocol.subscribe(selection);
        self.tell(Command::Reconfigure(Box::new(change))).await
    }

    /// Looks at the cluster's topics now, rather than after `metadata.max.age.ms`. Cancel safe.
    pub async fn refresh_metadata(&self) -> Result<(), Error> {
        let deadline = tokio::time::Instant::now() + self.api_timeout;
        let refreshed = self.client.refresh_metadata(Topics::none(), deadline).await;
        refreshed.map(drop).map_err(|error| super::reach::refused(&self.group_id, error))
    }

    /// Waits for the first assignment, or the next one if a round is under way; an empty one counts.
    ///
    /// A first join of a group takes 3 s or more by the broker's default (`group.initial.rebalance.delay.ms`). Cancel safe.
    pub async fn ready(&self, within: Duration) -> Result<(), Error> {
        let mut status = self.status.clone();
        let settled =
            status.wait_for(|status| status.ended.is_some() || status.state == MemberState::Stable);
        match tokio::time::timeout(within, settled).await {
            Err(_) => Err(Error::TimedOut { what: "the assignment", within }),
            Ok(Err(_)) => Err(Error::Closed),
            Ok(Ok(status)) => match &status.ended {
                Some(Err(error)) => Err(error.clone()),
                Some(Ok(())) => Err(Error::Closed),
                None => Ok(()),
            },
        }
    }

    /// Where the member stands, now and whenever that changes.
    pub fn status(&self) -> watch::Receiver<Status<Partitions>> {
        self.status.clone()
    }

    /// Asks the member to leave, whether dynamic or static: its loop sees `Revoked` (or `Lost`), then `None`.
    ///
    /// Returns offsets whose commit had not ended. Bounded by the member's close timeout; waits for the loop to give up
    /// what is revoked. Cancel safe: dropping the future takes nothing back.
    pub async fn leave(&self) -> Result<Offsets, Error> {
        self.end(End::Leave).await
    }

    /// As [`leave`](Self::leave), but a static member stays registered until its session ends, so that a restart within
    /// it costs nobody a rebalance.
    pub async fn close(&self) -> Result<Offsets, Error> {
        self.end(End::Close).await
    }

    /// How often the member's task has been polled, for tests of what an idle member costs.
    #[cfg(any(test, feature = "test-util"))]
    pub fn driver_polls(&self) -> u64 {
        self.polls.count()
    }

    async fn end(&self, how: End) -> Result<Offsets, Error> {
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(Command::End { how, reply: Some(reply) }).await;
        sent.map_err(|_| Error::Closed)?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    async fn tell(&self, command: Command<ConsumerProtocol>) -> Result<(), Error> {
        self.commands.send(command).await.map_err(|_| Error::Closed)
    }
}

fn refuse_what_cannot_be_stored(offsets: &Offsets) -> Result<(), CommitError> {
    type Wrong = fn(&OffsetAndMetadata) -> bool;
    let checks: [(&'static str, Wrong); 2] = [
        ("the offset is negative", |it| it.offset < 0),
        ("the metadata are longer than 32767 bytes", |it| it.metadata.len() > 32_767),
    ];
    for (problem, is_wrong) in checks {
        let wrong = offsets.iter().filter(|(_, offset)| is_wrong(offset));
        let partitions: Partitions = wrong.map(|(partition, _)| partition.clone()).collect();
        if !partitions.is_empty() {
            return Err(CommitError::Invalid { partitions, problem });
        }
    }
    Ok(())
}

impl fmt::Debug for MemberHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberHandle").field("group_id", &self.group_id).finish_non_exhaustive()
    }
}
