//! The command `kafka-group` as a library, for an application to ship its own, which knows its assigners.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use kafka_group::assign::{AssignError, GroupAssignment, GroupSubscription, LocalMember, PartitionAssigner};
//! use kafka_group::cli::{self, Assigners};
//!
//! struct InOrder;
//!
//! impl PartitionAssigner for InOrder {
//!     fn name(&self) -> &str { "in-order" }
//!
//!     fn metadata(&self, _local: &LocalMember<'_>) {}
//!
//!     fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
//!         let mut plan = group.plan();
//!         for partition in group.partitions() {
//!             if let Some(first) = group.subscribers(partition.topic()).next() {
//!                 plan.give(first, partition);
//!             }
//!         }
//!         Ok(plan)
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     cli::run(std::env::args_os(), Assigners::builtin().with(InOrder))
//! }
//! ```
//!
//! `kafka-group help` says what the command can do. `plan` reads files alone; the rest asks a cluster.

mod arguments;
mod assigners;
mod console;
mod groups;
mod memory;
mod partitions;
mod plan;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

pub use assigners::Assigners;
use console::Console;
pub use memory::CountingAllocator;

const USAGE: &str = "\
usage: kafka-group COMMAND …

  list            lists the groups of a cluster
  describe        describes groups: who is in them, who wants what, who has what
  members         lists the members of groups, by their ids
  lag             says how far groups are behind the ends of their partitions
  remove-members  takes members out of a group
  plan            plans groups that are described in files, and says who would have what
  help            says this, or with a command's name what that command can do
";

/// Runs the command; `args` begin with the program's own name, as those of [`std::env::args_os`] do.
///
/// Blocks until it is done. What it says goes to the standard output, what is wrong and what it asks to the standard
/// error. The code is 0 if everything went well, 1 if something of what was asked for could not be done, 2 if it was not
/// understood what is asked for, and 3 if no broker could be reached or this user may not do it.
///
/// The trap: it starts a runtime of its own, so it is not to be called within one.
pub fn run(args: impl IntoIterator<Item = OsString>, assigners: Assigners) -> ExitCode {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    let mut answers = std::io::stdin().lock();
    let mut console = Console::new(&mut out, &mut err).answered_by(&mut answers);
    ExitCode::from(dispatch(args, &assigners, &mut console))
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
enum UsageError {
    #[error(transparent)]
    Arguments(#[from] lexopt::Error),
    #[error("{0}")]
    Other(String),
}

/// What came of a command that was understood.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Done,
    /// Something of what was asked for could not be done.
    Failed,
    /// No broker was reached, or it does not let this user do it.
    OutOfReach,
}

/// The code to exit with.
fn dispatch(
    args: impl IntoIterator<Item = OsString>,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> u8 {
    match command(lexopt::Parser::from_iter(args), assigners, console) {
        Ok(Outcome::Done) if !console.is_broken() => 0,
        Ok(Outcome::Done | Outcome::Failed) => 1,
        Ok(Outcome::OutOfReach) => 3,
        Err(error) => {
            console.complain(format_args!("{error}\n"));
            2
        }
    }
}

fn command(
    mut arguments: lexopt::Parser,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<Outcome, UsageError> {
    use lexopt::Arg::{Long, Short, Value};

    let command = match arguments.next()? {
        None | Some(Short('h') | Long("help")) => "help".into(),
        Some(Short('V') | Long("version")) => "version".into(),
        Some(Value(command)) => command,
        Some(other) => return Err(other.unexpected().into()),
    };
    match command.to_str() {
        Some("plan") => Ok(match plan::run(arguments, assigners, console)? {
            true => Outcome::Done,
            false => Outcome::Failed,
        }),
        Some("version") => {
            console.say(format_args!("kafka-group {}\n", env!("CARGO_PKG_VERSION")));
            Ok(Outcome::Done)
        }
        Some("help") => {
            let about = match arguments.next()? {
                Some(Value(command)) => command.into_string().unwrap_or_default(),
                _ => String::new(),
            };
            let usage = match about.as_str() {
                "plan" => plan::USAGE,
                about => groups::Command::named(about).map_or(USAGE, groups::Command::usage),
            };
            console.say(format_args!("{usage}"));
            Ok(Outcome::Done)
        }
        Some(name) if groups::Command::named(name).is_some() => {
            groups::run(name, arguments, assigners, console)
        }
        _ => Err(UsageError::Other(format!("no command {command:?}; try `kafka-group help`"))),
    }
}

#[cfg(test)]
mod tests;
