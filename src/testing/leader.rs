//! What a leader does between two frames, for measuring. Not for applications.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::JoinGroupResponse;
use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::protocol::{Encodable as _, StrBytes};

use crate::assign::{ErasedAssigner, GroupSubscription, MemberRef, PartitionAssigner};
use crate::protocol::{Cause, Facts, GroupProtocol as _, Joining, Led, LedMember};
use crate::subscription::{ConsumerOptions, ConsumerProtocol, Selection};
use crate::types::{Cluster, Generation, MemberId, Node, NodeId, Partition, Partitions, Topic};
use crate::wire::api::{JoinGroupRequest, SyncGroupRequest};
use crate::wire::{Reader, Request as _};

/// The versions of the requests: those of a Kafka of today.
const JOIN_VERSION: i16 = 9;
const SYNC_VERSION: i16 = 5;

/// The whole way of a leader: from the bytes of the JoinGroup answer to those of the SyncGroup request.
#[derive(Debug)]
pub struct LeaderWork {
    /// The body of the answer.
    answer: Bytes,
    protocol: ConsumerProtocol,
    cluster: Arc<Cluster>,
    leader: MemberId,
}

impl LeaderWork {
    /// The work for this group; its members subscribe and claim as they do there, and every partition has three
    /// replicas. None if the group is empty or the assigner unfit.
    pub fn new<A: PartitionAssigner + Clone>(
        group: &GroupSubscription,
        assigner: &A,
    ) -> Option<Self> {
        let erased = ErasedAssigner::new(assigner.clone()).ok()?;
        let cluster = Arc::new(cluster_of(group));
        let leader = MemberId::new(group.members().next()?.id());
        let name = Arc::clone(erased.name());
        let member = |member: MemberRef<'_>| {
            let mut protocol = protocol_of(member.topics(), &erased, &cluster);
            let metadata = said(&mut protocol, member, &name)?;
            let id = StrBytes::from_string(member.id().to_owned());
            Some(JoinGroupResponseMember::default().with_member_id(id).with_metadata(metadata))
        };
        let members = group.members().map(member).collect::<Option<Vec<_>>>()?;
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        let message = JoinGroupResponse::default()
            .with_generation_id(8)
            .with_protocol_type(Some(text("consumer")))
            .with_protocol_name(Some(text(&name)))
            .with_leader(text(leader.as_str()))
            .with_member_id(text(leader.as_str()))
            .with_members(members);
        let mut answer = BytesMut::new();
        message.encode(&mut answer, JOIN_VERSION).ok()?;
        let protocol = protocol_of(group.members().next()?.topics(), &erased, &cluster);
        Some(Self { answer: answer.freeze(), protocol, cluster, leader })
    }

    /// How many bytes the answer has.
    pub fn answer_len(&self) -> usize {
        self.answer.len()
    }

    /// Goes the way once; the body of the SyncGroup request, or none if something does not work.
    pub fn run(&mut self) -> Option<BytesMut> {
        let answer =
            JoinGroupRequest::read(JOIN_VERSION, &mut Reader::new(self.answer.clone())).ok()?;
        let protocol = answer.protocol.unwrap_or_default();
        let (_, job) = self.protocol.lead(Led {
            generation: answer.generation,
            protocol: protocol.clone(),
            member_id: answer.member_id,
            members: answer.members.into_iter().map(LedMember::from).collect(),
            skip_assignment: false,
        });
        let plan = job(Facts { cluster: Arc::clone(&self.cluster), gathered: None }).ok()?;
        let request = SyncGroupRequest {
            group_id: "group".to_owned(),
            generation: answer.generation,
            member_id: self.leader.clone(),
            group_instance_id: None,
            protocol_type: "consumer".to_owned(),
            protocol,
            assignments: plan.assignments,
        };
        let mut body = BytesMut::new();
        request.encode(SYNC_VERSION, &mut body).ok()?;
        Some(body)
    }
}

/// The topics of a group on three brokers.
fn cluster_of(group: &GroupSubscription) -> Cluster {
    let node = |id| Node { id: NodeId(id), host: "broker".into(), port: 9092, rack: None };
    let partition = |number: i32| {
        let replicas = [0, 1, 2].map(|place| NodeId((number + place) % 3)).to_vec();
        Partition::new(number, replicas.first().copied(), replicas)
    };
    let topics = group.topics().map(|topic| {
        let partitions = 0..topic.partition_count() as i32;
        Topic::new(topic.name(), partitions.map(partition).collect())
    });
    Cluster::new((0..3).map(node), topics)
}

/// A member's protocol, which knows the cluster.
fn protocol_of<'a>(
    topics: impl Iterator<Item = &'a str>,
    assigner: &ErasedAssigner,
    cluster: &Arc<Cluster>,
) -> ConsumerProtocol {
    let selection = Selection::topics(topics);
    let mut options = ConsumerOptions::new("group", selection, vec![assigner.clone()]);
    options.record_limit = usize::MAX;
    let mut protocol = ConsumerProtocol::new(options);
    protocol.cluster_changed(cluster, 0.0);
    protocol
}

/// What a member says in JoinGroup, having what it has.
fn said(protocol: &mut ConsumerProtocol, member: MemberRef<'_>, name: &str) -> Option<Bytes> {
    let mut held = Partitions::new();
    for partition in member.owned() {
        held.insert(&partition.topic().into(), partition.number());
    }
    let released = protocol.before_join(&held, &Cause::FirstJoin);
    held.subtract(&released);
    let joining = Joining {
        held: &held,
        generation: Generation(7),
        member_id: &MemberId::new(member.id()),
        cause: &Cause::FirstJoin,
        nonce: 0,
    };
    let said = protocol.describe(joining)().ok()?;
    said.into_iter().find(|(protocol, _)| protocol == name).map(|(_, metadata)| metadata)
}
