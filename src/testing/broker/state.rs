//! What all brokers of a cluster share, behind one lock that is never held across a wait.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::{Notify, oneshot, watch};

use super::apis::{Apis, api_of};
use super::codec::{self, Decoded, Malformed};
use super::script::{Scripts, SeenRequest, Verdict};
use super::topology::Topology;
use crate::testing::coordinator::{
    ConnectionId, CoordinatorRequest, FakeCoordinator, RequestBody, RequestTag, ResponseBody,
};
use crate::types::NodeId;
use crate::wire::{ApiKey, ErrorCode};

/// The cluster's insides.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    clock: Clock,
    /// The coordinator may have a nearer timeout now.
    pub(super) timers_changed: Notify,
    /// Odd while the node is up; each change closes its connections.
    pub(super) lives: BTreeMap<NodeId, watch::Sender<u64>>,
    /// Counts the calls of `release`.
    pub(super) released: watch::Sender<u64>,
}

/// Whose time it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    /// The cluster has a thread of its own.
    System,
    /// It runs on the caller's runtime, whose clock may be paused.
    Tokio,
}

/// What the lock guards.
#[derive(Debug)]
pub(super) struct State {
    pub(super) coordinator: FakeCoordinator,
    pub(super) topology: Topology,
    pub(super) apis: Apis,
    pub(super) scripts: Scripts,
    waiting: BTreeMap<RequestTag, oneshot::Sender<ResponseBody>>,
    connections: u64,
    requests: u64,
}

/// A request as a connection has read it.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) api: ApiKey,
    pub(super) version: i16,
    pub(super) correlation_id: i32,
    pub(super) client_id: String,
    /// None for a version of ApiVersions that is not spoken.
    pub(super) decoded: Option<Decoded>,
}

impl Shared {
    pub(super) fn new(
        coordinator: FakeCoordinator,
        topology: Topology,
        apis: Apis,
        clock: Clock,
        lives: BTreeMap<NodeId, watch::Sender<u64>>,
    ) -> Self {
        let state = State {
            coordinator,
            topology,
            apis,
            scripts: Scripts::default(),
            waiting: BTreeMap::new(),
            connections: 0,
            requests: 0,
        };
        let (timers_changed, released) = (Notify::new(), watch::Sender::new(0));
        Self { state: Mutex::new(state), clock, timers_changed, lives, released }
    }

    /// A test that panicked while it held the lock has said what it had to say.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one clock of a cluster on a thread of its own"
    )]
    pub(super) fn now(&self) -> Instant {
        match self.clock {
            Clock::System => Instant::now(),
            Clock::Tokio => tokio::time::Instant::now().into_std(),
        }
    }

    /// Something is done to the coordinator, and its answers go out.
    pub(super) fn with_coordinator<T>(&self, act: impl FnOnce(&mut State, Instant) -> T) -> T {
        let now = self.now();
        let mut state = self.lock();
        let result = act(&mut state, now);
        state.deliver();
        self.timers_changed.notify_one();
        result
    }

    /// Asks the coordinator, on behalf of a connection; waits as long as the request is parked.
    ///
    /// Cancel safe: a request that was asked stays asked, and nobody gets the answer.
    pub(super) async fn ask(
        &self,
        node: NodeId,
        connection: ConnectionId,
        arrived: &Arrived,
        body: RequestBody,
    ) -> Option<ResponseBody> {
        let (send, receive) = oneshot::channel();
        let refused = self.with_coordinator(|state, now| {
            if let Some(refusal) = state.not_mine(node, &body) {
                return Some(refusal);
            }
            state.requests += 1;
            let tag = RequestTag(state.requests);
            state.waiting.insert(tag, send);
            let (version, client_id) = (arrived.version, arrived.client_id.as_str().into());
            state
                .coordinator
                .handle(now, CoordinatorRequest { connection, tag, version, client_id, body });
            None
        });
        match refused {
            Some(refusal) => Some(refusal),
            None => receive.await.ok(),
        }
    }
}

impl State {
    pub(super) fn new_connection(&mut self) -> ConnectionId {
        self.connections += 1;
        ConnectionId(self.connections)
    }

    /// Answers go to whoever waits. Where nobody does, the connection is gone.
    fn deliver(&mut self) {
        while let Some(answer) = self.coordinator.poll_response() {
            if let Some(waiting) = self.waiting.remove(&answer.tag) {
                let _gone = waiting.send(answer.body);
            }
        }
    }

