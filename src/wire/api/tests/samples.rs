//! One sample an API: a random answer of the oracle's, and what we should read in it.

mod cluster;
mod consumers;
mod groups;
mod offsets;
mod sasl;

use std::fmt::Debug;

use bytes::Bytes;
use kafka_protocol::protocol::Encodable;

use super::random::Random;
use super::{encoded, read};
use crate::wire::{ApiKey, ErrorCode, Request};

/// Whoever holds samples of one API.
pub(super) trait Sample {
    fn api(&self) -> ApiKey;

    /// A random answer, encoded.
    fn bytes(&self, version: i16, random: &mut Random) -> Bytes;

    /// Reads, and forgets what was read.
    fn read(&self, version: i16, bytes: Bytes);

    /// A random answer reads as what it is.
    fn agrees(&self, version: i16, random: &mut Random);

    /// No beginning of an answer panics; whatever it reads as, is true.
    fn survives_cuts(&self, version: i16, random: &mut Random);
}

/// An answer's own error, where it has one: then the rest may be missing.
pub(super) trait Answer: Clone + Debug + PartialEq {
    fn error(&self) -> ErrorCode {
        ErrorCode::None
    }
}

/// A function that makes the oracle's answer and ours.
struct Made<R, F>(F, std::marker::PhantomData<R>);

fn made<R, M, F>(make: F) -> Box<dyn Sample>
where
    R: Request<Response: Answer>,
    M: Encodable + 'static,
    F: Fn(i16, &mut Random) -> (M, R::Response) + 'static,
{
    Box::new(Made::<R, F>(make, std::marker::PhantomData))
}

pub(super) fn all() -> Vec<Box<dyn Sample>> {
    let mut all = groups::samples();
    all.extend(cluster::samples());
    all.extend(offsets::samples());
    all.extend(consumers::samples());
    all.extend(sasl::samples());
    assert_eq!(all.len(), ApiKey::ALL.len(), "an API without samples");
    all
}

impl<R, M, F> Sample for Made<R, F>
where
    R: Request<Response: Answer>,
    M: Encodable,
    F: Fn(i16, &mut Random) -> (M, R::Response),
{
    fn api(&self) -> ApiKey {
        R::API
    }

    fn bytes(&self, version: i16, random: &mut Random) -> Bytes {
        encoded(&self.0(version, random).0, version)
    }

    fn read(&self, version: i16, bytes: Bytes) {
        let _ = read::<R>(version, bytes);
    }

    fn agrees(&self, version: i16, random: &mut Random) {
        let (theirs, ours) = self.0(version, random);
        assert_eq!(
            read::<R>(version, encoded(&theirs, version)),
            Ok(ours),
            "{:?} v{version}",
            R::API
        );
    }

    fn survives_cuts(&self, version: i16, random: &mut Random) {
        let (theirs, ours) = self.0(version, random);
        let whole = encoded(&theirs, version);
        for length in 0..whole.len() {
            let Ok(cut) = read::<R>(version, whole.slice(..length)) else { continue };
            let error = cut.error();
            let only_an_error = !error.is_none() && error == ours.error();
            assert!(
                only_an_error || cut == ours,
                "{:?} v{version}, {length} of {}: {cut:?}",
                R::API,
                whole.len()
            );
        }
    }
}

/// In versions that have the field.
fn since<T>(present: bool, value: T, otherwise: T) -> T {
    if present { value } else { otherwise }
}
