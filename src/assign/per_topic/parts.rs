//! What several assigners say, each in its own words, as one value.
//!
//! ```text
//! one assigner after the other, to the end:
//!   its name        varint length, UTF-8
//!   its place       u8      among those of its name
//!   its codec       u8      as in an envelope
//!   its version     u16
//!   what it says    varint length, bytes
//! ```

use std::any::Any;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::assign::codec::{CodecError, METADATA_LIMIT};
use crate::assign::erased::{MetadataPayload, read_told};
use crate::assign::error::MetadataError;

/// What the parts of a [`PerTopicAssigner`](super::PerTopicAssigner) say: members to the leader, and the leader to a
/// member.
///
/// When to use it: where more than one part tells members something, `assigned.told::<Parts>()` has it all. Where only
/// one does, `assigned.told::<U>()` has its words at once.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Parts {
    said: Vec<Said>,
    /// Why there are no bytes of it: one of the parts could not be asked.
    #[serde(skip)]
    failed: Option<String>,
}

/// What one assigner says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Said {
    name: String,
    place: u8,
    codec: u8,
    version: u16,
    bytes: Bytes,
}

/// Which of a composition's assigners: several may have one name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct PartKey<'a> {
    pub(super) name: &'a str,
    /// How many of that name come before it.
    pub(super) place: u8,
}

impl Parts {
    /// What the assigner of this name says, the first one if several have it; none if it says nothing.
    pub fn of<U: DeserializeOwned + 'static>(
        &self,
        assigner: &str,
    ) -> Option<Result<U, MetadataError>> {
        let said = self.find(PartKey { name: assigner, place: 0 })?;
        Some(read_told(said.codec, &said.bytes))
    }

    pub(super) fn say(&mut self, part: PartKey<'_>, payload: MetadataPayload) {
        let MetadataPayload { codec, version, bytes } = payload;
        let PartKey { name, place } = part;
        self.said.push(Said { name: name.to_owned(), place, codec, version, bytes });
    }

    /// Makes the whole value one that cannot be written.
    pub(super) fn fail(&mut self, reason: String) {
        self.failed.get_or_insert(reason);
    }

    /// What a part says, as it would travel alone.
    pub(super) fn payload(&self, part: PartKey<'_>) -> Option<MetadataPayload> {
        let Said { codec, version, bytes, .. } = self.find(part)?;
        Some(MetadataPayload { codec: *codec, version: *version, bytes: bytes.clone() })
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, CodecError> {
        if let Some(reason) = &self.failed {
            return Err(CodecError::Unencodable(reason.clone()));
        }
        let mut bytes = Vec::new();
        for said in &self.said {
            write_slice(&mut bytes, said.name.as_bytes());
            bytes.extend([said.place, said.codec]);
            bytes.extend(said.version.to_be_bytes());
            write_slice(&mut bytes, &said.bytes);
        }
        Ok(bytes)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, MetadataError> {
        let mut rest = bytes;
        let mut parts = Self::default();
        while !rest.is_empty() {
            let name = std::str::from_utf8(read_slice(&mut rest)?);
            let name = name.map_err(MetadataError::undecodable)?.to_owned();
            let [place, codec] = read_array(&mut rest)?;
            let version = u16::from_be_bytes(read_array(&mut rest)?);
            let bytes = Bytes::copy_from_slice(read_slice(&mut rest)?);
            parts.said.push(Said { name, place, codec, version, bytes });
        }
        Ok(parts)
    }

    /// These bytes as a value of any type: all that was said, or what the only one said that said something.
    pub(crate) fn decode_as<U: DeserializeOwned + 'static>(
        bytes: &[u8],
    ) -> Result<U, MetadataError> {
        let parts = Self::decode(bytes)?;
        let mut value: Option<U> = None;
        if let Some(all) = (&mut value as &mut dyn Any).downcast_mut::<Option<Self>>() {
            *all = Some(parts);
        } else {
            let [said] = &parts.said[..] else {
                let several = "several assigners say something: ask for `Parts`";
                return Err(MetadataError::undecodable(several));
            };
            value = Some(read_told(said.codec, &said.bytes)?);
        }
        value.ok_or(MetadataError::Missing)
    }

    /// The first one counts, should there be several.
    fn find(&self, part: PartKey<'_>) -> Option<&Said> {
        self.said.iter().find(|said| said.name == part.name && said.place == part.place)
    }
}

