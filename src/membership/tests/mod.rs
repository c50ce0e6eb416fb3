//! Sentences about the machine, told by scripts: what goes in, what must come out.

mod commits;
mod denied;
mod errors;
mod heartbeats;
mod joining;
mod leaving;
mod losses;
mod nonsense;
mod progress;
mod rounds;
mod settling;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::*;
use crate::protocol::{Facts, GroupProtocol, JobError, Joined, Joining, Plan};
use crate::testing::{PieceProtocol, Pieces};
use crate::types::{Cluster, GroupInstanceId};
use crate::wire::ErrorCode;
use crate::wire::api::{
    HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, JoinedMember, LeaveGroupResponse,
    SyncGroupResponse,
};

const SESSION: Duration = Duration::from_secs(45);
const REBALANCE: Duration = Duration::from_secs(300);
const UUID: &str = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

/// A machine, with everything around it that a test does not care about.
struct Script {
    member: Membership<Pieces>,
    now: Instant,
    protocol: PieceProtocol,
    /// Requests that wait for an answer, with their deadlines; commits apart.
    sent: VecDeque<(RequestId, GroupRequest, Instant)>,
    commits: VecDeque<(RequestId, CommitId, Pieces, Identity)>,
    ended: Vec<(CommitId, Pieces, CommitEnd)>,
    events: Vec<Event<Pieces>>,
    lookups: VecDeque<RequestId>,
    /// What was given out, by name, in order.
    log: Vec<String>,
    /// The last work of each kind that was not done by itself.
    leading: Option<WorkId>,
    describing: Option<WorkId>,
    /// Lookups are answered at once.
    finds: bool,
    /// Heartbeats are answered at once, so.
    beats: Option<ErrorCode>,
    /// Plans are made at once.
    plans: bool,
    /// What is said is said at once.
    describes: bool,
    /// What plans say is others' to commit.
    standby: Pieces,
    /// Events are taken at once.
    takes: bool,
}

fn config() -> MembershipConfig {
    MembershipConfig {
        group_id: "workers".to_owned(),
        group_instance_id: None,
        protocol_type: "pieces".to_owned(),
        session_timeout: SESSION,
        rebalance_timeout: REBALANCE,
        heartbeat_interval: None,
        request_timeout: Duration::from_secs(30),
        retry_backoff: Duration::from_millis(100),
        retry_backoff_max: Duration::from_secs(1),
        api_timeout: Duration::from_secs(60),
        settle_delay: Duration::ZERO,
        allow_foreign_commits: false,
        leave_policy: LeavePolicy::Auto,
        on_fenced: OnFenced::Fail,
    }
}

impl Script {
    #[expect(clippy::disallowed_methods, reason = "where virtual time begins does not matter")]
    fn with(config: MembershipConfig) -> Self {
        Self {
            member: Membership::new(config, 7),
            now: Instant::now(),
            protocol: PieceProtocol::new(6, false, 0),
            sent: VecDeque::new(),
            commits: VecDeque::new(),
            ended: Vec::new(),
            events: Vec::new(),
            lookups: VecDeque::new(),
            log: Vec::new(),
            leading: None,
            describing: None,
            finds: true,
            beats: None,
            plans: true,
            describes: true,
            standby: Pieces::default(),
            takes: true,
        }
    }

    fn dynamic() -> Self {
        Self::with(config())
    }

    fn of_instance(instance: &str) -> Self {
        let group_instance_id = Some(GroupInstanceId::new(instance).unwrap());
        Self::with(MembershipConfig { group_instance_id, ..config() })
    }

    fn cooperative(mut self) -> Self {
        self.protocol = PieceProtocol::new(6, true, 0);
        self
    }

    fn tell(&mut self, tell: impl FnOnce(&mut Membership<Pieces>, Instant)) {
        tell(&mut self.member, self.now);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.member.poll_output() {
            self.take(output);
        }
    }

