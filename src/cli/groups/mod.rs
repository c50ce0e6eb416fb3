//! The commands that ask a cluster for its groups, and change them.

mod csv;
mod delete;
mod describe;
mod lag;
mod list;
mod offsets;
mod options;
mod remove;
mod report;
mod reset;
mod show;
mod times;

use self::options::Options;
use super::console::Console;
use super::outcome::{Outcome, failure, one_line, told, worse};
use super::{Assigners, UsageError, reach};
use crate::admin::{Admin, AdminError, GroupDescription};

/// What can be asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Command {
    List,
    Describe,
    Members,
    Lag,
    RemoveMembers,
    ResetOffsets,
    DeleteOffsets,
    Delete,
}

impl Command {
    const ALL: [(&'static str, Self); 8] = [
        ("list", Self::List),
        ("describe", Self::Describe),
        ("members", Self::Members),
        ("lag", Self::Lag),
        ("remove-members", Self::RemoveMembers),
        ("reset-offsets", Self::ResetOffsets),
        ("delete-offsets", Self::DeleteOffsets),
        ("delete", Self::Delete),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, command)| command)
    }

    /// What `--help` says.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::List => list::USAGE,
            Self::Describe => describe::USAGE,
            Self::Members => describe::MEMBERS_USAGE,
            Self::Lag => lag::USAGE,
            Self::RemoveMembers => remove::USAGE,
            Self::ResetOffsets => reset::USAGE,
            Self::DeleteOffsets => delete::OFFSETS_USAGE,
            Self::Delete => delete::USAGE,
        }
    }
}

/// Does what is asked for, on a runtime of its own.
pub(super) fn run(
    name: &str,
    arguments: lexopt::Parser,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<Outcome, UsageError> {
    let Some(command) = Command::named(name) else {
        return Err(UsageError::Other(format!("no command {name:?}")));
    };
    let Some(options) = Options::read(command, arguments)? else {
        console.say(format_args!("{}", super::usage(name).unwrap_or_default()));
        return Ok(Outcome::Done);
    };
    reach::asking(console, async |console| {
        let admin = options.reach.connect(console).await?.knowing(assigners.readers());
        Ok(carry_out(command, &admin, &options, console).await?)
    })
}

/// What each command does once it has reached the cluster.
async fn carry_out(
    command: Command,
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    match command {
        Command::List => list::run(admin, options, console).await,
        Command::Describe | Command::Members => {
            describe::run(admin, command, options, console).await
        }
        Command::Lag => lag::run(admin, options, console).await,
        Command::RemoveMembers => remove::run(admin, options, console).await,
        Command::ResetOffsets => reset::run(admin, options, console).await,
        Command::DeleteOffsets => delete::offsets(admin, options, console).await,
        Command::Delete => delete::groups(admin, options, console).await,
    }
}

/// Describes each group that is asked for; what is wrong with the others is said.
async fn described(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> (Vec<GroupDescription>, Outcome) {
    let (mut groups, mut outcome) = (Vec::new(), Outcome::Done);
    for (_, described) in admin.describe_groups(options.groups.iter().cloned()).await {
        match described {
            Ok(group) => groups.push(group),
            Err(error) => outcome = worse(outcome, told(console, &error)),
        }
    }
    (groups, outcome)
}

#[cfg(test)]
mod tests;
