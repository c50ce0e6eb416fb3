//! Connections: a broker reads no further request from one whose last request has no answer yet.

use std::collections::{BTreeMap, VecDeque};

use super::request::{ConnectionId, CoordinatorRequest, RequestTag};

/// More than this many requests behind an unanswered one are dropped, as a socket's buffer would fill up.
const MAX_WAITING: usize = 10_000;

/// Which requests are out, and which wait behind them.
#[derive(Debug, Default)]
pub(super) struct Connections {
    muted: BTreeMap<ConnectionId, Muted>,
}

#[derive(Debug)]
struct Muted {
    unanswered: RequestTag,
    waiting: VecDeque<CoordinatorRequest>,
}

impl Connections {
    /// Hands the request back if its connection is free, and mutes the connection until it is answered.
    pub(super) fn admit(&mut self, request: CoordinatorRequest) -> Option<CoordinatorRequest> {
        if let Some(muted) = self.muted.get_mut(&request.connection) {
            if muted.waiting.len() < MAX_WAITING {
                muted.waiting.push_back(request);
            }
            return None;
        }
        let muted = Muted { unanswered: request.tag, waiting: VecDeque::new() };
        self.muted.insert(request.connection, muted);
        Some(request)
    }

    /// Whether somebody still waits for this answer.
    pub(super) fn awaits(&self, connection: ConnectionId, tag: RequestTag) -> bool {
        self.muted.get(&connection).is_some_and(|muted| muted.unanswered == tag)
    }

    /// Whether this request is not even looked at yet.
    pub(super) fn waits_behind(&self, connection: ConnectionId, tag: RequestTag) -> bool {
        let muted = self.muted.get(&connection);
        muted.is_some_and(|muted| muted.waiting.iter().any(|waiting| waiting.tag == tag))
    }

    /// The request was answered: the next one behind it, if any.
    pub(super) fn answered(&mut self, connection: ConnectionId) -> Option<CoordinatorRequest> {
        let muted = self.muted.get_mut(&connection)?;
        let Some(next) = muted.waiting.pop_front() else {
            self.muted.remove(&connection);
            return None;
        };
        muted.unanswered = next.tag;
        Some(next)
    }

    /// The connection is gone, with all that waited in it.
    pub(super) fn close(&mut self, connection: ConnectionId) {
        self.muted.remove(&connection);
    }
}
