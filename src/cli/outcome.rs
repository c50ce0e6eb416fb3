//! How commands end, and how what went wrong on the way is said.

use super::console::Console;
use super::table::printable;
use crate::admin::AdminError;
use crate::client::ClientError;

/// What came of a command that was understood.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    Done,
    /// Something of what was asked for could not be done.
    Failed,
    /// No broker was reached, or it does not let this user do it.
    OutOfReach,
}

/// Why a command ended before it was done.
#[derive(Debug)]
pub(super) enum Ended {
    /// What is asked for makes no sense.
    Usage(String),
    Admin(AdminError),
}

impl From<AdminError> for Ended {
    fn from(error: AdminError) -> Self {
        let invalid = matches!(error, AdminError::Client(ClientError::InvalidOption { .. }));
        match invalid || matches!(error, AdminError::Invalid(_)) {
            true => Self::Usage(error.to_string()),
            false => Self::Admin(error),
        }
    }
}

impl From<ClientError> for Ended {
    fn from(error: ClientError) -> Self {
        AdminError::from(error).into()
    }
}

/// Says what is wrong, and what comes of it.
pub(super) fn told(console: &mut Console<'_>, error: &AdminError) -> Outcome {
    console.complain(format_args!("{}\n", one_line(error)));
    failure(error)
}

pub(super) fn failure(error: &AdminError) -> Outcome {
    match error.is_out_of_reach() {
        true => Outcome::OutOfReach,
        false => Outcome::Failed,
    }
}

pub(super) fn worse(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Outcome::OutOfReach, _) | (_, Outcome::OutOfReach) => Outcome::OutOfReach,
        (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Failed,
        (Outcome::Done, Outcome::Done) => Outcome::Done,
    }
}

/// Names in errors may hold anything.
pub(super) fn one_line(error: &AdminError) -> String {
    printable(&error.to_string())
}
