//! User data of Kafka's sticky assigners: what a member had, in the layouts that clients exchange.
//!
//! "sticky" carries the whole claim (KIP-54: topics with partitions, and from version 1 on a generation);
//! "cooperative-sticky" a bare generation, since the claim itself stands in the subscription (KIP-429).

use bytes::Bytes;

use super::embedded::{read_generation, read_ranges, write_ranges};
use super::reading::Names;
use super::writer::Writer;
use crate::types::{Generation, PartitionRanges};
use crate::wire::{ReadError, Reader};

/// A claim: what was had, and since when.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct StickyClaim {
    pub(crate) partitions: PartitionRanges,
    pub(crate) generation: Generation,
}

impl StickyClaim {
    /// Version 1 exactly, nothing behind it: as leader, Sarama fails the group over one byte more.
    pub(crate) fn encode(&self) -> Bytes {
        let mut writer = Writer::default();
        write_ranges(&mut writer, &self.partitions);
        writer.i32(self.generation.0);
        writer.finish()
    }

    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn decode(user_data: &Bytes) -> Option<Self> {
        Self::read(user_data, &mut Names::default())
    }

    /// Reads version 1, else version 0, either to the last byte and with kafka-python's number in front or without it;
    /// anything else (a bare generation, an envelope) claims nothing.
    pub(super) fn read(user_data: &Bytes, names: &mut Names) -> Option<Self> {
        if let Some(claim) = Self::read_all(user_data.clone(), names) {
            return Some(claim);
        }
        let numbered = user_data.starts_with(&[0, 1]).then(|| user_data.slice(2..));
        Self::read_all(numbered?, names)
    }

    fn read_all(user_data: Bytes, names: &mut Names) -> Option<Self> {
        let mut reader = Reader::new(user_data);
        let partitions = read_ranges(&mut reader, names).ok()?;
        let generation = match reader.is_empty() {
            true => Generation::NONE,
            false => read_generation(&mut reader).ok()?,
        };
        reader.is_empty().then_some(Self { partitions, generation })
    }
}

/// The bare generation that "cooperative-sticky" carries.
pub(crate) fn encode_generation(generation: Generation) -> Bytes {
    Bytes::copy_from_slice(&generation.0.to_be_bytes())
}

/// Reads a bare generation. Longer user data is not one: its first bytes are a count, which Java takes for a
/// generation.
pub(crate) fn decode_generation(user_data: &Bytes) -> Option<Generation> {
    let mut reader = Reader::new(user_data.clone());
    let generation: Result<_, ReadError> = read_generation(&mut reader);
    generation.ok().filter(|_| reader.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> StickyClaim {
        let partitions = [("orders", 0), ("orders", 2), ("payments", 1)].into_iter().collect();
        StickyClaim { partitions, generation: Generation(7) }
    }

    #[test]
    fn a_claim_reads_back_as_it_was_written() {
        assert_eq!(StickyClaim::decode(&claim().encode()), Some(claim()));
    }

    #[test]
    fn the_older_layout_has_no_generation() {
        let bytes = claim().encode();
        let older = bytes.slice(..bytes.len() - 4);
        let expected = StickyClaim { generation: Generation::NONE, ..claim() };
        assert_eq!(StickyClaim::decode(&older), Some(expected));
    }

    #[test]
    fn a_claim_with_a_byte_too_many_or_too_few_claims_nothing() {
        let bytes = claim().encode();
        assert_eq!(StickyClaim::decode(&Bytes::from([&bytes[..], &[0]].concat())), None);
        assert_eq!(StickyClaim::decode(&bytes.slice(..bytes.len() - 1)), None);
    }

    #[test]
    fn only_four_bytes_are_a_bare_generation() {
        assert_eq!(decode_generation(&encode_generation(Generation(3))), Some(Generation(3)));
        assert_eq!(decode_generation(&Bytes::from_static(&[0xff; 4])), Some(Generation::NONE));
        assert_eq!(decode_generation(&claim().encode()), None);
        assert_eq!(decode_generation(&Bytes::new()), None);
    }
}
