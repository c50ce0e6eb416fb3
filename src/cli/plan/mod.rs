//! `kafka-group plan`: what an assigner would do with groups that are described in files, or that live.

mod changes;
mod draft;
mod explain;
mod file;
mod line;
mod live;
mod names;
mod options;
mod report;
mod save;
mod timed;

use std::path::Path;
use std::sync::Arc;

use self::draft::Group;
use self::file::GroupFile;
use self::options::PlanOptions;
use self::timed::{Timed, timed};
use super::UsageError;
use super::arguments::Format;
use super::assigners::{Assigners, Make};
use super::console::Console;
use super::outcome::{Outcome, worse};
use super::page::Page;
use super::table::{counted, printable};
use crate::assign::{
    Copies, ErasedAssigner, GroupAssignment, GroupSubscription, RebalanceProtocol,
};

pub(super) use options::{Choices, Knob};

pub(super) const USAGE: &str = "\
usage: kafka-group plan [OPTION]… FILE…
       kafka-group plan [OPTION]… --bootstrap-server HOST:PORT --group GROUP [--group GROUP]…

Plans the group in each FILE, or each GROUP as it is now, and says who would have what, what would move and why, and how
far that is from the best. Nothing is changed.

  -a, --assigner NAME   who plans: range, roundrobin, sticky, cooperative-sticky, co-partition, redundant, rack-aware, or
                        another that this command was made with. Without it files are planned by cooperative-sticky, and
                        a GROUP by its own assigner
  --racks ORDER         what racks count for: after-moves (the default), before-moves, leaders-after-moves,
                        leaders-before-moves, ignored
  --slack N             how far loads may be from the balanced ones, where that saves moves
  --co-partition T,T    topics whose partitions of one number go to one member; may be given several times; all topics
                        without it
  --strict              refuses to co-partition topics whose numbers of partitions differ
  --copies N            with how many members a redundant plan puts each partition; 2 without it
  --without M,M         as if these members had left, by instance id or member id
  --with N, --with M,M  as if N more had joined, or some of these names, each like the next of the others in turn. Names
                        count where members are taken in order, as by range
  --save FILE           writes the GROUP into a file, as it is, for plans without its cluster
  --explain TOPIC-N     the prior owner of a partition, who else could have it, and what that would cost
  --all                 lists everything, however long
  --format json         a line for each group, with times, instead of tables
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

A GROUP is planned by what its members told their leader in the last round, and what they were given in it. A group that
rebalances is waited for: what its members want is told of a stable one alone. What they told is told for the assigner
alone that the group uses, and how their programs set it up (--racks, --slack, --copies, …) is not told at all: say it here.
";

/// Plans each file, or each group.
pub(super) fn run(
    arguments: lexopt::Parser,
    assigners: &Assigners,
    console: &mut Console<'_>,
) -> Result<Outcome, UsageError> {
    let Some(options) = PlanOptions::read(arguments)? else {
        console.say(format_args!("{}", super::usage("plan").unwrap_or_default()));
        return Ok(Outcome::Done);
    };
    if !options.groups.is_empty() {
        return live::run(&options, assigners, console);
    }
    let name = options.assigner.as_deref().unwrap_or(DEFAULT);
    let make = assigners.find(name, &options.turned)?;
    let mut outcome = Outcome::Done;
    for (path, place) in options.files.iter().zip(0..) {
        let planned = plan_file(path, name, make, &options, console.page());
        let came = say(planned, &path.display().to_string(), &options, console, place);
        outcome = worse(outcome, came);
    }
    Ok(outcome)
}

/// Who plans what is in files.
const DEFAULT: &str = "cooperative-sticky";

/// Says what came of the group at this place among those that were asked for, or what is wrong with it.
fn say(
    planned: Result<String, String>,
    head: &str,
    options: &PlanOptions,
    console: &mut Console<'_>,
    place: usize,
) -> Outcome {
    match planned {
        Ok(said) => {
            let gap = if place > 0 && options.format == Format::Table { "\n" } else { "" };
            console.say(format_args!("{gap}{said}"));
            Outcome::Done
        }
        Err(problem) => {
            console.complain(format_args!("{}\n", printable(&format!("{head}{problem}"))));
            Outcome::Failed
        }
    }
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
    /// Where it is to be written.
    page: Page,
}

/// What is said of one file, or what is wrong with it, to be written behind its name.
fn plan_file(
    path: &Path,
    assigner: &str,
    make: &Make,
    options: &PlanOptions,
    page: Page,
) -> Result<String, String> {
    let file = GroupFile::read(path).map_err(|error| error.to_string())?;
    let name = file.name().map_or_else(|| name_of(path), str::to_owned);
    let mut choices = options.choices.clone();
    choices.weights = file.weights().map(|weights| Arc::new(weights.clone()));
    let erased = make(&choices).map_err(|error| format!(": {error}"))?;
    let holds = erased.protocols().contains(&RebalanceProtocol::Cooperative);
    let group = file.draft(holds, erased.version()).build(&options.what_if)?;
    plan(Task { name, assigner, erased, group, choices: &choices, page }, options)
}

/// What is to be planned for, and by whom.
struct Task<'a> {
    name: String,
    assigner: &'a str,
    erased: ErasedAssigner,
    group: Group,
    choices: &'a Choices,
    page: Page,
}

/// What is said of a plan, or what is wrong, to be written behind the name of what was planned for.
fn plan(task: Task<'_>, options: &PlanOptions) -> Result<String, String> {
    let Task { name, assigner, erased, mut group, choices, page } = task;
    group.notes.extend(unheard(&erased, &group));
    let timed = timed(&erased, &group, options.runs).map_err(|error| format!(": {error}"))?;
    let view = GroupSubscription::untold(&group.model);
    let had = had(&view, &timed.plan);
    let assigner = assigner.to_owned();
    let planned = Planned { name, assigner, group, view, erased, timed, had, page };
    match (options.format, &options.explain) {
        (Format::Json, _) => Ok(line::of(&planned)),
        (Format::Table, Some(partition)) => explain::of(&planned, partition, choices),
        (Format::Table, None) => Ok(report::of(&planned, choices, options.all)),
    }
}

/// What members told and the assigner does not hear.
fn unheard(assigner: &ErasedAssigner, group: &Group) -> Vec<String> {
    /// So many members are named.
    const MOST: usize = 4;
    let told =
        (0..).zip(&group.told).filter_map(|(place, told)| Some((place, told.as_ref().ok()?)));
    let told = told.filter(|(_, told)| !told.bytes.is_empty());
    if assigner.tells_nothing() {
        let (name, count) = (printable(assigner.name()), told.count());
        let words =
            format!("{name} takes no metadata: those of {} do not count", counted(count, "member"));
        return if count > 0 { vec![words] } else { Vec::new() };
    }
    let mut notes: Vec<String> = told
        .filter_map(|(place, told)| Some((place, assigner.show(told).err()?)))
        .map(|(place, error)| {
            let (member, why) = (group.names([place]), printable(&error.to_string()));
            format!("the metadata of {member} cannot be read: {why}")
        })
        .collect();
    let more = notes.len().saturating_sub(MOST);
    notes.truncate(MOST);
    if more > 0 {
        notes.push(format!("nor can those of {more} more"));
    }
    notes
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
