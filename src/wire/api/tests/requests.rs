//! What we write, as the oracle reads it, and what we refuse to write.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{
    DeleteGroupsRequest as TheirDelete, DescribeClusterRequest as TheirCluster,
    JoinGroupRequest as TheirJoin, LeaveGroupRequest as TheirLeave,
    ListOffsetsRequest as TheirOffsets, MetadataRequest as TheirMetadata,
    OffsetCommitRequest as TheirCommit, OffsetDeleteRequest as TheirOffsetDelete,
    OffsetFetchRequest as TheirFetch,
};
use kafka_protocol::protocol::Decodable;

use crate::types::{
    Generation, GroupInstanceId, MemberId, OffsetAndMetadata, Offsets, Partitions, TopicPartition,
};
use crate::wire::api::*;
use crate::wire::{EncodeError, Request};

fn encoded<R: Request>(request: &R, version: i16) -> Result<Bytes, EncodeError> {
    let mut body = BytesMut::new();
    request.encode(version, &mut body).map(|()| body.freeze())
}

fn decoded<T: Decodable>(request: &impl Request, version: i16) -> T {
    let mut body = encoded(request, version).unwrap();
    let decoded = T::decode(&mut body, version).unwrap();
    assert!(body.is_empty(), "v{version}: bytes behind the request");
    decoded
}

/// Every version that the API is spoken in encodes `request`.
fn encodes_in_every_version<R: Request>(request: &R) {
    let versions = R::API.supported();
    for version in versions.min..=versions.max {
        encoded(request, version).unwrap();
    }
}

fn instance() -> Option<GroupInstanceId> {
    GroupInstanceId::new("i").ok()
}

fn join(group_instance_id: Option<GroupInstanceId>) -> JoinGroupRequest {
    JoinGroupRequest {
        group_id: "g".to_owned(),
        session_timeout: Duration::from_secs(45),
        rebalance_timeout: Duration::MAX,
        member_id: MemberId::new("m"),
        group_instance_id,
        protocol_type: "consumer".to_owned(),
        protocols: vec![("range".to_owned(), Bytes::from_static(b"up"))],
        reason: Some("é".repeat(300)),
    }
}

fn sync(group_instance_id: Option<GroupInstanceId>) -> SyncGroupRequest {
    SyncGroupRequest {
        group_id: "g".to_owned(),
        generation: Generation(1),
        member_id: MemberId::new("m"),
        group_instance_id,
        protocol_type: "consumer".to_owned(),
        protocol: "range".to_owned(),
        assignments: vec![(MemberId::new("m"), Bytes::from_static(b"down"))],
    }
}

fn heartbeat(group_instance_id: Option<GroupInstanceId>) -> HeartbeatRequest {
    HeartbeatRequest {
        group_id: "g".to_owned(),
        generation: Generation(1),
        member_id: MemberId::new("m"),
        group_instance_id,
    }
}

fn commit(group_instance_id: Option<GroupInstanceId>) -> OffsetCommitRequest {
    let offset =
        OffsetAndMetadata { offset: 9, leader_epoch: Some(4), metadata: "said".to_owned() };
    let offsets = Offsets::from([
        (TopicPartition::new("a", 0), OffsetAndMetadata::new(5)),
        (TopicPartition::new("a", 1), offset.clone()),
        (TopicPartition::new("b", 0), offset),
    ]);
    OffsetCommitRequest {
        group_id: "g".to_owned(),
        generation: Generation(1),
        member_id: MemberId::new("m"),
        group_instance_id,
        offsets,
    }
}

fn leaving(member_id: &str, group_instance_id: Option<GroupInstanceId>) -> LeavingMember {
    LeavingMember {
        member_id: MemberId::new(member_id),
        group_instance_id,
        reason: Some("x".repeat(300)),
    }
}

fn leave(members: Vec<LeavingMember>) -> LeaveGroupRequest {
    LeaveGroupRequest { group_id: "g".to_owned(), members }
}

fn fetch(partitions: Option<Partitions>) -> OffsetFetchRequest {
    OffsetFetchRequest { group_id: "g".to_owned(), partitions, require_stable: true }
}

