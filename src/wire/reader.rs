//! Reads bytes that somebody else wrote, and never believes a count.

use bytes::Bytes;

/// A position in bytes that somebody else wrote.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    bytes: Bytes,
}

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ReadError {
    /// Fewer bytes than the next field has.
    #[error("the bytes end in the middle of a field")]
    Short,
    /// A length or count that is negative where it may not be, or larger than what is left can hold.
    #[error("a length or count of {0} does not fit the bytes that are left")]
    Count(i64),
    /// Text that is not UTF-8.
    #[error("text that is not UTF-8")]
    Text,
    /// A number that no layout we know has.
    #[error("a version of {0}")]
    Version(i16),
    /// Null where there must be something.
    #[error("null where there must be a value")]
    Null,
}

impl Reader {
    /// Starts at the first byte.
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { bytes }
    }
}
