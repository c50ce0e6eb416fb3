//! ApiVersions, Metadata, FindCoordinator, DescribeCluster.

use std::sync::Arc;

use kafka_protocol::messages::api_versions_response::{ApiVersion, SupportedFeatureKey};
use kafka_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use kafka_protocol::messages::find_coordinator_response::Coordinator;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{
    ApiVersionsResponse as TheirVersions, DescribeClusterResponse as TheirCluster,
    FindCoordinatorResponse as TheirCoordinator, MetadataResponse as TheirMetadata,
};
use kafka_protocol::protocol::StrBytes;

use super::groups::throttled;
use super::{Answer, Sample, made, since};
use crate::types::{Node, NodeId};
use crate::wire::ErrorCode;
use crate::wire::api::tests::random::Random;
use crate::wire::api::*;

pub(super) fn samples() -> Vec<Box<dyn Sample>> {
    vec![
        made::<ApiVersionsRequest, _, _>(api_versions),
        made::<MetadataRequest, _, _>(metadata),
        made::<FindCoordinatorRequest, _, _>(find_coordinator),
        made::<DescribeClusterRequest, _, _>(describe_cluster),
    ]
}

impl Answer for MetadataResponse {}

impl Answer for ApiVersionsResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

impl Answer for FindCoordinatorResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

impl Answer for DescribeClusterResponse {
    fn error(&self) -> ErrorCode {
        self.error
    }
}

