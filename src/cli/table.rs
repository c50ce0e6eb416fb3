//! Text in columns, and names that may be anything.

use std::fmt::{self, Write as _};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::page::Page;

/// So many of something, as in `1 topic` and `2 topics`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}

/// Rows under a head, each column as wide as its widest cell.
///
/// On a page that is too narrow for that, long texts go on in the lines below; on one that is much too narrow, each row
/// becomes a paragraph. Nothing is left out, and no word is cut: ids are there to be copied. A terminal goes on with a
/// line that is too long in its own way.
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

    /// The table as it looks on a page.
    pub(super) fn on(&self, page: Page) -> OnPage<'_> {
        OnPage { table: self, page }
    }

    fn write(&self, f: &mut impl fmt::Write, page: Page) -> fmt::Result {
        match self.widths(page.columns()) {
            Some(widths) => self.write_rows(f, &widths, page),
            None => self.write_paragraphs(f, page),
        }
    }

    /// How wide each column is, so that a line is no wider than this, or no wider than two such lines where words are
    /// too long; none if that cannot be. A column without anything is none.
    fn widths(&self, most: usize) -> Option<Vec<usize>> {
        let widest = |column: usize, width: fn(&str) -> usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| width(cell)).max().unwrap_or(0)
        };
        let columns = 0..self.columns.len();
        let whole: Vec<usize> = columns.clone().map(|at| widest(at, |cell| cell.width())).collect();
        if line(&whole) <= most {
            return Some(whole);
        }
        let least: Vec<usize> = columns.map(|at| widest(at, longest_word)).collect();
        let mut widths = whole.clone();
        while line(&widths) > most {
            let texts = widths.iter_mut().zip(&least).zip(&self.columns);
            let texts =
                texts.filter(|((now, least), align)| **align == Align::Left && **now > **least);
            // Mostly that is the one with the most to go on with below.
            let Some(((widest, _), _)) = texts.max_by_key(|((now, _), _)| **now) else { break };
            *widest -= 1;
        }
        let twice = most.saturating_mul(2);
        match line(&widths) <= most {
            true => Some(widths),
            false => Some(whole).filter(|widths| line(widths) <= twice),
        }
    }

    fn write_rows(&self, f: &mut impl fmt::Write, widths: &[usize], page: Page) -> fmt::Result {
        for (row, place) in self.rows.iter().zip(0..) {
            let cells: Vec<Vec<&str>> =
                row.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width)).collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut text = String::new();
                for ((cell, width), align) in cells.iter().zip(widths).zip(&self.columns) {
                    let piece = cell.get(line).copied().unwrap_or_default();
                    let gap = " ".repeat(width.saturating_sub(piece.width()));
                    match align {
                        _ if *width == 0 => {}
                        Align::Left => write!(text, "{piece}{gap}  ")?,
                        Align::Right => write!(text, "{gap}{piece}  ")?,
                    }
                }
                let text = text.trim_end();
                match place {
                    0 => writeln!(f, "{}", page.strong(text))?,
                    _ => writeln!(f, "{text}")?,
                }
            }
        }
        Ok(())
    }

    /// Each row as lines of its own, with the head before each cell.
    fn write_paragraphs(&self, f: &mut impl fmt::Write, page: Page) -> fmt::Result {
        let Some((head, rows)) = self.rows.split_first() else { return Ok(()) };
        let names = head.iter().map(|name| name.width()).max().unwrap_or(0);
        let room = page.columns().saturating_sub(names + 2).max(1);
        for (row, place) in rows.iter().zip(0..) {
            if place > 0 {
                writeln!(f)?;
            }
            for (name, cell) in head.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                let gap = " ".repeat(names - name.width());
                for (piece, line) in wrapped(cell, room).into_iter().zip(0..) {
                    match line {
                        0 => writeln!(f, "{}{gap}  {piece}", page.strong(name))?,
                        _ => writeln!(f, "{:names$}  {piece}", "")?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// On a page of any width.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Page::endless())
    }
}

/// A table on a page.
#[derive(Debug)]
pub(super) struct OnPage<'a> {
    table: &'a Table,
    page: Page,
}

impl fmt::Display for OnPage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table.write(f, self.page)
    }
}

/// How wide a line with columns of these widths is.
fn line(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0);
    shown.map(|width| width + 2).sum::<usize>().saturating_sub(2)
}

/// Texts are divided behind spaces and commas.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', ','])
}

fn longest_word(text: &str) -> usize {
    words(text).map(|word| word.trim_end().width()).max().unwrap_or(0)
}

/// A text in pieces that are no wider than this, but for words that are.
fn wrapped(text: &str, most: usize) -> Vec<&str> {
    let (mut pieces, mut start, mut end) = (Vec::new(), 0, 0);
    for word in words(text) {
        let piece = |end: usize| text.get(start..end).unwrap_or_default().trim_end();
        if end > start && piece(end + word.len()).width() > most {
            pieces.push(piece(end));
            start = end;
        }
        end += word.len();
    }
    pieces.push(text.get(start..).unwrap_or_default().trim_end());
    pieces
}

