//! What nobody may see.

use std::fmt;
use std::sync::Arc;

/// A password, a key, a token. `Debug` shows that there is one, and nothing else prints it.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Secret(Arc<str>);

impl Secret {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself. Whoever takes it out sees to it that it goes nowhere but to the broker.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}
