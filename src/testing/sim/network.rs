//! What is on its way: requests, answers, results, and how the weather treats them.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::process::{Connection, GROUP, lane_key};
use super::{Pieces, Sent, Sim};
use crate::membership::{
    Failure, GroupRequest, GroupResponse, Lane, RequestId, RevocationId, WorkId,
};
use crate::protocol::{Change, JobError, Plan};
use crate::testing::coordinator::{
    ConnectionId, CoordinatorRequest, CoordinatorResponse, RequestBody, RequestTag, ResponseBody,
};
use crate::types::{Offsets, TopicPartition};
use crate::wire::ErrorCode;
use crate::wire::api::OffsetCommitRequest;

/// How the network and the applications behave. Chances are in thousandths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    /// A connection is cut: whatever is sent on it is gone, and nobody says so.
    pub(super) cut: u32,
    /// A connection is reset.
    pub(super) reset: u32,
    /// An answer takes seconds.
    pub(super) late: u32,
    /// An answer comes twice.
    pub(super) twice: u32,
    /// An application takes its time over a revocation, or over asking.
    pub(super) idle: u32,
    /// A leader fails to plan.
    pub(super) no_plan: u32,
}

impl Weather {
    pub(super) const GOOD: Self = Self { cut: 0, reset: 0, late: 0, twice: 0, idle: 0, no_plan: 0 };
    pub(super) const BAD: Self =
        Self { cut: 15, reset: 15, late: 30, twice: 60, idle: 60, no_plan: 30 };
}

/// Something that will happen.
#[derive(Debug)]
pub(super) enum Happening {
    RequestArrives { request: CoordinatorRequest, epoch: u64 },
    ConnectionCloses(ConnectionId),
    AnswerArrives { sent: Sent, answer: Result<GroupResponse, Failure> },
    Overdue { process: usize, lane: u8, id: RequestId },
    CoordinatorFound { process: usize, id: RequestId, found: Result<(), Failure> },
    Worked { process: usize, id: WorkId, worked: Worked },
    Asks { process: usize },
    Releases { process: usize, id: RevocationId },
    Resumes { process: usize },
}

impl Happening {
    /// Whose happening it is; a process that stands still notices later.
    pub(super) fn process(&self) -> Option<usize> {
        match self {
            Self::RequestArrives { .. } | Self::ConnectionCloses(_) | Self::Resumes { .. } => None,
            Self::AnswerArrives { sent, .. } => Some(sent.process),
            Self::Overdue { process, .. }
            | Self::CoordinatorFound { process, .. }
            | Self::Worked { process, .. }
            | Self::Asks { process }
            | Self::Releases { process, .. } => Some(*process),
        }
    }
}

/// What work came to.
#[derive(Debug)]
pub(super) enum Worked {
    BeforeJoin(Pieces),
    Described(Result<Vec<(String, Bytes)>, JobError>),
    Planned(Result<Plan, JobError>),
    Joined(Change<Pieces, ()>),
}

