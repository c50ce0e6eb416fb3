//! A small blocking admin client for the tests' own needs: brokers, topics, access. Groups are in `groups.rs`.
//!
//! It is written apart from the crate, so that a fault of the crate is not hidden by the same fault here.

use std::{collections::BTreeMap, io, time::Duration};

use kafka_protocol::{
    ResponseError,
    messages::{
        AlterUserScramCredentialsRequest, ApiKey, ApiVersionsRequest, ApiVersionsResponse,
        CreateAclsRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteAclsRequest,
        DeleteTopicsRequest, DescribeAclsRequest, DescribeAclsResponse, ListOffsetsRequest,
        MetadataRequest, MetadataResponse, TopicName,
        alter_user_scram_credentials_request::ScramCredentialDeletion,
        create_acls_request::AclCreation,
        create_partitions_request::CreatePartitionsTopic,
        create_topics_request::{CreatableTopic, CreatableTopicConfig},
        delete_acls_request::DeleteAclsFilter,
        delete_topics_request::DeleteTopicState,
        list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
        metadata_request::MetadataRequestTopic,
        metadata_response::MetadataResponseTopic,
    },
    protocol::{Request, StrBytes},
};

use super::rpc;
use crate::common::wait::eventually;

/// How long a cluster may take over a request: a broker may just have died.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

const ANYONE: &str = "User:*";
const DENY: i8 = 2;
const ALLOW: i8 = 3;
const LITERAL: i8 = 3;
const ANY: i8 = 1;

/// What access is denied to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resource {
    Topic = 2,
    Group = 3,
    Cluster = 4,
}

/// What is denied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operation {
    All = 2,
    Read = 3,
    Write = 4,
    Delete = 6,
    Describe = 8,
}

/// Requests to a cluster, each on a connection of its own to the first broker that answers.
///
/// What is asked is repeated where a broker is down or not ready; a refusal ends the test.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    addresses: Vec<String>,
}

impl Admin {
    /// An admin that knows these brokers, each `host:port`.
    pub(crate) fn new(addresses: Vec<String>) -> Self {
        Self { addresses }
    }

    /// Creates a topic and waits until all brokers that answer know the leaders.
    pub(crate) fn create_topic(&self, name: &str, partitions: i32, replication: i16) {
        self.create_topic_with(name, partitions, replication, &[]);
    }

    /// As [`Self::create_topic`], with properties of the topic.
    pub(crate) fn create_topic_with(
        &self,
        name: &str,
        partitions: i32,
        replication: i16,
        config: &[(&str, &str)],
    ) {
        let config = config.iter().map(|&(key, value)| {
            CreatableTopicConfig::default().with_name(string(key)).with_value(Some(string(value)))
        });
        let topic = CreatableTopic::default()
            .with_name(TopicName(string(name)))
            .with_num_partitions(partitions)
            .with_replication_factor(replication)
            .with_configs(config.collect());
        let request =
            CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(30_000);
        self.until_done(
            &format!("create topic {name}"),
            Some(ResponseError::TopicAlreadyExists),
            || Ok(self.call(7, &request)?.topics.iter().map(|topic| topic.error_code).collect()),
        );
        self.wait_for_partitions(name, partitions);
    }

    /// Raises a topic's partitions to `count` and waits until all brokers that answer know their leaders.
    pub(crate) fn add_partitions(&self, topic: &str, count: i32) {
        let growth = CreatePartitionsTopic::default()
            .with_name(TopicName(string(topic)))
            .with_count(count)
            .with_assignments(None);
        let request =
            CreatePartitionsRequest::default().with_topics(vec![growth]).with_timeout_ms(30_000);
        self.until_done(
            &format!("grow topic {topic}"),
            Some(ResponseError::InvalidPartitions),
            || Ok(self.call(3, &request)?.results.iter().map(|result| result.error_code).collect()),
        );
        self.wait_for_partitions(topic, count);
    }

    /// Deletes a topic and waits until no broker that answers knows it.
    pub(crate) fn delete_topic(&self, name: &str) {
        let topic = DeleteTopicState::default().with_name(Some(TopicName(string(name))));
        let request =
            DeleteTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(30_000);
        self.until_done(
            &format!("delete topic {name}"),
            Some(ResponseError::UnknownTopicOrPartition),
            || Ok(self.call(6, &request)?.responses.iter().map(|topic| topic.error_code).collect()),
        );
        self.wait_for_partitions(name, 0);
    }

    /// Allows one user these operations on one resource.
    pub(crate) fn grant(
        &self,
        principal: &str,
        resource: Resource,
        name: &str,
        operations: &[Operation],
    ) {
        let rule = |operation: &Operation| {
            AclCreation::default()
                .with_resource_type(resource as i8)
                .with_resource_name(string(name))
                .with_resource_pattern_type(LITERAL)
                .with_principal(string(principal))
                .with_host(string("*"))
                .with_operation(*operation as i8)
                .with_permission_type(ALLOW)
        };
        let request =
            CreateAclsRequest::default().with_creations(operations.iter().map(rule).collect());
        self.until_done(&format!("grant {operations:?} on {name}"), None, || {
            Ok(self.call(3, &request)?.results.iter().map(|result| result.error_code).collect())
        });
        // Others' rules on the resource may be known already.
        let theirs = rules_on(resource, name).with_principal_filter(Some(string(principal)));
        self.wait_for_rules(&theirs, |known| {
            operations.iter().all(|one| known.contains(&(*one as i8)))
        });
    }

