//! Requests to the coordinator, and their answers.

use std::time::Instant;

use tracing::{Instrument, Span};

use super::work::Worked;
use super::{Driver, Said, now};
use crate::client::{self, ClientError, GroupNature, Target};
use crate::group::hosted::Hosted;
use crate::membership::{
    CommitId, Failure, GroupRequest, GroupResponse, Identity, Lane, RequestId,
};
use crate::types::{NodeId, Offsets};
use crate::wire::api::{OffsetCommitRequest, OffsetCommitResponse};

/// What a task of the driver's brought back.
pub(super) enum Answer {
    Coordinator { id: RequestId, found: Result<NodeId, Failure> },
    Response { id: RequestId, response: Result<GroupResponse, Failure> },
    Committed { id: RequestId, commit: CommitId, response: Result<OffsetCommitResponse, Failure> },
    Worked(Worked),
    Nature(Result<GroupNature, ClientError>),
}

impl<P: Hosted> Driver<P> {
    pub(super) fn find_coordinator(&mut self, id: RequestId) {
        let (client, group, last) = (self.client.clone(), self.group_id.clone(), self.coordinator);
        let deadline = tokio::time::Instant::now() + self.request_timeout;
        self.answers.await_here(async move {
            if let Some(node) = last {
                client.forget_coordinator(&group, node);
            }
            let found = client.coordinator(&group, deadline).await;
            Answer::Coordinator { id, found: found.map(|node| node.id).map_err(failure) }
        });
    }

    /// So that the error can say what stands in the way.
    pub(super) fn ask_what_the_group_is(&mut self) {
        let (client, group) = (self.client.clone(), self.group_id.clone());
        let deadline = tokio::time::Instant::now() + self.request_timeout;
        self.answers
            .await_here(async move { Answer::Nature(client.group_nature(&group, deadline).await) });
    }

    pub(super) fn send(
        &mut self,
        id: RequestId,
        lane: Lane,
        request: GroupRequest,
        deadline: Instant,
    ) {
        let (client, group, node) = (self.client.clone(), self.group_id.clone(), self.coordinator);
        let span = if lane == Lane::Rounds { self.report.span() } else { Span::none() };
        let lane = self.lane_of(lane);
        let deadline = deadline.into();
        let leaves = matches!(request, GroupRequest::Leave(_));
        let exchange = async move {
            let to = target(node, &group);
            let response = match request {
                GroupRequest::Join(join) => {
                    client.send(to, lane, join, deadline).await.map(GroupResponse::Join)
                }
                GroupRequest::Sync(sync) => {
                    client.send(to, lane, sync, deadline).await.map(GroupResponse::Sync)
                }
                GroupRequest::Heartbeat(beat) => {
                    client.send(to, lane, beat, deadline).await.map(GroupResponse::Heartbeat)
                }
                GroupRequest::Leave(leave) => {
                    client.send(to, lane, leave, deadline).await.map(GroupResponse::Leave)
                }
            };
            Answer::Response { id, response: response.map_err(failure) }
        };
        match leaves {
            true => self.farewell = Some(self.answers.spawn(exchange.instrument(span))),
            false => self.answers.await_here(exchange.instrument(span)),
        }
    }

    pub(super) fn send_commit(
        &mut self,
        id: RequestId,
        commit: CommitId,
        items: &P::Held,
        identity: Identity,
        deadline: Instant,
    ) {
        let lane = self.lane_of(Lane::Commits);
        let offsets = P::offsets_of(items, &self.commits.offsets(commit));
        let partitions = offsets.len();
        let request = commits_request(&self.group_id, identity, offsets);
        let (client, group, node) = (self.client.clone(), self.group_id.clone(), self.coordinator);
        self.answers.await_here(async move {
            let to = target(node, &group);
            let response = client.send(to, lane, request, deadline.into()).await;
            // A partition of which nothing is said is not known to be stored.
            let response = match response.map_err(failure) {
                Ok(response) if response.partitions.len() < partitions => Err(Failure::Unreadable),
                response => response,
            };
            Answer::Committed { id, commit, response }
        });
    }

    pub(super) fn answered(&mut self, answer: Answer) {
        let now = now();
        match answer {
            Answer::Coordinator { id, found } => {
                self.coordinator = found.as_ref().ok().copied();
                self.machine.handle_coordinator(now, id, found.map(|_| ()));
            }
            Answer::Response { id, response } => {
                self.report.answered(&response, now);
                self.tell_of_the_holder(&response);
                self.machine.handle_response(now, id, response);
            }
            Answer::Committed { id, commit, response } => {
                let response = response
                    .map(|response| GroupResponse::Commit(self.commits.answered(commit, response)));
                self.machine.handle_response(now, id, response);
            }
            Answer::Worked(worked) => self.worked(worked),
            Answer::Nature(nature) => self.nature = nature.ok(),
        }
    }

    /// Once, when the coordinator has given this member the id that somebody else had.
    fn tell_of_the_holder(&mut self, response: &Result<GroupResponse, Failure>) {
        let Ok(GroupResponse::Join(joined)) = response else { return };
        if !joined.error.is_none() {
            return;
        }
        let notice = self.holder.take().and_then(P::took_over);
        if let Some(notice) = notice {
            self.mailbox.notice(Said::Notice(notice));
        }
    }

    fn lane_of(&self, lane: Lane) -> client::Lane {
        match lane {
            Lane::Rounds => self.lane,
            Lane::Heartbeats => client::Lane::Heartbeat,
            Lane::Commits => client::Lane::Commit,
        }
    }
}

/// The coordinator that this member found: if it is not that any more, its answer says so of the right broker.
fn target(node: Option<NodeId>, group: &str) -> Target<'_> {
    node.map_or(Target::Coordinator(group), Target::Node)
}

fn commits_request(group_id: &str, identity: Identity, offsets: Offsets) -> OffsetCommitRequest {
    OffsetCommitRequest {
        group_id: group_id.to_owned(),
        generation: identity.generation,
        member_id: identity.member_id,
        group_instance_id: identity.group_instance_id,
        offsets,
    }
}

/// What the machine needs to know of a request that was not answered.
fn failure(error: ClientError) -> Failure {
    match error {
        ClientError::TimedOut { .. } => Failure::TimedOut,
        ClientError::UnsupportedVersion { .. } | ClientError::Unencodable { .. } => {
            Failure::Unsupported(error.to_string())
        }
        ClientError::Undecodable { .. } => Failure::Unreadable,
        ClientError::Refused { code, .. } => Failure::Refused(code),
        error => match error.denial() {
            Some(denial) => Failure::Denied(denial.into()),
            None => Failure::Disconnected,
        },
    }
}
