//! `kafka-group list`.

use serde::Serialize;

use super::options::Options;
use super::{Outcome, failure, one_line, worse};
use crate::admin::{Admin, AdminError, GroupList, ListOptions, Visibility};
use crate::cli::arguments::{Format, json};
use crate::cli::console::Console;
use crate::cli::table::{Align, Table, printable};

pub(super) const USAGE: &str = "\
usage: kafka-group list --bootstrap-server HOST:PORT [OPTION]…

Lists the groups of a cluster, of all types. Every broker is asked; those that do not tell are named.

  --state S,S            only groups in one of these states: Stable, Empty, PreparingRebalance, …
  --type T,T             only groups of one of these types: classic, consumer, share, streams
  --protocol-type P,P    only groups of one of these protocol types: consumer, connect, …
  --format json          one line of JSON instead of a table

Brokers name all groups to a user with DESCRIBE on the cluster, and to any other those alone that it may DESCRIBE. Where that is
so, it is said, and the exit status is 3 if there is no group to show. Brokers before Kafka 2.8 do not tell.
";

/// What is said where groups may be missing, and what makes them visible.
const PARTLY: &str = "\
only groups that this user may DESCRIBE are listed: it has no DESCRIBE on the cluster \
(kafka-acls --add --allow-principal USER --operation Describe --cluster)
";

#[derive(Serialize)]
struct Line<'a> {
    groups: Vec<Group<'a>>,
    failed: Vec<Failed>,
    visibility: &'static str,
}

#[derive(Serialize)]
struct Group<'a> {
    group: &'a str,
    state: Option<&'a str>,
    #[serde(rename = "type")]
    group_type: Option<&'a str>,
    protocol_type: &'a str,
    coordinator: i32,
}

#[derive(Serialize)]
struct Failed {
    broker: i32,
    error: String,
}

pub(super) async fn run(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    let wanted = ListOptions::default()
        .states(options.states.iter().cloned())
        .types(options.types.iter().cloned())
        .protocol_types(options.protocol_types.iter().cloned());
    let list = admin.list_groups(wanted).await?;
    match options.format {
        Format::Table => console.say(format_args!("{}", table(&list).on(console.page()))),
        Format::Json => console.say(format_args!("{}", json(&line(&list)))),
    }
    let mut outcome = Outcome::Done;
    if list.visibility == Visibility::OnlyDescribable {
        console.complain(format_args!("{PARTLY}"));
        if list.groups.is_empty() {
            // No group, or none that this user may see: nobody can tell.
            outcome = Outcome::OutOfReach;
        }
    }
    for (broker, error) in &list.failed {
        console.complain(format_args!("broker {broker}: {}\n", one_line(error)));
        // If others have told something, something was reached.
        let told = !list.groups.is_empty();
        outcome = worse(outcome, if told { Outcome::Failed } else { failure(error) });
    }
    Ok(outcome)
}

fn table(list: &GroupList) -> Table {
    let mut table = Table::new(&[
        ("GROUP", Align::Left),
        ("STATE", Align::Left),
        ("TYPE", Align::Left),
        ("PROTOCOL-TYPE", Align::Left),
        ("COORDINATOR", Align::Right),
    ]);
    for group in &list.groups {
        let state = group.state.as_ref().map_or("-", |state| state.as_str());
        let group_type = group.group_type.as_ref().map_or("-", |kind| kind.as_str());
        let protocol_type = if group.protocol_type.is_empty() { "-" } else { &group.protocol_type };
        table.row(vec![
            printable(&group.group_id),
            printable(state),
            printable(group_type),
            printable(protocol_type),
            group.coordinator.to_string(),
        ]);
    }
    table
}

fn line(list: &GroupList) -> Line<'_> {
    let groups = list.groups.iter().map(|group| Group {
        group: &group.group_id,
        state: group.state.as_ref().map(|state| state.as_str()),
        group_type: group.group_type.as_ref().map(|kind| kind.as_str()),
        protocol_type: &group.protocol_type,
        coordinator: group.coordinator.0,
    });
    let failed = list.failed.iter();
    let failed =
        failed.map(|(broker, error)| Failed { broker: broker.0, error: error.to_string() });
    let visibility = match list.visibility {
        Visibility::All => "all",
        Visibility::OnlyDescribable => "only_describable",
        Visibility::Unknown => "unknown",
    };
    Line { groups: groups.collect(), failed: failed.collect(), visibility }
}
