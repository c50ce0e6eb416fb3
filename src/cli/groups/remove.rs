//! `kafka-group remove-members`.

use serde::Serialize;

use super::Outcome;
use super::options::Options;
use super::report;
use super::show::cell;
use crate::admin::{
    Admin, AdminError, Life, MemberKey, MemberSelection, PlannedRemoval, RemovalPlan,
    RemovalPlanOptions, RemoveOptions, RemovedMember,
};
use crate::cli::arguments::{Format, json};
use crate::cli::console::Console;
use crate::cli::table::{Align, Table, printable};
use crate::types::Partitions;

pub(super) const USAGE: &str = "\
usage: kafka-group remove-members --bootstrap-server HOST:PORT --group GROUP WHO… [OPTION]…

Takes members out of a group, all in one request: the group rebalances at once to those that are left.

WHO is named,

  --instance-ids A,B     static members, by their `group.instance.id`
  --member-ids X,Y       any members, by their member ids

or found, by one or more of these, which must then all hold (one that is given twice is a choice),

  --instance-id-pattern P  static members whose whole id matches a regular expression, as in 'indexer-[0-9]+'
  --client-id C          members with this `client.id`
  --client-host H,H      members whose connection comes from this address

or everybody:

  --all                  all that are members now

  --yes                  does not ask first
  --dry-run              says who would be removed, and removes nobody
  --observe SECONDS      for how long signs of life are looked for before it asks, and in a dry run; 6 unless told otherwise
  --require-all          removes nobody unless all are members
  --one-by-one           one request a member, on brokers before Kafka 2.4, which know no other; by member id alone
  --reason TEXT          why, for the broker's log
  --format json          a line of JSON instead of a table

Shut the members' processes down first: one that lives learns that it was removed, loses what it holds and joins again.
No broker tells when it last heard from a member. One that commits, joins anew or outlives its session while it is observed is
said to be alive; of others that is unknown, but where a member tells its session it was heard from within that time. Who
was found, and has been replaced by another process since, is left alone.
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

/// Who would be removed.
#[derive(Serialize)]
struct PlanLine<'a> {
    group: &'a str,
    state: &'a str,
    members: Vec<Planned<'a>>,
    missing: Vec<String>,
}

#[derive(Serialize)]
struct Planned<'a> {
    instance_id: Option<&'a str>,
    member_id: &'a str,
    client_id: &'a str,
    host: &'a str,
    partitions: Option<usize>,
    /// Null where nobody can tell.
    alive: Option<bool>,
    life: String,
}

pub(super) async fn run(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    let Some(name) = options.groups.first() else { return Ok(Outcome::Failed) };
    let mut which = selection(options);
    if options.dry_run || !options.yes {
        let plan = preview(admin, name, options, console).await?;
        let all_found = plan.missing.is_empty();
        if options.dry_run || plan.members.is_empty() {
            return Ok(if all_found { Outcome::Done } else { Outcome::Failed });
        }
        let question = "Members that are alive lose what they hold, and join again. Remove? [y/N] ";
        if !console.ask(format_args!("{question}")) {
            console.complain(format_args!("Nobody was removed.\n"));
            return Ok(Outcome::Failed);
        }
        // Those that were shown, and nobody who has come since.
        if options.members.is_empty() {
            which = MemberSelection::Named(plan.keys());
        }
    }
    let how = how(options);
    let removed = match which {
        MemberSelection::Named(keys) => admin.remove_members(name.as_str(), keys, how).await?,
        MemberSelection::Matching(filter) => {
            admin.remove_matching_members(name.as_str(), filter, how).await?
        }
        MemberSelection::All => admin.remove_all_members(name.as_str(), how).await?,
    };
    match options.format {
        Format::Table => console.say(format_args!("{}", table(&removed).on(console.page()))),
        Format::Json => console.say(format_args!("{}", json(&line(name, &removed)))),
    }
    Ok(match removed.iter().all(|removed| removed.outcome.is_removed()) {
        true => Outcome::Done,
        false => Outcome::Failed,
    })
}

fn selection(options: &Options) -> MemberSelection {
    match options.all {
        true => MemberSelection::All,
        false if options.filter.is_empty() => MemberSelection::Named(options.members.clone()),
        false => MemberSelection::Matching(options.filter.clone()),
    }
}

fn how(options: &Options) -> RemoveOptions {
    let how =
        RemoveOptions::default().require_all(options.require_all).one_by_one(options.one_by_one);
    match &options.reason {
        Some(reason) => how.reason(reason),
        None => how,
    }
}

/// Says who is meant, and who of them is alive. A question's table goes where the question goes.
async fn preview(
    admin: &Admin,
    group: &str,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<RemovalPlan, AdminError> {
    if !options.observe.is_zero() {
        let seconds = options.observe.as_secs();
        console.complain(format_args!("Looking for signs of life for up to {seconds} s …\n"));
    }
    let how = RemovalPlanOptions::default().watch(options.observe);
    let plan = admin.plan_removal(group, selection(options), how).await?;
    let name = printable(&plan.group_id);
    match (options.dry_run, options.format) {
        (true, Format::Json) => console.say(format_args!("{}", json(&planned_line(&plan)))),
        (true, Format::Table) => console.say(format_args!("{}", planned(&plan).on(console.page()))),
        (false, _) if plan.members.is_empty() => {
            console.complain(format_args!("Nobody in group `{name}` is meant.\n"));
        }
        (false, _) => {
            console
                .complain(format_args!("To be removed from group `{name}`:\n{}", planned(&plan)));
        }
    }
    for key in &plan.missing {
        console.complain(format_args!("{}: not in the group\n", cell(&key.to_string())));
    }
    Ok(plan)
}

fn planned(plan: &RemovalPlan) -> Table {
    let mut table = Table::new(&[
        ("INSTANCE-ID", Align::Left),
        ("MEMBER-ID", Align::Left),
        ("CLIENT-ID", Align::Left),
        ("HOST", Align::Left),
        ("PARTITIONS", Align::Right),
        ("ALIVE", Align::Left),
    ]);
    for PlannedRemoval { member, life, .. } in &plan.members {
        table.row(vec![
            member.group_instance_id.as_deref().map_or_else(|| "-".to_owned(), printable),
            printable(member.member_id.as_str()),
            cell(&member.client_id),
            cell(&member.client_host),
            report::count(member),
            life.to_string(),
        ]);
    }
    table
}

fn planned_line(plan: &RemovalPlan) -> PlanLine<'_> {
    let members = plan.members.iter().map(|PlannedRemoval { member, life, .. }| Planned {
        instance_id: member.group_instance_id.as_deref(),
        member_id: member.member_id.as_str(),
        client_id: &member.client_id,
        host: &member.client_host,
        partitions: member.partitions().map(Partitions::len),
        alive: match life {
            Life::Seen(_) => Some(true),
            Life::Gone => Some(false),
            _ => None,
        },
        life: life.to_string(),
    });
    PlanLine {
        group: &plan.group_id,
        state: plan.state.as_str(),
        members: members.collect(),
        missing: plan.missing.iter().map(ToString::to_string).collect(),
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
