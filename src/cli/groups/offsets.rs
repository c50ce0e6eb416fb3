//! What the command line says about offsets.

use std::path::Path;

use super::show::NOTHING;
use super::{csv, times};
use crate::admin::{OffsetSelection, ResetTo};
use crate::cli::UsageError;

/// Which offsets are meant, and what is to become of them.
#[derive(Debug, Default)]
pub(super) struct Offsets {
    pub(super) selection: OffsetSelection,
    pub(super) names_topics: bool,
    all_topics: bool,
    /// Where to; what is said first counts, and that there is more than one is an error.
    to: Vec<ResetTo>,
    from_file: bool,
    pub(super) execute: bool,
    pub(super) export: bool,
    pub(super) create: bool,
}

impl Offsets {
    /// Sets what takes no value; says whether it is one of these.
    pub(super) fn flag(&mut self, option: &str) -> bool {
        match option {
            "all-topics" => self.all_topics = true,
            "to-earliest" => self.to.push(ResetTo::Earliest),
            "to-latest" => self.to.push(ResetTo::Latest),
            "to-current" => self.to.push(ResetTo::Current),
            "execute" => self.execute = true,
            "export" => self.export = true,
            "create" => self.create = true,
            _ => return false,
        }
        true
    }

    /// Sets what takes a value; says whether it is one of these.
    pub(super) fn set(&mut self, option: &str, value: &str) -> Result<bool, UsageError> {
        let number = || {
            let number = value.parse::<i64>();
            number.map_err(|_| wrong(option, value, "is no whole number"))
        };
        match option {
            "topic" => self.select(value)?,
            "to-offset" => self.to.push(ResetTo::Offset(number()?)),
            "shift-by" => self.to.push(ResetTo::ShiftBy(number()?)),
            "to-datetime" => {
                let time = times::datetime(value);
                let form = "is no time as in 2026-01-31T12:00:00, or with .500, and with Z or +02:00 at its end";
                self.to.push(ResetTo::Time(time.ok_or_else(|| wrong(option, value, form))?));
            }
            "by-duration" => {
                let ago = times::duration(value);
                let form = "is no time as in P1DT2H3M4S: days, hours, minutes, seconds";
                self.to.push(ResetTo::Ago(ago.ok_or_else(|| wrong(option, value, form))?));
            }
            "from-file" => {
                let offsets = csv::read(Path::new(value)).map_err(UsageError::Other)?;
                self.to.push(ResetTo::Each(offsets));
                self.from_file = true;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `orders`, or `orders:0,1,5`.
    fn select(&mut self, value: &str) -> Result<(), UsageError> {
        let selection = std::mem::take(&mut self.selection);
        self.names_topics = true;
        self.selection = match value.split_once(':') {
            _ if value.is_empty() || value.starts_with(':') => {
                return Err(wrong("topic", value, "names no topic"));
            }
            None => selection.topic(value),
            Some((topic, numbers)) => {
                let number = |text: &str| text.trim().parse::<i32>().ok().filter(|one| *one >= 0);
                let numbers: Option<Vec<i32>> = numbers.split(',').map(number).collect();
                let form = "is neither a topic nor partitions of one as in orders:0,1";
                selection.partitions(topic, numbers.ok_or_else(|| wrong("topic", value, form))?)
            }
        };
        Ok(())
    }

    /// What makes no sense about a reset.
    pub(super) fn wrong(&self) -> Option<&'static str> {
        let scopes = [self.names_topics, self.all_topics, self.from_file];
        match (self.to.len(), scopes) {
            (0, _) => Some(
                "it is not said where to: `--to-earliest`, `--to-latest`, `--to-current`, `--to-offset N`, `--shift-by N`, \
                 `--to-datetime T`, `--by-duration D`, or `--from-file F`",
            ),
            (2.., _) => Some("it is said more than once where to"),
            (_, [true, true, _]) => Some("`--topic` and `--all-topics` are both asked for"),
            (_, [false, false, false]) => Some(
                "it is not said of what: `--topic orders`, `--topic orders:0,1`, or `--all-topics`",
            ),
            _ if self.export && self.execute => Some(
                "`--export` says what would be done, and `--execute` does it: one after the other",
            ),
            _ => None,
        }
    }

    /// Why no partition is meant, where none is.
    pub(super) fn nothing(&self) -> &'static str {
        match (self.from_file, self.names_topics) {
            (true, true) => "what `--topic` names is not in the file",
            (true, false) => "the file names no partition",
            _ => NOTHING,
        }
    }

    /// Where to.
    pub(super) fn to(&self) -> Option<ResetTo> {
        self.to.first().cloned()
    }
}

fn wrong(option: &str, value: &str, why: &str) -> UsageError {
    UsageError::Other(format!("`--{option}`: {value:?} {why}"))
}
