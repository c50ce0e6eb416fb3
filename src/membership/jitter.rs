//! Waits that differ from member to member, though they follow from a seed.

use std::time::Duration;

/// A small generator (SplitMix64): the machine's only source of variety, so that a seed tells a whole run.
#[derive(Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// `span`, up to `percent` less or more.
    pub(super) fn around(&mut self, span: Duration, percent: u32) -> Duration {
        let percent = percent.min(100);
        let permille = 1000 - 10 * percent + self.below(20 * percent + 1);
        span.saturating_mul(permille) / 1000
    }

    /// The wait before try number `tries`, from 1 on: doubled each time up to `max`, a fifth less or more.
    pub(super) fn backoff(&mut self, first: Duration, max: Duration, tries: u32) -> Duration {
        let doubled = first.saturating_mul(1 << tries.saturating_sub(1).min(16));
        self.around(doubled.min(max), 20)
    }

    fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.next() % u64::from(limit.max(1))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backoff_doubles_to_its_maximum_and_never_strays_by_more_than_a_fifth() {
        let (first, max) = (Duration::from_millis(100), Duration::from_secs(1));
        for seed in 0..100 {
            let mut jitter = Jitter::new(seed);
            for (tries, expected) in [(1, 100), (2, 200), (4, 800), (5, 1000), (u32::MAX, 1000)] {
                let wait = jitter.backoff(first, max, tries).as_millis();
                assert!((expected * 8 / 10..=expected * 12 / 10).contains(&wait), "seed {seed}");
            }
        }
    }

    #[test]
    fn equal_seeds_give_equal_waits() {
        assert_eq!(Jitter::new(7).next(), Jitter::new(7).next());
        assert_ne!(Jitter::new(7).next(), Jitter::new(8).next());
    }
}
