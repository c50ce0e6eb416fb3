//! The one task that owns a member: it carries what the machine asks for to brokers, to the group's protocol, to the
//! application, and brings back what they answer. It never waits for any of them.

mod answers;
mod commits;
mod outputs;
mod report;
mod round_trip;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use self::answers::Answers;
use self::commits::Commits;
use self::report::Report;
use self::round_trip::Answer;
use self::work::{Saying, Turn};
use super::command::{Command, End};
use super::gather::Gatherer;
use super::hosted::{Hosted, Reaction};
use super::jobs::Jobs;
use super::mailbox::{Mailbox, Number, Signs};
use super::settings::Settings;
use super::status::Status;
use super::take_over::Place;
use crate::client::{self, Client, GroupNature, Lane, Topics};
use crate::error::Error;
use crate::membership::{Event, Membership, RevocationId};
use crate::protocol::Rejoin;
use crate::types::{Cluster, InstanceHolder, NodeId, Offsets};

/// How long a LeaveGroup may take that is sent as the membership ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a driver leaves for the application.
#[derive(Debug)]
pub(crate) enum Said<H, N> {
    /// What happened to what is held, with what the protocol has to say to it.
    Event { event: Event<H>, notices: Vec<N> },
    /// Something else worth knowing.
    Notice(N),
}

/// The mailbox between a driver of `P` and its application.
pub(crate) type MailboxOf<P> = Mailbox<
    Said<
        <P as crate::protocol::GroupProtocol>::Held,
        <P as crate::protocol::GroupProtocol>::Notice,
    >,
>;

/// A member at work.
pub(crate) struct Driver<P: Hosted> {
    machine: Membership<P::Held>,
    protocol: P,
    client: Client,
    group_id: Arc<str>,
    /// This member's own connection.
    lane: Lane,
    /// Who coordinated the group when it was last asked.
    coordinator: Option<NodeId>,
    /// Keeps the topics that matter fresh.
    interest: client::Interest,
    close_timeout: Duration,
    rebalance_timeout: Duration,
    request_timeout: Duration,
    jobs: Jobs,
    turn: Turn,
    /// What is described once the cluster was looked at.
    saying: Option<Saying<P::Held>>,
    gatherer: Option<Arc<dyn Gatherer>>,
    dice: fastrand::Rng,

    mailbox: Arc<MailboxOf<P>>,
    given: Given,
    /// What the protocol says to the assignment that the machine is about to announce.
    notices: Vec<P::Notice>,
    commands: mpsc::Receiver<Command<P>>,
    answers: Answers,
    /// LeaveGroup, on its way.
    farewell: Option<AbortHandle>,
    cluster: watch::Receiver<Arc<Cluster>>,
    commits: Commits,
    report: Report<P::Held>,
    /// What a group is that has no place for us.
    nature: Option<GroupNature>,
    /// Who has the id with which this member is about to join.
    holder: Option<InstanceHolder>,
    ending: Ending,
}

/// What a driver wakes for.
enum Happened<P: Hosted> {
    Answer(Answer),
    Command(Command<P>),
    Signs,
    Cluster,
    Timeout,
}

/// The event that was left in the mailbox last.
#[derive(Default)]
struct Given {
    number: Number,
    /// What it revokes, until it is taken.
    revocation: Option<RevocationId>,
}

/// Whether the membership is about to end, and who wants to know.
#[derive(Default)]
struct Ending {
    asked: bool,
    /// The membership has ended: events replace each other no more.
    over: bool,
    /// Nobody takes events any more.
    deserted: bool,
    /// Events go behind the one that was not taken, for there will be no driver to hand them out one by one.
    leaves_the_rest: bool,
    /// Whose commit has ended since without being stored.
    left: Offsets,
    waiting: Vec<oneshot::Sender<Result<Offsets, Error>>>,
    ended: Option<Option<Error>>,
}

/// What a driver is made of.
pub(crate) struct Parts<P: Hosted> {
    pub(crate) settings: Settings,
    pub(crate) protocol: P,
    pub(crate) client: Client,
    pub(crate) jobs: Jobs,
    pub(crate) gatherer: Option<Arc<dyn Gatherer>>,
    pub(crate) mailbox: Arc<MailboxOf<P>>,
    pub(crate) commands: mpsc::Receiver<Command<P>>,
    pub(crate) status: watch::Sender<Status<P::Held>>,
    pub(crate) seed: u64,
    pub(crate) holder: Option<InstanceHolder>,
}

impl<P: Hosted> Driver<P> {
    /// Prepares a member that has not joined.
    pub(crate) fn new(parts: Parts<P>) -> Self {
        let Parts { settings, protocol, client, jobs, gatherer, mailbox, commands, .. } = parts;
        let Parts { status, seed, holder, .. } = parts;
        let config = settings.membership(protocol.protocol_type());
        let mut dice = fastrand::Rng::with_seed(seed);
        let cluster = client.cluster();
        Self {
            machine: Membership::new(config, dice.u64(..)),
            protocol,
            group_id: Arc::from(settings.group_id.as_str()),
            lane: client.member_lane(),
            coordinator: None,
            interest: client.interest(Topics::none()),
            close_timeout: settings.options.close_timeout,
            rebalance_timeout: settings.options.max_poll_interval,
            request_timeout: settings.options.request_timeout,
            jobs,
            turn: Turn::default(),
            saying: None,
            gatherer,
            dice,
            mailbox,
            given: Given::default(),
            notices: Vec::new(),
            commands,
            answers: Answers::default(),
            farewell: None,
            cluster,
            commits: Commits::default(),
            report: Report::new(&settings, status),
            nature: None,
            holder,
            ending: Ending::default(),
            client,
        }
    }

