//! A member, as its application holds it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use futures_core::Stream;
use tracing::info;

use super::builder::GroupMemberBuilder;
use super::driver::{MailboxOf, Said};
use super::event::{AssignFailed, Assigned, Event, Lost, ReleaseToken, Revoked};
use super::handle::MemberHandle;
use super::stream::Events;
use crate::error::Error;
use crate::membership;
use crate::subscription::{ConsumerNotice, ConsumerProtocol};
use crate::types::{InstanceHolder, Offsets, Partitions};

/// A member of a Kafka group of type "consumer", whose partitions its own assigners divide.
///
/// Ask for events in a loop. Heartbeats, rounds and commits go on whatever the application does, but asking is how it
/// answers: asking for the next event gives up what the last one revoked.
///
/// ```no_run
/// use kafka_group::{Event, GroupMember, assign::RangeAssigner};
///
/// # async fn run() -> Result<(), kafka_group::Error> {
/// let mut member = GroupMember::builder()
///     .bootstrap_servers("localhost:9092")
///     .group_id("search-indexers")
///     .subscribe(["orders", "customers"])
///     .assigner(RangeAssigner::default())
///     .join()
///     .await?;
///
/// while let Some(event) = member.next().await? {
///     match event {
///         Event::Assigned(assigned) => println!("start {:?}", assigned.partitions()),
///         Event::Revoked(revoked) => println!("finish {:?}", revoked.partitions()),
///         Event::Lost(lost) => println!("drop {:?}", lost.partitions()),
///         other => println!("{other:?}"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// Dropping a member closes it in the background, at best: a process that exits at once may not get its leave out, and
/// the group then waits for the session to end.
pub struct GroupMember {
    handle: MemberHandle,
    mailbox: Arc<MailboxOf<ConsumerProtocol>>,
    /// The revocation that asking again gives up.
    revoked: Option<Arc<ReleaseToken>>,
    /// What came along with the last event.
    waiting: VecDeque<Event>,
}

impl GroupMember {
    /// Starts to say what the member is to be.
    pub fn builder() -> GroupMemberBuilder {
        GroupMemberBuilder::default()
    }

    pub(super) fn new(handle: MemberHandle, mailbox: Arc<MailboxOf<ConsumerProtocol>>) -> Self {
        Self { handle, mailbox, revoked: None, waiting: VecDeque::new() }
    }

