//! Asking a group's coordinator until it says something that no other try would change.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::client::{Client, ClientError, Lane, passes};
use crate::types::Node;
use crate::wire::{ErrorCode, Request};

/// Whom to ask about a group, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinator<'a> {
    pub(super) client: &'a Client,
    pub(super) group: &'a str,
    pub(super) deadline: Instant,
}

/// What the coordinator said.
#[derive(Debug)]
pub(super) struct Answered<R> {
    pub(super) by: Node,
    pub(super) answer: R,
    /// Its error.
    pub(super) error: ErrorCode,
    /// Whether an earlier try, whose answer was lost, may have been acted on.
    pub(super) again: bool,
}

impl Coordinator<'_> {
    /// Asks, and asks again while the answer's error passes: a group that is being loaded, a coordinator that has
    /// moved, a connection that was lost.
    pub(super) async fn ask<R: Request + Clone + Sync>(
        &self,
        lane: Lane,
        request: &R,
        error_of: impl Fn(&R::Response) -> ErrorCode,
    ) -> Result<Answered<R::Response>, ClientError> {
        let mut backoff = self.client.retry_backoff();
        let mut again = false;
        loop {
            let asked =
                self.client.ask_coordinator(self.group, lane, request.clone(), self.deadline);
            let trouble = match asked.await {
                Ok((by, answer)) => match error_of(&answer) {
                    code if passes(code) => {
                        self.client.forget_coordinator(self.group, by.id);
                        self.refused::<R>(code)
                    }
                    error => return Ok(Answered { by, answer, error, again }),
                },
                Err(error) if error.is_retriable() => {
                    again |= may_have_been_seen(&error);
                    error
                }
                Err(error) => return Err(error),
            };
            let pause = backoff.pause();
            if Instant::now() + pause >= self.deadline {
                return Err(trouble);
            }
            tracing::debug!(group = self.group, api = ?R::API, %trouble, "asked again");
            sleep(pause).await;
        }
    }

    /// The error of an answer, for whoever asked.
    pub(super) fn refused<R: Request>(&self, code: ErrorCode) -> ClientError {
        ClientError::of_group(R::API, code, self.group)
    }
}

/// When an operation that begins now should be over, by its own timeout or by the client's.
pub(super) fn deadline(client: &Client, timeout: Option<Duration>) -> Instant {
    /// No clock runs over.
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
    match timeout {
        Some(timeout) => Instant::now() + timeout.min(LONGEST),
        None => client.api_deadline(),
    }
}

fn may_have_been_seen(error: &ClientError) -> bool {
    match error {
        ClientError::Disconnected { sent, .. } => *sent,
        ClientError::TimedOut { api, .. } => api.is_some(),
        _ => false,
    }
}