    fn take(&mut self, output: Output<Pieces>) {
        let now = self.now;
        match output {
            Output::FindCoordinator { id } => {
                self.log.push("FindCoordinator".to_owned());
                match self.finds {
                    true => self.member.handle_coordinator(now, id, Ok(())),
                    false => self.lookups.push_back(id),
                }
            }
            Output::Send { id, request: GroupRequest::Heartbeat(_), .. }
                if self.beats.is_some() =>
            {
                let error = self.beats.unwrap_or_default();
                let beat = HeartbeatResponse { error, ..HeartbeatResponse::default() };
                self.member.handle_response(now, id, Ok(GroupResponse::Heartbeat(beat)));
            }
            Output::Send { id, request, deadline, .. } => {
                self.log.push(name(&request).to_owned());
                self.sent.push_back((id, request, deadline));
            }
            Output::Commit { id, commit, items, identity, .. } => {
                self.log.push("Commit".to_owned());
                self.commits.push_back((id, commit, items, identity));
            }
            Output::CommitEnded { commit, items, end } => self.ended.push((commit, items, end)),
            Output::DropRounds => self.log.push("DropRounds".to_owned()),
            Output::Work { id, work } => self.work(id, work),
            Output::Event(event) => {
                self.events.push(event);
                if self.takes {
                    self.member.delivered(now);
                }
            }
        }
    }

    fn work(&mut self, id: WorkId, work: Work<Pieces>) {
        let now = self.now;
        match work {
            Work::BeforeJoin { held, cause } => {
                self.log.push("BeforeJoin".to_owned());
                let wanted = self.protocol.before_join(&held, &cause);
                self.member.handle_release_wanted(now, id, wanted);
            }
            Work::Describe { .. } if !self.describes => self.describing = Some(id),
            Work::Describe { held, generation, member_id, cause, nonce } => {
                let (held, member_id, cause) = (&held, &member_id, &cause);
                let joining = Joining { held, generation, member_id, cause, nonce };
                let described = self.protocol.describe(joining)();
                self.member.handle_described(now, id, described);
            }
            Work::Lead { .. } if !self.plans => self.leading = Some(id),
            Work::Lead { led, .. } => {
                let facts = Facts { cluster: Arc::new(Cluster::default()), gathered: None };
                let planned = self.protocol.lead(led).1(facts);
                self.member.handle_planned(now, id, planned);
            }
            Work::Join { generation, protocol, member_id, leads, held, assignment } => {
                let joined = Joined {
                    generation,
                    protocol: &protocol,
                    member_id: &member_id,
                    group_instance_id: None,
                    leads,
                    held: &held,
                    assignment,
                };
                let mut change = self.protocol.joined(joined);
                change.standby = self.standby.clone();
                self.member.handle_change(now, id, change);
            }
        }
    }

    /// Answers the oldest request that waits.
    fn answer(&mut self, answer: Result<GroupResponse, Failure>) {
        let (id, ..) = self.sent.pop_front().expect("a request waits");
        self.tell(|member, now| member.handle_response(now, id, answer));
    }

    fn id_given(&mut self, id: &str) {
        self.answer(Ok(GroupResponse::Join(JoinGroupResponse {
            error: ErrorCode::MemberIdRequired,
            member_id: MemberId::new(id),
            ..JoinGroupResponse::default()
        })));
    }

    /// JoinGroup is answered: `leader` leads, and we are `id`.
    fn joined(&mut self, generation: i32, id: &str, leader: &str) {
        self.answer(Ok(GroupResponse::Join(joined(generation, id, leader))));
    }

    fn synced(&mut self, pieces: &[u16]) {
        self.answer(Ok(GroupResponse::Sync(synced(pieces))));
    }

    fn refused(&mut self, error: ErrorCode) {
        let answer = match self.sent.front().map(|(_, request, _)| request) {
            Some(GroupRequest::Join(_)) => {
                GroupResponse::Join(JoinGroupResponse { error, ..JoinGroupResponse::default() })
            }
            Some(GroupRequest::Sync(_)) => {
                GroupResponse::Sync(SyncGroupResponse { error, ..SyncGroupResponse::default() })
            }
            Some(GroupRequest::Heartbeat(_)) => GroupResponse::Heartbeat(HeartbeatResponse {
                error,
                ..HeartbeatResponse::default()
            }),
            Some(GroupRequest::Leave(_)) => {
                GroupResponse::Leave(LeaveGroupResponse { error, ..LeaveGroupResponse::default() })
            }
            None => panic!("no request waits"),
        };
        self.answer(Ok(answer));
    }

