//! Applications under test: each asks its member for events in a task of its own, and notes what it is told.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::types::{Generation, MemberId, Offsets, Partitions, TopicPartition};
use kafka_group::{
    Assigned, Error, Event, GroupMember, GroupMemberBuilder, LossCause, MemberHandle, MemberState,
    Revoked, Status,
};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::common::wait::poll;

/// How long anything may take on a slow machine before a test gives up.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// Where the applications run: their members run on threads of the crate's.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// A member of `group` without an assigner, with short times.
pub(crate) fn plain(bootstrap: &str, group: &str, topics: &[&str]) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(bootstrap)
        .group_id(group)
        .subscribe(topics.iter().copied())
        .session_timeout(Duration::from_secs(6))
        .max_poll_interval(Duration::from_secs(20))
        .metadata_max_age(Duration::from_millis(500))
}

/// A member of `group` on range, with short times.
pub(crate) fn member(bootstrap: &str, group: &str, topics: &[&str]) -> GroupMemberBuilder {
    plain(bootstrap, group, topics).assigner(RangeAssigner::default())
}

/// Waits for what is asked of a member, in time.
pub(crate) fn done<T>(asked: impl Future<Output = T>) -> T {
    RUNTIME.block_on(async { tokio::time::timeout(SOON, asked).await }).expect("done in time")
}

/// Runs this where the applications run.
pub(crate) fn spawn<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    RUNTIME.spawn(task)
}

/// One position for each partition.
pub(crate) fn offsets(partitions: &Partitions, offset: i64) -> Offsets {
    partitions.iter().map(|partition| (partition, offset.into())).collect()
}

/// What an application was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    Assigned(Got),
    Revoked(Partitions),
    Lost(Partitions, LossCause),
    /// The leader, and what went wrong.
    AssignFailed(String, String),
    MissingTopics(Vec<String>),
    UnauthorizedTopics(Vec<String>),
    NoCommonProtocol,
    /// The former holder's client id, host and member id.
    TookOver(String, String, MemberId),
    Unauthorized,
    Denied(String),
    Stalled,
    Other(String),
}

/// An assignment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Got {
    pub(crate) added: Partitions,
    pub(crate) all: Partitions,
    pub(crate) standbys: Partitions,
    pub(crate) generation: Generation,
    pub(crate) leads: bool,
    pub(crate) told: Option<String>,
}

/// A process of a group, reduced to a task.
pub(crate) struct App {
    handle: MemberHandle,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Seen {
    said: Vec<Said>,
    /// What is held: nothing during a round.
    now: Option<Got>,
    end: Option<Result<(), Error>>,
}

impl App {
    /// Joins, and asks for events until there are no more.
    pub(crate) fn start(builder: GroupMemberBuilder) -> Self {
        Self::try_start(builder).expect("it joins")
    }

    /// As [`Self::start`], where `join()` may fail.
    pub(crate) fn try_start(builder: GroupMemberBuilder) -> Result<Self, Error> {
        Ok(asking(done(builder.join())?))
    }

    pub(crate) fn handle(&self) -> &MemberHandle {
        &self.handle
    }

    pub(crate) fn status(&self) -> Status<Partitions> {
        self.handle.status().borrow().clone()
    }

    /// Everything it was told so far.
    pub(crate) fn said(&self) -> Vec<Said> {
        self.seen().said.clone()
    }

    /// What it holds, unless a round is under way.
    pub(crate) fn now(&self) -> Option<Got> {
        self.seen().now.clone()
    }

    /// Waits until it holds so many partitions.
    pub(crate) fn holds(&self, count: usize) -> Got {
        self.wait(&format!("{count} partitions"), |seen| {
            seen.now.clone().filter(|got| got.all.len() == count)
        })
    }

    /// Waits until it was told something of which `wanted` makes something, early or late.
    pub(crate) fn hears<T>(&self, what: &str, wanted: impl Fn(&Said) -> Option<T>) -> T {
        self.wait(what, |seen| seen.said.iter().find_map(&wanted))
    }

