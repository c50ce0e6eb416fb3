//! What the log holds of a group, and what comes back of it after a failover.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::types::{GroupInstanceId, MemberId};

use super::group::{Group, GroupState};
use super::member::Member;

/// Where every member of a fake group lives.
pub(super) const CLIENT_HOST: &str = "/127.0.0.1";

/// A group as it was last written: at its creation, when it became empty, at its leader's SyncGroup, and when a
/// static member was replaced in a stable group. A generation that was only joined is not in it.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupRecord {
    generation: i32,
    protocol_type: Option<String>,
    protocol: Option<String>,
    leader: Option<MemberId>,
    members: Vec<MemberRecord>,
}

#[derive(Clone, Debug)]
struct MemberRecord {
    id: MemberId,
    instance_id: Option<GroupInstanceId>,
    client_id: Arc<str>,
    session_timeout: Duration,
    rebalance_timeout: Duration,
    /// For the chosen protocol: the others are forgotten in a failover.
    metadata: Bytes,
    assignment: Bytes,
}

impl GroupRecord {
    /// How large the record is, as Kafka writes it.
    pub(super) fn size(&self, group_id: &str) -> usize {
        let text = |text: Option<&str>| 2 + text.map_or(0, str::len);
        let head = text(self.protocol_type.as_deref())
            + text(self.protocol.as_deref())
            + text(self.leader.as_ref().map(MemberId::as_str))
            + group_id.len();
        let members = self.members.iter().map(|member| {
            let names = text(Some(member.id.as_str()))
                + text(member.instance_id.as_ref().map(GroupInstanceId::as_str))
                + text(Some(&member.client_id))
                + text(Some(CLIENT_HOST));
            names + 16 + member.metadata.len() + member.assignment.len()
        });
        // 18 B of fixed fields, 4 B of key, 61 B of record batch, some 16 B of record.
        99 + head + members.sum::<usize>()
    }
}

impl Group {
    /// The record that would be written now, with other assignments than the members have.
    pub(super) fn to_record(&self, assignment: impl Fn(&Member) -> Bytes) -> GroupRecord {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let members = self.members.values().map(|member| MemberRecord {
            id: member.id.clone(),
            instance_id: member.instance_id.clone(),
            client_id: Arc::clone(&member.client_id),
            session_timeout: member.session_timeout,
            rebalance_timeout: member.rebalance_timeout,
            metadata: member.metadata(protocol),
            assignment: assignment(member),
        });
        GroupRecord {
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            members: members.collect(),
        }
    }

    /// The group as a new coordinator finds it in the log: sessions start afresh, ids that were handed out and
    /// members whose first JoinGroup was parked are unknown.
    pub(super) fn reloaded(&self, now: Instant) -> Self {
        let record = &self.record;
        let mut group = Self::new(self.id.clone());
        group.generation = record.generation;
        group.protocol_type.clone_from(&record.protocol_type);
        group.protocol.clone_from(&record.protocol);
        group.leader.clone_from(&record.leader);
        group.record = record.clone();
        group.offsets = self.offsets.clone();
        for saved in &record.members {
            let mut member = saved.to_member(record.protocol.clone().unwrap_or_default());
            member.renew_session(now);
            if let Some(instance_id) = &member.instance_id {
                group.static_members.insert(instance_id.clone(), member.id.clone());
            }
            group.members.insert(member.id.clone(), member);
        }
        if !group.members.is_empty() {
            group.enter(GroupState::Stable);
        }
        group
    }
}

impl MemberRecord {
    fn to_member(&self, protocol: String) -> Member {
        Member {
            id: self.id.clone(),
            instance_id: self.instance_id.clone(),
            client_id: Arc::clone(&self.client_id),
            session_timeout: self.session_timeout,
            rebalance_timeout: self.rebalance_timeout,
            protocols: vec![(protocol, self.metadata.clone())],
            assignment: self.assignment.clone(),
            is_new: false,
            awaiting_join: None,
            awaiting_sync: None,
            session_ends: None,
        }
    }
}
