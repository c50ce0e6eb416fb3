//! Bad input, each in a typed error before anything is sent.

use std::time::Duration;

use kafka_group::assign::{
    AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner, RangeAssigner,
    RoundRobinAssigner,
};
use kafka_group::testing::{CoordinatorSettings, FakeCluster};
use kafka_group::{
    ApiKey, Error, Event, GroupMember, GroupMemberBuilder, OnFenced, PROPERTIES, Plane,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::harness::{
    assigned, bare, count, error, idle, member, ms, next, one_broker, pass, soon,
};

/// An assigner of the application's, under any name.
struct Named(&'static str);

impl PartitionAssigner<()> for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription<()>) -> Result<GroupAssignment, AssignError> {
        RangeAssigner::default().assign(group)
    }
}

/// The option that `builder` is refused for, and why. Nothing may have been sent.
async fn wrong(
    cluster: &FakeCluster,
    change: impl FnOnce(GroupMemberBuilder) -> GroupMemberBuilder,
) -> (&'static str, String) {
    let began = Instant::now();
    let outcome = soon(change(member(cluster)).join()).await;
    assert_eq!(began.elapsed(), Duration::ZERO, "at once");
    assert!(cluster.requests().is_empty(), "nothing is sent");
    match outcome {
        Err(Error::InvalidOption { property, problem }) => (property, problem),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_option_that_cannot_be_is_named() {
    let cluster = one_broker();
    type Change = fn(GroupMemberBuilder) -> GroupMemberBuilder;
    let cases: [(&str, Change); 29] = [
        ("bootstrap.servers", |it| it.bootstrap_servers("")),
        ("bootstrap.servers", |it| it.bootstrap_servers(" , ")),
        ("bootstrap.servers", |it| it.bootstrap_servers("kafka-1")),
        ("bootstrap.servers", |it| it.bootstrap_servers("kafka-1:no-port")),
        ("bootstrap.servers", |it| it.bootstrap_servers("kafka-1:70000")),
        ("group.id", |it| it.group_id("")),
        ("group.id", |it| it.group_id("  ")),
        ("group.id", |it| it.group_id("x".repeat(40_000))),
        ("group.instance.id", |it| it.group_instance_id("")),
        ("group.instance.id", |it| it.group_instance_id(".")),
        ("group.instance.id", |it| it.group_instance_id("..")),
        ("group.instance.id", |it| it.group_instance_id("a b")),
        ("group.instance.id", |it| it.group_instance_id("a/b")),
        ("group.instance.id", |it| it.group_instance_id("ä")),
        ("group.instance.id", |it| it.group_instance_id("x".repeat(250))),
        ("group.instance.index", |it| it.instance_index(0)),
        ("group.instance.index", |it| it.set("group.instance.index", "-1")),
        ("client.id", |it| it.client_id("my app").instance_index(0)),
        ("fenced.retry.delay.ms", |it| it.on_fenced(OnFenced::RetryAfter(Duration::ZERO))),
        ("take.over", |it| it.set("take.over", "perhaps")),
        ("subscribe", |it| it.subscribe([""])),
        ("subscribe", |it| it.subscribe(["x".repeat(250)])),
        ("subscribe", |it| it.subscribe_pattern("^orders")),
        ("session.timeout.ms", |it| it.session_timeout(Duration::ZERO)),
        ("max.poll.interval.ms", |it| it.max_poll_interval(Duration::ZERO)),
        ("max.poll.interval.ms", |it| it.max_poll_interval(Duration::from_secs(1 << 40))),
        ("heartbeat.interval.ms", |it| it.heartbeat_interval(Duration::ZERO)),
        ("heartbeat.interval.ms", |it| it.heartbeat_interval(Duration::from_secs(10))),
        ("request.timeout.ms", |it| it.request_timeout(Duration::ZERO)),
    ];
    for (at, (property, change)) in cases.into_iter().enumerate() {
        let (named, problem) = wrong(&cluster, change).await;
        assert_eq!(named, property, "case {at}: {problem}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pattern_must_be_a_pattern() {
    let cluster = one_broker();
    let builder = GroupMember::builder()
        .bootstrap_servers(cluster.bootstrap_servers())
        .group_id("indexers")
        .subscribe_pattern("^orders(")
        .assigner(RangeAssigner::default());
    let Err(Error::InvalidOption { property, problem }) = soon(builder.join()).await else {
        panic!("joined")
    };
    assert_eq!(property, "subscribe_pattern");
    assert!(problem.contains("unclosed"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn brokers_a_group_and_topics_have_no_default() {
    let cluster = one_broker();
    let servers = cluster.bootstrap_servers();
    let range = || GroupMember::builder().assigner(RangeAssigner::default());
    for (missing, builder) in [
        ("bootstrap.servers", range().group_id("indexers").subscribe(["orders"])),
        ("group.id", range().bootstrap_servers(&*servers).subscribe(["orders"])),
        ("subscribe", range().bootstrap_servers(&*servers).group_id("indexers")),
    ] {
        let outcome = soon(builder.runtime(Handle::current()).join()).await;
        assert!(
            matches!(&outcome, Err(Error::InvalidOption { property, .. }) if *property == missing),
            "{missing}: {outcome:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn assigners_are_at_least_one_and_each_name_once() {
    const PROPERTY: &str = "partition.assignment.strategy";
    let cluster = one_broker();
    let outcome = soon(bare(&cluster).join()).await;
    assert!(matches!(outcome, Err(Error::InvalidOption { property: PROPERTY, .. })));

    let (property, problem) = wrong(&cluster, |it| it.assigner(RangeAssigner::default())).await;
    assert_eq!(property, PROPERTY);
    assert!(problem.contains("`range`") && problem.contains("twice"), "{problem}");

    let two = |it: GroupMemberBuilder| it.assigner(Named("mine")).assigner(Named("mine"));
    assert_eq!(wrong(&cluster, two).await.0, PROPERTY);
}

#[tokio::test(start_paused = true)]
async fn a_custom_assigner_has_a_name_of_its_own() {
    let cluster = one_broker();
    for taken in ["range", "roundrobin", "sticky", "cooperative-sticky", ""] {
        let outcome = soon(bare(&cluster).assigner(Named(taken)).join()).await;
        assert!(matches!(outcome, Err(Error::InvalidOption { .. })), "{taken}: {outcome:?}");
    }
    assert!(cluster.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_assigner_may_be_chosen_by_its_property() {
    let cluster = one_broker();
    let by_name = |names: &str| {
        bare(&cluster).assigner(Named("mine")).set("partition.assignment.strategy", names)
    };
    for (names, chosen) in [
        ("roundrobin", "roundrobin"),
        ("mine, range", "mine"),
        ("org.apache.kafka.clients.consumer.RangeAssignor", "range"),
    ] {
        let mut ann = soon(by_name(names).join()).await.unwrap();
        assigned(&mut ann, 4).await;
        assert_eq!(ann.handle().status().borrow().protocol.as_deref(), Some(chosen), "{names}");
        soon(ann.leave()).await.unwrap();
    }
    let unknown = soon(by_name("theirs").join()).await;
    assert!(
        matches!(unknown, Err(Error::InvalidOption { problem, .. }) if problem.contains("theirs"))
    );
}

#[tokio::test(start_paused = true)]
async fn properties_say_the_same_as_methods() {
    let cluster = one_broker();
    let properties = [
        ("bootstrap.servers", cluster.bootstrap_servers()),
        ("group.id", "indexers".to_owned()),
        ("group.instance.id", "ann".to_owned()),
        ("client.id", "search".to_owned()),
        ("session.timeout.ms", "10000".to_owned()),
        ("max.poll.interval.ms", "30000".to_owned()),
        ("partition.assignment.strategy", "range".to_owned()),
        ("group.protocol", "classic".to_owned()),
        ("security.protocol", "PLAINTEXT".to_owned()),
    ];
    let builder = GroupMember::builder()
        .from_properties(properties)
        .subscribe(["orders"])
        .runtime(Handle::current());
    let mut ann = soon(builder.join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let metadata = ann.handle().group_metadata();
    assert_eq!(metadata.group_instance_id.unwrap().as_str(), "ann");
    let requests = cluster.requests();
    assert!(requests.iter().all(|request| request.client_id == "search"), "{requests:?}");
}

#[tokio::test(start_paused = true)]
async fn every_property_that_is_refused_says_why() {
    let cluster = one_broker();
    for property in PROPERTIES {
        let Plane::Refused(why) = property.plane else { continue };
        let (named, problem) = wrong(&cluster, |it| it.set(property.name, "x")).await;
        assert_eq!(named, property.name);
        assert!(problem.contains(why), "{problem}");
    }
    for (property, value) in [
        ("group.protocol", "consumer"),
        ("session.timeout.ms", "soon"),
        ("heartbeat.interval.ms", "-1"),
        ("enable.auto.commit", "perhaps"),
        ("security.protocol", "SASL"),
        ("sasl.mechanism", "GSSAPI"),
    ] {
        let (named, problem) = wrong(&cluster, |it| it.set(property, value)).await;
        assert!(named == property || problem.contains(property), "{property}: {problem}");
    }
    let (named, problem) = wrong(&cluster, |it| it.set("security.protocol", "SASL_SSL")).await;
    assert_eq!(named, "sasl.mechanism", "{problem}");
}

#[tokio::test(start_paused = true)]
async fn properties_of_a_data_plane_are_refused_where_there_is_none() {
    let (property, problem) = wrong(&one_broker(), |it| it.set("fetch.min.bytes", "1000")).await;
    assert!(property == "fetch.min.bytes" || problem.contains("fetch.min.bytes"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_the_broker_refuses_ends_with_its_length() {
    let mut settings = CoordinatorSettings::default();
    settings.min_session_timeout = ms(20_000);
    let cluster = FakeCluster::builder().topic("orders", 4).settings(settings);
    let cluster = cluster.start_on_this_runtime().unwrap();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assert_eq!(error(&mut ann).await, Error::SessionTimeoutRefused(ms(10_000)));
}

#[tokio::test(start_paused = true)]
async fn a_full_group_is_waited_for_and_then_an_error() {
    let mut settings = CoordinatorSettings::default();
    settings.max_size = 1;
    let cluster = FakeCluster::builder().topic("orders", 4).settings(settings);
    let cluster = cluster.start_on_this_runtime().unwrap();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let mut bob = soon(member(&cluster).default_api_timeout(ms(5000)).join()).await.unwrap();
    let (full, events) = tokio::join!(error(&mut bob), idle(&mut ann, ms(8000)));
    assert!(matches!(full, Error::GroupFull { group_instance_id: None, .. }), "{full:?}");
    assert!(events.is_empty(), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_topic_that_does_not_exist_is_said_once_and_waited_for() {
    let cluster = one_broker();
    let builder = bare(&cluster).assigner(RoundRobinAssigner::default());
    let late = builder.subscribe(["customers"]).metadata_max_age(ms(5000));
    let mut ann = soon(late.join()).await.unwrap();
    let events = idle(&mut ann, ms(20_000)).await;
    let missing: Vec<_> =
        events.iter().filter(|event| matches!(event, Event::MissingTopics(_))).collect();
    let [Event::MissingTopics(topics)] = missing[..] else { panic!("{events:?}") };
    assert_eq!(topics.len(), 1);
    assert_eq!(&*topics[0], "customers");
    cluster.set_partitions("customers", 2);
    assigned(&mut ann, 6).await;
}

/// A port at which nobody listens, and nobody will for as long as the socket is kept.
fn closed_port() -> (String, TcpSocket) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    (socket.local_addr().unwrap().to_string(), socket)
}

/// Why nobody joins there.
async fn refused(servers: String) -> Error {
    let builder = GroupMember::builder()
        .bootstrap_servers(servers)
        .group_id("indexers")
        .subscribe(["orders"])
        .assigner(RangeAssigner::default())
        .default_api_timeout(ms(3000))
        .runtime(Handle::current());
    let began = Instant::now();
    let outcome = soon(builder.join()).await;
    assert!(began.elapsed() <= ms(3500), "{:?}", began.elapsed());
    outcome.expect_err("nobody joins there")
}

async fn unreachable(servers: String) -> String {
    match refused(servers).await {
        Error::Unreachable(problem) | Error::NoCoordinator { problem, .. } => problem,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_port_that_refuses_is_said_so() {
    let (closed, _kept) = closed_port();
    let problem = unreachable(closed).await;
    assert!(problem.contains("refused"), "{problem}");
}

/// Answers whatever it reads with these bytes.
async fn speaks(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut heard = [0; 4];
            drop(stream.read_exact(&mut heard).await);
            drop(stream.write_all(bytes).await);
        }
    });
    address
}

#[tokio::test(start_paused = true)]
async fn a_port_that_speaks_something_else_is_said_so() {
    let error = refused(speaks(b"\x15\x03\x03\x00\x02\x02\x46").await).await;
    let Error::Authentication(problem) = error else { panic!("{error:?}") };
    assert!(problem.contains("TLS"), "{problem}");
    let problem = unreachable(speaks(b"HTTP/1.1 400 Bad Request\r\n\r\n").await).await;
    assert!(problem.contains("HTTP"), "{problem}");
    let problem = unreachable(speaks(b"").await).await;
    assert!(problem.contains("TLS"), "a TLS port may just hang up: {problem}");
}

#[tokio::test(start_paused = true)]
async fn one_reachable_server_of_many_is_enough() {
    let cluster = one_broker();
    let (closed, _kept) = closed_port();
    let servers = format!("{closed},{},{closed}", cluster.bootstrap_servers());
    let mut ann = soon(member(&cluster).bootstrap_servers(servers).join()).await.unwrap();
    assigned(&mut ann, 4).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_with_a_new_subscription_is_said_by_the_handle_and_changes_nothing() {
    let cluster = one_broker();
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    let handle = ann.handle();
    let none: [String; 0] = [];
    assert!(matches!(handle.subscribe(none).await, Err(Error::InvalidOption { .. })));
    assert!(matches!(handle.subscribe([""]).await, Err(Error::InvalidOption { .. })));
    assert!(matches!(handle.subscribe_pattern("(").await, Err(Error::InvalidOption { .. })));
    pass(ms(5000)).await;
    assert_eq!(count(&cluster, ApiKey::JoinGroup), 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_subscription_gives_up_first_what_it_drops() {
    let cluster = one_broker();
    cluster.set_partitions("customers", 2);
    let mut ann = soon(member(&cluster).join()).await.unwrap();
    assigned(&mut ann, 4).await;
    soon(ann.handle().subscribe(["customers"])).await.unwrap();
    let Event::Revoked(revoked) = next(&mut ann).await else { panic!("no revocation") };
    assert_eq!(revoked.partitions().len(), 4);
    let new = assigned(&mut ann, 2).await;
    assert!(new.all().contains("customers", 0));
}
