//! `kafka-group plan`: what an assigner would do with groups that are described in files.

mod changes;
mod explain;
mod file;
mod line;
mod names;
mod options;
mod report;
mod timed;

use std::path::Path;
use std::sync::Arc;

use self::file::{Group, GroupFile};
use self::options::PlanOptions;
use self::timed::{Timed, timed};
use super::UsageError;
use super::arguments::Format;
use super::assigners::{Assigners, Make};
use super::console::Console;
use crate::assign::{
    Copies, ErasedAssigner, GroupAssignment, GroupSubscription, RebalanceProtocol,
};

pub(super) use options::{Choices, Knob};

pub(super) const USAGE: &str = "\
usage: kafka-group plan [OPTION]… FILE…

Plans the group in each FILE, and says who would have what, what would move and why, and how far that is from the best.

  -a, --assigner NAME   who plans: range, roundrobin, sticky, cooperative-sticky (the default), co-partition, redundant,
                        rack-aware, or another that this command was made with
  --racks ORDER         what racks count for: after-moves (the default), before-moves, leaders-after-moves,
                        leaders-before-moves, ignored
  --slack N             how far loads may be from the balanced ones, where that saves moves
  --co-partition T,T    topics whose partitions of one number go to one member; may be given several times; all topics
                        without it
  --strict              refuses to co-partition topics whose numbers of partitions differ
  --copies N            with how many members a redundant plan puts each partition; 2 without it
  --explain TOPIC-N     the prior owner of a partition, who else could have it, and what that would cost
  --all                 lists everything, however long
  --format json         a line for each file, with times, instead of tables
  --runs N              runs the assigner so often for its times

A FILE is JSON:

  {
    \"topics\": {\"orders\": 12, \"payments\": {\"partitions\": 2, \"racks\": [[\"a\", \"b\"], [\"b\", \"c\"]]}},
    \"members\": {
      \"one\": {\"subscribes\": [\"orders\", \"payments\"], \"rack\": \"a\", \"instance\": \"pod-1\", \"process\": \"host/7\",
              \"owned\": {\"orders\": \"0-4,7\", \"payments\": [0]}, \"generation\": 7,
              \"stands_by\": {\"payments\": [0]}, \"metadata\": {\"threads\": 8}},
      \"two\": {}
    },
    \"weights\": {\"orders\": [1.5, 20]}
  }

All but the numbers of partitions may be left out. A member that does not say to what it subscribes takes everything.
`racks` are those of a partition's replicas, the leader's first. `weights` are of partitions from 0 on, for the sticky
assigners. `stands_by` is of what is owned that of which others have the first copy. Scenario files with numbers in place
of names are taken, too.
";

/// Plans each file; whether all could be planned.
pub(super) fn run(
    arguments: lexopt::Parser,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<bool, UsageError> {
    let Some(options) = PlanOptions::read(arguments)? else {
        console.say(format_args!("{USAGE}"));
        return Ok(true);
    };
    let make = assigners.find(&options.assigner, &options.turned)?;
    let mut all_planned = true;
    for (path, place) in options.files.iter().zip(0..) {
        match plan_file(path, make, &options) {
            Ok(said) if place > 0 && options.format == Format::Table => {
                console.say(format_args!("\n{said}"));
            }
            Ok(said) => console.say(format_args!("{said}")),
            Err(problem) => {
                console.complain(format_args!("{}{problem}\n", path.display()));
                all_planned = false;
            }
        }
    }
    Ok(all_planned)
}

/// A group, planned.
#[derive(Debug)]
struct Planned {
    name: String,
    assigner: String,
    group: Group,
    /// The same group as an assigner without metadata sees it.
    view: GroupSubscription,
    erased: ErasedAssigner,
    timed: Timed,
    /// Per member what it had and may still have, by place.
    had: Vec<Vec<u32>>,
}

/// What is said of one file, or what is wrong with it, to be written behind its name.
fn plan_file(path: &Path, make: &Make, options: &PlanOptions) -> Result<String, String> {
    let file = GroupFile::read(path).map_err(|error| error.to_string())?;
    let name = file.name().map_or_else(|| name_of(path), str::to_owned);
    let mut choices = options.choices.clone();
    choices.weights = file.weights().map(|weights| Arc::new(weights.clone()));
    let erased = make(&choices).map_err(|error| format!(": {error}"))?;
    let holds = erased.protocols().contains(&RebalanceProtocol::Cooperative);
    let group = file.build(holds, erased.version());
    let timed = timed(&erased, &group, options.runs).map_err(|error| format!(": {error}"))?;

    let view = GroupSubscription::untold(&group.model);
    let assigner = options.assigner.clone();
    let had = had(&view, &timed.plan);
    let planned = Planned { name, assigner, group, view, erased, timed, had };
    match (options.format, &options.explain) {
        (Format::Json, _) => Ok(line::of(&planned)),
        (Format::Table, Some(partition)) => explain::of(&planned, partition, &choices),
        (Format::Table, None) => Ok(report::of(&planned, &choices, options.all)),
    }
}

/// Per member what it validly had; where several have a partition, what it says it had.
fn had(view: &GroupSubscription, plan: &GroupAssignment) -> Vec<Vec<u32>> {
    let copies = Copies::of(view, plan);
    let members = view.members().map(|member| match &copies {
        Some(copies) => copies.of_member(member.position() as u32).collect(),
        None => member.owned().map(|partition| partition.position() as u32).collect(),
    });
    members.collect()
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
