//! ApiVersions, Metadata, FindCoordinator, ListOffsets, DescribeCluster.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use kafka_protocol::messages::find_coordinator_response::Coordinator;
use kafka_protocol::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{
    ApiVersionsRequest, ApiVersionsResponse, BrokerId, DescribeClusterRequest,
    DescribeClusterResponse, FindCoordinatorRequest, FindCoordinatorResponse, ListOffsetsRequest,
    ListOffsetsResponse, MetadataRequest, MetadataResponse, TopicName,
};
use kafka_protocol::protocol::StrBytes;

use super::{Malformed, read, text, write};
use crate::testing::broker::apis::Apis;
use crate::testing::broker::topology::{FakeTopic, Topology};
use crate::types::Node;
use crate::wire::{ApiKey, ErrorCode};

/// A question about the cluster.
#[derive(Debug)]
pub(in crate::testing::broker) enum ClusterRequest {
    ApiVersions,
    Metadata(MetadataRequest),
    FindCoordinator(FindCoordinatorRequest),
    ListOffsets(ListOffsetsRequest),
    DescribeCluster(DescribeClusterRequest),
}

pub(super) fn decode(
    api: ApiKey,
    version: i16,
    body: &mut Bytes,
) -> Result<ClusterRequest, Malformed> {
    Ok(match api {
        ApiKey::ApiVersions => {
            read::<ApiVersionsRequest>(version, body)?;
            ClusterRequest::ApiVersions
        }
        ApiKey::Metadata => ClusterRequest::Metadata(read(version, body)?),
        ApiKey::FindCoordinator => ClusterRequest::FindCoordinator(read(version, body)?),
        ApiKey::ListOffsets => ClusterRequest::ListOffsets(read(version, body)?),
        ApiKey::DescribeCluster => ClusterRequest::DescribeCluster(read(version, body)?),
        _ => return Err(Malformed),
    })
}

impl ClusterRequest {
    /// What the cluster says, or the error that a test wants to be said.
    pub(in crate::testing::broker) fn answer(
        &self,
        version: i16,
        apis: &Apis,
        topology: &mut Topology,
        error: ErrorCode,
    ) -> Result<Bytes, Malformed> {
        match self {
            Self::ApiVersions => write(version, &api_versions(apis.iter(), error)),
            Self::Metadata(request) => write(version, &metadata(version, request, topology, error)),
            Self::FindCoordinator(request) => {
                write(version, &find_coordinator(version, request, topology, error))
            }
            Self::ListOffsets(request) => write(version, &list_offsets(request, topology, error)),
            Self::DescribeCluster(request) => {
                write(version, &describe_cluster(request, topology, error))
            }
        }
    }
}

/// The answer to a version of ApiVersions that the broker does not know: in version 0, with the range it does know.
pub(in crate::testing::broker) fn unsupported_api_versions(
    apis: &Apis,
) -> Result<Bytes, Malformed> {
    let own = apis.iter().filter(|(api, ..)| *api == ApiKey::ApiVersions);
    write(0, &api_versions(own, ErrorCode::UnsupportedVersion))
}

fn api_versions(
    apis: impl Iterator<Item = (ApiKey, i16, i16)>,
    error: ErrorCode,
) -> ApiVersionsResponse {
    let ranges = apis.map(|(api, oldest, newest)| {
        ApiVersion::default()
            .with_api_key(api as i16)
            .with_min_version(oldest)
            .with_max_version(newest)
    });
    ApiVersionsResponse::default().with_error_code(error.number()).with_api_keys(ranges.collect())
}

fn metadata(
    version: i16,
    request: &MetadataRequest,
    topology: &Topology,
    error: ErrorCode,
) -> MetadataResponse {
    let brokers = topology.live_nodes().map(|node| {
        MetadataResponseBroker::default()
            .with_node_id(BrokerId(node.id.0))
            .with_host(text(&*node.host))
            .with_port(i32::from(node.port))
            .with_rack(node.rack.as_deref().filter(|_| version >= 1).map(text))
    });
    let controller = topology.live_nodes().next().map_or(-1, |node| node.id.0);
    MetadataResponse::default()
        .with_brokers(brokers.collect())
        .with_cluster_id(Some(StrBytes::from_static_str("fake")).filter(|_| version >= 2))
        .with_controller_id(BrokerId(controller))
        .with_topics(metadata_topics(version, request, topology, error))
        .with_error_code(if version >= 13 { error.number() } else { 0 })
}

fn metadata_topics(
    version: i16,
    request: &MetadataRequest,
    topology: &Topology,
    error: ErrorCode,
) -> Vec<MetadataResponseTopic> {
    let asked = request.topics.as_deref().filter(|topics| version > 0 || !topics.is_empty());
    let Some(asked) = asked else {
        return topology
            .topics()
            .map(|(name, topic)| metadata_topic(version, name, topic, topology, error))
            .collect();
    };
    let topics = asked.iter().map(|asked| {
        let by_name = asked.name.as_ref().and_then(|name| topology.topic(name));
        let by_id = || {
            topology.topics().find(|(_, topic)| {
                with_id(topic.id).is_some_and(|it| it.topic_id == asked.topic_id)
            })
        };
        match (by_name, &asked.name) {
            (Some((name, topic)), _) => metadata_topic(version, name, topic, topology, error),
            (None, Some(name)) => {
                let unknown = MetadataResponseTopic::default().with_name(Some(name.clone()));
                unknown.with_error_code(ErrorCode::UnknownTopicOrPartition.number())
            }
            (None, None) => match by_id() {
                Some((name, topic)) => metadata_topic(version, name, topic, topology, error),
                None => {
                    let unknown = MetadataResponseTopic::default().with_topic_id(asked.topic_id);
                    unknown.with_error_code(ErrorCode::UnknownTopicId.number())
                }
            },
        }
    });
    topics.collect()
}

