//! How the time of a plan grows (invariant 9 of the field study).

use std::time::{Duration, Instant};

use kafka_group::assign::GroupSubscription;

/// Four times the partitions must take about four times the time. The shortest of some runs is the least disturbed by
/// others.
#[track_caller]
pub(crate) fn assert_grows_with_the_partitions(
    [small, large]: [&GroupSubscription; 2],
    runs: usize,
    plan: impl Fn(&GroupSubscription),
) {
    let shortest = |group| (0..runs).map(|_| time_of(|| plan(group))).min().unwrap_or_default();
    let (small, large) = (shortest(small), shortest(large));
    assert!(
        large < small * 10 + Duration::from_millis(50),
        "{small:?}, four times as many: {large:?}"
    );
}

#[expect(clippy::disallowed_methods, reason = "the time that a plan takes is what is tested")]
fn time_of(plan: impl FnOnce()) -> Duration {
    let start = Instant::now();
    plan();
    start.elapsed()
}
