//! A member, as the coordinator keeps it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::types::{GroupInstanceId, MemberId};
use crate::wire::api::JoinGroupRequest;

use super::context::Parked;

/// A member of a group. Ids that were only handed out are not members yet.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: MemberId,
    pub(super) instance_id: Option<GroupInstanceId>,
    pub(super) client_id: Arc<str>,
    pub(super) session_timeout: Duration,
    pub(super) rebalance_timeout: Duration,
    /// By its preference.
    pub(super) protocols: Vec<(String, Bytes)>,
    pub(super) assignment: Bytes,
    /// Until its first JoinGroup is answered: only then has it an id to heartbeat with.
    pub(super) is_new: bool,
    pub(super) awaiting_join: Option<Parked>,
    pub(super) awaiting_sync: Option<Parked>,
    /// When it is taken for dead, unless it is waiting for us then.
    pub(super) session_ends: Option<Instant>,
}

impl Member {
    pub(super) fn new(id: MemberId, client_id: Arc<str>, request: &JoinGroupRequest) -> Self {
        Self {
            id,
            instance_id: request.group_instance_id.clone(),
            client_id,
            session_timeout: request.session_timeout,
            rebalance_timeout: request.rebalance_timeout,
            protocols: request.protocols.clone(),
            assignment: Bytes::new(),
            is_new: true,
            awaiting_join: None,
            awaiting_sync: None,
            session_ends: None,
        }
    }

    /// Takes over what a JoinGroup says.
    pub(super) fn update(&mut self, request: &JoinGroupRequest) {
        self.session_timeout = request.session_timeout;
        self.rebalance_timeout = request.rebalance_timeout;
        self.protocols.clone_from(&request.protocols);
    }

    /// The session starts afresh.
    pub(super) fn renew_session(&mut self, now: Instant) {
        self.session_ends = Some(now + self.session_timeout);
    }

    /// Whether it counts as alive though its session has run out: a parked request is a sign of life, but not from
    /// a member that cannot heartbeat yet.
    pub(super) fn is_waiting(&self) -> bool {
        !self.is_new && (self.awaiting_join.is_some() || self.awaiting_sync.is_some())
    }

    /// What it said for `protocol`.
    pub(super) fn metadata(&self, protocol: &str) -> Bytes {
        let said = self.protocols.iter().find(|(name, _)| name == protocol);
        said.map(|(_, metadata)| metadata.clone()).unwrap_or_default()
    }
}
