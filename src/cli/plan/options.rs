//! What the command line says about a plan.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::draft::WhatIf;
use super::file::Weights;
use crate::assign::Racks;
use crate::cli::UsageError;
use crate::cli::arguments::{Format, text};
use crate::cli::reach::{NOWHERE, Reach};

/// What is asked for.
#[derive(Debug)]
pub(super) struct PlanOptions {
    /// Who plans, where that is said.
    pub(super) assigner: Option<String>,
    pub(super) choices: Choices,
    /// Which of the choices were made.
    pub(super) turned: Vec<Knob>,
    pub(super) format: Format,
    pub(super) runs: usize,
    /// A topic and a partition's number.
    pub(super) explain: Option<(String, i32)>,
    /// Whether everything is listed, however long.
    pub(super) all: bool,
    pub(super) what_if: WhatIf,
    pub(super) files: Vec<PathBuf>,
    /// Groups that live.
    pub(super) groups: Vec<String>,
    pub(super) reach: Reach,
    /// Where such a group is written to.
    pub(super) save: Option<PathBuf>,
}

/// What assigners let one choose.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Choices {
    pub(in crate::cli) racks: Racks,
    pub(in crate::cli) slack: u32,
    /// Groups of topics that belong together; all topics where there is none.
    pub(in crate::cli) co_partitioned: Vec<Vec<String>>,
    /// Whether topics that belong together must have as many partitions.
    pub(in crate::cli) strict: bool,
    /// How many members have each partition, for an assigner that gives it to several.
    pub(in crate::cli) copies: Option<u16>,
    /// What partitions weigh, from the file.
    pub(in crate::cli) weights: Option<Arc<Weights>>,
}

/// A choice that some assigners know and some do not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::cli) enum Knob {
    Racks,
    Slack,
    CoPartition,
    Strict,
    Copies,
}

impl Choices {
    /// Makes a choice by what follows its option.
    fn turn(&mut self, knob: Knob, arguments: &mut lexopt::Parser) -> Result<(), UsageError> {
        match knob {
            Knob::Racks => self.racks = racks(&text(arguments.value()?)?)?,
            Knob::Slack => self.slack = number(knob.option(), &arguments.value()?)?,
            Knob::CoPartition => {
                let topics = text(arguments.value()?)?;
                self.co_partitioned.push(topics.split(',').map(str::to_owned).collect());
            }
            Knob::Strict => self.strict = true,
            Knob::Copies => match number(knob.option(), &arguments.value()?)? {
                0 => return Err(UsageError::Other("`--copies` takes 1 or more, not 0".to_owned())),
                copies => self.copies = Some(copies),
            },
        }
        Ok(())
    }
}

impl WhatIf {
    /// Reads what follows `--with`: a number, or names.
    fn come(&mut self, value: &str) -> Result<(), UsageError> {
        if let Ok(count) = value.parse::<usize>() {
            self.with = self.with.saturating_add(count);
            return Ok(());
        }
        let mut names = value.split(',').map(str::trim);
        if names.clone().any(str::is_empty) {
            let problem =
                format!("`--with` takes a number, or names with commas between, not {value:?}");
            return Err(UsageError::Other(problem));
        }
        names.try_for_each(|name| {
            let again = || UsageError::Other(format!("`--with` names {name:?} twice"));
            if self.named.iter().any(|named| named == name) {
                return Err(again());
            }
            self.named.push(name.to_owned());
            Ok(())
        })
    }
}

impl Knob {
    const ALL: [Self; 5] =
        [Self::Racks, Self::Slack, Self::CoPartition, Self::Strict, Self::Copies];

    /// What turns it.
    pub(in crate::cli) fn option(self) -> &'static str {
        match self {
            Self::Racks => "--racks",
            Self::Slack => "--slack",
            Self::CoPartition => "--co-partition",
            Self::Strict => "--strict",
            Self::Copies => "--copies",
        }
    }
}

/// The most runs; each is remembered.
const MOST_RUNS: usize = 100_000;

/// The most members that may be supposed to join.
const MOST_NEWCOMERS: usize = 10_000;

/// The names of the orders, those of [`Racks`] as they are written on a command line.
const RACKS: [(&str, Racks); 5] = [
    ("after-moves", Racks::AfterMoves),
    ("before-moves", Racks::BeforeMoves),
    ("leaders-after-moves", Racks::LeadersAfterMoves),
    ("leaders-before-moves", Racks::LeadersBeforeMoves),
    ("ignored", Racks::Ignored),
];

