//! The client, against clusters that follow a script.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::script::{
    Received, Reply, Script, alive, coordinator, heartbeat, metadata, no_coordinator, soon,
};
use crate::client::{ApiKey, Client, ClientError, ClientOptions, ErrorCode, Lane, Target, Topics};
use crate::types::{MemberId, NodeId};
use crate::wire::api::JoinGroupRequest;

const FIRST: &str = "broker-1:9092";
const SECOND: &str = "broker-2:9092";
const THIRD: &str = "broker-3:9092";
const BOOTSTRAP: &str = "bootstrap:9092";

/// A cluster of three brokers with the topic "orders"; the first coordinates every group.
fn three_brokers() -> Script {
    Script::new(|_, request| healthy(request, 1))
}

fn healthy(request: &Received, coordinating: i32) -> Reply {
    match api(request) {
        ApiKey::Metadata => metadata(request, &[1, 2, 3], &[("orders", 6)]),
        ApiKey::FindCoordinator => coordinator(request, coordinating),
        ApiKey::Heartbeat => Reply::Answer(alive()),
        _ => Reply::Silence,
    }
}

fn api(request: &Received) -> ApiKey {
    ApiKey::ALL.into_iter().find(|api| api.number() == request.api).unwrap()
}

/// A client that knows the three brokers.
async fn knowing(script: &Script) -> Client {
    let client = script.client(BOOTSTRAP);
    client.refresh_metadata(Topics::none(), soon()).await.unwrap();
    client
}

fn join() -> JoinGroupRequest {
    JoinGroupRequest {
        group_id: "group".into(),
        session_timeout: Duration::from_secs(45),
        rebalance_timeout: Duration::from_secs(60),
        member_id: MemberId::default(),
        group_instance_id: None,
        protocol_type: "consumer".into(),
        protocols: Vec::new(),
        reason: None,
    }
}

async fn beat(client: &Client, to: Target<'_>) -> Result<ErrorCode, ClientError> {
    let answer = client.send(to, Lane::Heartbeat, heartbeat("group"), soon()).await;
    answer.map(|answer| answer.error)
}

fn after(milliseconds: u64) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds)
}

