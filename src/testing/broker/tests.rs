//! The sockets, the scripts and the cluster; the groups themselves are tested in `tests/conformance`.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::*;
use crate::types::{Generation, TopicPartition};
use crate::wire::api::{
    ApiVersionsRequest, DescribeClusterRequest, DescribeGroupsRequest, FindCoordinatorRequest,
    HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, LeavingMember, ListGroupsRequest,
    MetadataRequest, OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest,
};
use crate::wire::{ErrorCode, Request, correlation_id, read_response, request_frame};

/// A connection to one broker.
struct Client {
    stream: TcpStream,
    sent: i32,
}

impl Client {
    async fn to(cluster: &FakeCluster, node: i32) -> Self {
        let address = cluster.address(NodeId(node)).unwrap();
        Self { stream: TcpStream::connect(address).await.unwrap(), sent: 0 }
    }

    async fn send<R: Request>(&mut self, version: i16, request: &R) {
        self.sent += 1;
        let frame = request_frame(request, version, self.sent, "test").unwrap();
        self.stream.write_all(&frame).await.unwrap();
    }

    /// The frame of the next answer; none if the connection is closed.
    async fn frame(&mut self) -> Option<Bytes> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).await.ok()?;
        let mut frame = BytesMut::zeroed(u32::from_be_bytes(length) as usize);
        self.stream.read_exact(&mut frame).await.ok()?;
        Some(frame.freeze())
    }

    async fn receive<R: Request>(&mut self, version: i16) -> Option<R::Response> {
        let (_, rest) = correlation_id(self.frame().await?).unwrap();
        Some(read_response::<R>(version, rest).unwrap())
    }

    async fn ask<R: Request>(&mut self, version: i16, request: &R) -> Option<R::Response> {
        self.send(version, request).await;
        self.receive::<R>(version).await
    }

    /// A stable group of one.
    async fn join(&mut self) -> HeartbeatRequest {
        let joined = self.ask(3, &join_request()).await.unwrap();
        let sync = SyncGroupRequest {
            group_id: "g".into(),
            generation: joined.generation,
            member_id: joined.member_id.clone(),
            group_instance_id: None,
            protocol_type: "worker".into(),
            protocol: "p".into(),
            assignments: vec![(joined.member_id.clone(), Bytes::from_static(b"all"))],
        };
        assert_eq!(self.ask(5, &sync).await.unwrap().assignment, b"all"[..]);
        let (generation, member_id) = (joined.generation, joined.member_id);
        HeartbeatRequest { group_id: "g".into(), generation, member_id, group_instance_id: None }
    }
}

fn join_request() -> JoinGroupRequest {
    JoinGroupRequest {
        group_id: "g".into(),
        session_timeout: Duration::from_secs(10),
        rebalance_timeout: Duration::from_secs(10),
        member_id: MemberId::default(),
        group_instance_id: None,
        protocol_type: "worker".into(),
        protocols: vec![("p".into(), Bytes::from_static(b"m"))],
        reason: None,
    }
}

fn broker() -> FakeBroker {
    FakeBroker::start([("orders", 3)]).unwrap()
}

fn metadata() -> MetadataRequest {
    MetadataRequest { topics: None }
}

#[tokio::test]
async fn every_version_is_served_and_our_own_reader_reads_it() {
    let broker = broker();
    let mut client = Client::to(&broker, 1).await;
    let heartbeat = client.join().await;
    let partition = TopicPartition::new("orders", 1);
    let leaving =
        LeavingMember { member_id: MemberId::new("x"), group_instance_id: None, reason: None };
    let commit = OffsetCommitRequest {
        group_id: "g".into(),
        generation: heartbeat.generation,
        member_id: heartbeat.member_id.clone(),
        group_instance_id: None,
        offsets: [(partition.clone(), 7.into())].into(),
    };
    let fetch = OffsetFetchRequest {
        group_id: "g".into(),
        partitions: Some([partition.clone()].into_iter().collect()),
        require_stable: false,
    };
    for version in 0..=4 {
        assert_eq!(client.ask(version, &heartbeat).await.unwrap().error, ErrorCode::None);
        assert!(client.ask(version, &ApiVersionsRequest).await.unwrap().error.is_none());
    }
    for version in 2..=9 {
        let committed = client.ask(version, &commit).await.unwrap();
        assert_eq!(committed.partitions, [(partition.clone(), ErrorCode::None)]);
    }
    for version in 1..=9 {
        let fetched = client.ask(version, &fetch).await.unwrap();
        assert_eq!(fetched.partitions[0].committed.as_ref().unwrap().offset, 7, "v{version}");
    }
    for version in 0..=5 {
        let leave = LeaveGroupRequest { group_id: "g".into(), members: vec![leaving.clone()] };
        client.ask(version, &leave).await.unwrap();
        let listed = client.ask(version, &ListGroupsRequest).await.unwrap();
        assert_eq!(listed.groups[0].group_id, "g");
    }
    for version in 0..=6 {
        let describe = DescribeGroupsRequest { group_ids: vec!["g".into(), "h".into()] };
        let described = client.ask(version, &describe).await.unwrap();
        assert_eq!(described.groups[0].members[0].assignment, b"all"[..]);
        assert_eq!(described.groups[1].state, "Dead");
    }
    for version in 0..=2 {
        let described = client.ask(version, &DescribeClusterRequest).await.unwrap();
        assert!(described.operations.unwrap().describe(), "v{version}");
    }
    for version in 1..=13 {
        let metadata = client.ask(version, &metadata()).await.unwrap();
        assert_eq!(metadata.topics[0].partitions.len(), 3, "v{version}");
    }
}