    /// The next event; `None` when the membership is over. An error ends it, and is said once.
    ///
    /// Cancel safe for events: one that was not returned is not lost. Its first poll gives up what the last event
    /// revoked, though, so in `select!` finish a revocation in its branch, or [hold](Revoked::hold) it:
    ///
    /// ```text
    /// select! {
    ///     event = member.next() => handle(event?).await,          // right: finished before next() is polled again
    ///     () = tick() => tidy_up().await,
    /// }
    /// select! {
    ///     event = member.next() => queue.push(event?),            // wrong: the next turn of the loop gives up what
    ///     done = queue.work() => …,                               // the queue is still working on: push event.hold()
    /// }
    /// ```
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        if let Some(event) = self.waiting.pop_front() {
            return Ok(Some(event));
        }
        self.revoked = None;
        self.mailbox.ask();
        while let Some(said) = self.mailbox.take().await? {
            if let Some(event) = self.event(said) {
                return Ok(Some(event));
            }
            self.mailbox.ask();
        }
        Ok(None)
    }

    /// The events as a stream, for code that is written around one. It ends as [`next`](Self::next) does, after an
    /// error too; dropping it is dropping the member.
    ///
    /// A member is no stream by itself because combinators (`buffered`, `peekable`, `select_all`) ask ahead, and asking
    /// gives up what was revoked. Here a [`Revoked`] is given up when the *event* is dropped, and every
    /// [hold](Revoked::hold) on it: pass it on by value, and drop it when its partitions are finished.
    pub fn into_stream(self) -> impl Stream<Item = Result<Event, Error>> + Send + Unpin + 'static {
        Events::new(self)
    }

    /// The next event, which itself keeps what it revokes.
    pub(super) async fn next_kept(&mut self) -> Result<Option<Event>, Error> {
        let mut event = self.next().await?;
        if let Some(Event::Revoked(revoked)) = &mut event {
            revoked.kept = self.revoked.take();
        }
        Ok(event)
    }

    /// Asks things of the member from anywhere.
    pub fn handle(&self) -> MemberHandle {
        self.handle.clone()
    }

    /// Leaves the group, whether dynamic or static, giving up everything at once. Returns offsets whose commit had not
    /// ended. Bounded by the close timeout. Not cancel safe: dropping the future closes as dropping the member does.
    pub async fn leave(mut self) -> Result<Offsets, Error> {
        let handle = self.handle();
        self.until_over(handle.leave()).await
    }

    /// As [`leave`](Self::leave), but a static member stays registered until its session ends.
    pub async fn close(mut self) -> Result<Offsets, Error> {
        let handle = self.handle();
        self.until_over(handle.close()).await
    }

    /// Takes the events that the end brings, so that nothing waits for them.
    async fn until_over(
        &mut self,
        ending: impl Future<Output = Result<Offsets, Error>>,
    ) -> Result<Offsets, Error> {
        tokio::pin!(ending);
        loop {
            tokio::select! {
                ended = &mut ending => return ended,
                Ok(Some(_)) = self.next() => {}
            }
        }
    }

    /// What the application is told of it; nothing of what only the log is told.
    fn event(&mut self, said: Said<Partitions, ConsumerNotice>) -> Option<Event> {
        match said {
            Said::Notice(notice) => notice_event(notice),
            Said::Event { event, notices } => Some(self.held_event(event, notices)),
        }
    }

    fn held_event(
        &mut self,
        event: membership::Event<Partitions>,
        notices: Vec<ConsumerNotice>,
    ) -> Event {
        match event {
            membership::Event::Assigned { added, held, standby, generation, leads } => {
                let mut told = None;
                for notice in notices {
                    match notice {
                        ConsumerNotice::Told(words) => told = Some(words),
                        other => self.waiting.extend(notice_event(other)),
                    }
                }
                let standbys = standby;
                Event::Assigned(Assigned { added, held, standbys, generation, leads, told })
            }
            membership::Event::Revoked { id, revoked, deadline, cause } => {
                let mailbox = Arc::clone(&self.mailbox);
                let token = Arc::new(ReleaseToken { id, mailbox });
                let weak = Arc::downgrade(&token);
                self.revoked = Some(token);
                Event::Revoked(Revoked {
                    partitions: revoked,
                    deadline,
                    cause,
                    token: weak,
                    kept: None,
                })
            }
            membership::Event::Lost { lost, cause } => {
                Event::Lost(Lost { partitions: lost, cause })
            }
            membership::Event::NoCommonProtocol => Event::NoCommonProtocol,
            membership::Event::Unauthorized => Event::Unauthorized,
            membership::Event::Denied(why) => Event::Denied(why),
            membership::Event::Stalled | membership::Event::Ended(_) => Event::Stalled,
        }
    }
}

fn notice_event(notice: ConsumerNotice) -> Option<Event> {
    Some(match notice {
        ConsumerNotice::AssignFailed { by, message } => {
            Event::AssignFailed(AssignFailed { by, message })
        }
        ConsumerNotice::MissingTopics(topics) => Event::MissingTopics(topics),
        ConsumerNotice::UnauthorizedTopics(topics) => Event::UnauthorizedTopics(topics),
        ConsumerNotice::Unwanted(partitions) => Event::Unwanted(partitions),
        ConsumerNotice::UnreadableAssignment(why) => Event::UnreadableAssignment(why),
        ConsumerNotice::UnreadableMembers(members) => Event::UnreadableMembers(members),
        ConsumerNotice::FewCopies(topics) => Event::FewCopies(topics),
        ConsumerNotice::TookOver(InstanceHolder { client_id, host, member_id, process }) => {
            Event::TookOver { client_id, host, member_id, process }
        }
        ConsumerNotice::MetadataFailed { assigner, message } => {
            Event::HookFailed(format!("metadata() of `{assigner}` failed: {message}"))
        }
        ConsumerNotice::GatherFailed(message) => Event::HookFailed(message.to_string()),
        ConsumerNotice::IdleMembers(members) => {
            info!(
                members = members.len(),
                "members without partitions though there are partitions enough"
            );
            return None;
        }
        ConsumerNotice::Told(_) => return None,
    })
}

impl Drop for GroupMember {
    fn drop(&mut self) {
        self.mailbox.desert();
    }
}

impl fmt::Debug for GroupMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupMember")
            .field("group_id", &self.handle.group_id)
            .finish_non_exhaustive()
    }
}
