//! `kafka-group lag`.

use serde::Serialize;

use super::options::Options;
use super::show::cell_or_none;
use super::{Outcome, told, worse};
use crate::admin::{Admin, AdminError, GroupLag, PartitionLag};
use crate::cli::arguments::{Format, json};
use crate::cli::console::Console;
use crate::cli::table::{Align, Table, printable};

pub(super) const USAGE: &str = "\
usage: kafka-group lag --bootstrap-server HOST:PORT --group GROUP [--group GROUP]… [OPTION]…

Says how far groups are: what they have committed, where the partitions end, how many records lie between, and who has them.

  --format json          a line of JSON for each group instead of a table

Where nothing is committed there is no lag: it depends on where the members begin. Records of aborted transactions, and
those that compaction took out, count. Needs DESCRIBE on the group and on its topics.
";

#[derive(Serialize)]
struct Line<'a> {
    group: &'a str,
    /// Null where the lag of no partition is known: that is not none.
    lag: Option<i64>,
    partitions: Vec<Partition<'a>>,
}

#[derive(Serialize)]
struct Partition<'a> {
    topic: &'a str,
    partition: i32,
    committed: Option<i64>,
    end: Option<i64>,
    lag: Option<i64>,
    member: Option<&'a str>,
    error: Option<String>,
}

pub(super) async fn run(
    admin: &Admin,
    options: &Options,
    console: &mut Console<'_>,
) -> Result<Outcome, AdminError> {
    let (mut lags, mut outcome) = (Vec::new(), Outcome::Done);
    for group in &options.groups {
        match admin.lag(group).await {
            Ok(lag) => lags.push(lag),
            Err(error) => outcome = worse(outcome, told(console, &error)),
        }
    }
    match options.format {
        Format::Table => {
            let table = table(&lags, options.groups.len() > 1);
            console.say(format_args!("{}", table.on(console.page())));
        }
        Format::Json => {
            for lag in &lags {
                console.say(format_args!("{}", json(&line(lag))));
            }
        }
    }
    let unknown = |lag: &GroupLag| lag.partitions.iter().any(|partition| partition.end.is_err());
    Ok(match lags.iter().any(unknown) {
        true => worse(outcome, Outcome::Failed),
        false => outcome,
    })
}

fn table(lags: &[GroupLag], several: bool) -> Table {
    let head = [
        ("GROUP", Align::Left),
        ("TOPIC", Align::Left),
        ("PARTITION", Align::Right),
        ("COMMITTED", Align::Right),
        ("END", Align::Right),
        ("LAG", Align::Right),
        ("MEMBER", Align::Left),
    ];
    let skipped = usize::from(!several);
    let mut table = Table::new(head.get(skipped..).unwrap_or_default());
    for lag in lags {
        for partition in &lag.partitions {
            let cells = cells(&lag.group_id, partition);
            table.row(cells.into_iter().skip(skipped).collect());
        }
    }
    table
}

fn cells(group: &str, lag: &PartitionLag) -> [String; 7] {
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    [
        printable(group),
        printable(lag.partition.topic()),
        lag.partition.partition().to_string(),
        number(lag.committed.as_ref().map(|committed| committed.offset)),
        match &lag.end {
            Ok(end) => end.to_string(),
            Err(code) => format!("{code:?}"),
        },
        number(lag.lag()),
        cell_or_none(lag.member.as_deref()),
    ]
}

fn line(lag: &GroupLag) -> Line<'_> {
    let partitions = lag.partitions.iter().map(|partition| Partition {
        topic: partition.partition.topic(),
        partition: partition.partition.partition(),
        committed: partition.committed.as_ref().map(|committed| committed.offset),
        end: partition.end.ok(),
        lag: partition.lag(),
        member: partition.member.as_deref(),
        error: partition.end.err().map(|code| code.to_string()),
    });
    let is_known = lag.partitions.iter().any(|partition| partition.lag().is_some());
    let total = is_known.then(|| lag.total());
    Line { group: &lag.group_id, lag: total, partitions: partitions.collect() }
}
