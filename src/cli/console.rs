//! Where the command's words go.

use std::fmt;
use std::io::{self, Write};

/// The two ways out. When one of them breaks (a reader that has seen enough), what follows goes nowhere.
pub(super) struct Console<'a> {
    out: io::BufWriter<&'a mut dyn Write>,
    err: &'a mut dyn Write,
    is_broken: bool,
}

impl<'a> Console<'a> {
    pub(super) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out: io::BufWriter::new(out), err, is_broken: false }
    }

    /// Whether something could not be said.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Says what was asked for.
    pub(super) fn say(&mut self, words: fmt::Arguments<'_>) {
        let said = self.out.write_fmt(words).and_then(|()| self.out.flush());
        self.is_broken |= said.is_err();
    }

    /// Says what is wrong.
    pub(super) fn complain(&mut self, words: fmt::Arguments<'_>) {
        let said = self.err.write_fmt(words).and_then(|()| self.err.flush());
        self.is_broken |= said.is_err();
    }
}
