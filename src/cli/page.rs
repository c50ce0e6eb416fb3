//! What is written on: how wide it is, and whether it shows colours.

use std::io::IsTerminal as _;

/// A terminal, or something that has no end to the right.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Page {
    /// Of a terminal: its columns and rows.
    size: Option<(usize, usize)>,
    has_colours: bool,
}

/// What terminals have that do not tell their size.
const USUAL: (usize, usize) = (80, 24);

/// How something is shown where there are colours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shade {
    Strong,
    Faint,
    Good,
    Busy,
    Bad,
}

impl Page {
    /// A file or a pipe.
    pub(super) fn endless() -> Self {
        Self { size: None, has_colours: false }
    }

    /// A terminal without colours.
    #[cfg(test)]
    pub(super) fn of(columns: usize, rows: usize) -> Self {
        Self { size: Some((columns, rows)), has_colours: false }
    }

    #[cfg(test)]
    pub(super) fn with_colours(self) -> Self {
        Self { has_colours: true, ..self }
    }

    /// What the standard output is now: terminals change their size.
    pub(super) fn of_standard_output() -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let is_terminal = std::io::stdout().is_terminal() && variable("TERM") != "dumb";
        Self {
            size: is_terminal.then(|| size(|name| variable(name).parse().ok())),
            // https://no-color.org
            has_colours: is_terminal && variable("NO_COLOR").is_empty(),
        }
    }

    pub(super) fn is_terminal(self) -> bool {
        self.size.is_some()
    }

    /// How wide a line may be.
    pub(super) fn columns(self) -> usize {
        self.size.map_or(usize::MAX, |(columns, _)| columns)
    }

    /// How many lines are seen at one time.
    pub(super) fn rows(self) -> usize {
        self.size.map_or(usize::MAX, |(_, rows)| rows)
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.shaded(text, Shade::Strong)
    }

    /// The text in a colour, where there are any.
    pub(super) fn shaded(self, text: &str, shade: Shade) -> String {
        let code = match shade {
            Shade::Strong => 1,
            Shade::Faint => 2,
            Shade::Good => 32,
            Shade::Busy => 33,
            Shade::Bad => 31,
        };
        match self.has_colours && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

/// What the terminal says, or else the variables of the shell, or else what is usual. A size of nothing is none.
fn size(variable: impl Fn(&str) -> Option<usize>) -> (usize, usize) {
    let told = terminal_size::terminal_size();
    let told = told.map(|(columns, rows)| (usize::from(columns.0), usize::from(rows.0)));
    let is_some = |size: &usize| *size > 0;
    let columns = told.map(|(columns, _)| columns).filter(is_some);
    let rows = told.map(|(_, rows)| rows).filter(is_some);
    (
        columns.or_else(|| variable("COLUMNS").filter(is_some)).unwrap_or(USUAL.0),
        rows.or_else(|| variable("LINES").filter(is_some)).unwrap_or(USUAL.1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_colours_on_terminals_alone() {
        let page = Page::of(80, 24);
        assert_eq!(page.shaded("a", Shade::Bad), "a");
        assert_eq!(page.with_colours().shaded("a", Shade::Bad), "\u{1b}[31ma\u{1b}[0m");
        assert_eq!(page.with_colours().strong(""), "");
    }

    #[test]
    fn a_file_has_no_end() {
        let page = Page::endless();
        assert_eq!((page.columns(), page.rows()), (usize::MAX, usize::MAX));
        assert!(!page.is_terminal());
    }
}
