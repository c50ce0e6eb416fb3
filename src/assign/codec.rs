//! How typed metadata becomes bytes.

use std::any::{Any, TypeId};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Parts;
use super::error::MetadataError;

/// The most that metadata may take, and that decoding it may announce to need.
///
/// Metadata and assignments of the whole group share one record of 1 MiB at the broker.
pub(crate) const METADATA_LIMIT: usize = 1 << 20;

/// How typed metadata and a plan's words to members are written.
///
/// The codec's number travels with the bytes, so that a rolling change of codec works while both are compiled in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum MetadataCodec {
    /// The bytes of `T = Bytes` as they are, without an envelope in the subscription.
    Raw,
    /// bincode 2 in its standard configuration; needs the feature `bincode`.
    ///
    /// Bytes after the value are accepted, so an older reader takes a longer, newer struct; an added field makes
    /// older bytes unreadable, even with `#[serde(default)]`.
    Bincode,
    /// JSON; needs the feature `json`.
    Json,
    /// [`Parts`], which says several things, each with its codec: what a
    /// [`PerTopicAssigner`](super::PerTopicAssigner) writes.
    Parts,
}

/// Why a codec cannot write a value.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The codec is not compiled in.
    #[error("{0:?} needs the feature of that name of this crate")]
    NotCompiled(MetadataCodec),
    /// Raw metadata of a type other than `Bytes`.
    #[error("Raw writes nothing but `Bytes`")]
    RawNeedsBytes,
    /// Parts of a type other than [`Parts`].
    #[error("Parts writes nothing but `Parts`")]
    PartsNeedParts,
    /// More bytes than a group's record holds for all members together.
    #[error("{len} bytes, of at most {METADATA_LIMIT}")]
    TooLong {
        /// How many bytes it came to.
        len: usize,
    },
    /// The type's own `Serialize` refuses, or the format has no form for it.
    #[error("{0}")]
    Unencodable(String),
}

impl MetadataCodec {
    /// bincode where that feature is on, else JSON; without both bincode, which is refused when the member is built.
    pub fn preferred() -> Self {
        match cfg!(not(feature = "bincode")) && cfg!(feature = "json") {
            true => Self::Json,
            false => Self::Bincode,
        }
    }

    /// Whether this program can read and write it.
    pub fn is_compiled(self) -> bool {
        match self {
            Self::Raw | Self::Parts => true,
            Self::Bincode => cfg!(feature = "bincode"),
            Self::Json => cfg!(feature = "json"),
        }
    }

    /// Its number in the bytes. 2 is kept free for bincode 1.
    pub(crate) fn id(self) -> u8 {
        match self {
            Self::Raw => 0,
            Self::Bincode => 1,
            Self::Json => 3,
            Self::Parts => 4,
        }
    }

    /// The codec with this number, if this program can read it.
    pub(crate) fn from_id(id: u8) -> Option<Self> {
        [Self::Raw, Self::Bincode, Self::Json, Self::Parts]
            .into_iter()
            .find(|codec| codec.id() == id && codec.is_compiled())
    }

    /// Whether values of this type can be written at all.
    pub(crate) fn check<T: 'static>(self) -> Result<(), CodecError> {
        match self {
            Self::Raw if TypeId::of::<T>() != TypeId::of::<Bytes>() => {
                Err(CodecError::RawNeedsBytes)
            }
            Self::Parts if TypeId::of::<T>() != TypeId::of::<Parts>() => {
                Err(CodecError::PartsNeedParts)
            }
            codec if !codec.is_compiled() => Err(CodecError::NotCompiled(codec)),
            _ => Ok(()),
        }
    }

    /// Writes raw bytes and parts in their own forms, everything else as [`write`](Self::write) does.
    pub(crate) fn encode<T: Serialize + 'static>(self, value: &T) -> Result<Vec<u8>, CodecError> {
        let any: &dyn Any = value;
        match self {
            Self::Raw => {
                let bytes: &Bytes = any.downcast_ref().ok_or(CodecError::RawNeedsBytes)?;
                checked(bytes.to_vec())
            }
            Self::Parts => {
                let parts: &Parts = any.downcast_ref().ok_or(CodecError::PartsNeedParts)?;
                checked(parts.encode()?)
            }
            Self::Bincode | Self::Json => self.write(value),
        }
    }

    /// Writes a value of any lifetime.
    pub(crate) fn write<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, CodecError> {
        match self {
            Self::Raw => Err(CodecError::RawNeedsBytes),
            Self::Parts => Err(CodecError::PartsNeedParts),
            Self::Bincode => checked(write_bincode(value)?),
            Self::Json => checked(write_json(value)?),
        }
    }

    /// Reads a value; what follows it is accepted.
    pub(crate) fn decode<T: DeserializeOwned + 'static>(
        self,
        bytes: &[u8],
    ) -> Result<T, MetadataError> {
        if bytes.len() > METADATA_LIMIT {
            return Err(MetadataError::TooLong { limit: METADATA_LIMIT });
        }
        match self {
            Self::Raw => read_raw(bytes),
            Self::Bincode => read_bincode(bytes),
            Self::Json => read_json(bytes),
            Self::Parts => Parts::decode_as(bytes),
        }
    }

    /// Reads a value that was written as version `theirs` by a program that is at version `ours`.
    ///
    /// A newer value may begin like an older one and mean something else, which only JSON, by naming its fields,
    /// makes unlikely.
    pub(crate) fn decode_version<T>(
        self,
        theirs: u16,
        ours: u16,
        bytes: &[u8],
    ) -> Result<T, MetadataError>
    where
        T: DeserializeOwned + 'static,
    {
        if theirs == ours {
            return self.decode(bytes);
        }
        let other = MetadataError::OtherVersion { theirs, ours };
        match theirs > ours && self != Self::Json {
            true => Err(other),
            false => self.decode(bytes).map_err(|_| other),
        }
    }
}

fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, CodecError> {
    match bytes.len() {
        len if len > METADATA_LIMIT => Err(CodecError::TooLong { len }),
        _ => Ok(bytes),
    }
}

fn read_raw<T: 'static>(bytes: &[u8]) -> Result<T, MetadataError> {
    let mut value: Option<T> = None;
    if let Some(raw) = (&mut value as &mut dyn Any).downcast_mut::<Option<Bytes>>() {
        *raw = Some(Bytes::copy_from_slice(bytes));
    }
    value.ok_or_else(|| MetadataError::OtherCodec { codec: MetadataCodec::Raw.id() })
}

#[cfg(feature = "bincode")]
fn write_bincode<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
    bincode::serde::encode_to_vec(value, bincode::config::standard())
        .map_err(|error| CodecError::Unencodable(error.to_string()))
}

#[cfg(feature = "bincode")]
fn read_bincode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, MetadataError> {
    use bincode::error::DecodeError;

    // The limit is on what lengths announce, so an announced gigabyte is refused before it is reserved.
    let config = bincode::config::standard().with_limit::<METADATA_LIMIT>();
    match bincode::serde::decode_from_slice(bytes, config) {
        Ok((value, _read)) => Ok(value),
        Err(DecodeError::LimitExceeded) => Err(MetadataError::TooLong { limit: METADATA_LIMIT }),
        Err(DecodeError::UnexpectedEnd { .. }) => Err(MetadataError::TooShort),
        Err(error) => Err(MetadataError::undecodable(error)),
    }
}

#[cfg(not(feature = "bincode"))]
fn write_bincode<T: Serialize + ?Sized>(_value: &T) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::NotCompiled(MetadataCodec::Bincode))
}

#[cfg(not(feature = "bincode"))]
fn read_bincode<T: DeserializeOwned>(_bytes: &[u8]) -> Result<T, MetadataError> {
    Err(MetadataError::OtherCodec { codec: MetadataCodec::Bincode.id() })
}

#[cfg(feature = "json")]
fn write_json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
    serde_json::to_vec(value).map_err(|error| CodecError::Unencodable(error.to_string()))
}

#[cfg(feature = "json")]
fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, MetadataError> {
    serde_json::from_slice(bytes).map_err(|error| match error.is_eof() {
        true => MetadataError::TooShort,
        false => MetadataError::undecodable(error),
    })
}

#[cfg(not(feature = "json"))]
fn write_json<T: Serialize + ?Sized>(_value: &T) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::NotCompiled(MetadataCodec::Json))
}

#[cfg(not(feature = "json"))]
fn read_json<T: DeserializeOwned>(_bytes: &[u8]) -> Result<T, MetadataError> {
    Err(MetadataError::OtherCodec { codec: MetadataCodec::Json.id() })
}

