//! Groups in files: read, checked, and made what can be planned for.

mod form;
mod group;
mod locate;
mod numbers;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

pub(super) use group::GroupFile;

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// What partitions weigh, by topic and from partition 0 on.
pub(in crate::cli) type Weights = BTreeMap<String, Vec<f64>>;

/// Why a file is no group.
#[derive(Debug)]
pub(super) struct FileError {
    /// Where in the file, if it could be read at all.
    line: Option<usize>,
    message: String,
}

impl GroupFile {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, FileError> {
        let text = read_bytes(path).map_err(|message| FileError { line: None, message })?;
        Self::parse(&text)
    }

    /// Reads a text.
    pub(super) fn parse(text: &[u8]) -> Result<Self, FileError> {
        let form = serde_json::from_slice(text).map_err(|error| FileError::of_json(&error))?;
        Self::check(form).map_err(|fault| FileError {
            line: Some(locate::line_of(text, &fault.steps)),
            message: fault.message,
        })
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    let size = file.metadata().map_or(0, |about| about.len());
    text.reserve_exact(size.min(MOST_BYTES) as usize + 1);
    file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(format!("it is larger than {MOST_BYTES} bytes")),
        false => Ok(text),
    }
}

impl FileError {
    /// What is wrong, without the place, which is told apart.
    fn of_json(error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
        Self { line: Some(error.line()), message }
    }
}

/// To be written behind the file's name.
impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, ":{line}: {}", self.message),
            None => write!(f, ": {}", self.message),
        }
    }
}
