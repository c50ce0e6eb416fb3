//! Random values, the same for the same seed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bytes::Bytes;
use kafka_protocol::protocol::StrBytes;

/// Random values of what answers are made of.
pub(super) struct Random(fastrand::Rng);

/// Runs `check` with seeds 0 to `seeds`, and names the seed of a failure.
pub(super) fn every_seed(seeds: u64, mut check: impl FnMut(&mut Random)) {
    for seed in 0..seeds {
        let mut random = Random(fastrand::Rng::with_seed(seed));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&mut random))) {
            eprintln!("failed with seed {seed}");
            resume_unwind(panic);
        }
    }
}

impl Random {
    pub(super) fn bool(&mut self) -> bool {
        self.0.bool()
    }

    pub(super) fn i16(&mut self) -> i16 {
        self.0.i16(..)
    }

    pub(super) fn i32(&mut self) -> i32 {
        self.0.i32(..)
    }

    /// Zero or more, and -1, which stands for none, often.
    pub(super) fn i32_or_none(&mut self) -> i32 {
        if self.bool() { -1 } else { self.0.i32(0..) }
    }

    pub(super) fn i64_or_none(&mut self) -> i64 {
        if self.bool() { -1 } else { self.0.i64(0..) }
    }

    pub(super) fn port(&mut self) -> u16 {
        self.0.u16(..)
    }

    /// No error half the time.
    pub(super) fn error(&mut self) -> i16 {
        if self.bool() { 0 } else { self.0.i16(-1..130) }
    }

    pub(super) fn millis(&mut self) -> i32 {
        self.0.i32(0..100_000)
    }

    /// Long enough, at times, for a varint of two bytes.
    pub(super) fn text(&mut self) -> StrBytes {
        let length = if self.0.u8(..) < 16 { self.0.usize(120..300) } else { self.0.usize(..12) };
        let text: String = (0..length)
            .map(|_| self.0.choice(['a', 'Z', '7', '-', '.', 'é', '日']).unwrap())
            .collect();
        text.into()
    }

    pub(super) fn name(&mut self) -> StrBytes {
        format!("t{}", self.text().as_str()).into()
    }

    pub(super) fn maybe_text(&mut self) -> Option<StrBytes> {
        self.bool().then(|| self.text())
    }

    pub(super) fn bytes(&mut self) -> Bytes {
        let length = if self.0.u8(..) < 16 { self.0.usize(120..300) } else { self.0.usize(..12) };
        (0..length).map(|_| self.0.u8(..)).collect()
    }

    pub(super) fn many<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.0.usize(..4)).map(|_| one(self)).collect()
    }

    pub(super) fn index(&mut self, below: usize) -> usize {
        self.0.usize(..below)
    }

    /// One of `api`'s bytes changed, cut or doubled: what a broken peer sends is often almost right.
    pub(super) fn damage(&mut self, bytes: &Bytes) -> Bytes {
        let mut bytes = bytes.to_vec();
        for _ in 0..self.0.usize(1..4) {
            let Some(last) = bytes.len().checked_sub(1) else { break };
            let at = self.0.usize(..=last);
            match self.0.u8(..4) {
                0 => bytes[at] = self.0.u8(..),
                1 => bytes[at] = self.0.choice([0, 1, 0x7f, 0x80, 0xff]).unwrap(),
                2 => bytes.insert(at, self.0.u8(..)),
                _ => bytes.truncate(at),
            }
        }
        bytes.into()
    }
}