    /// Takes a user's SCRAM-SHA-256 credential away: connections that are open stay.
    pub(crate) fn forget_user(&self, name: &str) {
        const SCRAM_SHA_256: i8 = 1;
        let deletion = ScramCredentialDeletion::default()
            .with_name(string(name))
            .with_mechanism(SCRAM_SHA_256);
        let request = AlterUserScramCredentialsRequest::default().with_deletions(vec![deletion]);
        self.until_done(&format!("forget user {name}"), None, || {
            Ok(self.call(0, &request)?.results.iter().map(|result| result.error_code).collect())
        });
    }

    /// Denies everyone one operation on one resource; all others on it stay allowed.
    pub(crate) fn deny(&self, resource: Resource, name: &str, operation: Operation) {
        // Where a resource has any rule, what no rule allows is refused.
        let rules = [(Operation::All, ALLOW), (operation, DENY)].map(|(operation, permission)| {
            AclCreation::default()
                .with_resource_type(resource as i8)
                .with_resource_name(string(name))
                .with_resource_pattern_type(LITERAL)
                .with_principal(string(ANYONE))
                .with_host(string("*"))
                .with_operation(operation as i8)
                .with_permission_type(permission)
        });
        let request = CreateAclsRequest::default().with_creations(rules.into());
        self.until_done(&format!("deny {operation:?} on {name}"), None, || {
            Ok(self.call(3, &request)?.results.iter().map(|result| result.error_code).collect())
        });
        self.wait_for_rules(&rules_on(resource, name), |known| !known.is_empty());
    }

    /// Takes all denials on a resource back.
    pub(crate) fn allow(&self, resource: Resource, name: &str) {
        let filter = DeleteAclsFilter::default()
            .with_resource_type_filter(resource as i8)
            .with_resource_name_filter(Some(string(name)))
            .with_pattern_type_filter(LITERAL)
            .with_principal_filter(None)
            .with_host_filter(None)
            .with_operation(ANY)
            .with_permission_type(ANY);
        let request = DeleteAclsRequest::default().with_filters(vec![filter]);
        self.until_done(&format!("allow everything on {name}"), None, || {
            Ok(self
                .call(3, &request)?
                .filter_results
                .iter()
                .map(|result| result.error_code)
                .collect())
        });
        self.wait_for_rules(&rules_on(resource, name), <[i8]>::is_empty);
    }

    /// Waits until each broker that answers has heard of the rules: it is told the operations of those that are asked for.
    fn wait_for_rules(&self, request: &DescribeAclsRequest, known: impl Fn(&[i8]) -> bool) {
        let what = format!("all brokers know the rules on {:?}", request.resource_name_filter);
        eventually(PATIENCE, &what, || {
            let mut answers =
                self.addresses.iter().flat_map(|address| rpc::call(address, 3, request));
            let operations = |answer: DescribeAclsResponse| -> Vec<i8> {
                let rules = answer.resources.iter().flat_map(|found| &found.acls);
                rules.map(|rule| rule.operation).collect()
            };
            answers.all(|answer| known(&operations(answer))).then_some(())
        });
    }

    /// Where each partition of a topic ends: the offset that the next record gets.
    pub(crate) fn end_offsets(&self, topic: &str) -> BTreeMap<i32, i64> {
        const END: i64 = -1;
        let metadata = self.topic(topic).unwrap_or_else(|| panic!("there is no topic {topic}"));
        metadata
            .partitions
            .iter()
            .map(|partition| {
                let wanted = ListOffsetsPartition::default()
                    .with_partition_index(partition.partition_index)
                    .with_current_leader_epoch(-1)
                    .with_timestamp(END);
                let wanted = ListOffsetsTopic::default()
                    .with_name(TopicName(string(topic)))
                    .with_partitions(vec![wanted]);
                let request = ListOffsetsRequest::default()
                    .with_replica_id((-1).into())
                    .with_topics(vec![wanted]);
                let offset = eventually(PATIENCE, &format!("the end of {topic}"), || {
                    let leader = self
                        .topic(topic)?
                        .partitions
                        .into_iter()
                        .find(|p| p.partition_index == partition.partition_index)?;
                    let answer =
                        rpc::call(&self.address_of(leader.leader_id.0)?, 6, &request).ok()?;
                    let found = answer.topics.first()?.partitions.first()?;
                    (found.error_code == 0).then_some(found.offset)
                });
                (partition.partition_index, offset)
            })
            .collect()
    }

