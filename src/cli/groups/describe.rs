//! `kafka-group describe` and `kafka-group members`.

use super::options::Options;
use super::{Command, Outcome, described, report};
use crate::admin::{Admin, AdminError};
use crate::cli::arguments::{Format, json};
use crate::cli::console::Console;

pub(super) const USAGE: &str = "\
usage: kafka-group describe --bootstrap-server HOST:PORT --group GROUP [--group GROUP]… [OPTION]…

Describes groups of the classic protocol, of any client and protocol type, and groups of consumers of the new one: state,
assigner and coordinator, and of each member where it runs, what it subscribes to and told its leader, and what it has.

  --format json          a line of JSON for each group, with everything, instead of tables

Metadata are shown as JSON for assigners that this command was made with, and otherwise as bytes. What members subscribe to
is told of a stable group only; while a group rebalances, its members' partitions are those that they had before.
";

pub(super) const MEMBERS_USAGE: &str = "\
usage: kafka-group members --bootstrap-server HOST:PORT --group GROUP [--group GROUP]… [OPTION]…

Lists the members of groups: instance id, member id, client id, host, and how many partitions each has.

  --format json          a line of JSON for each group instead of a table

A member is listed until its session is over, whether its process lives or not.
";

pub(super) async fn run(
    admin: &Admin,
    command: Command,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    let (groups, outcome) = described(admin, options, console).await;
    match (command, options.format) {
        (Command::Members, Format::Table) => {
            let several = options.groups.len() > 1;
            let table = report::members(&groups, several);
            console.say(format_args!("{}", table.on(console.page())));
        }
        (Command::Members, Format::Json) => {
            for group in &groups {
                console.say(format_args!("{}", json(&report::members_line(group))));
            }
        }
        (_, Format::Table) => {
            for (group, at) in groups.iter().zip(0..) {
                let gap = if at > 0 { "\n" } else { "" };
                console.say(format_args!("{gap}{}", report::whole(group, console.page())));
            }
        }
        (_, Format::Json) => {
            for group in &groups {
                console.say(format_args!("{}", json(&report::line(group))));
            }
        }
    }
    Ok(outcome)
}
