//! How long to wait before the next try.

use std::time::Duration;

/// Waits that double from `first` to `most`, each spread by 20 % either way (KIP-580), so that many clients which lost
/// one broker at one moment do not come back at one moment.
///
/// An endless iterator: whoever uses it brings the deadline. The seed is handed in.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    most: Duration,
    dice: fastrand::Rng,
}

impl Backoff {
    pub(crate) fn new(first: Duration, most: Duration, seed: u64) -> Self {
        Self { next: first.min(most), most, dice: fastrand::Rng::with_seed(seed) }
    }

    /// The next wait.
    pub(crate) fn pause(&mut self) -> Duration {
        let wait = self.next;
        self.next = wait.saturating_mul(2).min(self.most);
        wait.mul_f64(0.8 + 0.4 * self.dice.f64())
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(self.pause())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn waits_double_up_to_the_limit_and_are_spread_by_a_fifth() {
        let waits = Backoff::new(50 * MS, 1000 * MS, 7).take(8).collect::<Vec<_>>();
        for (wait, middle) in waits.iter().zip([50, 100, 200, 400, 800, 1000, 1000, 1000]) {
            assert!(*wait >= middle * MS * 8 / 10 && *wait <= middle * MS * 12 / 10, "{waits:?}");
        }
    }

    #[test]
    fn one_seed_gives_one_sequence() {
        let waits = |seed| Backoff::new(50 * MS, 1000 * MS, seed).take(5).collect::<Vec<_>>();
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }

    #[test]
    fn a_wait_of_nothing_stays_nothing() {
        assert_eq!(Backoff::new(Duration::ZERO, MS, 1).pause(), Duration::ZERO);
    }
}
