//! A member, as raw as it can be: it sends what it is told to, and remembers what it was answered.

use bytes::Bytes;
use kafka_group::testing::ErrorCode;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, OffsetCommitRequest,
    SyncGroupRequest, SyncGroupResponse, TopicName,
};
use kafka_protocol::protocol::StrBytes;

use crate::broker::{Broker, TOPIC, group, text};
use crate::wire::Sent;

/// A member and what it says of itself; a scenario changes that as it likes.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    /// As the broker gave it; empty at first.
    pub(crate) id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) generation: i32,
    pub(crate) protocol_type: String,
    pub(crate) protocols: Vec<(String, Vec<u8>)>,
    /// What the last JoinGroup chose.
    pub(crate) protocol: Option<String>,
    pub(crate) session_timeout: i32,
    pub(crate) rebalance_timeout: i32,
    pub(crate) reason: Option<String>,
    pub(crate) versions: Versions,
}

/// The versions that a member speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Versions {
    pub(crate) join: i16,
    pub(crate) sync: i16,
    pub(crate) heartbeat: i16,
    pub(crate) leave: i16,
    pub(crate) commit: i16,
}

/// An answer to JoinGroup, with names for ids; members as `name=metadata`, by name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Joined {
    pub(crate) error: ErrorCode,
    pub(crate) generation: i32,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) leader: String,
    pub(crate) member: String,
    pub(crate) members: Vec<String>,
    pub(crate) skip_assignment: bool,
}

/// An answer to SyncGroup.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Synced {
    pub(crate) error: ErrorCode,
    pub(crate) assignment: String,
}

