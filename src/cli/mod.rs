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
//! `kafka-group plan --help` says what the command can do. It reads files alone: no broker is asked.

mod assigners;
mod console;
mod memory;
mod plan;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;

pub use assigners::Assigners;
use console::Console;
pub use memory::CountingAllocator;

const USAGE: &str = "\
usage: kafka-group COMMAND …

  plan      plans groups that are described in files, and says who would have what
  help      says this, or with a command's name what that command can do
";

/// Runs the command; `args` begin with the program's own name, as those of [`std::env::args_os`] do.
///
/// Blocks until it is done. What it says goes to the standard output, what is wrong to the standard error. The code is
/// 0 if everything went well, 1 if something of what was asked for could not be done, and 2 if it was not understood
/// what is asked for.
pub fn run(args: impl IntoIterator<Item = OsString>, assigners: Assigners) -> ExitCode {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    let mut console = Console::new(&mut out, &mut err);
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

/// The code to exit with.
fn dispatch(
    args: impl IntoIterator<Item = OsString>,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> u8 {
    let done = match command(lexopt::Parser::from_iter(args), assigners, console) {
        Ok(done) => done,
        Err(error) => {
            console.complain(format_args!("{error}\n"));
            return 2;
        }
    };
    match done && !console.is_broken() {
        true => 0,
        false => 1,
    }
}

/// Whether all that was asked for was done.
fn command(
    mut arguments: lexopt::Parser,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<bool, UsageError> {
    use lexopt::Arg::{Long, Short, Value};

    let command = match arguments.next()? {
        None | Some(Short('h') | Long("help")) => "help".into(),
        Some(Short('V') | Long("version")) => "version".into(),
        Some(Value(command)) => command,
        Some(other) => return Err(other.unexpected().into()),
    };
    match command.to_str() {
        Some("plan") => plan::run(arguments, assigners, console),
        Some("version") => {
            console.say(format_args!("kafka-group {}\n", env!("CARGO_PKG_VERSION")));
            Ok(true)
        }
        Some("help") => {
            let about = arguments.next()?;
            let is_plan = matches!(&about, Some(Value(command)) if command == "plan");
            console.say(format_args!("{}", if is_plan { plan::USAGE } else { USAGE }));
            Ok(true)
        }
        _ => Err(UsageError::Other(format!("no command {command:?}; try `kafka-group help`"))),
    }
}

#[cfg(test)]
mod tests;
