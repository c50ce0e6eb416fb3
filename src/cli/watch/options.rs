//! What the command line says about watching.

use std::time::Duration;

use crate::cli::UsageError;
use crate::cli::arguments::{Format, text};
use crate::cli::reach::{NOWHERE, Reach};

/// How long a look may take: a broker that is away is noticed soon.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is asked for.
#[derive(Debug)]
pub(super) struct WatchOptions {
    pub(super) reach: Reach,
    pub(super) groups: Vec<String>,
    pub(super) interval: Duration,
    /// How many looks; none for no end.
    pub(super) count: Option<u64>,
    pub(super) format: Format,
}

impl WatchOptions {
    /// Reads what follows `watch`; none where help is asked for.
    pub(super) fn read(mut arguments: lexopt::Parser) -> Result<Option<Self>, UsageError> {
        use lexopt::Arg::{Long, Short};

        let mut options = Self {
            reach: Reach::patient_for(PATIENCE),
            groups: Vec::new(),
            interval: Duration::from_secs(2),
            count: None,
            format: Format::default(),
        };
        while let Some(argument) = arguments.next()? {
            let option = match argument {
                Short('h') | Long("help") => return Ok(None),
                Long(option) => option.to_owned(),
                other => return Err(other.unexpected().into()),
            };
            match option.as_str() {
                "group" => options.groups.push(text(arguments.value()?)?),
                "interval" => options.interval = interval(&text(arguments.value()?)?)?,
                "count" => options.count = Some(count(&text(arguments.value()?)?)?),
                "format" => options.format = Format::named(&text(arguments.value()?)?)?,
                "bootstrap-server" | "command-config" | "timeout" => {
                    options.reach.set(&option, &text(arguments.value()?)?)?;
                }
                other => return Err(Long(other).unexpected().into()),
            }
        }
        options.check()?;
        Ok(Some(options))
    }

    fn check(&self) -> Result<(), UsageError> {
        let problem = match self {
            Self { reach, .. } if !reach.is_known() => NOWHERE,
            Self { groups, .. } if groups.is_empty() => "no `--group` is named",
            Self { groups, .. } if groups.iter().any(String::is_empty) => {
                "`--group`: the name of a group is empty"
            }
            _ => return Ok(()),
        };
        Err(UsageError::Other(problem.to_owned()))
    }
}

/// A tenth of a second to a day.
fn interval(value: &str) -> Result<Duration, UsageError> {
    let seconds = value.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        UsageError::Other(format!("`--interval` takes 0.1 to 86400 seconds, not {value:?}"))
    })
}

fn count(value: &str) -> Result<u64, UsageError> {
    let count = value.parse().ok().filter(|count| *count > 0);
    let problem =
        || UsageError::Other(format!("`--count` takes a number from 1 on, not {value:?}"));
    count.ok_or_else(problem)
}