fn offsets(read_committed: bool) -> ListOffsetsRequest {
    let at = |topic: &str, number, at| (TopicPartition::new(topic, number), at);
    ListOffsetsRequest {
        read_committed,
        partitions: vec![
            at("a", 0, OffsetAt::Earliest),
            at("b", 1, OffsetAt::Latest),
            at("a", 2, OffsetAt::Time(1_700_000_000_000)),
            at("a", 3, OffsetAt::Time(-7)),
        ],
        timeout: Duration::from_secs(30),
    }
}

fn delete_offsets() -> OffsetDeleteRequest {
    let partitions = [("b", 0), ("a", 1), ("a", 0)].into_iter().collect();
    OffsetDeleteRequest { group_id: "g".to_owned(), partitions }
}

#[test]
fn what_a_dynamic_member_sends_is_encoded_in_every_version() {
    encodes_in_every_version(&ApiVersionsRequest);
    encodes_in_every_version(&MetadataRequest { topics: None });
    encodes_in_every_version(&MetadataRequest { topics: Some(vec![Arc::from("a")]) });
    encodes_in_every_version(&FindCoordinatorRequest { group_id: "g".to_owned() });
    encodes_in_every_version(&join(None));
    encodes_in_every_version(&sync(None));
    encodes_in_every_version(&heartbeat(None));
    encodes_in_every_version(&leave(vec![leaving("m", None)]));
    encodes_in_every_version(&commit(None));
    encodes_in_every_version(&fetch(Some([("a", 1)].into_iter().collect())));
    encodes_in_every_version(&offsets(false));
    encodes_in_every_version(&DescribeGroupsRequest { group_ids: vec!["g".to_owned()] });
    encodes_in_every_version(&ListGroupsRequest);
    encodes_in_every_version(&DeleteGroupsRequest { group_ids: vec!["g".to_owned()] });
    encodes_in_every_version(&DescribeClusterRequest);
    encodes_in_every_version(&delete_offsets());
    encodes_in_every_version(&ConsumerGroupDescribeRequest { group_ids: vec!["g".to_owned()] });
    encodes_in_every_version(&SaslHandshakeRequest { mechanism: "PLAIN".to_owned() });
    encodes_in_every_version(&SaslAuthenticateRequest { says: "secret".into() });
}

#[test]
fn an_instance_id_is_never_dropped_in_silence() {
    for version in 1..=9 {
        assert_eq!(
            encoded(&join(instance()), version).is_ok(),
            version >= 5,
            "JoinGroup v{version}"
        );
    }
    for version in 0..=5 {
        assert_eq!(
            encoded(&sync(instance()), version).is_ok(),
            version >= 3,
            "SyncGroup v{version}"
        );
    }
    for version in 0..=4 {
        assert_eq!(
            encoded(&heartbeat(instance()), version).is_ok(),
            version >= 3,
            "Heartbeat v{version}"
        );
    }
    for version in 2..=9 {
        assert_eq!(
            encoded(&commit(instance()), version).is_ok(),
            version >= 7,
            "OffsetCommit v{version}"
        );
    }
}

#[test]
fn a_request_that_cannot_be_encoded_leaves_nothing_behind() {
    let mut body = BytesMut::from(&b"header"[..]);
    join(instance()).encode(4, &mut body).unwrap_err();
    assert_eq!(&body[..], b"header");
}

#[test]
fn join_group_version_0_is_refused() {
    assert_eq!(encoded(&join(None), 0).unwrap_err().why, "version 0 has no rebalance timeout");
}

#[test]
fn reasons_are_cut_at_255_characters_and_timeouts_at_what_kafka_can_write() {
    let theirs: TheirJoin = decoded(&join(None), 9);
    assert_eq!(theirs.reason.unwrap().as_str(), "é".repeat(255));
    assert_eq!((theirs.session_timeout_ms, theirs.rebalance_timeout_ms), (45_000, i32::MAX));
    let theirs: TheirLeave = decoded(&leave(vec![leaving("m", None)]), 5);
    assert_eq!(theirs.members[0].reason.as_ref().unwrap().len(), 255);
}

