//! From a builder to a running member.

use std::num::NonZero;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tracing::warn;

use super::builder::GroupMemberBuilder;
use super::command::Command;
use super::driver::{Driver, MailboxOf, Parts};
use super::gather::Gatherer;
use super::handle::MemberHandle;
use super::hosted::Hosted;
use super::jobs::Jobs;
use super::mailbox::Mailbox;
use super::member::GroupMember;
use super::reach::{client, reach, shared};
use super::registry::Registration;
use super::settings::Settings;
use super::status::Status;
use crate::assign::{
    EagerStickyAssigner, ErasedAssigner, RangeAssigner, RebalanceProtocol, RoundRobinAssigner,
    StickyAssigner,
};
use crate::client::{Client, Topics};
use crate::error::Error;
use crate::subscription::{ConsumerOptions, ConsumerProtocol, Selection};
use crate::types::InstanceHolder;

/// Commands that wait for the driver. It takes them at once, so more than a few are a burst.
const COMMANDS: usize = 64;

/// Checks everything, reaches the coordinator, and starts the member.
pub(super) async fn join(builder: GroupMemberBuilder) -> Result<GroupMember, Error> {
    let selection = builder.selection()?;
    let assigners = assigners(&builder)?;
    let mut settings = Settings::check(builder.options)?;
    settings.options.refuse_what_nobody_reads()?;
    warn_of_eager_ones(&settings, &assigners);
    let client = match builder.client {
        Some(client) => shared(client, &settings.options)?,
        None => client(&settings.options, builder.runtime)?,
    };
    let holder = reach(&client, &mut settings, wanted(&selection)).await?;
    let options = ConsumerOptions {
        on_assign_error: builder.on_assign_error,
        allow_migration: builder.allow_migration,
        gathers: builder.gatherer.is_some(),
        ..consumer_options(&settings, selection, assigners)
    };
    let (group_id, api_timeout) =
        (Arc::from(settings.group_id.as_str()), settings.options.default_api_timeout);
    let protocol = ConsumerProtocol::new(options);
    let started = start(&client, settings, protocol, builder.gatherer, holder);
    let handle = MemberHandle {
        group_id,
        client,
        commands: started.commands,
        status: started.status,
        api_timeout,
        #[cfg(any(test, feature = "test-util"))]
        polls: started.polls,
    };
    Ok(GroupMember::new(handle, started.mailbox))
}

/// The ends of a running driver that its application holds.
pub(super) struct Started<P: Hosted> {
    pub(super) commands: mpsc::Sender<Command<P>>,
    pub(super) status: watch::Receiver<Status<P::Held>>,
    pub(super) mailbox: Arc<MailboxOf<P>>,
    #[cfg(any(test, feature = "test-util"))]
    pub(super) polls: super::polls::Polls,
}

/// Starts a member of any protocol, where its client's connections run.
pub(super) fn start<P: Hosted>(
    client: &Client,
    settings: Settings,
    protocol: P,
    gatherer: Option<Arc<dyn Gatherer>>,
    holder: Option<InstanceHolder>,
) -> Started<P> {
    let (commands, received) = mpsc::channel(COMMANDS);
    let (publish, status) = watch::channel(Status::new(&settings, protocol.rebalance_protocol()));
    let registration = Registration::new(&settings.client_id, status.clone());
    let mailbox = Arc::new(Mailbox::new());
    // In a box: each future that it goes through would else have room for it.
    let driver = Box::new(Driver::new(Parts {
        settings,
        protocol,
        client: client.clone(),
        jobs: Jobs::shared().clone(),
        gatherer,
        mailbox: Arc::clone(&mailbox),
        commands: received,
        status: publish,
        seed: fastrand::u64(..),
        holder,
    }));
    #[cfg(any(test, feature = "test-util"))]
    let polls = super::polls::Polls::default();
    let run = async move {
        let _until_it_ends = registration;
        driver.run().await;
    };
    #[cfg(any(test, feature = "test-util"))]
    let run = polls.clone().of(run);
    client.spawn(run);
    Started {
        commands,
        status,
        mailbox,
        #[cfg(any(test, feature = "test-util"))]
        polls,
    }
}