    fn committed(&mut self, code: ErrorCode) {
        let (id, ..) = self.commits.pop_front().expect("a commit waits");
        self.tell(|member, now| member.handle_response(now, id, Ok(GroupResponse::Commit(code))));
    }

    /// Lets time pass, in the steps that the machine asks for.
    fn pass(&mut self, span: Duration) {
        let until = self.now + span;
        let mut steps = 0;
        while let Some(at) = self.member.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.tell(Membership::handle_timeout);
            steps += 1;
            assert!(steps < 10_000, "the machine asks to be woken for nothing");
        }
        self.now = until;
    }

    /// A follower that holds `pieces` in generation 1, whose heartbeats are answered from now on.
    fn settled(mut self, pieces: &[u16]) -> Self {
        self.tell(Membership::join);
        if self.member.identity.group_instance_id.is_none() {
            self.id_given("me");
        }
        self.joined(1, "me", "other");
        self.beats = Some(ErrorCode::None);
        self.synced(pieces);
        if self.sent.iter().any(|(_, request, _)| matches!(request, GroupRequest::Heartbeat(_))) {
            self.refused(ErrorCode::None);
        }
        assert_eq!(self.member.state(), MemberState::Stable);
        self.log.clear();
        self.events.clear();
        self
    }

    /// The next heartbeat says that the group rebalances.
    fn rebalance(&mut self) {
        self.beats = Some(ErrorCode::RebalanceInProgress);
        self.pass(Duration::from_secs(4));
    }

    /// The application gives up what the last event revoked.
    fn release(&mut self) {
        let Some(Event::Revoked { id, .. }) = self.events.last() else {
            panic!("nothing is revoked: {:?}", self.events)
        };
        let id = *id;
        self.tell(|member, now| member.release(now, id));
    }

    fn last_join(&self) -> &JoinGroupRequest {
        match self.sent.back() {
            Some((_, GroupRequest::Join(join), _)) => join,
            other => panic!("no JoinGroup waits but {other:?}"),
        }
    }

    fn requests(&self) -> Vec<&'static str> {
        self.sent.iter().map(|(_, request, _)| name(request)).collect()
    }

    /// How many of `what` were given out.
    fn count(&self, what: &str) -> usize {
        self.log.iter().filter(|line| *line == what).count()
    }

    fn lost(&self) -> Option<(&Pieces, &LossCause)> {
        self.events.iter().find_map(|event| match event {
            Event::Lost { lost, cause } => Some((lost, cause)),
            _ => None,
        })
    }
}

fn name(request: &GroupRequest) -> &'static str {
    match request {
        GroupRequest::Join(_) => "JoinGroup",
        GroupRequest::Sync(_) => "SyncGroup",
        GroupRequest::Heartbeat(_) => "Heartbeat",
        GroupRequest::Leave(_) => "LeaveGroup",
    }
}

fn joined(generation: i32, id: &str, leader: &str) -> JoinGroupResponse {
    let member = JoinedMember {
        member_id: MemberId::new(id),
        group_instance_id: None,
        metadata: Bytes::new(),
    };
    JoinGroupResponse {
        generation: Generation(generation),
        protocol_type: Some("pieces".to_owned()),
        protocol: Some("in-turn".to_owned()),
        leader: MemberId::new(leader),
        member_id: MemberId::new(id),
        members: if id == leader { vec![member] } else { Vec::new() },
        ..JoinGroupResponse::default()
    }
}

fn synced(pieces: &[u16]) -> SyncGroupResponse {
    let mut assignment = vec![0, 0];
    pieces.iter().for_each(|piece| assignment.extend(piece.to_be_bytes()));
    SyncGroupResponse { assignment: assignment.into(), ..SyncGroupResponse::default() }
}