#[tokio::test]
async fn a_version_above_the_cap_closes_the_connection() {
    let cluster = FakeCluster::builder().max_version(ApiKey::Heartbeat, 2).start().unwrap();
    let mut client = Client::to(&cluster, 1).await;
    let heartbeat = client.join().await;
    assert!(client.ask(2, &heartbeat).await.is_some());
    assert!(client.ask(3, &heartbeat).await.is_none());
}

#[tokio::test]
async fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let cluster = FakeCluster::builder().max_version(ApiKey::ApiVersions, 2).start().unwrap();
    let mut client = Client::to(&cluster, 1).await;
    client.send(3, &ApiVersionsRequest).await;
    let answer = client.receive::<ApiVersionsRequest>(0).await.unwrap();
    assert_eq!(answer.error, ErrorCode::UnsupportedVersion);
}

#[tokio::test]
async fn requests_behind_a_parked_one_wait_for_it() {
    let broker = broker();
    let (mut first, mut second) = (Client::to(&broker, 1).await, Client::to(&broker, 1).await);
    let heartbeat = first.join().await;
    second.send(3, &join_request()).await;
    second.send(4, &heartbeat).await;
    let moment = Duration::from_millis(100);
    assert!(timeout(moment, second.frame()).await.is_err());
    let mut again = join_request();
    again.member_id = heartbeat.member_id.clone();
    assert_eq!(first.ask(9, &again).await.unwrap().generation, Generation(2));
    assert_eq!(second.receive::<JoinGroupRequest>(3).await.unwrap().generation, Generation(2));
    let late = second.receive::<HeartbeatRequest>(4).await.unwrap();
    assert_eq!(late.error, ErrorCode::IllegalGeneration);
}

#[tokio::test]
async fn verdicts_hit_the_next_requests_and_no_others() {
    let broker = broker();
    let mut client = Client::to(&broker, 1).await;
    let heartbeat = client.join().await;
    broker.control(ApiKey::Heartbeat, 2, |_| Verdict::Error(ErrorCode::NotCoordinator));
    broker.control(ApiKey::Heartbeat, 1, |seen| match seen.generation {
        Some(Generation(1)) => Verdict::Garbage(Bytes::from_static(b"\xff\xff")),
        _ => Verdict::Pass,
    });
    for _ in 0..2 {
        assert_eq!(client.ask(4, &heartbeat).await.unwrap().error, ErrorCode::NotCoordinator);
    }
    client.send(4, &heartbeat).await;
    assert!(client.frame().await.unwrap().ends_with(b"\xff\xff"));
    assert_eq!(client.ask(4, &heartbeat).await.unwrap().error, ErrorCode::None);
    broker.control(ApiKey::Heartbeat, 1, |_| Verdict::Close);
    assert!(client.ask(4, &heartbeat).await.is_none());
}

#[tokio::test]
async fn what_is_held_is_served_when_it_is_released() {
    let broker = broker();
    let mut client = Client::to(&broker, 1).await;
    broker.control(ApiKey::Metadata, 1, |_| Verdict::Hold);
    client.send(9, &metadata()).await;
    assert!(timeout(Duration::from_millis(100), client.frame()).await.is_err());
    broker.release();
    assert!(client.receive::<MetadataRequest>(9).await.is_some());
}

#[tokio::test]
async fn what_was_asked_can_be_read() {
    let broker = broker();
    let mut client = Client::to(&broker, 1).await;
    let heartbeat = client.join().await;
    client.ask(4, &heartbeat).await;
    let seen = broker.requests();
    let apis: Vec<_> = seen.iter().map(|seen| (seen.api, seen.version)).collect();
    assert_eq!(apis, [(ApiKey::JoinGroup, 3), (ApiKey::SyncGroup, 5), (ApiKey::Heartbeat, 4)]);
    assert_eq!(seen[2].member_id, Some(heartbeat.member_id));
    assert_eq!((seen[2].group_id.as_deref(), seen[2].client_id.as_str()), (Some("g"), "test"));
}

