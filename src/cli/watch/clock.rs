//! The time of day, for people.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970 began, in the time that is the same everywhere.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Time(pub(super) u64);

const DAY: u64 = 24 * 60 * 60;

#[expect(clippy::disallowed_methods, reason = "people want to know when something happened")]
pub(super) fn now() -> Time {
    Time(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

impl Time {
    /// As in `14:03:07`.
    pub(super) fn of_day(self) -> String {
        let seconds = self.0 % DAY;
        format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// How many seconds have passed since another.
    pub(super) fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// As in `2026-11-30T14:03:07Z`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0 / DAY);
        write!(f, "{year}-{month:02}-{day:02}T{}Z", self.of_day())
    }
}

/// Year, month and day of a day, counted from the first of 1970. Years are taken off one by one, the days of four
/// centuries at once.
fn date(day: u64) -> (u64, u64, u64) {
    const CENTURIES: u64 = 400 * 365 + 97;
    let (mut year, mut day) = (1970 + day / CENTURIES * 400, day % CENTURIES);
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_780_000_000, "2026-05-28T20:26:40Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (13_574_563_200, "2400-02-29T00:00:00Z"),
        ] {
            assert_eq!(Time(seconds).to_string(), expected);
        }
    }
}