#[test]
fn below_version_3_one_member_leaves_by_its_member_id() {
    let theirs: TheirLeave = decoded(&leave(vec![leaving("m", instance())]), 2);
    assert_eq!(theirs.member_id.as_str(), "m");
    assert!(encoded(&leave(vec![leaving("", instance())]), 2).is_err());
    assert!(encoded(&leave(vec![leaving("m", None), leaving("n", None)]), 2).is_err());
}

#[test]
fn metadata_tells_all_topics_from_none_and_creates_nothing() {
    let all: TheirMetadata = decoded(&MetadataRequest { topics: None }, 12);
    assert!(all.topics.is_none() && !all.allow_auto_topic_creation);
    let none: TheirMetadata = decoded(&MetadataRequest { topics: Some(Vec::new()) }, 1);
    assert!(none.topics.unwrap().is_empty());
    assert!(encoded(&MetadataRequest { topics: None }, 0).is_err());
}

#[test]
fn a_commit_is_grouped_by_topic_and_carries_epochs_where_it_can() {
    let theirs: TheirCommit = decoded(&commit(instance()), 9);
    let counts: Vec<_> =
        theirs.topics.iter().map(|topic| (topic.name.as_str(), topic.partitions.len())).collect();
    assert_eq!(counts, [("a", 2), ("b", 1)]);
    let epochs: Vec<_> =
        theirs.topics[0].partitions.iter().map(|one| one.committed_leader_epoch).collect();
    assert_eq!(epochs, [-1, 4]);
    assert_eq!(theirs.topics[1].partitions[0].committed_metadata.as_deref(), Some("said"));
    let theirs: TheirCommit = decoded(&commit(None), 2);
    assert_eq!(theirs.retention_time_ms, -1);
}

#[test]
fn an_offset_fetch_asks_by_name_or_for_everything_and_is_stable_where_it_can() {
    let named = fetch(Some([("a", 1), ("a", 0), ("b", 3)].into_iter().collect()));
    let theirs: TheirFetch = decoded(&named, 9);
    let topics = theirs.groups[0].topics.as_ref().unwrap();
    assert_eq!((topics.len(), topics[0].partition_indexes.as_slice()), (2, &[0, 1][..]));
    assert!(theirs.require_stable);
    assert!(!decoded::<TheirFetch>(&named, 6).require_stable);
    assert!(decoded::<TheirFetch>(&fetch(None), 8).groups[0].topics.is_none());
    assert!(decoded::<TheirFetch>(&fetch(None), 2).topics.is_none());
    assert!(encoded(&fetch(None), 1).is_err());
}

#[test]
fn groups_and_offsets_are_deleted_by_name() {
    let groups = DeleteGroupsRequest { group_ids: vec!["g".to_owned(), "h".to_owned()] };
    let theirs: TheirDelete = decoded(&groups, 2);
    assert_eq!(theirs.groups_names.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["g", "h"]);
    let theirs: TheirOffsetDelete = decoded(&delete_offsets(), 0);
    let named: Vec<_> = theirs
        .topics
        .iter()
        .flat_map(|topic| topic.partitions.iter().map(|one| (&**topic.name, one.partition_index)))
        .collect();
    assert_eq!(named, [("a", 0), ("a", 1), ("b", 0)]);
}

#[test]
fn of_the_cluster_it_is_asked_what_we_may_do() {
    for version in 0..=2 {
        let theirs: TheirCluster = decoded(&DescribeClusterRequest, version);
        assert!(theirs.include_cluster_authorized_operations, "v{version}");
        assert_eq!((theirs.endpoint_type, theirs.include_fenced_brokers), (1, false), "v{version}");
    }
}

#[test]
fn list_offsets_asks_as_a_client() {
    let theirs: TheirOffsets = decoded(&offsets(true), 10);
    assert_eq!((theirs.replica_id.0, theirs.isolation_level, theirs.timeout_ms), (-1, 1, 30_000));
    let times: Vec<_> =
        theirs.topics.iter().flat_map(|topic| &topic.partitions).map(|one| one.timestamp).collect();
    assert_eq!(times, [-2, 1_700_000_000_000, 0, -1]);
    assert!(encoded(&offsets(true), 1).is_err());
}