fn metadata_topic(
    version: i16,
    name: &str,
    topic: &FakeTopic,
    topology: &Topology,
    error: ErrorCode,
) -> MetadataResponseTopic {
    let partitions = (0..topic.partitions).map(|number| {
        let leader = topology.leader(number);
        let leaderless =
            if leader.is_none() { ErrorCode::LeaderNotAvailable } else { ErrorCode::None };
        let replicas: Vec<_> = topology.replicas(number).map(|node| BrokerId(node.id.0)).collect();
        MetadataResponsePartition::default()
            .with_error_code(leaderless.number())
            .with_partition_index(number)
            .with_leader_id(BrokerId(leader.map_or(-1, |node| node.id.0)))
            .with_leader_epoch(if version >= 7 { 0 } else { -1 })
            .with_replica_nodes(replicas.clone())
            .with_isr_nodes(replicas)
    });
    let mut response = MetadataResponseTopic::default()
        .with_error_code(error.number())
        .with_name(Some(TopicName(text(name))))
        .with_partitions(if error.is_none() { partitions.collect() } else { Vec::new() });
    if let Some(it) = with_id(topic.id).filter(|_| version >= 10) {
        response.topic_id = it.topic_id;
    }
    response
}

/// A request's topic that holds this id: the id's own type cannot be named here, but it can be decoded. The bytes are
/// the id, a null name and no tags.
fn with_id(id: u64) -> Option<MetadataRequestTopic> {
    let mut bytes = BytesMut::new();
    bytes.put_u64(0x7465_7374);
    bytes.put_u64(id);
    bytes.put_slice(&[0, 0]);
    read(12, &mut bytes.freeze()).ok()
}

fn find_coordinator(
    version: i16,
    request: &FindCoordinatorRequest,
    topology: &mut Topology,
    error: ErrorCode,
) -> FindCoordinatorResponse {
    let mut find = |key: &StrBytes| match topology.coordinator(key) {
        Some(node) if error.is_none() => Ok(node),
        Some(_) => Err(error),
        None => Err(ErrorCode::CoordinatorNotAvailable),
    };
    if version < 4 {
        let response = FindCoordinatorResponse::default();
        return match find(&request.key) {
            Ok(Node { id, host, port, .. }) => response
                .with_node_id(BrokerId(id.0))
                .with_host(text(&*host))
                .with_port(i32::from(port)),
            Err(error) => {
                response.with_node_id(BrokerId(-1)).with_port(-1).with_error_code(error.number())
            }
        };
    }
    let coordinators = request.coordinator_keys.iter().map(|key| {
        let coordinator = Coordinator::default().with_key(key.clone());
        match find(key) {
            Ok(Node { id, host, port, .. }) => coordinator
                .with_node_id(BrokerId(id.0))
                .with_host(text(&*host))
                .with_port(i32::from(port)),
            Err(error) => {
                coordinator.with_node_id(BrokerId(-1)).with_port(-1).with_error_code(error.number())
            }
        }
    });
    FindCoordinatorResponse::default().with_coordinators(coordinators.collect())
}

/// A partition starts and ends where the test says; records have the times that it says.
fn list_offsets(
    request: &ListOffsetsRequest,
    topology: &Topology,
    error: ErrorCode,
) -> ListOffsetsResponse {
    let topics = request.topics.iter().map(|asked| {
        let topic = topology.topic(&asked.name).map(|(_, topic)| topic);
        let partitions = asked.partitions.iter().map(|partition| {
            let number = partition.partition_index;
            let response = ListOffsetsPartitionResponse::default().with_partition_index(number);
            let known = topic.is_some_and(|topic| (0..topic.partitions).contains(&number));
            let error = if known { error } else { ErrorCode::UnknownTopicOrPartition };
            let offset = match (topic, partition.timestamp) {
                (Some(topic), -2) if error.is_none() => topic.start_offset,
                (Some(topic), -1) if error.is_none() => topic.end_offset,
                (Some(topic), millis) if error.is_none() => topic.at(millis).unwrap_or(-1),
                _ => -1,
            };
            response.with_error_code(error.number()).with_timestamp(-1).with_offset(offset)
        });
        ListOffsetsTopicResponse::default()
            .with_name(asked.name.clone())
            .with_partitions(partitions.collect())
    });
    ListOffsetsResponse::default().with_topics(topics.collect())
}

/// Whoever asks may do everything that can be done to a cluster: here are no access rules.
fn describe_cluster(
    request: &DescribeClusterRequest,
    topology: &Topology,
    error: ErrorCode,
) -> DescribeClusterResponse {
    /// CREATE, and all from ALTER to IDEMPOTENT_WRITE.
    const EVERYTHING: i32 = 0b1_1111_1010_0000;
    const NOT_ASKED: i32 = i32::MIN;
    let response = DescribeClusterResponse::default().with_error_code(error.number());
    if !error.is_none() {
        return response;
    }
    let brokers = topology.live_nodes().map(|node| {
        DescribeClusterBroker::default()
            .with_broker_id(BrokerId(node.id.0))
            .with_host(text(&*node.host))
            .with_port(i32::from(node.port))
            .with_rack(node.rack.as_deref().map(text))
    });
    let asked = request.include_cluster_authorized_operations;
    response
        .with_cluster_id(StrBytes::from_static_str("fake"))
        .with_controller_id(BrokerId(topology.live_nodes().next().map_or(-1, |node| node.id.0)))
        .with_brokers(brokers.collect())
        .with_cluster_authorized_operations(if asked { EVERYTHING } else { NOT_ASKED })
}
