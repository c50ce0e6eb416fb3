//! Rules that are too slow, or need a failure too many, for the scenarios that also run against a real Kafka
//! (`tests/conformance`).

mod connections;
mod failover;
mod timers;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::*;
use crate::types::{Generation, GroupInstanceId, MemberId};
use crate::wire::api::{
    HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, LeavingMember,
    SyncGroupRequest,
};

/// A coordinator and a clock that we turn by hand; each request has a connection of its own unless it says otherwise.
struct Bench {
    coordinator: FakeCoordinator,
    now: Instant,
    sent: u64,
    answered: BTreeMap<u64, ResponseBody>,
}

/// A request that was sent, by its connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Sent(u64);

/// Who a member says it is.
#[derive(Clone, Debug, Default)]
struct Who {
    member_id: MemberId,
    generation: i32,
}

impl Bench {
    #[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
    fn new(settings: CoordinatorSettings) -> Self {
        let coordinator = FakeCoordinator::new(settings);
        Self { coordinator, now: Instant::now(), sent: 0, answered: BTreeMap::new() }
    }

    fn send(&mut self, body: RequestBody) -> Sent {
        self.sent += 1;
        self.send_on(self.sent, 9, body)
    }

    fn send_on(&mut self, connection: u64, version: i16, body: RequestBody) -> Sent {
        self.sent += 1;
        let tag = RequestTag(self.sent);
        let (connection, client_id) = (ConnectionId(connection), "client".into());
        self.coordinator
            .handle(self.now, CoordinatorRequest { connection, tag, version, client_id, body });
        self.collect();
        Sent(tag.0)
    }

    fn collect(&mut self) {
        while let Some(response) = self.coordinator.poll_response() {
            self.answered.insert(response.tag.0, response.body);
        }
    }

    /// Lets time pass, timer by timer.
    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.coordinator.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.coordinator.handle_timeout(self.now);
            self.collect();
        }
        self.now = until;
    }

    fn is_parked(&self, sent: Sent) -> bool {
        !self.answered.contains_key(&sent.0)
    }

    fn joined(&self, sent: Sent) -> &JoinGroupResponse {
        match self.answered.get(&sent.0) {
            Some(ResponseBody::JoinGroup(response)) => response,
            other => panic!("no JoinGroup response: {other:?}"),
        }
    }

    fn error(&self, sent: Sent) -> ErrorCode {
        match self.answered.get(&sent.0) {
            Some(ResponseBody::JoinGroup(response)) => response.error,
            Some(ResponseBody::SyncGroup(response)) => response.error,
            Some(ResponseBody::Heartbeat(response)) => response.error,
            Some(ResponseBody::LeaveGroup(response)) => response.error,
            other => panic!("no answer with an error code: {other:?}"),
        }
    }

    fn state(&self) -> String {
        self.coordinator.describe("g").map(|group| group.state).unwrap_or_default()
    }

    /// Joins under v3, where the first JoinGroup already makes a member.
    fn join(&mut self, member_id: &MemberId, change: impl FnOnce(&mut JoinGroupRequest)) -> Sent {
        let mut request = join_request(member_id);
        change(&mut request);
        self.sent += 1;
        self.send_on(self.sent, 3, RequestBody::JoinGroup(request))
    }

    /// A stable group of one; its only member.
    fn stable(&mut self, change: impl FnOnce(&mut JoinGroupRequest)) -> Who {
        let join = self.join(&MemberId::default(), change);
        self.pass(self.coordinator.settings.initial_rebalance_delay);
        let who = self.who(join);
        let sync = self.sync(&who, &[(&who, b"plan")]);
        assert_eq!(self.error(sync), ErrorCode::None);
        who
    }

    fn who(&self, join: Sent) -> Who {
        let joined = self.joined(join);
        assert_eq!(joined.error, ErrorCode::None);
        Who { member_id: joined.member_id.clone(), generation: joined.generation.0 }
    }

    fn sync(&mut self, who: &Who, plan: &[(&Who, &'static [u8])]) -> Sent {
        let assignments =
            plan.iter().map(|(who, part)| (who.member_id.clone(), Bytes::from_static(part)));
        let request = SyncGroupRequest {
            group_id: "g".into(),
            generation: Generation(who.generation),
            member_id: who.member_id.clone(),
            group_instance_id: None,
            protocol_type: "worker".into(),
            protocol: "p".into(),
            assignments: assignments.collect(),
        };
        self.send(RequestBody::SyncGroup(request))
    }

    fn heartbeat(&mut self, who: &Who) -> ErrorCode {
        let request = heartbeat_request(who);
        let sent = self.send(RequestBody::Heartbeat(request));
        self.error(sent)
    }

    fn leave(&mut self, who: &Who) -> Sent {
        let member_id = who.member_id.clone();
        let leaving = LeavingMember { member_id, group_instance_id: None, reason: None };
        self.send(RequestBody::LeaveGroup(LeaveGroupRequest {
            group_id: "g".into(),
            members: vec![leaving],
        }))
    }
}

fn heartbeat_request(who: &Who) -> HeartbeatRequest {
    HeartbeatRequest {
        group_id: "g".into(),
        generation: Generation(who.generation),
        member_id: who.member_id.clone(),
        group_instance_id: None,
    }
}

fn join_request(member_id: &MemberId) -> JoinGroupRequest {
    JoinGroupRequest {
        group_id: "g".into(),
        session_timeout: Duration::from_secs(10),
        rebalance_timeout: Duration::from_secs(60),
        member_id: member_id.clone(),
        group_instance_id: None,
        protocol_type: "worker".into(),
        protocols: vec![("p".into(), Bytes::from_static(b"m"))],
        reason: None,
    }
}

fn instance(id: &str) -> Option<GroupInstanceId> {
    Some(GroupInstanceId::new(id).unwrap())
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
