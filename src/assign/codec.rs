//! How typed metadata becomes bytes.

use std::any::{Any, TypeId};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

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
            Self::Raw => true,
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
        }
    }

    /// The codec with this number, if this program can read it.
    pub(crate) fn from_id(id: u8) -> Option<Self> {
        [Self::Raw, Self::Bincode, Self::Json]
            .into_iter()
            .find(|codec| codec.id() == id && codec.is_compiled())
    }

    /// Whether values of this type can be written at all.
    pub(crate) fn check<T: 'static>(self) -> Result<(), CodecError> {
        match self {
            Self::Raw if TypeId::of::<T>() != TypeId::of::<Bytes>() => {
                Err(CodecError::RawNeedsBytes)
            }
            codec if !codec.is_compiled() => Err(CodecError::NotCompiled(codec)),
            _ => Ok(()),
        }
    }

    /// Writes raw bytes as they are, everything else as [`write`](Self::write) does.
    pub(crate) fn encode<T: Serialize + 'static>(self, value: &T) -> Result<Vec<u8>, CodecError> {
        match (self, (value as &dyn Any).downcast_ref::<Bytes>()) {
            (Self::Raw, Some(bytes)) => checked(bytes.to_vec()),
            (Self::Raw, None) => Err(CodecError::RawNeedsBytes),
            _ => self.write(value),
        }
    }

    /// Writes a value of any lifetime.
    pub(crate) fn write<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, CodecError> {
        match self {
            Self::Raw => Err(CodecError::RawNeedsBytes),
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
    value.ok_or(MetadataError::OtherCodec { codec: MetadataCodec::Raw.id() })
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
