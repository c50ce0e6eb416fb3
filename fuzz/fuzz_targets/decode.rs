//! Any bytes, at every door by which bytes of others come in: `cargo +nightly fuzz run decode`.

#![no_main]

use kafka_group::testing::fuzz::{DOORS, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (door, version, bytes) = input;
    read(door % DOORS, i16::from(version), bytes);
});
