//! Times as Kafka's own tool takes them.

use std::time::{Duration, SystemTime};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Reads `2026-01-31T12:00:00`, with `.500` and with `Z`, `+02:00` or `+0200` at its end where that is so; without, it
/// is UTC.
pub(super) fn datetime(text: &str) -> Option<SystemTime> {
    let (date, clock) = text.split_once('T')?;
    let (clock, zone) = match clock.find(['Z', '+', '-']) {
        Some(at) => (clock.get(..at)?, offset(clock.get(at..)?)?),
        None => (clock, 0),
    };
    let days = days(date)?;
    let (seconds, millis) = time_of_day(clock)?;
    let since = (days * i64::try_from(DAY).ok()?).checked_add(seconds)?.checked_sub(zone)?;
    let since = Duration::from_secs(u64::try_from(since).ok()?) + Duration::from_millis(millis);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Reads `P1DT2H3M4S`, of which each part may be missing, as days, hours, minutes, seconds.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (days, clock) = match text.strip_prefix('P')?.split_once('T') {
        Some((_, "")) => return None,
        Some((days, clock)) => (days, clock),
        None => (text.strip_prefix('P')?, ""),
    };
    if days.is_empty() && clock.is_empty() {
        return None;
    }
    let total = parts(days, &[('D', DAY)])?;
    total.checked_add(parts(clock, &[('H', HOUR), ('M', MINUTE), ('S', 1)])?)
}

/// Numbers, each behind it its unit, larger units first.
fn parts(mut text: &str, units: &[(char, u64)]) -> Option<Duration> {
    let mut total = Duration::ZERO;
    for (unit, seconds) in units {
        let Some((number, rest)) = text.split_once(*unit) else { continue };
        total = total.checked_add(Duration::from_secs(digits(number)?.checked_mul(*seconds)?))?;
        text = rest;
    }
    text.is_empty().then_some(total)
}

/// Days from 1970 to a date: those of the years, counted from March so that a leap day is the last of its year.
fn days(date: &str) -> Option<i64> {
    let mut fields = date.split('-');
    let year = number(fields.next()?, 4)?;
    let month = number(fields.next()?, 2).filter(|month| (1..=12).contains(month))?;
    let day = number(fields.next()?, 2).filter(|day| (1..=length(year, month)).contains(day))?;
    if fields.next().is_some() {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before + (153 * month + 2) / 5 + day - 1 - 719_468)
}

fn length(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Seconds of the day, and milliseconds of the second.
fn time_of_day(clock: &str) -> Option<(i64, u64)> {
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, number(fraction, 3)?),
        None => (clock, 0),
    };
    let mut fields = clock.split(':');
    let below = |text: Option<&str>, end| number(text?, 2).filter(|number| *number < end);
    let (hours, minutes) = (below(fields.next(), 24)?, below(fields.next(), 60)?);
    let seconds = below(fields.next(), 60)?;
    let hour = i64::try_from(HOUR).ok()?;
    fields.next().is_none().then_some(())?;
    Some((hours * hour + minutes * 60 + seconds, u64::try_from(fraction).ok()?))
}

/// How many seconds a zone is before UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone = zone.get(1..)?;
    let (hours, minutes) = match zone.split_once(':') {
        Some(split) => split,
        None => zone.split_at_checked(2)?,
    };
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2)? };
    let hours = number(hours, 2)?;
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Exactly so many digits.
fn number(text: &str, length: usize) -> Option<i64> {
    (text.len() == length).then(|| digits(text)).flatten().and_then(|it| i64::try_from(it).ok())
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<u128> {
        let time = datetime(text)?;
        Some(time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis())
    }

    #[test]
    fn times_are_read_as_the_calendar_has_them() {
        for (text, expected) in [
            ("1970-01-01T00:00:00", 0),
            ("1970-01-01T00:00:01.007", 1_007),
            ("2000-02-29T23:59:59", 951_868_799_000),
            ("2000-03-01T00:00:00.000Z", 951_868_800_000),
            ("2026-11-30T21:00:00+02:00", 1_796_065_200_000),
            ("2026-11-30T19:00:00", 1_796_065_200_000),
            ("2026-11-30T16:30:00-0230", 1_796_065_200_000),
            ("2100-03-01T00:00:00", 4_107_542_400_000),
        ] {
            assert_eq!(millis(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_no_calendar_has_is_no_time() {
        for text in [
            "",
            "2026-11-30",
            "2026-11-30 21:00:00",
            "2026-02-29T00:00:00",
            "2026-13-01T00:00:00",
            "2026-00-01T00:00:00",
            "2026-11-30T24:00:00",
            "2026-11-30T21:60:00",
            "2026-11-30T21:00",
            "2026-11-30T21:00:00.5",
            "2026-11-30T21:00:00+2",
            "2026-11-30T21:00:00+é:00",
            "26-11-30T21:00:00",
            "1969-12-31T23:59:59",
            "1970-01-01T00:00:00+01:00",
        ] {
            assert_eq!(datetime(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_days_hours_minutes_and_seconds() {
        for (text, expected) in [
            ("P1D", Some(DAY)),
            ("PT1H", Some(HOUR)),
            ("P2DT3H4M5S", Some(2 * DAY + 3 * HOUR + 4 * MINUTE + 5)),
            ("P0DT0H0M10S", Some(10)),
            ("PT90M", Some(90 * MINUTE)),
            ("P", None),
            ("PT", None),
            ("1D", None),
            ("PT5M1H", None),
            ("P-1D", None),
            ("P1DT", None),
            ("PT1.5S", None),
            ("PD", None),
            ("P99999999999999999999D", None),
            ("P300000000000000D", None),
        ] {
            let expected = expected.map(Duration::from_secs);
            assert_eq!(duration(text), expected, "{text}");
        }
    }
}
