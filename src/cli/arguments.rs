//! What options of all commands have in common.

use std::ffi::OsString;
use std::fmt::Write as _;

use serde::Serialize;

use super::UsageError;
use super::table::is_unsafe;

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

/// A line of JSON. It may go to a terminal, so what might lead that astray is written as an escape: such letters stand
/// in texts alone.
pub(super) fn json(value: &impl Serialize) -> String {
    // Texts, numbers and lists of them can always be written.
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut line = String::with_capacity(json.len() + 1);
    for letter in json.chars() {
        match is_unsafe(letter) {
            true => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Writing to a text does not fail.
                    let _ = write!(line, "\\u{unit:04x}");
                }
            }
            false => line.push(letter),
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_json_says_the_same_and_holds_nothing_that_a_terminal_obeys() {
        let name = "\u{1b}[31m\u{9b}1m\u{7f}\u{202e}\u{e0041}ä組";
        let line = json(&[name]);
        assert_eq!(line, "[\"\\u001b[31m\\u009b1m\\u007f\\u202e\\udb40\\udc41ä組\"]\n");
        assert_eq!(serde_json::from_str::<[&str; 1]>(&line).ok(), None, "it has escapes");
        assert_eq!(serde_json::from_str::<[String; 1]>(&line).unwrap(), [name]);
    }
}