/// Error 35 has rules of its own, and tests of its own.
fn api_versions(version: i16, random: &mut Random) -> (TheirVersions, ApiVersionsResponse) {
    let error = random.error();
    let mut theirs = TheirVersions::default()
        .with_error_code(since(error != 35, error, 0))
        .with_throttle_time_ms(random.millis());
    theirs.api_keys = random.many(|random| {
        ApiVersion::default()
            .with_api_key(random.i16())
            .with_min_version(random.i16())
            .with_max_version(random.i16())
    });
    if version >= 3 {
        theirs.supported_features =
            random.many(|random| SupportedFeatureKey::default().with_name(random.text()));
    }
    let range = |range: &ApiVersion| ApiRange {
        api: range.api_key,
        min: range.min_version,
        max: range.max_version,
    };
    let ours = ApiVersionsResponse {
        throttle: throttled(version >= 1, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
        apis: theirs.api_keys.iter().map(range).collect(),
    };
    (theirs, ours)
}

fn metadata(version: i16, random: &mut Random) -> (TheirMetadata, MetadataResponse) {
    let theirs = TheirMetadata::default()
        .with_throttle_time_ms(random.millis())
        .with_error_code(random.error())
        .with_cluster_id(random.maybe_text())
        .with_controller_id(random.i32().into())
        .with_brokers(random.many(|random| {
            MetadataResponseBroker::default()
                .with_node_id(random.i32().into())
                .with_host(random.text())
                .with_port(random.port().into())
                .with_rack(random.maybe_text())
        }))
        .with_topics(random.many(|random| topic(version, random)));
    let ours = MetadataResponse {
        throttle: throttled(version >= 3, theirs.throttle_time_ms),
        error: since(version >= 13, theirs.error_code.into(), ErrorCode::None),
        cluster_id: since(version >= 2, theirs.cluster_id.as_ref().map(StrBytes::to_string), None),
        brokers: theirs.brokers.iter().map(our_broker).collect(),
        topics: theirs.topics.iter().filter_map(|topic| our_topic(version, topic)).collect(),
    };
    (theirs, ours)
}

fn topic(version: i16, random: &mut Random) -> MetadataResponseTopic {
    let mut topic = MetadataResponseTopic::default()
        .with_error_code(random.error())
        .with_name(Some(random.text().into()))
        .with_is_internal(random.bool());
    if version >= 12 && random.index(4) == 0 {
        topic.name = None;
    }
    if random.bool() {
        topic.topic_id = "01020304-0506-0708-090a-0b0c0d0e0f10".parse().unwrap();
    }
    if version >= 8 {
        topic.topic_authorized_operations = random.i32();
    }
    topic.partitions = random.many(|random| {
        MetadataResponsePartition::default()
            .with_error_code(random.error())
            .with_partition_index(random.i32())
            .with_leader_id(random.i32_or_none().into())
            .with_leader_epoch(random.i32_or_none())
            .with_replica_nodes(random.many(|random| random.i32().into()))
            .with_isr_nodes(random.many(|random| random.i32().into()))
            .with_offline_replicas(random.many(|random| random.i32().into()))
    });
    topic
}

fn shared(text: &StrBytes) -> Arc<str> {
    Arc::from(text.as_str())
}

fn our_broker(broker: &MetadataResponseBroker) -> Node {
    Node {
        id: NodeId(broker.node_id.0),
        host: shared(&broker.host),
        port: u16::try_from(broker.port).unwrap(),
        rack: broker.rack.as_ref().map(shared),
    }
}

fn our_topic(version: i16, topic: &MetadataResponseTopic) -> Option<TopicMetadata> {
    let partition = |partition: &MetadataResponsePartition| PartitionMetadata {
        error: partition.error_code.into(),
        partition: partition.partition_index,
        leader: (partition.leader_id.0 >= 0).then_some(NodeId(partition.leader_id.0)),
        leader_epoch: (version >= 7 && partition.leader_epoch >= 0)
            .then_some(partition.leader_epoch),
        replicas: partition.replica_nodes.iter().map(|id| NodeId(id.0)).collect(),
    };
    let id = topic.topic_id.into_bytes();
    Some(TopicMetadata {
        error: topic.error_code.into(),
        name: shared(topic.name.as_ref()?),
        topic_id: (version >= 10 && id != [0; 16]).then_some(TopicId(id)),
        internal: topic.is_internal,
        partitions: topic.partitions.iter().map(partition).collect(),
    })
}

fn find_coordinator(
    version: i16,
    random: &mut Random,
) -> (TheirCoordinator, FindCoordinatorResponse) {
    let (id, host, port) = (random.i32_or_none(), random.name(), random.port());
    let (error, message) = (random.error(), random.maybe_text());
    let theirs = TheirCoordinator::default().with_throttle_time_ms(random.millis());
    let theirs = if version >= 4 {
        let coordinator = Coordinator::default()
            .with_key(random.text())
            .with_node_id(id.into())
            .with_host(host.clone())
            .with_port(port.into())
            .with_error_code(error)
            .with_error_message(message.clone());
        theirs.with_coordinators(vec![coordinator])
    } else {
        theirs
            .with_error_code(error)
            .with_error_message(message.clone())
            .with_node_id(id.into())
            .with_host(host.clone())
            .with_port(port.into())
    };
    let node = Node { id: NodeId(id), host: shared(&host), port, rack: None };
    let ours = FindCoordinatorResponse {
        throttle: throttled(version >= 1, theirs.throttle_time_ms),
        error: error.into(),
        error_message: since(version >= 1, message.as_ref().map(StrBytes::to_string), None),
        coordinator: (id >= 0).then_some(node),
    };
    (theirs, ours)
}

fn describe_cluster(version: i16, random: &mut Random) -> (TheirCluster, DescribeClusterResponse) {
    let told = random.bool();
    let theirs = TheirCluster::default()
        .with_throttle_time_ms(random.millis())
        .with_error_code(random.error())
        .with_error_message(random.maybe_text())
        .with_endpoint_type(since(version >= 1 && random.bool(), 2, 1))
        .with_cluster_id(random.text())
        .with_controller_id(random.i32_or_none().into())
        .with_brokers(random.many(|random| {
            DescribeClusterBroker::default()
                .with_broker_id(random.i32().into())
                .with_host(random.text())
                .with_port(random.port().into())
                .with_rack(random.maybe_text())
                .with_is_fenced(version >= 2 && random.bool())
        }))
        .with_cluster_authorized_operations(since(told, random.i32(), i32::MIN));
    let ours = DescribeClusterResponse {
        throttle: throttled(true, theirs.throttle_time_ms),
        error: theirs.error_code.into(),
        operations: Operations::told(theirs.cluster_authorized_operations),
    };
    (theirs, ours)
}
