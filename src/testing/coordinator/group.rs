//! A group: its members, its state, its leader, its protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::types::{Generation, GroupInstanceId, MemberId, Offsets};
use crate::wire::ErrorCode;

use super::context::Context;
use super::member::Member;
use super::record::GroupRecord;
use super::request::RequestTag;

/// Kafka's states of a group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum GroupState {
    Empty,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
}

/// A group, as its coordinator keeps it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) id: String,
    pub(super) state: GroupState,
    /// The state before this one: a rebalance out of Empty is the initial one.
    pub(super) previous_state: GroupState,
    pub(super) generation: i32,
    pub(super) protocol_type: Option<String>,
    pub(super) protocol: Option<String>,
    pub(super) leader: Option<MemberId>,
    pub(super) members: BTreeMap<MemberId, Member>,
    pub(super) static_members: BTreeMap<GroupInstanceId, MemberId>,
    /// Ids that were handed out (KIP-394), until when they are good.
    pub(super) pending_ids: BTreeMap<MemberId, Instant>,
    /// Members that have not sent SyncGroup in this generation.
    pub(super) pending_sync: BTreeSet<MemberId>,
    pub(super) join_timer: Option<JoinTimer>,
    pub(super) sync_timer: Option<Instant>,
    /// A member came while the initial rebalance was waiting, so it waits on.
    pub(super) new_member_added: bool,
    /// What is in the log: all that survives a failover.
    pub(super) record: GroupRecord,
    pub(super) offsets: Offsets,
}

/// What ends a join phase.
#[derive(Clone, Copy, Debug)]
pub(super) enum JoinTimer {
    /// The initial rebalance delay, which is extended while members come and some of the rebalance timeout is left.
    Initial { at: Instant, delay: Duration, left: Duration },
    /// The rebalance timeout.
    Rebalance { at: Instant },
}

impl JoinTimer {
    pub(super) fn at(&self) -> Instant {
        match *self {
            Self::Initial { at, .. } | Self::Rebalance { at } => at,
        }
    }
}

impl Group {
    pub(super) fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            state: GroupState::Empty,
            previous_state: GroupState::Empty,
            generation: 0,
            protocol_type: None,
            protocol: None,
            leader: None,
            members: BTreeMap::new(),
            static_members: BTreeMap::new(),
            pending_ids: BTreeMap::new(),
            pending_sync: BTreeSet::new(),
            join_timer: None,
            sync_timer: None,
            new_member_added: false,
            record: GroupRecord::default(),
            offsets: Offsets::new(),
        }
    }

    pub(super) fn enter(&mut self, state: GroupState) {
        self.previous_state = self.state;
        self.state = state;
    }

    pub(super) fn is_leader(&self, id: &MemberId) -> bool {
        self.leader.as_ref() == Some(id)
    }

    /// The longest of all, absent members' too.
    pub(super) fn rebalance_timeout(&self) -> Duration {
        self.members.values().map(|member| member.rebalance_timeout).max().unwrap_or_default()
    }

    /// Whether nobody is missing in the join phase; an id that was handed out counts as missing.
    pub(super) fn all_have_joined(&self) -> bool {
        self.pending_ids.is_empty()
            && self.members.values().all(|member| member.awaiting_join.is_some())
    }

    pub(super) fn awaiting_join(&self) -> usize {
        self.members.values().filter(|member| member.awaiting_join.is_some()).count()
    }

    pub(super) fn has_parked(&self, tag: RequestTag) -> bool {
        let mut parked =
            self.members.values().flat_map(|m| m.awaiting_join.iter().chain(&m.awaiting_sync));
        parked.any(|parked| parked.tag == tag)
    }

    /// The first member of an empty group decides the type, and leads.
    pub(super) fn add(&mut self, member: Member, protocol_type: &str) {
        if self.members.is_empty() {
            self.protocol_type = Some(protocol_type.to_owned());
        }
        self.leader.get_or_insert_with(|| member.id.clone());
        self.pending_ids.remove(&member.id);
        if let Some(instance_id) = &member.instance_id {
            self.static_members.insert(instance_id.clone(), member.id.clone());
        }
        self.members.insert(member.id.clone(), member);
    }

    /// Forgets a member or an id; if it led, any other leads from now on. Its parked requests are the caller's.
    pub(super) fn remove(&mut self, context: &Context<'_>, id: &MemberId) -> Option<Member> {
        let removed = self.members.remove(id);
        if let Some(instance_id) = removed.as_ref().and_then(|member| member.instance_id.as_ref()) {
            self.static_members.remove(instance_id);
        }
        if self.is_leader(id) {
            self.leader =
                self.members.keys().min_by_key(|other| context.rank(other.as_str())).cloned();
        }
        self.pending_ids.remove(id);
        self.pending_sync.remove(id);
        removed
    }

    /// Whether this id is a member, and (if the caller says that it is static) the one of its instance.
    pub(super) fn validate(
        &self,
        id: &MemberId,
        instance_id: Option<&GroupInstanceId>,
    ) -> Result<(), ErrorCode> {
        if let Some(instance_id) = instance_id {
            match self.static_members.get(instance_id) {
                None => return Err(ErrorCode::UnknownMemberId),
                Some(current) if current != id => return Err(ErrorCode::FencedInstanceId),
                Some(_) => {}
            }
        }
        match self.members.contains_key(id) {
            true => Ok(()),
            false => Err(ErrorCode::UnknownMemberId),
        }
    }

    /// As [`Self::validate`], and of the current generation.
    pub(super) fn validate_generation(
        &self,
        id: &MemberId,
        instance_id: Option<&GroupInstanceId>,
        generation: Generation,
    ) -> Result<(), ErrorCode> {
        self.validate(id, instance_id)?;
        match generation.0 == self.generation {
            true => Ok(()),
            false => Err(ErrorCode::IllegalGeneration),
        }
    }

    /// Whether a member with these protocols can be in the group: one of them must be supported by all.
    ///
    /// Kafka counts names, so one that a member gave twice is counted twice, and then nobody supports it any more.
    pub(super) fn admits(&self, protocol_type: &str, protocols: &[(String, Bytes)]) -> bool {
        match self.state {
            GroupState::Empty => !protocol_type.is_empty() && !protocols.is_empty(),
            _ => {
                self.protocol_type.as_deref() == Some(protocol_type)
                    && protocols.iter().any(|(name, _)| self.supporters(name) == self.members.len())
            }
        }
    }

    fn supporters(&self, protocol: &str) -> usize {
        self.members
            .values()
            .flat_map(|member| &member.protocols)
            .filter(|(name, _)| name == protocol)
            .count()
    }

    /// Each member votes for the first of its protocols that all support. None where somebody cannot vote.
    pub(super) fn vote(&self, context: &Context<'_>) -> Option<String> {
        let mut candidates: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, _) in self.members.values().flat_map(|member| &member.protocols) {
            *candidates.entry(name).or_default() += 1;
        }
        candidates.retain(|_, supporters| *supporters == self.members.len());
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for member in self.members.values() {
            let mut names = member.protocols.iter().map(|(name, _)| name.as_str());
            *votes.entry(names.find(|name| candidates.contains_key(name))?).or_default() += 1;
        }
        let winner = votes.into_iter().max_by_key(|&(name, votes)| (votes, context.rank(name)))?;
        Some(winner.0.to_owned())
    }
}
