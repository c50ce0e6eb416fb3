//! `kafka-group delete` and `kafka-group delete-offsets`.

use serde::Serialize;

use super::options::Options;
use super::show::NOTHING;
use super::{Outcome, failure, one_line, told, worse};
use crate::admin::{Admin, AdminError, GroupDescription, GroupType};
use crate::cli::arguments::{Format, json};
use crate::cli::console::Console;
use crate::cli::table::{Align, Table, printable};
use crate::client::ErrorCode;
use crate::types::TopicPartition;

pub(super) const USAGE: &str = "\
usage: kafka-group delete --bootstrap-server HOST:PORT --group GROUP [--group GROUP]… [OPTION]…

Deletes groups that nobody is in, of any type, with what they have committed.

  --yes                  does not ask first
  --dry-run              says what is there to be deleted, and deletes nothing
  --format json          a line of JSON instead of a table

Needs DELETE on the group, and DESCRIBE unless --yes is said.
";

pub(super) const OFFSETS_USAGE: &str = "\
usage: kafka-group delete-offsets --bootstrap-server HOST:PORT --group GROUP --topic TOPIC[:P,P] [--topic …]… [OPTION]…

Has a group forget what it has committed for partitions. A group of consumers may have members, but none that subscribes to
the topic; any other must be empty.

  --topic TOPIC[:P,P]    all partitions of a topic for which something is committed, or some, as in orders:0,1
  --yes                  does not ask first
  --dry-run              says what would be forgotten, and forgets nothing
  --format json          a line of JSON instead of a table

Needs DESCRIBE and DELETE on the group, and READ on the topics.
";

#[derive(Serialize)]
struct Groups<'a> {
    groups: Vec<Group<'a>>,
}

#[derive(Serialize)]
struct Group<'a> {
    group: &'a str,
    deleted: bool,
    error: Option<String>,
}

/// What is there of a group; null where that is not told.
#[derive(Serialize)]
struct There {
    group: String,
    state: Option<String>,
    members: Option<usize>,
    offsets: Option<usize>,
}

#[derive(Serialize)]
struct Forgotten<'a> {
    group: &'a str,
    partitions: Vec<Partition<'a>>,
}

#[derive(Serialize)]
struct Partition<'a> {
    topic: &'a str,
    partition: i32,
    committed: i64,
    deleted: bool,
    error: Option<String>,
}

/// Deletes groups.
pub(super) async fn groups(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    if options.dry_run || !options.yes {
        let (found, outcome) = look(admin, options, console).await;
        if options.dry_run || found == 0 {
            return Ok(outcome);
        }
        let question = "What they have committed is lost. Delete? [y/N] ";
        if !console.ask(format_args!("{question}")) {
            console.complain(format_args!("Nothing was deleted.\n"));
            return Ok(Outcome::Failed);
        }
    }
    let deleted = admin.delete_groups(options.groups.iter().cloned()).await;
    let mut outcome = Outcome::Done;
    for error in deleted.iter().filter_map(|(_, deleted)| deleted.as_ref().err()) {
        outcome = worse(outcome, failure(error));
    }
    match options.format {
        Format::Table => {
            console.say(format_args!("{}", deleted_table(&deleted).on(console.page())))
        }
        Format::Json => {
            let groups = deleted.iter().map(|(group, deleted)| Group {
                group,
                deleted: deleted.is_ok(),
                error: deleted.as_ref().err().map(ToString::to_string),
            });
            console.say(format_args!("{}", json(&Groups { groups: groups.collect() })));
        }
    }
    Ok(outcome)
}

fn deleted_table(deleted: &[(String, Result<(), AdminError>)]) -> Table {
    let mut table = Table::new(&[("GROUP", Align::Left), ("OUTCOME", Align::Left)]);
    for (group, deleted) in deleted {
        let outcome = deleted.as_ref().map_or_else(one_line, |()| "deleted".to_owned());
        table.row(vec![printable(group), outcome]);
    }
    table
}

/// Says what is there to be deleted, where the question goes; how many groups that is, and whether all were found.
async fn look(admin: &Admin, options: &Options, console: &mut Console<'_>) -> (usize, Outcome) {
    let (mut rows, mut outcome) = (Vec::new(), Outcome::Done);
    for (group, described) in admin.describe_groups(options.groups.iter().cloned()).await {
        match found(admin, group, described).await {
            Ok(there) => rows.push(there),
            Err(error) => outcome = worse(outcome, told(console, &error)),
        }
    }
    if rows.iter().any(|there| there.members.is_some_and(|members| members > 0)) {
        outcome = worse(outcome, Outcome::Failed);
    }
    match (options.dry_run, options.format) {
        (true, Format::Json) => {
            for there in &rows {
                console.say(format_args!("{}", json(there)));
            }
        }
        (true, Format::Table) => {
            console.say(format_args!("{}", there(&rows).on(console.page())));
        }
        (false, _) if rows.is_empty() => {}
        (false, _) => console.complain(format_args!("To be deleted:\n{}", there(&rows))),
    }
    (rows.len(), outcome)
}

