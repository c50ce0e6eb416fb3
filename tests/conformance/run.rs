//! Runs scenarios on both brokers and compares what they said.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use kafka_group::testing::{CoordinatorSettings, FakeCluster};
use kafka_group::types::NodeId;
use kafka_protocol::messages::{ApiKey, MetadataResponse};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::broker::{Broker, TOPIC};
use crate::common::{Kafka, Settings};

/// As many scenarios at once as two cores bear without sessions running out.
const AT_ONCE: usize = 32;

/// In these the coordinator of Kafka 3 differs, and the fake is that of Kafka 4.
const SINCE_KAFKA_4: [&str; 5] = [
    // Kafka 3 describes no assignments but in a stable group.
    "protocol_and_metadata_are_told_of_a_stable_group_only",
    "a_parked_join_whose_connection_closes_stays_in_the_round",
    // In Kafka 3 that is ILLEGAL_GENERATION in version 9 too.
    "a_commit_to_no_group_needs_no_generation_and_makes_the_group",
    // Kafka 3 writes nothing of a group before its first SyncGroup.
    "a_new_coordinator_knows_what_the_log_says",
    // In Kafka 3 the round ends with whoever is left.
    "in_a_round_that_is_full_a_member_that_comes_last_is_out",
];

/// Whether this scenario has nothing to say about the Kafka that is running.
fn is_not_for_this_kafka(scenario: &Scenario) -> bool {
    static KAFKA_3: LazyLock<bool> =
        LazyLock::new(|| Side::Kafka(Kafka::shared()).newest_describe() < 6);
    SINCE_KAFKA_4.contains(&scenario.name) && *KAFKA_3
}

/// A scenario, by name.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) stage: Stage,
    pub(crate) play: for<'a> fn(&'a mut Broker) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
}

/// Which brokers a scenario needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stage {
    /// The usual ones.
    Usual,
    /// `group.max.size` is 2, `group.initial.rebalance.delay.ms` is 600.
    Small,
    /// One that may die.
    Mortal,
}

/// Makes a test of each scenario, and a list of them all.
macro_rules! scenarios {
    ($stage:ident: $($name:ident),* $(,)?) => {
        pub(crate) const ALL: &[crate::run::Scenario] = &[$(crate::run::Scenario {
            name: stringify!($name),
            stage: crate::run::Stage::$stage,
            play: |broker| Box::pin($name(broker)),
        }),*];

        mod conforms {
            $(#[test]
            fn $name() {
                crate::run::check(super::ALL, stringify!($name));
            })*
        }
    };
}
pub(crate) use scenarios;

/// What the fake said, and what Kafka said; or how the scenario failed.
type Outcome = (Result<Vec<String>, String>, Result<Vec<String>, String>);

/// Plays a scenario on both brokers.
pub(crate) fn check(all: &[Scenario], name: &str) {
    let scenario = *all.iter().find(|scenario| scenario.name == name).expect("the macro lists it");
    if is_not_for_this_kafka(&scenario) {
        return println!("not run before Kafka 4: {name}");
    }
    let started = started().lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    let (ours, theirs) = match started.map(|outcome| outcome.recv()) {
        Some(Ok(outcome)) => outcome,
        // It was not started, or for want of a broker: then this says why.
        _ => match stage(scenario.stage) {
            Some((fake, kafka)) => RUNTIME.block_on(play(scenario, fake, kafka)),
            None => return crate::common::kafka::not_run(name),
        },
    };
    let theirs = theirs.unwrap_or_else(|failure| panic!("on Kafka: {failure}"));
    let ours = ours.unwrap_or_else(|failure| panic!("on the fake: {failure}"));
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "answer {number} differs; left is the fake, right is Kafka");
    }
    assert_eq!(ours.len(), theirs.len());
}

/// The scenarios spend their time waiting: unless only some are asked for, all are started when the first is.
fn started() -> &'static Mutex<HashMap<&'static str, Receiver<Outcome>>> {
    static STARTED: OnceLock<Mutex<HashMap<&'static str, Receiver<Outcome>>>> = OnceLock::new();
    STARTED.get_or_init(|| {
        let some = std::env::args().skip(1).any(|argument| !argument.starts_with('-'));
        let mut started = HashMap::new();
        let places = Arc::new(Semaphore::new(AT_ONCE));
        for scenario in all().filter(|_| !some) {
            let (send, outcome) = channel();
            let places = Arc::clone(&places);
            RUNTIME.spawn(async move {
                // Brokers come up side by side, each on a thread that may block.
                let brokers = tokio::task::spawn_blocking(move || stage(scenario.stage)).await;
                let Ok(Some((fake, kafka))) = brokers else { return };
                let _place = places.acquire().await;
                let _nobody_asks = send.send(play(scenario, fake, kafka).await);
            });
            started.insert(scenario.name, outcome);
        }
        Mutex::new(started)
    })
}