    /// Joins, and stays until the membership ends.
    pub(crate) async fn run(mut self: Box<Self>) {
        // What a pattern comes to is part of what is said first.
        self.cluster_changed();
        self.interest.set(self.protocol.interest());
        self.machine.join(now());
        loop {
            self.drain();
            if self.ending.ended.is_some() {
                break;
            }
            self.turn_once().await;
        }
        self.finish().await;
    }

    /// Waits for the next thing to happen, and tells the machine. What the application did before comes first: an
    /// event that it has taken is not to be replaced.
    async fn turn_once(&mut self) {
        let wake = self.machine.poll_timeout();
        let happened = tokio::select! {
            Some(answer) = self.answers.next() => Happened::Answer(answer),
            Some(command) = self.commands.recv() => Happened::Command(command),
            () = self.mailbox.signalled() => Happened::Signs,
            Ok(()) = self.cluster.changed() => Happened::Cluster,
            () = sleep_until(wake) => Happened::Timeout,
        };
        self.signs();
        match happened {
            Happened::Answer(answer) => self.answered(answer),
            Happened::Command(command) => self.command(command),
            Happened::Cluster => self.cluster_changed(),
            Happened::Timeout => self.machine.handle_timeout(now()),
            Happened::Signs => {}
        }
    }

    /// What the application did: took an event, asked for one, gave something up, went away.
    fn signs(&mut self) {
        let Signs { taken, asked, released, deserted } = self.mailbox.signs();
        let now = now();
        if let Some(id) = released {
            self.machine.release(now, id);
        }
        if taken == Some(self.given.number) {
            self.given.revocation = None;
            self.machine.delivered(now);
        }
        if asked {
            self.machine.waiting(now);
        }
        if deserted {
            self.desert(now);
        }
    }

    fn command(&mut self, command: Command<P>) {
        let now = now();
        match command {
            Command::Commit { offsets, reply } => {
                let items = P::committed_items(&offsets);
                let id = self.commits.begin(offsets, reply);
                self.machine.commit(now, id, items);
            }
            Command::Rejoin(cause) => self.machine.rejoin(now, cause),
            Command::Reconfigure(change) => {
                let cause = change(&mut self.protocol);
                self.interest.set(self.protocol.interest());
                if let Some(cause) = cause {
                    self.machine.rejoin(now, cause);
                }
            }
            Command::End { how, reply } => {
                self.ending.waiting.extend(reply);
                self.end(now, how);
            }
        }
    }

    fn end(&mut self, now: Instant, how: End) {
        if std::mem::replace(&mut self.ending.asked, true) {
            return;
        }
        let deadline = now + self.close_timeout;
        match how {
            End::Leave => self.machine.leave(now, Some("asked to leave".into()), deadline),
            End::Close => self.machine.close(now, deadline),
        }
    }

    /// The application has dropped the member: nothing of it is awaited any more, except what it still holds.
    fn desert(&mut self, now: Instant) {
        self.ending.deserted = true;
        if let Some(id) = self.given.revocation.take() {
            self.machine.release(now, id);
        }
        self.machine.delivered(now);
        self.end(now, End::Close);
    }

    /// Topics, partitions or brokers have changed.
    fn cluster_changed(&mut self) {
        let cluster = Arc::clone(&self.cluster.borrow_and_update());
        let Reaction { rejoin, notices } = self.protocol.cluster_changed(&cluster, self.dice.f64());
        for notice in notices {
            self.mailbox.notice(Said::Notice(notice));
        }
        if let Some(Rejoin { cause, after }) = rejoin {
            self.machine.rejoin_later(now(), cause, after);
        }
    }

    /// Tells everyone who waits, and closes the member's own connection.
    async fn finish(mut self: Box<Self>) {
        let mut ended = self.ending.ended.take().flatten();
        // In a box, as it is rare: every driver would else have room for it as long as it lives.
        Box::pin(name_the_holder(&self.client, &self.group_id, &mut ended)).await;
        self.client.close_lane(self.lane);
        self.commands.close();
        let mut left = std::mem::take(&mut self.ending.left);
        left.append(&mut self.commits.close_all());
        while let Some(command) = self.commands.recv().await {
            match command {
                Command::Commit { reply, .. } => {
                    drop(reply.send(Err(crate::error::CommitError::Closed)))
                }
                Command::End { reply, .. } => self.ending.waiting.extend(reply),
                Command::Rejoin(_) | Command::Reconfigure(_) => {}
            }
        }
        // First: whoever is told that it is over finds it so.
        self.report.ended(ended.clone());
        for reply in self.ending.waiting.drain(..) {
            // Nobody waits if the future was dropped.
            drop(reply.send(ended.clone().map_or_else(|| Ok(left.clone()), Err)));
        }
        self.mailbox.end(ended);
        // Nobody waits for it any more, but it is to get out.
        drop(tokio::time::timeout(FAREWELL, self.farewell_said()).await);
        self.answers.shutdown().await;
    }

    async fn farewell_said(&mut self) {
        while self.farewell.as_ref().is_some_and(|leave| !leave.is_finished()) {
            self.answers.next().await;
        }
    }
}

/// Who was fenced is told by whom, where the coordinator says it quickly.
async fn name_the_holder(client: &Client, group: &str, ended: &mut Option<Error>) {
    if let Some(Error::FencedInstanceId { group_instance_id: id, holder, .. }) = ended {
        *holder = Place { client, group, id }.glance().await.map(Box::new);
    }
}

/// The one clock of the crate: tokio's, which tests can pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Waits until then, if it is some time. Cancel safe.
pub(crate) async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
