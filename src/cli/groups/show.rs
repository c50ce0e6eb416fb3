//! Values as people and programs read them.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cli::table::printable;

/// Where no offsets are found: brokers pass over those of other topics.
pub(super) const NOTHING: &str = "nothing is committed for topics that this user may DESCRIBE";

/// The longest that a cell of a table gets.
const WIDEST: usize = 60;

/// Bytes that nobody here can read.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A text as it fits into a table.
pub(super) fn cell(text: &str) -> String {
    let text = printable(text);
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The same, where there is one.
pub(super) fn cell_or_none(text: Option<&str>) -> String {
    text.map_or_else(|| "-".to_owned(), cell)
}

pub(super) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_hex_and_long_cells_end_early() {
        assert_eq!(hex(&[0, 0xab]), "0x00ab");
        assert_eq!(hex(&[]), "0x");
        let long = "ä".repeat(61);
        assert_eq!(cell(&long), format!("{}…", "ä".repeat(60)));
        assert_eq!(cell("a\nb"), "a\\nb");
        assert_eq!(cell_or_none(None), "-");
    }

    #[test]
    fn times_are_written_in_seconds() {
        assert_eq!(seconds(Duration::from_millis(45_000)), "45 s");
        assert_eq!(seconds(Duration::from_millis(1_500)), "1.5 s");
    }
}
