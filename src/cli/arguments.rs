//! What options of all commands have in common.

use std::ffi::OsString;

use serde::Serialize;

use super::UsageError;

/// How things are printed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Format {
    #[default]
    Table,
    /// Lines of JSON.
    Json,
}

impl Format {
    /// Reads what follows `--format`.
    pub(super) fn named(name: &str) -> Result<Self, UsageError> {
        match name {
            "table" => Ok(Self::Table),
            "json" => Ok(Self::Json),
            _ => Err(UsageError::Other(format!("`--format` takes table or json, not `{name}`"))),
        }
    }
}

/// What follows an option, as text.
pub(super) fn text(value: OsString) -> Result<String, UsageError> {
    value.into_string().map_err(|value| UsageError::Other(format!("{value:?} is no text")))
}

/// A line of JSON.
pub(super) fn json(value: &impl Serialize) -> String {
    // Texts, numbers and lists of them can always be written.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}
