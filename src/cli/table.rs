//! Text in columns, and names that may be anything.

use std::fmt::{self, Write as _};

/// Rows under a head, each column as wide as its widest cell.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

/// Where a cell's text stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Align {
    Left,
    Right,
}

impl Table {
    /// A table with this head.
    pub(super) fn new(head: &[(&str, Align)]) -> Self {
        let columns = head.iter().map(|(_, align)| *align).collect();
        Self { columns, rows: vec![head.iter().map(|(name, _)| (*name).to_owned()).collect()] }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, width), align) in row.iter().zip(&widths).zip(&self.columns) {
                match align {
                    // A column without anything is none.
                    _ if *width == 0 => {}
                    Align::Left => write!(line, "{cell:width$}  ")?,
                    Align::Right => write!(line, "{cell:>width$}  ")?,
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A name as it can stand in a line: names may hold anything.
pub(super) fn printable(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter.is_control() {
            true => text.extend(letter.escape_default()),
            false => text.push(letter),
        }
    }
    match text.is_empty() {
        true => "\"\"".to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table =
            Table::new(&[("NAME", Align::Left), ("N", Align::Right), ("", Align::Left)]);
        table.row(vec!["é".to_owned(), "100".to_owned(), "x".to_owned()]);
        table.row(vec!["longer".to_owned(), "7".to_owned(), String::new()]);
        assert_eq!(table.to_string(), "NAME      N\né       100  x\nlonger    7\n");
    }

    #[test]
    fn a_name_cannot_break_a_line() {
        assert_eq!(printable("a\nb\u{7}"), "a\\nb\\u{7}");
        assert_eq!(printable(""), "\"\"");
        assert_eq!(printable("ä b"), "ä b");
    }
}