    /// Brokers and topics as the first broker that answers knows them; no topics means all.
    pub(crate) fn metadata(&self, topics: &[&str]) -> io::Result<MetadataResponse> {
        self.call(9, &metadata_request(topics))
    }

    /// The versions of a request that the first broker that answers understands.
    pub(crate) fn versions(&self, api: ApiKey) -> Option<(i16, i16)> {
        let versions = self
            .capabilities()
            .api_keys
            .into_iter()
            .find(|versions| versions.api_key == api as i16)?;
        Some((versions.min_version, versions.max_version))
    }

    /// Whether groups of the new protocol (KIP-848) are served: the protocol is known to 3.9, but off.
    pub(crate) fn serves_new_protocol(&self) -> bool {
        let features = self.capabilities().finalized_features;
        features.iter().any(|feature| {
            feature.name.as_str() == "group.version" && feature.max_version_level >= 1
        })
    }

    fn capabilities(&self) -> ApiVersionsResponse {
        let request = ApiVersionsRequest::default()
            .with_client_software_name(string("tests"))
            .with_client_software_version(string("1"));
        eventually(PATIENCE, "a broker tells its versions", || self.call(3, &request).ok())
    }

    /// Whether the first broker that answers knows `count` brokers, a leader and all replicas in sync everywhere.
    pub(super) fn sees_all(&self, count: usize) -> bool {
        let whole = |topic: &MetadataResponseTopic| {
            topic.partitions.iter().all(|partition| {
                partition.leader_id.0 >= 0
                    && partition.isr_nodes.len() == partition.replica_nodes.len()
            })
        };
        self.metadata(&[])
            .is_ok_and(|answer| answer.brokers.len() == count && answer.topics.iter().all(whole))
    }

    /// The address of a broker, if it is known to those that answer.
    pub(super) fn address_of(&self, node: i32) -> Option<String> {
        let brokers = self.metadata(&["none-such"]).ok()?.brokers;
        let broker = brokers.into_iter().find(|broker| broker.node_id.0 == node)?;
        Some(format!("{}:{}", broker.host.as_str(), broker.port))
    }

    /// Asks the first broker that answers.
    pub(super) fn call<R: Request>(&self, version: i16, request: &R) -> io::Result<R::Response> {
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "no broker is known");
        for address in &self.addresses {
            match rpc::call(address, version, request) {
                Ok(answer) => return Ok(answer),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn topic(&self, name: &str) -> Option<MetadataResponseTopic> {
        let topics = self.metadata(&[name]).ok()?.topics;
        topics.into_iter().find(|topic| topic.error_code == 0)
    }

    /// Waits until each broker that answers knows `count` partitions with a leader; 0 means no topic.
    fn wait_for_partitions(&self, topic: &str, count: i32) {
        let led = |answer: MetadataResponse| {
            let partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
            partitions.filter(|partition| partition.error_code == 0).count()
        };
        let count = usize::try_from(count).expect("a count of partitions");
        eventually(PATIENCE, &format!("all brokers know {count} partitions of {topic}"), || {
            let mut answers = self
                .addresses
                .iter()
                .flat_map(|address| rpc::call(address, 9, &metadata_request(&[topic])));
            answers.all(|answer| led(answer) == count).then_some(())
        });
    }

    /// Asks until all error codes are none; `done` is what a repeated request is told.
    fn until_done(
        &self,
        what: &str,
        done: Option<ResponseError>,
        ask: impl Fn() -> io::Result<Vec<i16>>,
    ) {
        let mut repeated = false;
        eventually(PATIENCE, what, || {
            let codes = ask().ok();
            let answered = codes.is_some_and(|codes| {
                codes.into_iter().filter_map(ResponseError::try_from_code).all(|error| {
                    let fine = repeated && done == Some(error);
                    assert!(fine || is_passing(error), "{what}: {error:?}");
                    fine
                })
            });
            repeated = true;
            answered.then_some(())
        });
    }
}

/// Errors of a cluster that is not ready yet.
fn is_passing(error: ResponseError) -> bool {
    use ResponseError as E;
    matches!(
        error,
        E::NotController | E::RequestTimedOut | E::InvalidReplicationFactor | E::LeaderNotAvailable
    )
}

/// Asks for everybody's rules on a resource.
fn rules_on(resource: Resource, name: &str) -> DescribeAclsRequest {
    DescribeAclsRequest::default()
        .with_resource_type_filter(resource as i8)
        .with_resource_name_filter(Some(string(name)))
        .with_pattern_type_filter(LITERAL)
        .with_principal_filter(None)
        .with_host_filter(None)
        .with_operation(ANY)
        .with_permission_type(ANY)
}

fn metadata_request(topics: &[&str]) -> MetadataRequest {
    let topics = topics
        .iter()
        .map(|name| MetadataRequestTopic::default().with_name(Some(TopicName(string(name)))));
    let topics: Vec<_> = topics.collect();
    MetadataRequest::default()
        .with_topics((!topics.is_empty()).then_some(topics))
        .with_allow_auto_topic_creation(false)
}

pub(super) fn string(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}
