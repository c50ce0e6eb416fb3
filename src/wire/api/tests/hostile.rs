//! Bytes that no broker should send.

use super::for_every_sample;
use crate::wire::Reader;
use crate::wire::reader::reserved_by;

/// How many bytes of memory arrays may reserve for each byte of an answer. The worst element is a listed group, with 96
/// bytes of memory for the 3 that it takes at least; twice, since an array in an array may be the one that lies.
const FACTOR: usize = 64;

#[test]
fn damaged_answers_never_panic_and_reserve_no_more_than_a_constant_times_their_length() {
    for_every_sample(|sample, version, random| {
        let whole = sample.bytes(version, random);
        for _ in 0..50 {
            let bytes = random.damage(&whole);
            let length = bytes.len();
            let reserved = reserved_by(|| sample.read(version, bytes));
            assert!(
                reserved <= FACTOR * length,
                "{:?} v{version}: {reserved} for {length}",
                sample.api()
            );
        }
    });
}

#[test]
fn random_bytes_never_panic_and_reserve_no_more_than_a_constant_times_their_length() {
    for_every_sample(|sample, version, random| {
        for _ in 0..50 {
            let bytes = random.bytes();
            let length = bytes.len();
            let reserved = reserved_by(|| sample.read(version, bytes));
            assert!(
                reserved <= FACTOR * length,
                "{:?} v{version}: {reserved} for {length}",
                sample.api()
            );
        }
    });
}

#[test]
fn what_arrays_reserve_is_counted() {
    let eight = bytes::Bytes::from_static(&[0, 0, 0, 2, 0, 1, 0, 2]);
    let read =
        || drop(Reader::new(eight.clone()).array(crate::wire::Layout::Classic, 2, Reader::i16));
    assert_eq!(reserved_by(read), 4);
}