fn write_slice(bytes: &mut Vec<u8>, slice: &[u8]) {
    let mut len = slice.len();
    while len >= 0x80 {
        bytes.push(len as u8 | 0x80);
        len >>= 7;
    }
    bytes.push(len as u8);
    bytes.extend_from_slice(slice);
}

fn read_slice<'b>(rest: &mut &'b [u8]) -> Result<&'b [u8], MetadataError> {
    let mut len = 0_usize;
    // Four groups of seven bits are more than may be said.
    for shift in [0, 7, 14, 21] {
        let [byte] = read_array(rest)?;
        len |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            let (slice, after) = rest.split_at_checked(len).ok_or(MetadataError::TooShort)?;
            *rest = after;
            return Ok(slice);
        }
    }
    Err(MetadataError::TooLong { limit: METADATA_LIMIT })
}

fn read_array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], MetadataError> {
    let (array, after) = rest.split_first_chunk().ok_or(MetadataError::TooShort)?;
    *rest = after;
    Ok(*array)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn said(name: &str, place: u8, codec: u8, version: u16, bytes: &[u8]) -> Said {
        let bytes = Bytes::copy_from_slice(bytes);
        Said { name: name.to_owned(), place, codec, version, bytes }
    }

    fn parts(said: impl IntoIterator<Item = Said>) -> Parts {
        Parts { said: said.into_iter().collect(), failed: None }
    }

    #[test]
    fn the_bytes_are_these() {
        let parts = parts([said("least-loaded", 0, 1, 2, b"\x08"), said("é", 1, 3, 0x1ff, b"")]);
        let bytes = b"\x0cleast-loaded\x00\x01\x00\x02\x01\x08\x02\xc3\xa9\x01\x03\x01\xff\x00";
        assert_eq!(parts.encode(), Ok(bytes.to_vec()));
        assert_eq!(Parts::decode(bytes), Ok(parts));
        assert_eq!(Parts::default().encode(), Ok(Vec::new()));
        assert_eq!(Parts::decode(b""), Ok(Parts::default()));
    }

    #[test]
    fn what_is_cut_short_is_said_so() {
        let bytes = parts([said("a", 0, 1, 0, &[7; 200])]).encode().unwrap();
        for len in 1..bytes.len() {
            assert_eq!(Parts::decode(&bytes[..len]), Err(MetadataError::TooShort), "{len}");
        }
        let endless = Parts::decode(&[0xff; 9]);
        assert_eq!(endless, Err(MetadataError::TooLong { limit: METADATA_LIMIT }));
        assert!(matches!(Parts::decode(b"\x01\xff"), Err(MetadataError::Undecodable(_))));
    }

    #[test]
    fn a_value_that_failed_has_no_bytes() {
        let mut parts = parts([]);
        parts.fail("no idea".to_owned());
        assert_eq!(parts.encode(), Err(CodecError::Unencodable("no idea".to_owned())));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read_and_written_alike(
            entries in vec((any::<String>(), any::<u8>(), any::<u8>(), any::<u16>(), any::<Vec<u8>>()), 0..5),
        ) {
            let entry = |(name, place, codec, version, bytes): &(String, u8, u8, u16, Vec<u8>)| {
                said(name, *place, *codec, *version, bytes)
            };
            let parts = parts(entries.iter().map(entry));
            let bytes = parts.encode().unwrap();
            prop_assert_eq!(Parts::decode(&bytes), Ok(parts));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            if let Ok(parts) = Parts::decode(&bytes) {
                prop_assert!(parts.encode().unwrap().len() <= bytes.len());
            }
        }
    }
}
