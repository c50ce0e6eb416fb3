//! kafka-protocol writes answers, we read them: on well-formed bytes both must mean the same.

mod captured;
mod hostile;
mod nulls;
mod random;
mod requests;
mod samples;

use bytes::{Bytes, BytesMut};
use kafka_protocol::protocol::Encodable;
use random::{Random, every_seed};
use samples::Sample;

use crate::wire::{ReadError, Reader, Request};

fn encoded(message: &impl Encodable, version: i16) -> Bytes {
    let mut bytes = BytesMut::new();
    message.encode(&mut bytes, version).expect("the oracle encodes its own message");
    bytes.freeze()
}

fn read<R: Request>(version: i16, bytes: Bytes) -> Result<R::Response, ReadError> {
    R::read(version, &mut Reader::new(bytes))
}

/// Every version of every API, with many random answers each.
fn for_every_sample(mut check: impl FnMut(&dyn Sample, i16, &mut Random)) {
    for sample in samples::all() {
        let versions = sample.api().supported();
        for version in versions.min..=versions.max {
            every_seed(20, |random| check(&*sample, version, random));
        }
    }
}

#[test]
fn what_the_oracle_writes_is_what_we_read() {
    for_every_sample(|sample, version, random| sample.agrees(version, random));
}

#[test]
fn an_answer_cut_anywhere_is_an_error_or_says_what_the_whole_says() {
    for_every_sample(|sample, version, random| sample.survives_cuts(version, random));
}