/// One eager name in the list makes every round eager, whichever name the group chooses.
fn warn_of_eager_ones(settings: &Settings, assigners: &[ErasedAssigner]) {
    let is_cooperative =
        |assigner: &&ErasedAssigner| assigner.protocols().contains(&RebalanceProtocol::Cooperative);
    let (cooperative, eager): (Vec<_>, Vec<_>) = assigners.iter().partition(is_cooperative);
    if cooperative.is_empty() || eager.is_empty() {
        return;
    }
    let names = |assigners: Vec<&ErasedAssigner>| -> Vec<String> {
        assigners.iter().map(|assigner| assigner.name().to_string()).collect()
    };
    warn!(
        group = settings.group_id,
        eager = names(eager).join(","),
        cooperative = names(cooperative).join(","),
        "rounds are eager, whichever assigner the group chooses, since not all that are listed allow cooperative ones"
    );
}

/// What a member of type "consumer" is, from its settings and its machine.
fn consumer_options(
    settings: &Settings,
    selection: Selection,
    assigners: Vec<ErasedAssigner>,
) -> ConsumerOptions {
    let host: Arc<str> = gethostname::gethostname().to_string_lossy().into();
    ConsumerOptions {
        client_id: Arc::from(settings.client_id.as_str()),
        group_instance_id: settings.group_instance_id.clone(),
        rack: settings.client_rack.as_deref().map(Arc::from),
        cpus: std::thread::available_parallelism().map_or(1, NonZero::get),
        process: format!("{host}/{}", std::process::id()).into(),
        host_name: host,
        session_timeout: settings.options.session_timeout,
        rebalance_timeout: settings.options.max_poll_interval,
        ..ConsumerOptions::new(settings.group_id.as_str(), selection, assigners)
    }
}

/// Topics to subscribe to, checked.
pub(super) fn topics(topics: Vec<String>) -> Result<Selection, Error> {
    if topics.is_empty() {
        return Err(Error::option("subscribe", "at least one topic or a pattern is needed"));
    }
    match topics.iter().find(|topic| topic.is_empty() || topic.len() > 249) {
        Some(topic) => Err(Error::option(
            "subscribe",
            format!("{topic:?} is no topic's name: 1 to 249 characters"),
        )),
        None => Ok(Selection::topics(topics)),
    }
}

/// What must be known of the cluster to plan for it.
fn wanted(selection: &Selection) -> Topics {
    match selection {
        Selection::Topics(names) => Topics::Named(names.iter().cloned().collect()),
        Selection::Pattern(_) => Topics::All,
    }
}

/// A pattern to subscribe to, checked.
pub(super) fn pattern(pattern: &str) -> Result<Selection, Error> {
    Selection::pattern(pattern)
        .map_err(|problem| Error::option("subscribe_pattern", problem.to_string()))
}

/// The assigners in order of preference, each name once.
fn assigners(builder: &GroupMemberBuilder) -> Result<Vec<ErasedAssigner>, Error> {
    const PROPERTY: &str = "partition.assignment.strategy";
    let given = builder.assigners.iter().cloned();
    let given = given
        .collect::<Result<Vec<_>, _>>()
        .map_err(|unfit| Error::option(PROPERTY, unfit.to_string()))?;
    let chosen = match &builder.options.assignment_strategy {
        None => given,
        Some(names) => names.iter().map(|name| named(name, &given)).collect::<Result<_, _>>()?,
    };
    if chosen.is_empty() {
        return Err(Error::option(PROPERTY, "at least one assigner is needed"));
    }
    for (at, assigner) in chosen.iter().enumerate() {
        if chosen[..at].iter().any(|other| other.name() == assigner.name()) {
            let problem =
                format!("`{}` is listed twice, which would block the whole group", assigner.name());
            return Err(Error::option(PROPERTY, problem));
        }
    }
    Ok(chosen)
}

/// An assigner by name: one that was given, or one of ours. Java's class names are understood.
fn named(name: &str, given: &[ErasedAssigner]) -> Result<ErasedAssigner, Error> {
    if let Some(assigner) = given.iter().find(|assigner| &**assigner.name() == name) {
        return Ok(assigner.clone());
    }
    let built_in = match name.trim_start_matches("org.apache.kafka.clients.consumer.") {
        "range" | "RangeAssignor" => ErasedAssigner::new(RangeAssigner::default()),
        "roundrobin" | "RoundRobinAssignor" => ErasedAssigner::new(RoundRobinAssigner::default()),
        "sticky" | "StickyAssignor" => ErasedAssigner::new(EagerStickyAssigner::default()),
        "cooperative-sticky" | "CooperativeStickyAssignor" => {
            ErasedAssigner::new(StickyAssigner::default())
        }
        _ => {
            let problem = format!("`{name}` is neither built in nor given by `.assigner()`");
            return Err(Error::option("partition.assignment.strategy", problem));
        }
    };
    built_in.map_err(|unfit| Error::option("partition.assignment.strategy", unfit.to_string()))
}