/// As much of a text's beginning as is no wider than this.
fn fitting(text: &str, most: usize) -> &str {
    let mut width = 0;
    let end = text.char_indices().find(|(_, letter)| {
        width += letter.width().unwrap_or(0);
        width > most
    });
    end.map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

/// A text that ends in a sign for more if it is wider than this.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.width() <= most {
        true => text.to_owned(),
        false => format!("{}…", fitting(text, most.saturating_sub(1))),
    }
}

/// A name as it can stand in a line: names may hold anything.
pub(super) fn printable(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match is_unsafe(letter) {
            true => text.extend(letter.escape_default()),
            false => text.push(letter),
        }
    }
    match text.is_empty() {
        true => "\"\"".to_owned(),
        false => text,
    }
}

/// Whether a terminal or a reader would be led astray: what controls the terminal, ends lines, turns the direction of
/// writing, or cannot be seen.
pub(super) fn is_unsafe(letter: char) -> bool {
    let is_hidden = matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    letter.is_control() || is_hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new(&[("NAME", Align::Left), ("N", Align::Right), ("", Align::Left)]);
        table.row(vec!["é".to_owned(), "100".to_owned(), "x".to_owned()]);
        table.row(vec!["longer".to_owned(), "7".to_owned(), String::new()]);
        table
    }

    fn on(table: &Table, columns: usize) -> String {
        table.on(Page::of(columns, 24)).to_string()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(table().to_string(), "NAME      N\né       100  x\nlonger    7\n");
    }

    #[test]
    fn letters_are_as_wide_as_terminals_show_them() {
        let mut table = Table::new(&[("A", Align::Left), ("B", Align::Left)]);
        table.row(vec!["組".to_owned(), "x".to_owned()]);
        table.row(vec!["e\u{301}".to_owned(), "y".to_owned()]);
        assert_eq!(table.to_string(), "A   B\n組  x\ne\u{301}   y\n");
    }

    #[test]
    fn long_texts_go_on_below_where_the_page_is_narrow() {
        let mut table =
            Table::new(&[("M", Align::Left), ("N", Align::Right), ("HAS", Align::Left)]);
        table.row(vec!["a".to_owned(), "10".to_owned(), "orders 0-1,3,5  payments 7".to_owned()]);
        table.row(vec!["b".to_owned(), "1".to_owned(), "orders 2".to_owned()]);
        assert_eq!(
            on(&table, 24),
            "M   N  HAS\na  10  orders 0-1,3,5\n       payments 7\nb   1  orders 2\n"
        );
        assert!(on(&table, 24).lines().all(|line| line.width() <= 24));
        assert_eq!(on(&table, 80), table.to_string());
    }

    #[test]
    fn a_row_is_a_paragraph_where_no_columns_fit() {
        assert_eq!(on(&table(), 5), "NAME  é\nN     100\n      x\n\nNAME  longer\nN     7\n");
    }

    #[test]
    fn words_that_are_too_long_stay_whole() {
        let mut table = Table::new(&[("ID", Align::Left), ("N", Align::Right)]);
        table.row(vec!["a".repeat(30), "7".to_owned()]);
        assert_eq!(on(&table, 20), table.to_string());
        assert_eq!(on(&table, 10), format!("ID  {}\nN   7\n", "a".repeat(30)));
    }

    #[test]
    fn texts_are_divided_between_words() {
        assert_eq!(wrapped("orders 0-1,3,5  payments 7", 10), ["orders", "0-1,3,5", "payments 7"]);
        assert_eq!(wrapped("組織 abc", 5), ["組織", "abc"]);
        for text in ["", "abc", "組織", "a b,c  d", " e\u{301} ", "a,,b"] {
            for most in 0..8 {
                let pieces = wrapped(text, most);
                let fits = |piece: &&str| piece.width() <= most.max(longest_word(piece));
                assert!(pieces.iter().all(fits), "{text:?} {most}");
                let without_space = |text: &str| text.replace(' ', "");
                assert_eq!(without_space(&pieces.concat()), without_space(text));
            }
        }
    }

    #[test]
    fn the_head_is_strong_where_there_are_colours() {
        let page = Page::endless().with_colours();
        assert!(table().on(page).to_string().starts_with("\u{1b}[1mNAME      N\u{1b}[0m\né  "));
    }

    #[test]
    fn a_name_cannot_break_a_line_or_turn_its_direction() {
        assert_eq!(printable("a\nb\u{7}"), "a\\nb\\u{7}");
        assert_eq!(printable("\u{1b}[31m\u{9b}1m\u{7f}"), "\\u{1b}[31m\\u{9b}1m\\u{7f}");
        assert_eq!(printable("a\u{202e}b\u{200b}\u{2028}"), "a\\u{202e}b\\u{200b}\\u{2028}");
        assert_eq!(printable(""), "\"\"");
        assert_eq!(printable("ä b 組"), "ä b 組");
    }

    #[test]
    fn a_text_that_is_too_long_ends_in_a_sign() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "ab…");
        assert_eq!(shortened("組織", 3), "組…");
        assert_eq!(shortened("abc", 0), "…");
    }
}