/// A group that cannot be described is there all the same, and can be deleted.
async fn found(
    admin: &Admin,
    group: String,
    described: Result<GroupDescription, AdminError>,
) -> Result<There, AdminError> {
    let (state, members) = match described {
        Ok(group) => (Some(group.state.to_string()), Some(group.members.len())),
        Err(AdminError::NotClassic { group_type: GroupType::Share, .. }) => {
            return Ok(There { group, state: None, members: None, offsets: None });
        }
        Err(AdminError::NotClassic { .. }) => (None, None),
        Err(error) => return Err(error),
    };
    let committed = admin.committed(group.as_str()).await;
    Ok(There { group, state, members, offsets: committed.ok().map(|committed| committed.len()) })
}

fn there(rows: &[There]) -> Table {
    let mut table = Table::new(&[
        ("GROUP", Align::Left),
        ("STATE", Align::Left),
        ("MEMBERS", Align::Right),
        ("OFFSETS", Align::Right),
    ]);
    for There { group, state, members, offsets } in rows {
        let number =
            |number: &Option<usize>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
        table.row(vec![
            printable(group),
            state.as_deref().map_or_else(|| "-".to_owned(), printable),
            number(members),
            number(offsets),
        ]);
    }
    table
}

/// Deletes offsets of one group.
pub(super) async fn offsets(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    let Some(group) = options.groups.first() else { return Ok(Outcome::Failed) };
    let which = options.offsets.selection.clone();
    let committed = admin.plan_offset_deletion(group.as_str(), which).await?;
    let planned: Vec<(TopicPartition, i64)> =
        committed.into_iter().map(|(partition, committed)| (partition, committed.offset)).collect();
    if planned.is_empty() {
        admin.describe_group(group.as_str()).await?;
        console.complain(format_args!("there is nothing to forget: {NOTHING}\n"));
        return Ok(Outcome::Failed);
    }
    if options.dry_run {
        say(group, &planned, None, options.format, console);
        return Ok(Outcome::Done);
    }
    if !options.yes {
        let (name, table) = (printable(group), table(&planned, None));
        console.complain(format_args!("To be forgotten by group `{name}`:\n{table}"));
        let question = "Whoever gets these begins where `auto.offset.reset` says. Forget? [y/N] ";
        if !console.ask(format_args!("{question}")) {
            console.complain(format_args!("Nothing was forgotten.\n"));
            return Ok(Outcome::Failed);
        }
    }
    let named = planned.iter().map(|(partition, _)| partition.clone());
    let deleted = admin.delete_offsets(group.as_str(), named).await?;
    say(group, &planned, Some(&deleted), options.format, console);
    let outcomes = deleted.iter().map(|(_, deleted)| match deleted {
        Ok(()) => Outcome::Done,
        Err(ErrorCode::TopicAuthorizationFailed) => Outcome::OutOfReach,
        Err(_) => Outcome::Failed,
    });
    Ok(outcomes.fold(Outcome::Done, worse))
}

/// What became of partitions, in their order.
type Deleted = Vec<(TopicPartition, Result<(), ErrorCode>)>;

fn say(
    group: &str,
    planned: &[(TopicPartition, i64)],
    deleted: Option<&Deleted>,
    format: Format,
    console: &mut Console<'_>,
) {
    if format == Format::Table {
        let table = table(planned, deleted);
        return console.say(format_args!("{}", table.on(console.page())));
    }
    let partitions = planned.iter().zip(0..).map(|((partition, committed), at)| {
        let became = became(deleted, at);
        Partition {
            topic: partition.topic(),
            partition: partition.partition(),
            committed: *committed,
            deleted: became == Some(Ok(())),
            error: became.and_then(Result::err).map(|code| code.to_string()),
        }
    });
    console.say(format_args!("{}", json(&Forgotten { group, partitions: partitions.collect() })));
}

fn became(deleted: Option<&Deleted>, at: usize) -> Option<Result<(), ErrorCode>> {
    Some(deleted?.get(at)?.1)
}

fn table(planned: &[(TopicPartition, i64)], deleted: Option<&Deleted>) -> Table {
    let mut table = Table::new(&[
        ("TOPIC", Align::Left),
        ("PARTITION", Align::Right),
        ("COMMITTED", Align::Right),
        (if deleted.is_some() { "OUTCOME" } else { "" }, Align::Left),
    ]);
    for ((partition, committed), at) in planned.iter().zip(0..) {
        let outcome = match became(deleted, at) {
            Some(Ok(())) => "forgotten".to_owned(),
            Some(Err(ErrorCode::GroupSubscribedToTopic)) => {
                "kept: members subscribe to it".to_owned()
            }
            Some(Err(ErrorCode::TopicAuthorizationFailed)) => {
                "kept: READ on the topic is needed".to_owned()
            }
            Some(Err(code)) => format!("kept: {code}"),
            None => String::new(),
        };
        table.row(vec![
            printable(partition.topic()),
            partition.partition().to_string(),
            committed.to_string(),
            outcome,
        ]);
    }
    table
}