    /// Waits until the membership has ended with an error.
    pub(crate) fn fails(&self) -> Error {
        self.wait("an end", |seen| seen.end.clone()).expect_err("not an end that was asked for")
    }

    /// Waits until it is told that the leader could not plan, and what that said.
    pub(crate) fn assign_fails(&self) -> (String, String) {
        self.hears("that the assigner failed", |said| match said {
            Said::AssignFailed(by, message) => Some((by.clone(), message.clone())),
            _ => None,
        })
    }

    /// Waits until it is told from whom it has its instance id: client id, host, member id.
    pub(crate) fn takes_over(&self) -> (String, String, MemberId) {
        self.hears("whom it follows", |said| match said {
            Said::TookOver(client_id, host, id) => {
                Some((client_id.clone(), host.clone(), id.clone()))
            }
            _ => None,
        })
    }

    /// Waits until it has lost something, and says why.
    pub(crate) fn loses(&self) -> LossCause {
        self.hears("a loss", |said| match said {
            Said::Lost(_, cause) => Some(cause.clone()),
            _ => None,
        })
    }

    /// Waits until so many more heartbeats were sent: time enough for whatever they would have brought to light.
    pub(crate) fn beats(&self, times: u64) {
        let until = self.status().counters.heartbeats + times;
        self.wait("heartbeats", |_| (self.status().counters.heartbeats >= until).then_some(()));
    }

    /// Waits until its JoinGroup is out.
    pub(crate) fn joins(&self) {
        self.is(MemberState::PreparingRebalance);
    }

    /// Waits until it is in a state.
    pub(crate) fn is(&self, state: MemberState) {
        self.wait(&format!("{state:?}"), |_| (self.status().state == state).then_some(()));
    }

    /// Leaves the group.
    pub(crate) fn leave(self) {
        done(self.handle.leave()).expect("it leaves");
    }

    /// Closes: a static member stays registered.
    pub(crate) fn close(self) {
        done(self.handle.close()).expect("it closes");
    }

    /// Waits until `look` finds something.
    pub(crate) fn waits<T>(&self, what: &str, look: impl Fn(&Self) -> Option<T>) -> T {
        self.wait(what, |_| look(self))
    }

