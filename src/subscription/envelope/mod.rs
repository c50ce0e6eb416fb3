//! What members of this crate tell each other inside Kafka's user data.
//!
//! These bytes travel between versions of this crate, so their layout is pinned by files under `tests/data/envelope`,
//! and every release reads all earlier ones:
//!
//! ```text
//! magic     4 bytes  F5 4B 47 01 up (to the leader), F5 4B 47 02 down (to a member)
//! format    1 byte   raised only when older readers must not try
//! sections  tag (1 byte), length (varint), that many bytes; in any order
//! ```
//!
//! The first byte is above 0x7f so that readers of sticky user data see a negative count. A reader skips the sections
//! that it does not know, so a new one needs no new format. Inside a section the layout is Kafka's compact one
//! (KIP-482): text and counts begin with a varint of one more than their length.

mod counts;
mod down;
mod ranges;
mod up;

use bytes::Bytes;

pub(crate) use counts::TopicCounts;
pub(crate) use down::{Down, PlanFailure, Told};
pub(crate) use up::{Prior, Rounds, Up};

use super::writer::Writer;
use crate::wire::{ReadError, Reader};

/// The layout of the sections.
const FORMAT: u8 = 1;
const MAGIC: [u8; 3] = [0xf5, 0x4b, 0x47];

/// Which way an envelope goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    /// From a member to its leader.
    Up = 1,
    /// From a leader to a member.
    Down = 2,
}

/// Why user data is not the envelope that was looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum EnvelopeError {
    /// Somebody else's user data.
    #[error("is no envelope of this crate")]
    Foreign,
    /// librdkafka hands members their own subscription's user data, Sarama sends back what it was assigned with.
    #[error("is an envelope for the other direction, sent back by another client")]
    Echo,
    /// Of a release of this crate that says things we would misread.
    #[error("has format {0}, which this release does not know")]
    Format(u8),
    /// Broken.
    #[error(transparent)]
    Malformed(#[from] ReadError),
}

impl Direction {
    /// What these user data are, by their magic.
    pub(crate) fn of(user_data: &[u8]) -> Option<Self> {
        match user_data.strip_prefix(&MAGIC)? {
            [1, ..] => Some(Self::Up),
            [2, ..] => Some(Self::Down),
            _ => None,
        }
    }
}

/// The sections of an envelope, one after the other.
struct Sections {
    reader: Reader,
}

impl Sections {
    fn open(user_data: &Bytes, direction: Direction) -> Result<Self, EnvelopeError> {
        match Direction::of(user_data) {
            Some(found) if found == direction => {}
            Some(_) => return Err(EnvelopeError::Echo),
            None => return Err(EnvelopeError::Foreign),
        }
        let mut reader = Reader::new(user_data.clone());
        reader.skip(MAGIC.len() + 1)?;
        match reader.u8()? {
            FORMAT => Ok(Self { reader }),
            format => Err(EnvelopeError::Format(format)),
        }
    }

    /// The next section's tag, and what is in it.
    fn next(&mut self) -> Result<Option<(u8, Reader)>, ReadError> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        let tag = self.reader.u8()?;
        let length = self.reader.uvarint()?;
        let section = self.reader.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(Some((tag, Reader::new(section))))
    }
}

/// An envelope in the making.
struct Sealer {
    writer: Writer,
}

impl Sealer {
    fn new(direction: Direction) -> Self {
        let mut writer = Writer::default();
        writer.raw(&MAGIC);
        writer.u8(direction as u8);
        writer.u8(FORMAT);
        Self { writer }
    }

    fn section(&mut self, tag: u8, write: impl FnOnce(&mut Writer)) {
        let mut section = Writer::default();
        write(&mut section);
        let section = section.finish();
        self.writer.u8(tag);
        self.writer.uvarint(u32::try_from(section.len()).unwrap_or(u32::MAX));
        self.writer.raw(&section);
    }

    fn seal(self) -> Bytes {
        self.writer.finish()
    }
}

#[cfg(test)]
mod tests;