/// A happening and its time; of two at one time the first scheduled comes first.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) at: Instant,
    number: u64,
    pub(super) happening: Happening,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Entry {}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Sim {
    pub(super) fn schedule(&mut self, at: Instant, happening: Happening) {
        self.last_entry += 1;
        self.agenda.push(Entry { at, number: self.last_entry, happening });
    }

    pub(super) fn chance(&mut self, thousandths: u32) -> bool {
        self.dice.u32(..1000) < thousandths
    }

    pub(super) fn latency(&mut self) -> Duration {
        Duration::from_micros(self.dice.u64(300..20_000))
    }

    /// Sends a request on the process's connection for `lane`, opening one if need be.
    pub(super) fn send(&mut self, at: usize, lane: Lane, id: RequestId, body: RequestBody) {
        let lane = lane_key(lane);
        let (cut, reset) = (self.chance(self.weather.cut), self.chance(self.weather.reset));
        let arrives = self.now + self.latency();
        self.last_connection += 1;
        let fresh = ConnectionId(self.last_connection);
        let now = self.now;
        let Some(process) = self.processes.get_mut(at) else { return };
        let epoch = process.epoch;
        let connection = process.lanes.entry(lane).or_insert(Connection {
            id: fresh,
            epoch,
            is_cut: false,
            last_sent: now,
            last_answer: now,
        });
        connection.is_cut |= cut;
        connection.last_sent = connection.last_sent.max(arrives);
        let Connection { id: connection, epoch, is_cut, last_sent, .. } = *connection;
        if is_cut {
            return;
        }
        self.last_tag += 1;
        let tag = RequestTag(self.last_tag);
        if let Some(waiting) = process.out.get_mut(&id) {
            waiting.tag = Some(tag);
        }
        self.tags.insert(tag, Sent { process: at, lane, connection, id });
        let request =
            CoordinatorRequest { connection, tag, version: 9, client_id: "sim".into(), body };
        self.schedule(last_sent, Happening::RequestArrives { request, epoch });
        if reset {
            self.reset_lane(at, lane);
        }
    }

    pub(super) fn on_request(&mut self, request: CoordinatorRequest, epoch: u64) {
        let (now, tag) = (self.now, request.tag);
        if now < self.down_until {
            if let Some(sent) = self.tags.remove(&tag) {
                self.reset_lane(sent.process, sent.lane);
            }
            return;
        }
        if epoch < self.epoch {
            let (connection, body) =
                (request.connection, request.body.refused(ErrorCode::NotCoordinator));
            return self.on_answer(CoordinatorResponse { connection, tag, body });
        }
        self.coordinator.handle(now, request);
        self.collect_answers();
    }

    /// The coordinator has done something. Sends its answers on their way.
    pub(super) fn collect_answers(&mut self) {
        self.note_untold();
        while let Some(answer) = self.coordinator.poll_response() {
            self.on_answer(answer);
        }
    }

    fn on_answer(&mut self, answer: CoordinatorResponse) {
        let late = match self.chance(self.weather.late) {
            true => Duration::from_millis(self.dice.u64(..8000)),
            false => Duration::ZERO,
        };
        let arrives = self.now + self.latency() + late;
        let twice = self.chance(self.weather.twice);
        let Some(sent) = self.tags.remove(&answer.tag) else { return };
        let Some(connection) = self.connection_of(sent).filter(|connection| !connection.is_cut)
        else {
            return;
        };
        connection.last_answer = connection.last_answer.max(arrives);
        let arrives = connection.last_answer;
        let Some(response) = group_response(answer.body) else { return };
        if twice {
            let later = arrives + Duration::from_millis(self.dice.u64(..9000));
            let answer = Ok(response.clone());
            self.schedule(later, Happening::AnswerArrives { sent, answer });
        }
        self.schedule(arrives, Happening::AnswerArrives { sent, answer: Ok(response) });
    }

    pub(super) fn connection_of(&mut self, sent: Sent) -> Option<&mut Connection> {
        let process = self.processes.get_mut(sent.process)?;
        process.lanes.get_mut(&sent.lane).filter(|connection| connection.id == sent.connection)
    }

    /// The process closes a connection; the broker hears of it after what was sent before.
    pub(super) fn close_lane(&mut self, at: usize, lane: u8) {
        let closed = self.processes.get_mut(at).and_then(|process| process.lanes.remove(&lane));
        if let Some(connection) = closed {
            let heard = (self.now + self.latency()).max(connection.last_sent);
            self.schedule(heard, Happening::ConnectionCloses(connection.id));
        }
    }

    /// A connection is reset under both: whatever waits on it fails at once.
    pub(super) fn reset_lane(&mut self, at: usize, lane: u8) {
        self.close_lane(at, lane);
        let Some(process) = self.processes.get_mut(at) else { return };
        let waiting: Vec<_> = process
            .out
            .iter()
            .filter(|(_, waiting)| lane_key(waiting.lane) == lane)
            .map(|(id, _)| *id)
            .collect();
        for id in waiting {
            // No connection has this number: the failure comes, whatever is opened meanwhile.
            let sent = Sent { process: at, lane, connection: ConnectionId(0), id };
            let heard = self.now + self.latency();
            let answer = Err(Failure::Disconnected);
            self.schedule(heard, Happening::AnswerArrives { sent, answer });
        }
    }
}

pub(super) fn request_body(request: GroupRequest) -> RequestBody {
    match request {
        GroupRequest::Join(join) => RequestBody::JoinGroup(join),
        GroupRequest::Sync(sync) => RequestBody::SyncGroup(sync),
        GroupRequest::Heartbeat(heartbeat) => RequestBody::Heartbeat(heartbeat),
        GroupRequest::Leave(leave) => RequestBody::LeaveGroup(leave),
    }
}

pub(super) fn commit_body(items: &Pieces, identity: crate::membership::Identity) -> RequestBody {
    let offset = |piece: &u16| (TopicPartition::new("pieces", i32::from(*piece)), 1.into());
    RequestBody::OffsetCommit(OffsetCommitRequest {
        group_id: GROUP.to_owned(),
        generation: identity.generation,
        member_id: identity.member_id,
        group_instance_id: identity.group_instance_id,
        offsets: items.0.iter().map(offset).collect::<Offsets>(),
    })
}

fn group_response(body: ResponseBody) -> Option<GroupResponse> {
    Some(match body {
        ResponseBody::JoinGroup(joined) => GroupResponse::Join(joined),
        ResponseBody::SyncGroup(synced) => GroupResponse::Sync(synced),
        ResponseBody::Heartbeat(beat) => GroupResponse::Heartbeat(beat),
        ResponseBody::LeaveGroup(left) => GroupResponse::Leave(left),
        ResponseBody::OffsetCommit(committed) => {
            let first = committed.partitions.first();
            GroupResponse::Commit(first.map_or(ErrorCode::None, |(_, code)| *code))
        }
        _ => return None,
    })
}