impl Member {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            id: String::new(),
            instance_id: None,
            generation: -1,
            protocol_type: "worker".to_owned(),
            protocols: vec![("p".to_owned(), name.into())],
            protocol: None,
            session_timeout: 20_000,
            rebalance_timeout: 20_000,
            reason: None,
            versions: Versions { join: 9, sync: 5, heartbeat: 4, leave: 5, commit: 9 },
        }
    }

    /// With an instance id, which is the member's name unless the group needs another.
    pub(crate) fn fixed(mut self) -> Self {
        self.instance_id = Some(format!("i-{}", self.name));
        self
    }

    /// Supports these protocols, all with its name as metadata.
    pub(crate) fn speaking(mut self, protocols: &[&str]) -> Self {
        self.protocols =
            protocols.iter().map(|name| ((*name).to_owned(), self.name.into())).collect();
        self
    }

    /// The process starts again: it has forgotten its id and generation, and keeps its instance id.
    pub(crate) fn restarted(&self) -> Self {
        Self { id: String::new(), generation: -1, ..self.clone() }
    }

    pub(crate) fn send_join(&self, broker: &Broker) -> Sent<JoinGroupResponse> {
        broker.send(self.name, self.versions.join, self.join_request(broker))
    }

    pub(crate) fn join_request(&self, broker: &Broker) -> JoinGroupRequest {
        let protocols = self.protocols.iter().map(|(name, metadata)| {
            JoinGroupRequestProtocol::default()
                .with_name(string(name))
                .with_metadata(Bytes::copy_from_slice(metadata))
        });
        JoinGroupRequest::default()
            .with_group_id(group(&broker.group))
            .with_session_timeout_ms(self.session_timeout)
            .with_rebalance_timeout_ms(self.rebalance_timeout)
            .with_member_id(string(&self.id))
            .with_group_instance_id(self.instance(self.versions.join >= 5))
            .with_protocol_type(string(&self.protocol_type))
            .with_protocols(protocols.collect())
            .with_reason(self.reason.as_deref().map(string))
    }

    /// The answer to a JoinGroup; a member that was let in takes what it says.
    pub(crate) async fn joined(
        &mut self,
        broker: &mut Broker,
        sent: Sent<JoinGroupResponse>,
    ) -> Joined {
        let answer = sent.answer().await;
        let member = broker.name_of(&answer.member_id, self.name);
        let mut members: Vec<String> = answer
            .members
            .iter()
            .map(|member| {
                let instance = member
                    .group_instance_id
                    .as_ref()
                    .map(|id| format!(" {id}"))
                    .unwrap_or_default();
                broker.plain(&format!("{}{instance}={}", member.member_id, text(&member.metadata)))
            })
            .collect();
        members.sort();
        let joined = Joined {
            error: answer.error_code.into(),
            generation: answer.generation_id,
            protocol_type: answer.protocol_type.as_ref().map(ToString::to_string),
            protocol: answer.protocol_name.as_ref().map(ToString::to_string),
            leader: broker.plain(&answer.leader),
            member,
            members,
            skip_assignment: answer.skip_assignment,
        };
        if matches!(joined.error, ErrorCode::None | ErrorCode::MemberIdRequired) {
            self.id = answer.member_id.to_string();
        }
        if joined.error.is_none() {
            self.generation = joined.generation;
            self.protocol.clone_from(&joined.protocol);
        }
        broker.note(self.name, &format!("join v{}", self.versions.join), &joined);
        joined
    }

    pub(crate) async fn join(&mut self, broker: &mut Broker) -> Joined {
        let sent = self.send_join(broker);
        self.joined(broker, sent).await
    }

    /// Gets an id if the version asks for one, and asks to join with it.
    pub(crate) async fn enter(&mut self, broker: &mut Broker) -> Sent<JoinGroupResponse> {
        if self.versions.join >= 4 && self.instance_id.is_none() && self.id.is_empty() {
            assert_eq!(self.join(broker).await.error, ErrorCode::MemberIdRequired);
        }
        self.send_join(broker)
    }

    /// Sends SyncGroup with a plan, as pairs of id and part.
    pub(crate) fn send_sync(
        &self,
        broker: &Broker,
        plan: &[(&str, &[u8])],
    ) -> Sent<SyncGroupResponse> {
        let assignments = plan.iter().map(|(id, part)| {
            SyncGroupRequestAssignment::default()
                .with_member_id(string(id))
                .with_assignment(Bytes::copy_from_slice(part))
        });
        let named = self.versions.sync >= 5;
        let request = SyncGroupRequest::default()
            .with_group_id(group(&broker.group))
            .with_generation_id(self.generation)
            .with_member_id(string(&self.id))
            .with_group_instance_id(self.instance(self.versions.sync >= 3))
            .with_protocol_type(Some(string(&self.protocol_type)).filter(|_| named))
            .with_protocol_name(self.protocol.as_deref().filter(|_| named).map(string))
            .with_assignments(assignments.collect());
        broker.send(self.name, self.versions.sync, request)
    }

    pub(crate) async fn synced(
        &self,
        broker: &mut Broker,
        sent: Sent<SyncGroupResponse>,
    ) -> Synced {
        let answer = sent.answer().await;
        let synced =
            Synced { error: answer.error_code.into(), assignment: text(&answer.assignment) };
        broker.note(
            self.name,
            &format!("sync v{}", self.versions.sync),
            &(&synced, &answer.protocol_type, &answer.protocol_name),
        );
        synced
    }

    pub(crate) async fn sync(&self, broker: &mut Broker, plan: &[(&str, &[u8])]) -> Synced {
        let sent = self.send_sync(broker, plan);
        self.synced(broker, sent).await
    }

    pub(crate) fn heartbeat_request(&self, broker: &Broker) -> HeartbeatRequest {
        HeartbeatRequest::default()
            .with_group_id(group(&broker.group))
            .with_generation_id(self.generation)
            .with_member_id(string(&self.id))
            .with_group_instance_id(self.instance(self.versions.heartbeat >= 3))
    }

    pub(crate) async fn heartbeat(&self, broker: &mut Broker) -> ErrorCode {
        let request = self.heartbeat_request(broker);
        let answer = broker.send(self.name, self.versions.heartbeat, request).answer().await;
        let error = answer.error_code.into();
        broker.note(self.name, "heartbeat", &error);
        error
    }

    /// Waits until the broker has the request that starts a rebalance, which travels on another connection.
    pub(crate) async fn until_rebalancing(&self, broker: &Broker) {
        for _ in 0..500 {
            let request = self.heartbeat_request(broker);
            let answer = broker.send(self.name, self.versions.heartbeat, request).answer().await;
            if answer.error_code == ErrorCode::RebalanceInProgress.number() {
                return;
            }
            broker.pass(10).await;
        }
        panic!("{} is not told of a rebalance", self.name);
    }

    /// Commits an offset for partition 0.
    pub(crate) async fn commit(&self, broker: &mut Broker, offset: i64) -> ErrorCode {
        let error = self.commit_all(broker, &[(TOPIC, 0, offset, "")]).await[0];
        broker.note(self.name, &format!("commit v{}", self.versions.commit), &error);
        error
    }

    /// Commits: topic, partition, offset, metadata.
    pub(crate) async fn commit_all(
        &self,
        broker: &mut Broker,
        offsets: &[(&'static str, i32, i64, &str)],
    ) -> Vec<ErrorCode> {
        let topics = offsets.iter().map(|(topic, partition, offset, metadata)| {
            let partition = OffsetCommitRequestPartition::default()
                .with_partition_index(*partition)
                .with_committed_offset(*offset)
                .with_committed_metadata(Some(string(metadata)));
            let name = TopicName(StrBytes::from_static_str(topic));
            OffsetCommitRequestTopic::default().with_name(name).with_partitions(vec![partition])
        });
        let request = OffsetCommitRequest::default()
            .with_group_id(group(&broker.group))
            .with_generation_id_or_member_epoch(self.generation)
            .with_member_id(string(&self.id))
            .with_group_instance_id(self.instance(self.versions.commit >= 7))
            .with_topics(topics.collect());
        let answer = broker.send(self.name, self.versions.commit, request).answer().await;
        let mut all: Vec<_> = answer
            .topics
            .iter()
            .flat_map(|topic| topic.partitions.iter().map(|it| (topic.name.to_string(), it)))
            .map(|(topic, it)| ((topic, it.partition_index), ErrorCode::from(it.error_code)))
            .collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        broker.note(self.name, "commit", &all);
        all.into_iter().map(|(_, error)| error).collect()
    }

    /// Leaves; in versions from 3 on the error is the member's own, if the whole has none.
    pub(crate) async fn leave(&self, broker: &mut Broker) -> ErrorCode {
        let me = (self.id.clone(), self.instance_id.clone());
        let version = self.versions.leave;
        if version >= 3 {
            return leave(broker, version, self.reason.as_deref(), &[me]).await[0];
        }
        let request = LeaveGroupRequest::default().with_group_id(group(&broker.group));
        let answer = broker
            .send(self.name, version, request.with_member_id(string(&self.id)))
            .answer()
            .await;
        let error = answer.error_code.into();
        broker.note(self.name, &format!("leave v{version}"), &error);
        error
    }

    fn instance(&self, carried: bool) -> Option<StrBytes> {
        self.instance_id.as_deref().filter(|_| carried).map(string)
    }
}

/// Takes members out, by id and instance id; the error of the whole comes last.
pub(crate) async fn leave(
    broker: &mut Broker,
    version: i16,
    reason: Option<&str>,
    members: &[(String, Option<String>)],
) -> Vec<ErrorCode> {
    let members = members.iter().map(|(id, instance_id)| {
        MemberIdentity::default()
            .with_member_id(string(id))
            .with_group_instance_id(instance_id.as_deref().map(string))
            .with_reason(reason.filter(|_| version >= 5).map(string))
    });
    let request = LeaveGroupRequest::default()
        .with_group_id(group(&broker.group))
        .with_members(members.collect());
    let answer = broker.send("admin", version, request).answer().await;
    let all: Vec<_> = answer
        .members
        .iter()
        .map(|member| {
            (member.member_id.to_string(), member.group_instance_id.clone(), member.error_code)
        })
        .collect();
    broker.note("admin", &format!("leave v{version}"), &(answer.error_code, &all));
    let errors = answer.members.iter().map(|member| ErrorCode::from(member.error_code));
    errors.chain([answer.error_code.into()]).collect()
}

/// A stable group of one.
pub(crate) async fn alone(broker: &mut Broker, mut member: Member) -> Member {
    let sent = member.enter(broker).await;
    assert!(member.joined(broker, sent).await.error.is_none());
    let synced = member.sync(broker, &[(&member.id, b"all")]).await;
    assert_eq!(synced.assignment, "all");
    member
}

/// Another member comes into a group of one: both have joined, and owe their SyncGroup.
pub(crate) async fn both_joined(broker: &mut Broker, first: &mut Member, second: &mut Member) {
    let newcomer = second.enter(broker).await;
    first.until_rebalancing(broker).await;
    let again = first.send_join(broker);
    assert!(first.joined(broker, again).await.error.is_none());
    assert!(second.joined(broker, newcomer).await.error.is_none());
}

/// A stable group of two; the first leads, and they have `one` and `two`.
pub(crate) async fn pair(
    broker: &mut Broker,
    first: Member,
    mut second: Member,
) -> (Member, Member) {
    let mut first = alone(broker, first).await;
    both_joined(broker, &mut first, &mut second).await;
    settle(broker, &first, &second).await;
    (first, second)
}

/// The leader's plan, and both are told.
pub(crate) async fn settle(broker: &mut Broker, leader: &Member, follower: &Member) {
    let parked = follower.send_sync(broker, &[]);
    let plan: [(&str, &[u8]); 2] = [(&leader.id, b"one"), (&follower.id, b"two")];
    assert_eq!(leader.sync(broker, &plan).await.assignment, "one");
    assert_eq!(follower.synced(broker, parked).await.assignment, "two");
}

fn string(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}