#[cfg(test)]
#[cfg(all(feature = "bincode", feature = "json"))]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
    struct Meta {
        threads: u64,
        zones: Vec<String>,
        weights: BTreeMap<String, i32>,
    }

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Longer {
        meta: Meta,
        added: u8,
    }

    const TYPED: [MetadataCodec; 2] = [MetadataCodec::Bincode, MetadataCodec::Json];

    fn meta() -> Meta {
        let weights = BTreeMap::from([("a".to_owned(), -1)]);
        Meta { threads: 300, zones: vec!["eu-1".to_owned()], weights }
    }

    fn is_unreadable(bytes: &[u8], codec: MetadataCodec) -> MetadataError {
        codec.decode::<Meta>(bytes).unwrap_err()
    }

    #[test]
    fn the_bytes_of_bincode_and_json_are_these() {
        assert_eq!(
            MetadataCodec::Bincode.encode(&meta()),
            Ok(b"\xfb\x2c\x01\x01\x04eu-1\x01\x01a\x01".to_vec())
        );
        let json = br#"{"threads":300,"zones":["eu-1"],"weights":{"a":-1}}"#;
        assert_eq!(MetadataCodec::Json.encode(&meta()), Ok(json.to_vec()));
    }

    #[test]
    fn an_announced_gigabyte_is_refused_before_it_is_reserved() {
        let bytes = [&[1, 1, 0xfc][..], &(1_u32 << 30).to_le_bytes()].concat();
        assert_eq!(
            is_unreadable(&bytes, MetadataCodec::Bincode),
            MetadataError::TooLong { limit: METADATA_LIMIT }
        );
        let bytes = [&[1, 0xfc][..], &(1_u32 << 30).to_le_bytes()].concat();
        assert_eq!(is_unreadable(&bytes, MetadataCodec::Bincode), MetadataError::TooShort);
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_said_so() {
        for codec in TYPED {
            let bytes = codec.encode(&meta()).unwrap();
            for len in 0..bytes.len() {
                assert_eq!(
                    is_unreadable(&bytes[..len], codec),
                    MetadataError::TooShort,
                    "{codec:?} {len}"
                );
            }
            let long = vec![b' '; METADATA_LIMIT + 1];
            assert_eq!(
                is_unreadable(&long, codec),
                MetadataError::TooLong { limit: METADATA_LIMIT }
            );
            let long = "x".repeat(METADATA_LIMIT + 1);
            assert!(matches!(codec.encode(&long), Err(CodecError::TooLong { .. })));
        }
    }

    #[test]
    fn an_older_reader_takes_a_longer_newer_struct() {
        let bytes = MetadataCodec::Bincode.encode(&Longer { meta: meta(), added: 7 }).unwrap();
        assert_eq!(MetadataCodec::Bincode.decode(&bytes), Ok(meta()));
    }

    #[test]
    fn older_versions_are_read_and_newer_ones_only_as_json() {
        let [bincode, json] = TYPED.map(|codec| (codec, codec.encode(&meta()).unwrap()));
        let read = |(codec, bytes): &(MetadataCodec, Vec<u8>), theirs, ours| {
            codec.decode_version::<Meta>(theirs, ours, bytes)
        };
        assert_eq!(read(&bincode, 1, 2), Ok(meta()));
        assert_eq!(read(&bincode, 3, 2), Err(MetadataError::OtherVersion { theirs: 3, ours: 2 }));
        assert_eq!(read(&json, 3, 2), Ok(meta()));
        let unknown_shape = (MetadataCodec::Json, b"{}".to_vec());
        assert_eq!(
            read(&unknown_shape, 3, 2),
            Err(MetadataError::OtherVersion { theirs: 3, ours: 2 })
        );
        assert!(matches!(read(&unknown_shape, 2, 2), Err(MetadataError::Undecodable(_))));
    }

    #[test]
    fn raw_is_the_bytes_themselves_and_nothing_else() {
        let bytes = Bytes::from_static(b"\x00any");
        assert_eq!(MetadataCodec::Raw.encode(&bytes), Ok(b"\x00any".to_vec()));
        assert_eq!(MetadataCodec::Raw.decode(b"\x00any"), Ok(bytes));
        assert_eq!(MetadataCodec::Raw.check::<Bytes>(), Ok(()));
        assert_eq!(MetadataCodec::Raw.check::<Meta>(), Err(CodecError::RawNeedsBytes));
        assert_eq!(is_unreadable(b"", MetadataCodec::Raw), MetadataError::OtherCodec { codec: 0 });
    }

    #[test]
    fn a_quoting_error_stays_short() {
        let text = format!("\"{}\"", "y".repeat(100_000));
        let MetadataError::Undecodable(reason) =
            is_unreadable(text.as_bytes(), MetadataCodec::Json)
        else {
            panic!("readable")
        };
        assert_eq!(reason.chars().count(), 200);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read_and_written_alike(
            threads: u64,
            zones: Vec<String>,
            weights: BTreeMap<String, i32>,
        ) {
            let meta = Meta { threads, zones, weights };
            for codec in TYPED {
                let bytes = codec.encode(&meta).unwrap();
                let read: Meta = codec.decode(&bytes).unwrap();
                prop_assert_eq!(codec.encode(&read).unwrap(), bytes);
                prop_assert_eq!(&read, &meta);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            for codec in TYPED {
                let _ = codec.decode::<Meta>(&bytes);
                let _ = codec.decode::<Longer>(&bytes);
                let _ = codec.decode::<Vec<Option<Meta>>>(&bytes);
            }
        }
    }
}
