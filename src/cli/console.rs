//! Where the command's words go.

use std::fmt;
use std::io::{self, BufRead, Read as _, Write};

use super::page::Page;

/// The longest answer that is read.
const LONGEST_ANSWER: u64 = 100;

/// The two ways out, and the way in. When one of the former breaks (a reader that has seen enough), what follows goes
/// nowhere.
pub(super) struct Console<'a> {
    out: io::BufWriter<&'a mut dyn Write>,
    err: &'a mut dyn Write,
    answers: Option<&'a mut dyn BufRead>,
    page: fn() -> Page,
    /// What happened when something could not be said.
    broken: Option<io::ErrorKind>,
}

impl<'a> Console<'a> {
    pub(super) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out: io::BufWriter::new(out), err, answers: None, page: Page::endless, broken: None }
    }

    /// Questions are answered by this. Without it, every answer is no.
    pub(super) fn answered_by(self, answers: &'a mut dyn BufRead) -> Self {
        Self { answers: Some(answers), ..self }
    }

    /// What is said goes there: terminals change their size, so that is asked again and again.
    pub(super) fn on(self, page: fn() -> Page) -> Self {
        Self { page, ..self }
    }

    /// Where what is said goes, as it is now.
    pub(super) fn page(&self) -> Page {
        (self.page)()
    }

    /// Whether something could not be said.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Whether that was for whoever reads having gone.
    pub(super) fn is_closed(&self) -> bool {
        self.broken == Some(io::ErrorKind::BrokenPipe)
    }

    /// Whoever read what is said has gone.
    pub(super) fn close(&mut self) {
        self.note(Err(io::ErrorKind::BrokenPipe.into()));
    }

    /// Says what was asked for.
    pub(super) fn say(&mut self, words: fmt::Arguments<'_>) {
        let said = self.out.write_fmt(words).and_then(|()| self.out.flush());
        self.note(said);
    }

    /// Says what is wrong.
    pub(super) fn complain(&mut self, words: fmt::Arguments<'_>) {
        let said = self.err.write_fmt(words).and_then(|()| self.err.flush());
        self.note(said);
    }

    /// The first that went wrong counts.
    fn note(&mut self, said: io::Result<()>) {
        self.broken = self.broken.or_else(|| Some(said.err()?.kind()));
    }

    /// Asks, where what is asked for does not get into what is said. Whatever is not yes, the end of input too, is no.
    pub(super) fn ask(&mut self, question: fmt::Arguments<'_>) -> bool {
        self.complain(question);
        let Some(answers) = &mut self.answers else { return false };
        let mut answer = String::new();
        let read = answers.take(LONGEST_ANSWER).read_line(&mut answer);
        read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES")
    }
}
