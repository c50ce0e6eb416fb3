//! `kafka-group reset-offsets`.

use serde::Serialize;

use super::options::Options;
use super::show::cell;
use super::{Outcome, csv, told, worse};
use crate::admin::{
    Admin, AdminError, OffsetReset, OffsetResetOptions, OffsetResetPlan, Unresettable,
};
use crate::cli::arguments::{Format, json};
use crate::cli::console::Console;
use crate::cli::table::{Align, Table, printable};
use crate::types::TopicPartition;

pub(super) const USAGE: &str = "\
usage: kafka-group reset-offsets --bootstrap-server HOST:PORT --group GROUP
                                 (--topic TOPIC[:P,P]… | --all-topics | --from-file FILE) WHERE [OPTION]…

Says where a group would begin, partition by partition, and with --execute has it begin there. Nobody may be in the group.

WHERE is one of

  --to-earliest          where partitions start
  --to-latest            where they end
  --to-current           what is committed now; the end where nothing is
  --to-offset N          this offset
  --shift-by N           so many records on from what is committed now; back, if it is negative
  --to-datetime TIME     the first record of a time or later, as in 2026-01-31T12:00:00.000, in UTC or with +02:00 at its end
  --by-duration TIME     the first record of so long ago or later, as in P7D or PT1H30M
  --from-file FILE       each partition's own, from lines of topic,partition,offset; --topic then chooses among them

  --topic TOPIC[:P,P]    all partitions of a topic, or some, as in orders:0,1
  --all-topics           all partitions for which the group has committed something
  --execute              does it; without, nothing is changed
  --dry-run              changes nothing: this is the default
  --export               prints topic,partition,offset, for --from-file and for Kafka's own tool, and changes nothing
  --create               also a group that does not exist yet, which is else taken for a mistyped one
  --format json          a line of JSON instead of a table

An offset that a partition does not have is moved to its nearer end, and said to be. Needs DESCRIBE, and with --execute READ,
on the group and on its topics.
";

#[derive(Serialize)]
struct Line<'a> {
    group: &'a str,
    executed: bool,
    creates_group: bool,
    members: Vec<&'a str>,
    partitions: Vec<Partition<'a>>,
}

#[derive(Serialize)]
struct Partition<'a> {
    topic: &'a str,
    partition: i32,
    committed: Option<i64>,
    to: Option<i64>,
    note: Option<String>,
    error: Option<String>,
}

/// What became of a plan's partitions, in their order.
type Done = Vec<(TopicPartition, Result<i64, Unresettable>)>;

pub(super) async fn run(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    let Some(group) = options.groups.first() else { return Ok(Outcome::Failed) };
    let wishes = &options.offsets;
    let Some(to) = wishes.to() else { return Ok(Outcome::Failed) };
    let how = OffsetResetOptions::default().create_group(wishes.create);
    let plan = admin.plan_offset_reset(group.as_str(), wishes.selection.clone(), to, how).await?;
    if plan.partitions.is_empty() {
        let why = wishes.nothing();
        console.complain(format_args!("there is nothing to reset: {why}\n"));
    }
    if !wishes.execute {
        return Ok(planned(&plan, options, console));
    }
    let done = admin.reset_offsets(&plan).await?;
    say(&plan, Some(&done), options.format, console);
    Ok(outcome(done.iter().map(|(_, became)| *became)))
}

/// That nothing was reset is not what was asked for.
fn outcome(became: impl Iterator<Item = Result<i64, Unresettable>>) -> Outcome {
    let mut became = became.peekable();
    if became.peek().is_none() {
        return Outcome::Failed;
    }
    let outcomes = became.map(|became| match became {
        Ok(_) => Outcome::Done,
        Err(Unresettable::NotAuthorized { .. }) => Outcome::OutOfReach,
        Err(_) => Outcome::Failed,
    });
    outcomes.fold(Outcome::Done, worse)
}

/// Says what would be done, and what is in its way.
fn planned(plan: &OffsetResetPlan, options: &Options, console: &mut Console<'_>) -> Outcome {
    match options.offsets.export {
        true => {
            console.say(format_args!("{}", csv::write(plan)));
            for OffsetReset { partition, to, adjusted, .. } in &plan.partitions {
                let note = adjusted.map(|why| why.to_string());
                if let Some(note) = to.err().map(|why| why.to_string()).or(note) {
                    console.complain(format_args!("{}: {note}\n", cell(&partition.to_string())));
                }
            }
        }
        false => {
            say(plan, None, options.format, console);
            if !options.dry_run {
                console.complain(format_args!("Nothing was changed: `--execute` changes it.\n"));
            }
        }
    }
    if plan.members.is_empty() {
        return outcome(plan.partitions.iter().map(|reset| reset.to));
    }
    let (group, members) = (plan.group_id.clone(), plan.members.clone());
    told(console, &AdminError::NotEmpty { group, members })
}

fn say(plan: &OffsetResetPlan, done: Option<&Done>, format: Format, console: &mut Console<'_>) {
    match format {
        Format::Table => console.say(format_args!("{}", table(plan, done).on(console.page()))),
        Format::Json => console.say(format_args!("{}", json(&line(plan, done)))),
    }
}

/// What would be committed, or was.
fn became(reset: &OffsetReset, at: usize, done: Option<&Done>) -> Result<i64, Unresettable> {
    match done.and_then(|done| done.get(at)) {
        Some((_, became)) => *became,
        None => reset.to,
    }
}

fn table(plan: &OffsetResetPlan, done: Option<&Done>) -> Table {
    let mut table = Table::new(&[
        ("TOPIC", Align::Left),
        ("PARTITION", Align::Right),
        ("COMMITTED", Align::Right),
        (if done.is_some() { "NOW" } else { "WOULD-BE" }, Align::Right),
        ("", Align::Left),
    ]);
    for (reset, at) in plan.partitions.iter().zip(0..) {
        let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let became = became(reset, at, done);
        let note = reset.adjusted.map(|why| why.to_string());
        table.row(vec![
            printable(reset.partition.topic()),
            reset.partition.partition().to_string(),
            number(reset.committed),
            number(became.ok()),
            became.err().map(|why| why.to_string()).or(note).unwrap_or_default(),
        ]);
    }
    table
}

fn line<'a>(plan: &'a OffsetResetPlan, done: Option<&Done>) -> Line<'a> {
    let partitions = plan.partitions.iter().zip(0..).map(|(reset, at)| {
        let became = became(reset, at, done);
        Partition {
            topic: reset.partition.topic(),
            partition: reset.partition.partition(),
            committed: reset.committed,
            to: became.ok(),
            note: reset.adjusted.map(|why| why.to_string()),
            error: became.err().map(|why| why.to_string()),
        }
    });
    Line {
        group: &plan.group_id,
        executed: done.is_some(),
        creates_group: plan.creates_group,
        members: plan.members.iter().map(|member| member.name.as_str()).collect(),
        partitions: partitions.collect(),
    }
}
