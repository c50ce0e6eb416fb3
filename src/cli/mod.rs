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
//! `kafka-group help` says what the command can do. All but `plan` of files ask a cluster.

mod arguments;
mod assigners;
mod commands;
mod completions;
mod config;
mod console;
mod groups;
mod memory;
mod outcome;
mod page;
mod partitions;
mod plan;
mod reach;
mod table;
mod watch;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

pub use assigners::Assigners;
use console::Console;
pub use memory::CountingAllocator;
use outcome::Outcome;
use page::Page;
use table::printable;

/// Runs the command; `args` begin with the program's own name, as those of [`std::env::args_os`] do.
///
/// Blocks until it is done. What it says goes to the standard output, what is wrong and what it asks to the standard
/// error. The code is 0 if everything went well, 1 if something of what was asked for could not be done, 2 if it was not
/// understood what is asked for, and 3 if no broker could be reached or this user may not do it; 141, as of a program that
/// a closed pipe has killed, if whoever reads has seen enough.
///
/// The trap: it starts a runtime of its own, so it is not to be called within one.
pub fn run(args: impl IntoIterator<Item = OsString>, assigners: Assigners) -> ExitCode {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    let mut answers = std::io::stdin().lock();
    let console = Console::new(&mut out, &mut err).answered_by(&mut answers);
    let mut console = console.on(Page::of_standard_output);
    ExitCode::from(dispatch(args, &assigners, &mut console))
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
enum UsageError {
    #[error("{0}; see `kafka-group help`")]
    Arguments(#[from] lexopt::Error),
    #[error("{0}")]
    Other(String),
}

/// What a shell says of a program that wrote to a pipe whose reader is gone.
const CLOSED_PIPE: u8 = 141;

/// The code to exit with.
fn dispatch(
    args: impl IntoIterator<Item = OsString>,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> u8 {
    match command(lexopt::Parser::from_iter(args), assigners, console) {
        Ok(Outcome::Done) if console.is_closed() => CLOSED_PIPE,
        Ok(Outcome::Done) if !console.is_broken() => 0,
        Ok(Outcome::Done | Outcome::Failed) => 1,
        Ok(Outcome::OutOfReach) => 3,
        Err(error) => {
            console.complain(format_args!("{}\n", printable(&error.to_string())));
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
        Some("plan") => plan::run(arguments, assigners, console),
        Some("watch") => watch::run(arguments, assigners, console),
        Some("completions") => completions::run(arguments, assigners, console),
        Some("version") => {
            console.say(format_args!("kafka-group {}\n", env!("CARGO_PKG_VERSION")));
            Ok(Outcome::Done)
        }
        Some("help") => {
            let about = match arguments.next()? {
                Some(Value(command)) => Some(command),
                _ => None,
            };
            console.say(format_args!("{}", help(about)?));
            Ok(Outcome::Done)
        }
        Some(name) if groups::Command::named(name).is_some() => {
            groups::run(name, arguments, assigners, console)
        }
        _ => Err(no_such(&command)),
    }
}

fn no_such(command: &OsStr) -> UsageError {
    UsageError::Other(format!("no command {command:?}; try `kafka-group help`"))
}

/// What is said of one command, or of all.
fn help(about: Option<OsString>) -> Result<String, UsageError> {
    match about {
        None => Ok(commands::usage()),
        Some(name) if name == "help" => Ok(commands::usage()),
        Some(name) => name.to_str().and_then(usage).ok_or_else(|| no_such(&name)),
    }
}

/// What a command says of itself.
fn usage(command: &str) -> Option<String> {
    let own = match command {
        "completions" => return Some(completions::USAGE.to_owned()),
        "plan" => plan::USAGE,
        "watch" => watch::USAGE,
        name => groups::Command::named(name).map(groups::Command::usage)?,
    };
    Some(format!("{own}{}", reach::USAGE))
}

#[cfg(test)]
mod tests;
