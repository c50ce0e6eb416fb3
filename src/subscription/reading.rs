//! What the members of a group have in common, so that a leader reads it once.
//!
//! A thousand members of a thousand topics name a million topics, and nearly all say the same: names are found rather
//! than made, and a list whose bytes have been read before is not read again.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::envelope::TopicCounts;
use crate::wire::{Layout, ReadError, Reader};

/// How many lists of a kind are remembered.
const REMEMBERED: usize = 8;

/// The members' bytes, being read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(super) names: Names,
    pub(super) topics: Seen<Arc<[Arc<str>]>>,
    pub(super) counts: Seen<TopicCounts>,
}

/// Names that have been read, each held once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, usize>,
    /// Per name, whether it is greater than the one before.
    rises: Vec<bool>,
    /// Which name comes next if it goes on as it did before.
    next: usize,
    /// Whether the last name that was read is known to be greater than the one read before.
    has_risen: bool,
}

/// Pieces of bytes that have been read, the last one first, and what they say.
#[derive(Debug)]
pub(super) struct Seen<V> {
    pieces: Vec<(Bytes, V)>,
}

impl Names {
    /// The name that these bytes are, if they are text.
    pub(super) fn name(&mut self, text: &[u8]) -> Result<Arc<str>, ReadError> {
        let place = match self.names.get(self.next) {
            // Equal to a text, they are one.
            Some(next) if next.as_bytes() == text => self.next,
            _ => self.place(std::str::from_utf8(text).map_err(|_| ReadError::Text)?),
        };
        self.has_risen = place == self.next && self.rises.get(place) == Some(&true);
        self.next = place + 1;
        self.names.get(place).map(Arc::clone).ok_or(ReadError::Text)
    }

    /// The name that stands next in these bytes.
    pub(super) fn read(
        &mut self,
        reader: &mut Reader,
        layout: Layout,
    ) -> Result<Arc<str>, ReadError> {
        let length = reader.string_length(layout)?;
        let name = self.name(reader.peek().get(..length).ok_or(ReadError::Short)?)?;
        reader.skip(length)?;
        Ok(name)
    }

    /// Whether the last name that was read is known to be greater than the one read before: mostly it is, and need not
    /// be compared.
    pub(super) fn has_risen(&self) -> bool {
        self.has_risen
    }

    #[cold]
    fn place(&mut self, text: &str) -> usize {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let (name, place) = (Arc::<str>::from(text), self.names.len());
        self.rises.push(self.names.last().is_some_and(|last| **last < *name));
        self.names.push(Arc::clone(&name));
        self.places.insert(name, place);
        place
    }
}

impl<V> Default for Seen<V> {
    fn default() -> Self {
        Self { pieces: Vec::new() }
    }
}

impl<V: Clone> Seen<V> {
    /// What the next piece of some bytes says; `read` must read the same from the same bytes, and not look behind them.
    pub(super) fn read(
        &mut self,
        reader: &mut Reader,
        read: impl FnOnce(&mut Reader) -> Result<V, ReadError>,
    ) -> Result<V, ReadError> {
        let ahead = reader.peek();
        let known = self.pieces.iter().position(|(piece, _)| ahead.starts_with(piece));
        if let Some((piece, value)) = known.and_then(|place| self.pieces.get(place)) {
            let value = value.clone();
            reader.skip(piece.len())?;
            self.pieces[..=known.unwrap_or(0)].rotate_right(1);
            return Ok(value);
        }
        let mut piece = reader.clone();
        let value = read(reader)?;
        let piece = piece.take(piece.remaining() - reader.remaining())?;
        // What takes no bytes says nothing, and would be found everywhere.
        if !piece.is_empty() {
            self.pieces.truncate(REMEMBERED - 1);
            self.pieces.insert(0, (piece, value.clone()));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_once() {
        let mut names = Names::default();
        let first = ["a", "b", "a"].map(|name| names.name(name.as_bytes()).unwrap());
        let again = ["b", "a", "c"].map(|name| names.name(name.as_bytes()).unwrap());
        assert!(Arc::ptr_eq(&first[0], &first[2]) && Arc::ptr_eq(&first[0], &again[1]));
        assert!(Arc::ptr_eq(&first[1], &again[0]));
        assert_eq!(&*again[2], "c");
    }

    #[test]
    fn a_piece_is_read_once_and_found_again_behind_others() {
        let mut seen = Seen::default();
        let mut reads = 0;
        let bytes = Bytes::from_static(&[0, 1, 7, 0, 2, 7, 0, 1, 8, 0, 2]);
        let mut reader = Reader::new(bytes);
        let mut said = Vec::new();
        while reader.remaining() > 2 {
            let read = |reader: &mut Reader| {
                reads += 1;
                reader.i16()
            };
            said.push(seen.read(&mut reader, read).unwrap());
            reader.skip(1).unwrap();
        }
        assert_eq!((said, reads), (vec![1, 2, 1], 2));
    }

    #[test]
    fn what_cannot_be_read_is_not_remembered() {
        let mut seen: Seen<i16> = Seen::default();
        let mut reader = Reader::new(Bytes::from_static(&[0]));
        assert_eq!(seen.read(&mut reader, Reader::i16), Err(ReadError::Short));
        assert!(seen.pieces.is_empty());
    }

    #[test]
    fn few_pieces_are_remembered() {
        let mut seen = Seen::default();
        for number in 0..100_u8 {
            let mut reader = Reader::new(Bytes::copy_from_slice(&[number, 1]));
            seen.read(&mut reader, Reader::u8).unwrap();
        }
        assert_eq!(seen.pieces.len(), REMEMBERED);
    }
}