impl PlanOptions {
    /// Reads what follows `plan`; none where help is asked for.
    pub(super) fn read(mut arguments: lexopt::Parser) -> Result<Option<Self>, UsageError> {
        use lexopt::Arg::{Long, Short, Value};

        let mut options = Self {
            assigner: None,
            choices: Choices::default(),
            turned: Vec::new(),
            format: Format::Table,
            runs: 1,
            explain: None,
            all: false,
            what_if: WhatIf::default(),
            files: Vec::new(),
            groups: Vec::new(),
            reach: Reach::default(),
            save: None,
        };
        while let Some(argument) = arguments.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Short('a') | Long("assigner") => {
                    options.assigner = Some(text(arguments.value()?)?);
                }
                Long("format") => options.format = Format::named(&text(arguments.value()?)?)?,
                Long("runs") => options.runs = number("--runs", &arguments.value()?)?,
                Long("explain") => {
                    options.explain = Some(partition(&text(arguments.value()?)?)?);
                }
                Long("all") => options.all = true,
                Long("without") => {
                    let ids = text(arguments.value()?)?;
                    options.what_if.without.extend(ids.split(',').map(|id| id.trim().to_owned()));
                }
                Long("with") => options.what_if.come(&text(arguments.value()?)?)?,
                Long("group") => options.groups.push(text(arguments.value()?)?),
                Long("save") => options.save = Some(arguments.value()?.into()),
                Long(option @ ("bootstrap-server" | "command-config" | "timeout")) => {
                    let option = option.to_owned();
                    options.reach.set(&option, &text(arguments.value()?)?)?;
                }
                Long(option) => {
                    let knob = Knob::ALL.into_iter().find(|knob| knob.option()[2..] == *option);
                    let knob = knob.ok_or_else(|| argument.unexpected())?;
                    options.choices.turn(knob, &mut arguments)?;
                    options.turned.push(knob);
                }
                Value(file) => options.files.push(file.into()),
                other @ Short(_) => return Err(other.unexpected().into()),
            }
        }
        options.check()?;
        Ok(Some(options))
    }

    fn check(&self) -> Result<(), UsageError> {
        let problem = match self {
            Self { files, groups, .. } if files.is_empty() && groups.is_empty() => {
                "no file to plan, and no `--group`"
            }
            Self { files, groups, .. } if !files.is_empty() && !groups.is_empty() => {
                "files and groups are planned apart"
            }
            Self { groups, .. } if groups.iter().any(String::is_empty) => {
                "`--group`: the name of a group is empty"
            }
            Self { groups, reach, .. } if !groups.is_empty() && !reach.is_known() => NOWHERE,
            Self { groups, reach, .. } if groups.is_empty() && reach.is_said() => {
                "a cluster is asked for a `--group` alone"
            }
            Self { groups, save: Some(_), .. } if groups.len() != 1 => {
                "`--save` takes one `--group`"
            }
            Self { what_if, .. } if what_if.with > MOST_NEWCOMERS => {
                "`--with` takes no more than 10000"
            }
            Self { runs, .. } if !(1..=MOST_RUNS).contains(runs) => "`--runs` takes 1 to 100000",
            Self { format: Format::Json, explain: Some(_), .. } => {
                "`--explain` has no form in JSON"
            }
            _ => return Ok(()),
        };
        Err(UsageError::Other(problem.to_owned()))
    }
}

fn number<N: std::str::FromStr>(option: &str, value: &OsString) -> Result<N, UsageError> {
    let number = value.to_str().and_then(|value| value.parse().ok());
    number.ok_or_else(|| UsageError::Other(format!("`{option}` takes a number, not {value:?}")))
}

fn racks(order: &str) -> Result<Racks, UsageError> {
    let found = RACKS.iter().find(|(name, _)| *name == order);
    found.map(|(_, racks)| *racks).ok_or_else(|| {
        let names = RACKS.map(|(name, _)| name).join(", ");
        UsageError::Other(format!("`--racks` takes one of {names}, not `{order}`"))
    })
}

/// A topic's name may have a hyphen in it, too; the last one counts.
fn partition(name: &str) -> Result<(String, i32), UsageError> {
    let parts = name.rsplit_once('-');
    let parsed = parts.and_then(|(topic, number)| Some((topic.to_owned(), number.parse().ok()?)));
    parsed.ok_or_else(|| {
        UsageError::Other(format!("`--explain` takes a partition as in `orders-3`, not `{name}`"))
    })
}
