//! What a test scripts, and what it reads afterwards.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::types::{Generation, MemberId, NodeId};
use crate::wire::{ApiKey, ErrorCode};

/// So many requests are remembered; then the oldest are forgotten.
const MAX_SEEN: usize = 100_000;

/// What is to become of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is served.
    Pass,
    /// It is answered with this error and not looked at.
    Error(ErrorCode),
    /// It stays unanswered, and its connection unread, until [`release`](super::FakeCluster::release); then it is
    /// served.
    Hold,
    /// Its connection is closed, and it is not looked at.
    Close,
    /// It is served after this time; its connection is unread until then.
    Delay(Duration),
    /// It is answered with these bytes in place of a body, and not looked at.
    Garbage(Bytes),
}

/// A request that a fake broker has read.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SeenRequest {
    /// When it was read, on the clock that the cluster runs on.
    pub at: Instant,
    /// Which broker read it.
    pub node: NodeId,
    /// Which connection it came in by: a number of the cluster's own.
    pub connection: u64,
    /// What was asked.
    pub api: ApiKey,
    /// In which version.
    pub version: i16,
    /// Kafka: `client.id`.
    pub client_id: String,
    /// The group that was meant, where one is.
    pub group_id: Option<String>,
    /// The member that asked; of LeaveGroup the first that leaves.
    pub member_id: Option<MemberId>,
    /// The instance id that it gave.
    pub group_instance_id: Option<String>,
    /// The generation that it believed to be current.
    pub generation: Option<Generation>,
    /// Why it joins or leaves (KIP-800).
    pub reason: Option<String>,
}

type Decide = Box<dyn FnMut(&SeenRequest) -> Verdict + Send>;

/// Verdicts to come, and requests so far.
#[derive(Default)]
pub(super) struct Scripts {
    scripts: BTreeMap<ApiKey, VecDeque<Script>>,
    seen: VecDeque<SeenRequest>,
}

struct Script {
    left: usize,
    decide: Decide,
}

impl Scripts {
    pub(super) fn add(&mut self, api: ApiKey, requests: usize, decide: Decide) {
        if requests > 0 {
            self.scripts.entry(api).or_default().push_back(Script { left: requests, decide });
        }
    }

    pub(super) fn clear(&mut self) {
        self.scripts.clear();
    }

    /// Remembers a request and says what is to become of it.
    pub(super) fn decide(&mut self, seen: SeenRequest) -> Verdict {
        let scripts = self.scripts.entry(seen.api).or_default();
        let verdict = match scripts.front_mut() {
            Some(script) => {
                script.left -= 1;
                (script.decide)(&seen)
            }
            None => Verdict::Pass,
        };
        if scripts.front().is_some_and(|script| script.left == 0) {
            scripts.pop_front();
        }
        if self.seen.len() == MAX_SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(seen);
        verdict
    }

    pub(super) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.iter().cloned().collect()
    }

    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripts").field("seen", &self.seen.len()).finish_non_exhaustive()
    }
}