#[tokio::test(start_paused = true)]
async fn lanes_share_no_connection_and_requests_of_one_lane_share_one() {
    let script = three_brokers();
    let client = knowing(&script).await;
    let node = Target::Node(NodeId(2));
    for lane in [Lane::Heartbeat, Lane::Commit, Lane::Member(1), Lane::Member(2)] {
        for _ in 0..3 {
            client.send(node, lane, heartbeat("group"), soon()).await.unwrap();
        }
    }
    assert_eq!(script.tries(SECOND).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_join_that_is_parked_delays_no_heartbeat() {
    let script = three_brokers();
    let client = knowing(&script).await;
    let parked = client.send(Target::Node(NodeId(1)), Lane::Member(1), join(), after(3000));
    let beating = async {
        let begun = Instant::now();
        beat(&client, Target::Node(NodeId(1))).await.unwrap();
        begun.elapsed()
    };
    let (parked, took) = tokio::join!(parked, beating);
    assert!(matches!(parked, Err(ClientError::TimedOut { api: Some(ApiKey::JoinGroup), .. })));
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_members_lane_is_never_used_again_behind_a_join_that_was_given_up() {
    let script = three_brokers();
    let client = knowing(&script).await;
    let (node, lane) = (Target::Node(NodeId(1)), client.member_lane());
    let given_up = timeout(Duration::from_secs(1), client.send(node, lane, join(), after(60_000)));
    assert!(given_up.await.is_err());
    client.send(node, lane, heartbeat("group"), soon()).await.unwrap();
    let late = client.send(node, lane, join(), after(1000)).await;
    assert!(matches!(late, Err(ClientError::TimedOut { .. })));
    client.send(node, lane, heartbeat("group"), soon()).await.unwrap();
    assert_eq!(script.tries(FIRST).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_lane_that_is_closed_tells_whoever_waits_on_it() {
    let script = three_brokers();
    let client = knowing(&script).await;
    let lane = client.member_lane();
    let waiting = client.send(Target::Node(NodeId(1)), lane, join(), after(60_000));
    let closing = async {
        sleep(Duration::from_secs(1)).await;
        client.close_lane(lane);
    };
    let (outcome, ()) = tokio::join!(waiting, closing);
    assert!(matches!(outcome, Err(ClientError::Disconnected { sent: true, .. })), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ended_while_nobody_used_it_is_opened_again_unseen() {
    let script = three_brokers();
    let client = knowing(&script).await;
    beat(&client, Target::Node(NodeId(1))).await.unwrap();
    script.close_all();
    sleep(Duration::from_millis(1)).await;
    beat(&client, Target::Node(NodeId(1))).await.unwrap();
    assert_eq!(script.tries(FIRST).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_refuses_is_tried_again_after_growing_waits() {
    let script = three_brokers();
    let client = knowing(&script).await;
    script.refuse(THIRD);
    for _ in 0..7 {
        assert!(beat(&client, Target::Node(NodeId(3))).await.is_err());
    }
    let tries = script.tries(THIRD);
    let waits: Vec<_> = tries.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    for (wait, middle) in waits.iter().zip([50, 100, 200, 400, 800, 1000]) {
        assert!((middle * 8 / 10..=middle * 12 / 10 + 1).contains(wait), "{waits:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_broker_is_an_error_at_once() {
    let client = knowing(&three_brokers()).await;
    assert_eq!(
        beat(&client, Target::Node(NodeId(9))).await,
        Err(ClientError::UnknownNode(NodeId(9)))
    );
}

#[tokio::test(start_paused = true)]
async fn every_bootstrap_server_is_tried_and_a_silent_one_costs_a_second() {
    let script = three_brokers();
    script.refuse("a:1");
    script.silence("b:1");
    script.silence("c:1");
    let client = script.client("a:1,b:1,c:1,d:1");
    let begun = Instant::now();
    client.refresh_metadata(Topics::none(), soon()).await.unwrap();
    assert!(begun.elapsed() <= Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn when_nobody_answers_the_error_says_what_happened_to_each() {
    let script = three_brokers();
    script.refuse("a:1");
    script.silence("b:1");
    let client = script.client("a:1,b:1");
    let begun = Instant::now();
    let outcome = client.send(Target::Any, Lane::Metadata, heartbeat("group"), after(25_000)).await;
    let Err(ClientError::Unreachable { attempts }) = outcome else { panic!("{outcome:?}") };
    let mut brokers: Vec<_> = attempts.iter().map(|attempt| attempt.to_string()).collect();
    brokers.sort();
    assert_eq!(brokers.len(), 2, "{brokers:?}");
    assert!(brokers[0].starts_with("a:1: no connection: nobody listens"), "{brokers:?}");
    assert!(brokers[1].starts_with("b:1: "), "{brokers:?}");
    assert!(begun.elapsed() <= Duration::from_secs(25));
}

#[tokio::test(start_paused = true)]
async fn a_list_of_nothing_but_tls_ports_is_given_up_at_once() {
    let script = three_brokers();
    for address in ["a:1", "b:1"] {
        script.garble(address, b"\x15\x03\x03\x00\x02\x02\x46");
    }
    let client = script.client("a:1,b:1");
    let begun = Instant::now();
    let outcome = client.coordinator("group", after(60_000)).await.unwrap_err();
    assert!(outcome.to_string().contains("the port speaks TLS"), "{outcome}");
    assert_eq!(begun.elapsed(), Duration::ZERO);
    script.garble("b:1", b"HTTP/1.1 400 Bad Request\r\n");
    let outcome = script.client("b:1").coordinator("group", after(60_000)).await.unwrap_err();
    assert!(outcome.to_string().contains("the port speaks HTTP"), "{outcome}");
}

/// Real sockets: a name that does not resolve, a port that refuses, one that accepts and is silent, a broker.
#[tokio::test]
async fn a_list_in_any_state_of_health_leads_to_the_cluster() {
    let bind = || tokio::net::TcpListener::bind("127.0.0.1:0");
    let refusing = bind().await.unwrap().local_addr().unwrap();
    let silent = bind().await.unwrap();
    let broker = bind().await.unwrap();
    let list = format!(
        "no-such-host.invalid:9092,{refusing},{},{}",
        silent.local_addr().unwrap(),
        broker.local_addr().unwrap()
    );
    tokio::spawn(three_brokers().listen(broker));
    for seed in 0..4 {
        let client = Client::new(ClientOptions::new(list.as_str()).jitter_seed(seed)).unwrap();
        let refreshed = client.refresh_metadata(Topics::none(), after(10_000)).await;
        assert_eq!(refreshed.map(|cluster| cluster.nodes().len()), Ok(3), "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn when_no_known_broker_answers_the_bootstrap_list_is_asked_again() {
    let script = three_brokers();
    let client = knowing(&script).await;
    for broker in [FIRST, SECOND, THIRD] {
        script.refuse(broker);
    }
    script.close_all();
    client.refresh_metadata(Topics::none(), soon()).await.unwrap();
    assert_eq!(script.tries(BOOTSTRAP).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn many_members_look_for_their_coordinator_once() {
    let script = three_brokers();
    let client = knowing(&script).await;
    let mut members = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let client = client.clone();
        members.spawn(async move { client.coordinator("group", soon()).await.unwrap().id });
    }
    assert!(members.join_all().await.iter().all(|node| *node == NodeId(1)));
    assert_eq!(script.count(ApiKey::FindCoordinator), 1);
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_is_forgotten_only_by_those_who_know_it() {
    let now = Arc::new(AtomicI32::new(1));
    let coordinating = Arc::clone(&now);
    let script =
        Script::new(move |_, request| healthy(request, coordinating.load(Ordering::Relaxed)));
    let client = knowing(&script).await;
    assert_eq!(client.coordinator("group", soon()).await.unwrap().id, NodeId(1));
    now.store(2, Ordering::Relaxed);
    client.forget_coordinator("group", NodeId(1));
    assert_eq!(client.coordinator("group", soon()).await.unwrap().id, NodeId(2));
    client.forget_coordinator("group", NodeId(1));
    assert_eq!(client.coordinator("group", soon()).await.unwrap().id, NodeId(2));
    assert_eq!(script.count(ApiKey::FindCoordinator), 2);
}

#[tokio::test(start_paused = true)]
async fn each_search_asks_another_broker() {
    let script = three_brokers();
    let client = knowing(&script).await;
    for _ in 0..4 {
        client.coordinator("group", soon()).await.unwrap();
        client.forget_coordinator("group", NodeId(1));
    }
    let asked: Vec<_> = script
        .seen()
        .into_iter()
        .filter_map(|(broker, api)| (api == ApiKey::FindCoordinator).then_some(broker))
        .collect();
    assert!(asked.windows(2).all(|pair| pair[0] != pair[1]), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_cannot_be_reached_is_looked_for_again() {
    let searches = AtomicUsize::new(0);
    let script = Script::new(move |_, request| match api(request) {
        ApiKey::FindCoordinator if searches.fetch_add(1, Ordering::Relaxed) == 0 => {
            coordinator(request, 3)
        }
        _ => healthy(request, 2),
    });
    script.refuse(THIRD);
    let client = knowing(&script).await;
    let group = Target::Coordinator("group");
    assert!(matches!(
        beat(&client, group).await,
        Err(ClientError::Disconnected { sent: false, .. })
    ));
    assert_eq!(beat(&client, group).await, Ok(ErrorCode::None));
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_is_not_available_yet_is_asked_for_again() {
    let searches = AtomicUsize::new(0);
    let script = Script::new(move |_, request| match api(request) {
        ApiKey::FindCoordinator if searches.fetch_add(1, Ordering::Relaxed) < 3 => {
            no_coordinator(request, 15)
        }
        _ => healthy(request, 2),
    });
    let client = knowing(&script).await;
    let begun = Instant::now();
    assert_eq!(client.coordinator("group", soon()).await.unwrap().id, NodeId(2));
    assert!((500..1000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_group_that_we_may_not_describe_is_refused_at_once() {
    let script = Script::new(|_, request| match api(request) {
        ApiKey::FindCoordinator => no_coordinator(request, 30),
        _ => healthy(request, 1),
    });
    let client = knowing(&script).await;
    let outcome = client.coordinator("group", soon()).await;
    let expected = "FindCoordinator of group `group` was refused: GroupAuthorizationFailed (30)";
    assert_eq!(outcome.unwrap_err().to_string(), expected);
    assert_eq!(script.count(ApiKey::FindCoordinator), 1);
}

#[tokio::test(start_paused = true)]
async fn a_search_that_stands_behind_something_else_is_made_elsewhere() {
    let script = Script::new(|broker, request| match api(request) {
        ApiKey::FindCoordinator if broker == BOOTSTRAP => Reply::Silence,
        _ => healthy(request, 1),
    });
    let client = script.client(BOOTSTRAP);
    let refreshing = client.refresh_metadata(Topics::none(), soon());
    let (found, _) = tokio::join!(client.coordinator("group", after(10_000)), refreshing);
    assert_eq!(found.unwrap().id, NodeId(1));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_runs_is_joined_and_not_repeated() {
    let script = three_brokers();
    let client = script.client(BOOTSTRAP);
    let refresh = || client.refresh_metadata(Topics::from_iter(["orders"]), soon());
    let (one, two, three) = tokio::join!(refresh(), refresh(), refresh());
    assert_eq!(one, two);
    assert_eq!(two, three);
    assert_eq!(script.count(ApiKey::Metadata), 1);
}

#[tokio::test(start_paused = true)]
async fn topics_that_were_asked_for_a_moment_ago_are_not_asked_for_again() {
    let script = three_brokers();
    let client = script.client(BOOTSTRAP);
    let second = Duration::from_secs(1);
    let fresh = |topics| client.refresh_metadata_older_than(second, topics, soon());
    client.refresh_metadata(Topics::from_iter(["orders"]), soon()).await.unwrap();
    let cluster = fresh(Topics::from_iter(["orders"])).await.unwrap();
    assert!(cluster.topic("orders").is_some());
    assert_eq!(script.count(ApiKey::Metadata), 1);
    fresh(Topics::from_iter(["orders", "nuts"])).await.unwrap();
    assert_eq!(script.count(ApiKey::Metadata), 2);
    sleep(second).await;
    fresh(Topics::from_iter(["orders"])).await.unwrap();
    assert_eq!(script.count(ApiKey::Metadata), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_does_not_cover_what_is_asked_is_followed_by_one_that_does() {
    let script = three_brokers();
    let client = script.client(BOOTSTRAP);
    let narrow = client.refresh_metadata(Topics::from_iter(["orders"]), soon());
    let wide = async {
        tokio::task::yield_now().await;
        client.refresh_metadata(Topics::All, soon()).await
    };
    let (narrow, wide) = tokio::join!(narrow, wide);
    assert!(narrow.is_ok() && wide.is_ok());
    assert_eq!(script.count(ApiKey::Metadata), 2);
}

#[tokio::test(start_paused = true)]
async fn change_is_noticed_by_itself_within_the_metadatas_age_and_only_change() {
    let count = Arc::new(AtomicI32::new(6));
    let partitions = Arc::clone(&count);
    let script = Script::new(move |_, request| {
        metadata(request, &[1], &[("orders", partitions.load(Ordering::Relaxed))])
    });
    let client = script.client(BOOTSTRAP);
    let _interest = client.interest(Topics::from_iter(["orders"]));
    client.refresh_metadata(Topics::none(), soon()).await.unwrap();
    let mut cluster = client.cluster();
    cluster.mark_unchanged();
    let unchanged = timeout(Duration::from_secs(700), cluster.changed()).await;
    assert!(unchanged.is_err(), "renewed twice, changed never");
    assert_eq!(script.count(ApiKey::Metadata), 3);
    count.store(8, Ordering::Relaxed);
    cluster.changed().await.unwrap();
    let topics = cluster.borrow().topic("orders").map(|topic| topic.partition_count());
    assert_eq!(topics, Some(8));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_serves_the_interests_of_all_members_and_of_none_that_has_gone() {
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let bodies = Arc::clone(&asked);
    let script = Script::new(move |_, request| {
        bodies.lock().unwrap().push(String::from_utf8_lossy(&request.body).into_owned());
        metadata(request, &[1], &[])
    });
    let client = script.client(BOOTSTRAP);
    let one = client.interest(Topics::from_iter(["apples"]));
    let two = client.interest(Topics::from_iter(["pears"]));
    two.set(Topics::from_iter(["plums"]));
    client.refresh_metadata(Topics::from_iter(["nuts"]), soon()).await.unwrap();
    drop(one);
    client.refresh_metadata(Topics::none(), soon()).await.unwrap();
    let asked = asked.lock().unwrap();
    let named = |body: &str| ["apples", "pears", "plums", "nuts"].map(|topic| body.contains(topic));
    assert_eq!(named(&asked[0]), [true, false, true, true]);
    assert_eq!(named(&asked[1]), [false, false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_topic_that_does_not_exist_is_in_the_picture_with_its_error() {
    let script = Script::new(|_, request| metadata(request, &[1], &[("orders", 0)]));
    let client = script.client(BOOTSTRAP);
    let cluster = client.refresh_metadata(Topics::from_iter(["orders"]), soon()).await.unwrap();
    let error = cluster.topic("orders").and_then(|topic| topic.error());
    assert_eq!(error, Some(crate::types::TopicError::Missing));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_dropped_leaves_no_connection_and_no_task() {
    let script = three_brokers();
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let client = knowing(&script).await;
    beat(&client, Target::Coordinator("group")).await.unwrap();
    let parked = client.send(Target::Node(NodeId(1)), Lane::Member(1), join(), after(60_000));
    assert!(timeout(Duration::from_secs(1), parked).await.is_err());
    drop(client);
    sleep(Duration::from_millis(1)).await;
    let left = tokio::runtime::Handle::current().metrics().num_alive_tasks() - before;
    assert_eq!(left, 1, "the broker that will never answer the join");
}

#[tokio::test]
async fn a_client_runs_on_a_thread_of_its_own_until_its_last_handle_is_dropped() {
    let client = Client::new(ClientOptions::new("localhost:1")).unwrap();
    let (held, mut ended) = tokio::sync::watch::channel(());
    let thread = client.spawn(async { std::thread::current().name().map(str::to_owned) });
    assert_eq!(thread.await.unwrap().as_deref(), Some("kafka-group"));
    client.spawn(async move {
        let _held = held;
        std::future::pending::<()>().await
    });
    drop(client.clone());
    assert!(timeout(Duration::from_millis(50), ended.changed()).await.is_err());
    drop(client);
    let ended = timeout(Duration::from_secs(5), ended.changed()).await;
    assert!(ended.unwrap().is_err(), "the task went with its runtime");
}

#[test]
fn a_client_says_where_it_belongs() {
    let client = Client::new(ClientOptions::new("localhost:1")).unwrap();
    let expected = r#"Client { bootstrap_servers: ["localhost:1"], client_id: "kafka-group", .. }"#;
    assert_eq!(format!("{client:?}"), expected);
}
