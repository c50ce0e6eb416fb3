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
        let told = terminal_size::terminal_size();
        let told = told.map(|(columns, rows)| (usize::from(columns.0), usize::from(rows.0)));
        Self::read(std::io::stdout().is_terminal(), told, |name| std::env::var(name).ok())
    }

    /// By what the system says, and the variables of the shell.
    fn read(
        is_terminal: bool,
        told: Option<(usize, usize)>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        if !is_terminal || variable("TERM").as_deref() == Some("dumb") {
            return Self::endless();
        }
        // A size of nothing is none.
        let some = |size: Option<usize>| size.filter(|size| *size > 0);
        let number = |name| some(variable(name)?.parse().ok());
        let columns = some(told.map(|(columns, _)| columns)).or_else(|| number("COLUMNS"));
        let rows = some(told.map(|(_, rows)| rows)).or_else(|| number("LINES"));
        Self {
            size: Some((columns.unwrap_or(USUAL.0), rows.unwrap_or(USUAL.1))),
            // https://no-color.org
            has_colours: variable("NO_COLOR").unwrap_or_default().is_empty(),
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

    /// A terminal that says this of its size, with these variables.
    fn terminal(told: Option<(usize, usize)>, variables: &[(&str, &str)]) -> Page {
        Page::read(true, told, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_terminal_has_colours_unless_it_is_asked_for_none_and_a_dumb_one_is_written_on_like_a_file()
    {
        let page = Page::of(80, 24);
        assert_eq!(terminal(Some((80, 24)), &[]), page.with_colours());
        assert_eq!(terminal(Some((80, 24)), &[("NO_COLOR", "1")]), page);
        assert_eq!(terminal(Some((80, 24)), &[("NO_COLOR", "")]), page.with_colours());
        assert_eq!(terminal(Some((80, 24)), &[("TERM", "dumb")]), Page::endless());
        assert_eq!(Page::read(false, Some((80, 24)), |_| None), Page::endless());
    }

    #[test]
    fn a_size_comes_from_the_system_or_the_shell_or_is_what_is_usual() {
        let size = |page: Page| (page.columns(), page.rows());
        let shell = [("COLUMNS", "20"), ("LINES", "10")];
        assert_eq!(size(terminal(Some((132, 50)), &shell)), (132, 50));
        assert_eq!(size(terminal(Some((0, 0)), &shell)), (20, 10));
        assert_eq!(size(terminal(None, &[("COLUMNS", "0"), ("LINES", "x")])), (80, 24));
    }

    #[test]
    fn a_file_has_no_end() {
        let page = Page::endless();
        assert_eq!((page.columns(), page.rows()), (usize::MAX, usize::MAX));
        assert!(!page.is_terminal());
    }
}
