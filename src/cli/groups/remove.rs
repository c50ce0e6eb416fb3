//! `kafka-group remove-members`.

use serde::Serialize;

use super::Outcome;
use super::options::Options;
use super::report;
use super::show::cell;
use crate::admin::{
    Admin, AdminError, GroupDescription, MemberDescription, MemberKey, RemoveOptions, RemovedMember,
};
use crate::cli::arguments::{Format, json};
use crate::cli::console::Console;
use crate::cli::table::{Align, Table, printable};

pub(super) const USAGE: &str = "\
usage: kafka-group remove-members --bootstrap-server HOST:PORT --group GROUP
                                  (--instance-ids A,B | --member-ids X,Y | --all)… [OPTION]…

Takes members out of a group, all in one request: the group rebalances at once to those that are left.

  --instance-ids A,B     static members, by their `group.instance.id`
  --member-ids X,Y       any members, by their member ids
  --all                  all that are members now
  --yes                  does not ask first
  --dry-run              says who would be removed, and removes nobody
  --require-all          removes nobody unless all are members
  --reason TEXT          why, for the broker's log
  --format json          a line of JSON instead of a table
  --timeout SECONDS      how long it may take; 15 s unless told otherwise

Shut the members' processes down first: one that lives learns that it was removed, loses what it holds and joins again.
Needs READ and DESCRIBE on the group.
";

#[derive(Serialize)]
struct Line<'a> {
    group: &'a str,
    members: Vec<Removed<'a>>,
}

#[derive(Serialize)]
struct Removed<'a> {
    instance_id: Option<&'a str>,
    member_id: Option<&'a str>,
    outcome: String,
}

pub(super) async fn run(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    let Some(name) = options.groups.first() else { return Ok(Outcome::Failed) };
    if options.dry_run || !options.yes {
        let group = admin.describe_group(name.as_str()).await?;
        let all_found = preview(&group, options, console);
        if options.dry_run {
            return Ok(if all_found { Outcome::Done } else { Outcome::Failed });
        }
        let question = "Members that are alive lose what they hold, and join again. Remove? [y/N] ";
        if !console.ask(format_args!("{question}")) {
            console.complain(format_args!("Nobody was removed.\n"));
            return Ok(Outcome::Failed);
        }
    }
    let how = RemoveOptions::default().require_all(options.require_all);
    let how = match &options.reason {
        Some(reason) => how.reason(reason),
        None => how,
    };
    let removed = match options.all {
        true => admin.remove_all_members(name.as_str(), how).await?,
        false => admin.remove_members(name.as_str(), options.members.iter().cloned(), how).await?,
    };
    match options.format {
        Format::Table => console.say(format_args!("{}", table(&removed))),
        Format::Json => console.say(format_args!("{}", json(&line(name, &removed)))),
    }
    Ok(match removed.iter().all(|removed| removed.outcome.is_removed()) {
        true => Outcome::Done,
        false => Outcome::Failed,
    })
}

/// Says who is meant; whether all are members. A question's table goes where the question goes.
fn preview(group: &GroupDescription, options: &Options, console: &mut Console<'_>) -> bool {
    let found = |key: &MemberKey| group.members.iter().find(|member| is_meant(member, key));
    let named = || options.members.iter().filter_map(found).cloned().collect();
    let meant: Vec<_> = if options.all { group.members.clone() } else { named() };
    let missing: Vec<_> = options.members.iter().filter(|key| found(key).is_none()).collect();
    let meant = GroupDescription { members: meant, ..group.clone() };
    let table = report::members(std::slice::from_ref(&meant), false);
    match (options.dry_run, options.format) {
        (true, Format::Json) => {
            console.say(format_args!("{}", json(&report::members_line(&meant))));
        }
        (true, Format::Table) => console.say(format_args!("{table}")),
        (false, _) => {
            let name = printable(&group.group_id);
            console.complain(format_args!("To be removed from group `{name}`:\n{table}"));
        }
    }
    for key in &missing {
        console.complain(format_args!("{}: not in the group\n", cell(&key.to_string())));
    }
    missing.is_empty()
}

fn is_meant(member: &MemberDescription, key: &MemberKey) -> bool {
    match key {
        MemberKey::InstanceId(id) => member.group_instance_id.as_ref() == Some(id),
        MemberKey::MemberId(id) => member.member_id == *id,
        MemberKey::Both { instance_id, member_id } => {
            member.group_instance_id.as_ref() == Some(instance_id) && member.member_id == *member_id
        }
    }
}

fn table(removed: &[RemovedMember]) -> Table {
    let mut table = Table::new(&[("MEMBER", Align::Left), ("OUTCOME", Align::Left)]);
    for RemovedMember { key, outcome, .. } in removed {
        table.row(vec![printable(&key.to_string()), outcome.to_string()]);
    }
    table
}

fn line<'a>(group: &'a str, removed: &'a [RemovedMember]) -> Line<'a> {
    let members = removed.iter().map(|RemovedMember { key, outcome, .. }| {
        let (instance_id, member_id) = match key {
            MemberKey::InstanceId(id) => (Some(id.as_str()), None),
            MemberKey::MemberId(id) => (None, Some(id.as_str())),
            MemberKey::Both { instance_id, member_id } => {
                (Some(instance_id.as_str()), Some(member_id.as_str()))
            }
        };
        Removed { instance_id, member_id, outcome: outcome.to_string() }
    });
    Line { group, members: members.collect() }
}