    fn wait<T>(&self, what: &str, look: impl Fn(&Seen) -> Option<T>) -> T {
        let found = poll(SOON, || {
            let seen = self.seen();
            let state =
                Seen { said: seen.said.clone(), now: seen.now.clone(), end: seen.end.clone() };
            drop(seen);
            look(&state)
        });
        found.unwrap_or_else(|| panic!("not within {SOON:?}: {what}. {self:#?}"))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The application is gone; its member closes in the background.
impl Drop for App {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status();
        f.debug_struct("App")
            .field("member_id", &status.member_id)
            .field("state", &status.state)
            .field("generation", &status.generation)
            .field("assignment", &status.assignment)
            .field("seen", &*self.seen())
            .finish()
    }
}

/// Waits until all are in one generation and have `total` partitions among them, each once; says which generation.
pub(crate) fn settled(apps: &[&App], total: usize) -> Generation {
    let look = || {
        let held: Option<Vec<Got>> = apps.iter().map(|app| app.now()).collect();
        let held = held?;
        let generation = held.first()?.generation;
        let same = held.iter().all(|got| got.generation == generation);
        let partitions: Vec<TopicPartition> =
            held.iter().flat_map(|got| got.all.iter().collect::<Vec<_>>()).collect();
        let once = partitions.iter().collect::<BTreeSet<_>>().len() == partitions.len();
        (same && once && partitions.len() == total).then_some(generation)
    };
    poll(SOON, look).unwrap_or_else(|| {
        panic!("not within {SOON:?}: {total} partitions, each once, in one generation. {apps:#?}")
    })
}

/// Waits until the apps have settled, and splits them into leader and first follower.
pub(crate) fn by_role(ann: App, bob: App, total: usize) -> (App, App) {
    settled(&[&ann, &bob], total);
    match ann.status().is_leader {
        true => (ann, bob),
        false => (bob, ann),
    }
}

/// Checks that these notice nothing of what happens: they beat on, and are told nothing.
pub(crate) fn undisturbed<T>(apps: &[&App], happens: impl FnOnce() -> T) -> T {
    let before: Vec<_> = apps.iter().map(|app| app.said()).collect();
    let result = happens();
    for (app, before) in apps.iter().zip(before) {
        app.beats(3);
        assert_eq!(app.said(), before, "it was disturbed: {app:#?}");
    }
    result
}

async fn listen(mut member: GroupMember, seen: Arc<Mutex<Seen>>) {
    let lock = || seen.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match member.next().await {
            Ok(Some(event)) => lock().note(event),
            Ok(None) => return lock().end = Some(Ok(())),
            Err(error) => return lock().end = Some(Err(error)),
        }
    }
}

impl Seen {
    fn note(&mut self, event: Event) {
        let names = |topics: Vec<Arc<str>>| topics.iter().map(|topic| topic.to_string()).collect();
        let said = match event {
            Event::Assigned(assigned) => Said::Assigned(got(&assigned)),
            Event::Revoked(revoked) => Said::Revoked(revoked.partitions().clone()),
            Event::Lost(lost) => Said::Lost(lost.partitions().clone(), lost.cause().clone()),
            Event::AssignFailed(failed) => {
                Said::AssignFailed(failed.by().to_owned(), failed.message().to_owned())
            }
            Event::MissingTopics(topics) => Said::MissingTopics(names(topics)),
            Event::UnauthorizedTopics(topics) => Said::UnauthorizedTopics(names(topics)),
            Event::NoCommonProtocol => Said::NoCommonProtocol,
            Event::TookOver { client_id, host, member_id, .. } => {
                Said::TookOver(client_id, host, member_id)
            }
            Event::Unauthorized => Said::Unauthorized,
            Event::Denied(why) => Said::Denied(why.to_string()),
            Event::Stalled => Said::Stalled,
            other => Said::Other(format!("{other:?}")),
        };
        match &said {
            Said::Assigned(got) => self.now = Some(got.clone()),
            Said::Revoked(_) | Said::Lost(..) => self.now = None,
            _ => {}
        }
        self.said.push(said);
    }
}

fn got(assigned: &Assigned) -> Got {
    Got {
        added: assigned.partitions().clone(),
        all: assigned.all().clone(),
        standbys: assigned.standbys().clone(),
        generation: assigned.generation(),
        leads: assigned.is_leader(),
        told: assigned.told::<String>().and_then(Result::ok),
    }
}

/// A member in the hands of the test, which asks for events when it likes.
pub(crate) fn loose(builder: GroupMemberBuilder) -> GroupMember {
    done(builder.join()).expect("it joins")
}

/// The next event of a member in the hands of the test.
pub(crate) fn next(member: &mut GroupMember) -> Event {
    done(member.next()).expect("no error").expect("not the end")
}

/// Takes events until one is an assignment of so many partitions.
pub(crate) fn assigned(member: &mut GroupMember, count: usize) -> Assigned {
    loop {
        match next(member) {
            Event::Assigned(assigned) if assigned.all().len() == count => return assigned,
            _ => {}
        }
    }
}

/// Takes events until something is revoked.
pub(crate) fn revoked(member: &mut GroupMember) -> Revoked {
    loop {
        if let Event::Revoked(revoked) = next(member) {
            return revoked;
        }
    }
}

/// Has an application ask for a member's events from now on.
pub(crate) fn asking(member: GroupMember) -> App {
    let (handle, seen) = (member.handle(), Arc::default());
    let task = RUNTIME.spawn(listen(member, Arc::clone(&seen)));
    App { handle, seen, task }
}