    /// A connection is gone.
    pub(super) fn disconnect(&mut self, connection: ConnectionId) {
        self.coordinator.disconnect(connection);
        self.waiting.retain(|_, waiting| !waiting.is_closed());
    }

    /// The refusal of a broker that does not coordinate the group.
    fn not_mine(&mut self, node: NodeId, body: &RequestBody) -> Option<ResponseBody> {
        let group_id = body.group_id()?;
        let coordinator = self.topology.coordinator(group_id)?;
        (coordinator.id != node).then(|| body.refused(ErrorCode::NotCoordinator))
    }

    /// A broker lists the groups that it coordinates.
    pub(super) fn as_seen_from(&mut self, node: NodeId, mut answer: ResponseBody) -> ResponseBody {
        if let ResponseBody::ListGroups(listed) = &mut answer {
            let topology = &mut self.topology;
            let mut is_mine =
                |group_id: &str| topology.coordinator(group_id).is_some_and(|it| it.id == node);
            listed.groups.retain(|group| is_mine(&group.group_id));
        }
        answer
    }

    pub(super) fn topics_changed(&mut self) {
        self.coordinator.set_topics(self.topology.partition_counts());
    }

    /// Decodes a frame. A version of ApiVersions that is not spoken comes back without a decoded body.
    pub(super) fn decode(&self, mut frame: Bytes) -> Result<Arrived, Malformed> {
        let head =
            frame.get(..4).and_then(|head| <[u8; 4]>::try_from(head).ok()).ok_or(Malformed)?;
        let [a, b, c, d] = head;
        let api = api_of(i16::from_be_bytes([a, b])).ok_or(Malformed)?;
        let version = i16::from_be_bytes([c, d]);
        let speaks = self.apis.speaks(api, version);
        if !speaks && api == ApiKey::ApiVersions {
            let correlation_id =
                frame.get(4..8).and_then(|id| <[u8; 4]>::try_from(id).ok()).ok_or(Malformed)?;
            let correlation_id = i32::from_be_bytes(correlation_id);
            let client_id = String::new();
            return Ok(Arrived { api, version: 0, correlation_id, client_id, decoded: None });
        }
        if !speaks {
            return Err(Malformed);
        }
        let (correlation_id, client_id) = codec::decode_header(api, version, &mut frame)?;
        let decoded = Some(codec::decode(api, version, &mut frame)?);
        Ok(Arrived { api, version, correlation_id, client_id, decoded })
    }

    /// Remembers a request and says what is to become of it.
    pub(super) fn decide(
        &mut self,
        at: Instant,
        node: NodeId,
        connection: ConnectionId,
        arrived: &Arrived,
    ) -> Verdict {
        let question = match &arrived.decoded {
            Some(Decoded::Coordinator(questions)) => questions.first(),
            Some(Decoded::Refused(question, _)) => Some(question),
            _ => None,
        };
        let mut seen = SeenRequest {
            at,
            node,
            connection: connection.0,
            api: arrived.api,
            version: arrived.version,
            client_id: arrived.client_id.clone(),
            group_id: question.and_then(RequestBody::group_id).map(str::to_owned),
            member_id: None,
            group_instance_id: None,
            generation: None,
            reason: None,
        };
        if let Some(question) = question {
            seen.fill(question);
        }
        self.scripts.decide(seen)
    }
}

impl SeenRequest {
    fn fill(&mut self, question: &RequestBody) {
        let (member_id, instance_id, generation, reason) = match question {
            RequestBody::JoinGroup(join) => {
                (&join.member_id, &join.group_instance_id, None, &join.reason)
            }
            RequestBody::SyncGroup(sync) => {
                (&sync.member_id, &sync.group_instance_id, Some(sync.generation), &None)
            }
            RequestBody::Heartbeat(heartbeat) => (
                &heartbeat.member_id,
                &heartbeat.group_instance_id,
                Some(heartbeat.generation),
                &None,
            ),
            RequestBody::OffsetCommit(commit) => {
                (&commit.member_id, &commit.group_instance_id, Some(commit.generation), &None)
            }
            RequestBody::LeaveGroup(leave) => match leave.members.first() {
                Some(first) => (&first.member_id, &first.group_instance_id, None, &first.reason),
                None => return,
            },
            _ => return,
        };
        self.member_id = Some(member_id.clone());
        self.group_instance_id = instance_id.as_ref().map(|id| id.as_str().to_owned());
        self.generation = generation;
        self.reason.clone_from(reason);
    }
}
