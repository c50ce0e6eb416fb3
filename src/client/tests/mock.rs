//! The client against librdkafka's mock cluster, which reads and writes Kafka's protocol with other code than ours.

use std::time::Duration;

use rdkafka::mocking::{MockCluster, MockCoordinator};
use rdkafka::producer::DefaultProducerContext;
use tokio::time::Instant;

use crate::client::{Client, ClientOptions, ErrorCode, Lane, Target, Topics};
use crate::types::{Generation, MemberId, NodeId, Partitions};
use crate::wire::api::{
    HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, OffsetAt, OffsetCommitRequest,
    SyncGroupRequest,
};

const GROUP: &str = "group";

fn cluster() -> MockCluster<'static, DefaultProducerContext> {
    let cluster = MockCluster::new(3).unwrap();
    cluster.create_topic("orders", 6, 1).unwrap();
    cluster
}

fn client(cluster: &MockCluster<'_, DefaultProducerContext>) -> Client {
    Client::new(ClientOptions::new(cluster.bootstrap_servers())).unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn heartbeat(joined: &JoinGroupResponse) -> HeartbeatRequest {
    HeartbeatRequest {
        group_id: GROUP.into(),
        generation: joined.generation,
        member_id: joined.member_id.clone(),
        group_instance_id: None,
    }
}

/// Joins as the only member: 3 s, the mock's initial rebalance delay.
async fn join(client: &Client, lane: Lane) -> JoinGroupResponse {
    let request = JoinGroupRequest {
        group_id: GROUP.into(),
        session_timeout: Duration::from_secs(6),
        rebalance_timeout: Duration::from_secs(6),
        member_id: MemberId::default(),
        group_instance_id: None,
        protocol_type: "consumer".into(),
        protocols: vec![("range".into(), vec![0, 1].into())],
        reason: None,
    };
    let joined = client.send(Target::Coordinator(GROUP), lane, request, soon()).await.unwrap();
    let request = SyncGroupRequest {
        group_id: GROUP.into(),
        generation: joined.generation,
        member_id: joined.member_id.clone(),
        group_instance_id: None,
        protocol_type: "consumer".into(),
        protocol: "range".into(),
        assignments: vec![(joined.member_id.clone(), vec![7].into())],
    };
    let synced = client.send(Target::Coordinator(GROUP), lane, request, soon()).await.unwrap();
    assert_eq!((joined.error, synced.error), (ErrorCode::None, ErrorCode::None));
    assert_eq!(&*synced.assignment, [7]);
    joined
}

#[tokio::test]
async fn a_cluster_is_seen_as_it_is() {
    let cluster = cluster();
    cluster.broker_rack(2, "rack-2").unwrap();
    let client = client(&cluster);
    let topics = Topics::from_iter(["orders", "customers"]);
    let seen = client.refresh_metadata(topics, soon()).await.unwrap();
    assert_eq!(seen.nodes().len(), 3);
    assert_eq!(seen.node(NodeId(2)).and_then(|node| node.rack.as_deref()), Some("rack-2"));
    assert_eq!(seen.topic("orders").map(|topic| topic.partition_count()), Some(6));
    assert!(seen.topic("customers").is_some_and(|topic| topic.error().is_some()));
    let partitions: Partitions = (0..6).map(|partition| ("orders", partition)).collect();
    let ends = client.list_offsets(&partitions, OffsetAt::Latest, soon()).await.unwrap();
    assert!(ends.len() == 6 && ends.values().all(|end| *end == Ok(Some(0))), "{ends:?}");
}

#[tokio::test]
async fn a_member_joins_commits_and_follows_its_coordinator() {
    let cluster = cluster();
    cluster.coordinator(MockCoordinator::Group(GROUP.into()), 1).unwrap();
    let client = client(&cluster);
    let lane = client.member_lane();
    let joined = join(&client, lane).await;
    assert!(joined.generation > Generation::NONE);

    let partitions: Partitions = [("orders", 3)].into_iter().collect();
    let commit = OffsetCommitRequest {
        group_id: GROUP.into(),
        generation: joined.generation,
        member_id: joined.member_id.clone(),
        group_instance_id: None,
        offsets: partitions.iter().map(|partition| (partition, 42.into())).collect(),
    };
    let to = Target::Coordinator(GROUP);
    let committed = client.send(to, Lane::Commit, commit, soon()).await.unwrap();
    assert!(committed.partitions.iter().all(|(_, error)| error.is_none()), "{committed:?}");
    let offsets = client.offset_fetch(GROUP, &partitions, true, soon()).await.unwrap();
    assert_eq!(offsets.values().map(|at| at.offset).collect::<Vec<_>>(), [42]);

    cluster.coordinator(MockCoordinator::Group(GROUP.into()), 2).unwrap();
    let refused = client.send(to, Lane::Heartbeat, heartbeat(&joined), soon()).await.unwrap();
    assert_eq!(refused.error, ErrorCode::NotCoordinator);
    client.forget_coordinator(GROUP, NodeId(1));
    assert_eq!(client.coordinator(GROUP, soon()).await.unwrap().id, NodeId(2));
}

#[tokio::test]
async fn a_broker_that_goes_down_is_done_without() {
    let cluster = cluster();
    let client = client(&cluster);
    client.refresh_metadata(Topics::none(), soon()).await.unwrap();
    cluster.broker_down(1).unwrap();
    cluster.broker_down(2).unwrap();
    for _ in 0..5 {
        client.refresh_metadata(Topics::none(), soon()).await.unwrap();
    }
}
