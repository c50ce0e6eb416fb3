//! What handles ask of the task that drives a member.

use std::fmt;

use tokio::sync::oneshot;

use super::hosted::Hosted;
use crate::error::{CommitError, Error};
use crate::protocol::Cause;
use crate::types::Offsets;

/// A wish of the application's. Dropping the future that waits for an answer takes nothing back.
pub(crate) enum Command<P: Hosted> {
    /// Store offsets.
    Commit { offsets: Offsets, reply: oneshot::Sender<Result<(), CommitError>> },
    /// Ask for a round.
    Rejoin(Cause),
    /// Change what the protocol says; a cause asks for a round.
    Reconfigure(Reconfigure<P>),
    /// End the membership.
    End { how: End, reply: Option<oneshot::Sender<Result<Offsets, Error>>> },
}

/// A change of what the protocol says; a cause asks for a round.
pub(crate) type Reconfigure<P> = Box<dyn FnOnce(&mut P) -> Option<Cause> + Send>;

/// How a membership is to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// Leave the group.
    Leave,
    /// Leave if dynamic, stay if static, or as the policy says.
    Close,
}

impl<P: Hosted> fmt::Debug for Command<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit { offsets, .. } => f.debug_tuple("Commit").field(&offsets.len()).finish(),
            Self::Rejoin(cause) => f.debug_tuple("Rejoin").field(cause).finish(),
            Self::Reconfigure(_) => f.write_str("Reconfigure"),
            Self::End { how, .. } => f.debug_tuple("End").field(how).finish(),
        }
    }
}