fn all() -> impl Iterator<Item = Scenario> {
    let files = [
        crate::failover::ALL,
        crate::phases::ALL,
        crate::liveness::ALL,
        crate::connections::ALL,
        crate::describe::ALL,
        crate::join::ALL,
        crate::leave::ALL,
        crate::offsets::ALL,
        crate::protocols::ALL,
        crate::restarts::ALL,
        crate::statics::ALL,
        crate::sync::ALL,
        crate::triggers::ALL,
        crate::small::ALL,
    ];
    files.into_iter().flatten().copied()
}

async fn play(scenario: Scenario, fake: Side, kafka: Side) -> Outcome {
    let newest_describe = kafka.newest_describe();
    let on = |side: Side| async move {
        let task = tokio::spawn(async move {
            let mut broker = Broker::new(side, newest_describe, scenario.name).await;
            (scenario.play)(&mut broker).await;
            broker.transcript()
        });
        task.await.map_err(|failure| match failure.try_into_panic() {
            Ok(panic) => match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
                (Some(message), _) => message.clone(),
                (None, message) => {
                    message.map_or_else(String::new, |message| (*message).to_owned())
                }
            },
            Err(failure) => failure.to_string(),
        })
    };
    tokio::join!(on(fake), on(kafka))
}

/// One side of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Fake(&'static FakeCluster),
    Kafka(&'static Kafka),
}

impl Side {
    pub(crate) fn bootstrap(self) -> String {
        match self {
            Self::Fake(fake) => fake.bootstrap_servers(),
            Self::Kafka(kafka) => kafka.addresses().swap_remove(0),
        }
    }

    /// The one broker dies and comes back.
    pub(crate) fn fail_over(self) {
        match self {
            Self::Fake(fake) => {
                fake.stop(NodeId(1));
                fake.start(NodeId(1));
            }
            Self::Kafka(kafka) => kafka.restart(1),
        }
    }

    fn newest_describe(self) -> i16 {
        match self {
            Self::Fake(_) => 6,
            Self::Kafka(kafka) => kafka
                .admin()
                .versions(ApiKey::DescribeGroups)
                .map_or(0, |(_, newest)| newest.min(6)),
        }
    }

    /// With the topic that scenarios commit offsets for.
    fn prepared(self) -> Self {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let Self::Kafka(kafka) = self else { return self };
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let admin = kafka.admin();
        let is_missing =
            |metadata: MetadataResponse| metadata.topics.iter().any(|topic| topic.error_code != 0);
        if admin.metadata(&[TOPIC]).is_ok_and(is_missing) {
            admin.create_topic(TOPIC, 2, 1);
        }
        self
    }
}

/// The fake and Kafka; none where Kafka is not ours to set up.
fn stage(stage: Stage) -> Option<(Side, Side)> {
    type Own = LazyLock<Option<(FakeCluster, Kafka)>>;
    static USUAL: LazyLock<FakeCluster> = LazyLock::new(|| fake(|_| {}));
    static SMALL: Own = LazyLock::new(|| {
        let settings = Settings::new(1).set("group.max.size", "2");
        let kafka = Kafka::private(&settings.set("group.initial.rebalance.delay.ms", "600"))?;
        let fake = fake(|settings| {
            settings.max_size = 2;
            settings.initial_rebalance_delay = Duration::from_millis(600);
        });
        Some((fake, kafka))
    });
    static MORTAL: Own = LazyLock::new(|| Some((fake(|_| {}), Kafka::private(&Settings::new(1))?)));
    let own = |stage: &'static Own| {
        stage.as_ref().map(|(fake, kafka)| (Side::Fake(fake), Side::Kafka(kafka)))
    };
    let (fake, kafka) = match stage {
        Stage::Usual => (Side::Fake(&USUAL), Side::Kafka(Kafka::shared())),
        Stage::Small => own(&SMALL)?,
        Stage::Mortal => own(&MORTAL)?,
    };
    Some((fake, kafka.prepared()))
}

fn fake(change: impl FnOnce(&mut CoordinatorSettings)) -> FakeCluster {
    let mut settings = CoordinatorSettings::default();
    settings.min_session_timeout = Duration::from_secs(1);
    change(&mut settings);
    FakeCluster::builder()
        .topic(TOPIC, 2)
        .settings(settings)
        .start()
        .expect("a port on the loopback")
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
});