#[tokio::test]
async fn a_coordinator_that_moves_takes_the_stable_group_with_it() {
    let cluster = FakeCluster::builder().nodes(2).start().unwrap();
    cluster.move_coordinator("g", NodeId(1));
    let (mut first, mut second) = (Client::to(&cluster, 1).await, Client::to(&cluster, 2).await);
    tokio::time::sleep(Duration::from_millis(60)).await;
    let heartbeat = first.join().await;
    assert_eq!(second.ask(4, &heartbeat).await.unwrap().error, ErrorCode::NotCoordinator);
    cluster.move_coordinator("g", NodeId(2));
    assert_eq!(first.ask(4, &heartbeat).await.unwrap().error, ErrorCode::NotCoordinator);
    assert_eq!(second.ask(4, &heartbeat).await.unwrap().error, ErrorCode::None);
    assert!(first.ask(5, &ListGroupsRequest).await.unwrap().groups.is_empty());
    assert_eq!(second.ask(5, &ListGroupsRequest).await.unwrap().groups.len(), 1);
    for version in 0..=6 {
        let find = FindCoordinatorRequest { group_id: "g".into() };
        let found = first.ask(version, &find).await.unwrap();
        assert_eq!(found.coordinator.unwrap().id, NodeId(2), "v{version}");
    }
}

#[tokio::test]
async fn a_broker_that_is_stopped_closes_refuses_and_comes_back() {
    let cluster = FakeCluster::builder().nodes(2).topic("orders", 2).start().unwrap();
    let (mut first, mut second) = (Client::to(&cluster, 1).await, Client::to(&cluster, 2).await);
    first.ask(9, &metadata()).await.unwrap();
    cluster.stop(NodeId(1));
    assert!(first.frame().await.is_none());
    let left = second.ask(9, &metadata()).await.unwrap();
    assert_eq!(left.brokers.iter().map(|node| node.id).collect::<Vec<_>>(), [NodeId(2)]);
    assert!(left.topics[0].partitions.iter().all(|partition| partition.leader == Some(NodeId(2))));
    assert_eq!(cluster.coordinator("any"), Some(NodeId(2)));
    cluster.start(NodeId(1));
    let deadline = Duration::from_secs(10);
    let address = cluster.address(NodeId(1)).unwrap();
    let back = async {
        while TcpStream::connect(&address).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(deadline, back).await.unwrap();
}

#[tokio::test]
async fn topics_come_grow_go_and_come_back_as_others() {
    let broker = broker();
    let mut client = Client::to(&broker, 1).await;
    let before = client.ask(12, &metadata()).await.unwrap();
    broker.set_partitions("orders", 5);
    let grown = client.ask(12, &metadata()).await.unwrap();
    assert_eq!(grown.topics[0].partitions.len(), 5);
    assert_eq!(grown.topics[0].topic_id, before.topics[0].topic_id);
    broker.delete_topic("orders");
    assert!(client.ask(12, &metadata()).await.unwrap().topics.is_empty());
    broker.set_partitions("orders", 3);
    let other = client.ask(12, &metadata()).await.unwrap();
    assert_ne!(other.topics[0].topic_id, before.topics[0].topic_id);
}

#[tokio::test(start_paused = true)]
async fn on_the_tests_runtime_a_session_ends_in_no_time() {
    #[expect(clippy::disallowed_methods, reason = "the time that really passes")]
    let (started, now) = (Instant::now(), Instant::now);
    let cluster = FakeCluster::builder().start_on_this_runtime().unwrap();
    let mut client = Client::to(&cluster, 1).await;
    let heartbeat = client.join().await;
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(client.ask(4, &heartbeat).await.unwrap().error, ErrorCode::None);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(client.ask(4, &heartbeat).await.unwrap().error, ErrorCode::UnknownMemberId);
    assert!(now() - started < Duration::from_secs(9));
}

#[tokio::test]
async fn a_cluster_that_is_dropped_closes_its_connections() {
    let cluster = FakeCluster::builder().start().unwrap();
    let mut client = Client::to(&cluster, 1).await;
    client.send(3, &join_request()).await;
    assert!(client.frame().await.is_some());
    drop(cluster);
    assert!(client.frame().await.is_none());
}

#[tokio::test]
async fn what_is_no_request_closes_the_connection() {
    let broker = broker();
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0, 0, 0, 2, 0, 3],
        &[0, 0, 0, 4, 0, 99, 0, 0],
        &[0xff; 8],
    ] {
        let mut client = Client::to(&broker, 1).await;
        client.stream.write_all(bytes).await.unwrap();
        assert!(client.frame().await.is_none(), "{bytes:?}");
    }
}
