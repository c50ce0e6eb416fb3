//! Numbers of partitions: a list of them, or a text of ranges.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};

/// Consecutive partitions of one topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Run {
    pub(super) topic: u32,
    pub(super) start: u32,
    pub(super) length: u32,
}

/// Reads a topic's partitions: `[0, 1, 2, 7]`, or `"0-2,7"`.
pub(super) struct NumbersSeed<'a> {
    pub(super) topic: u32,
    pub(super) runs: &'a mut Vec<Run>,
}

impl NumbersSeed<'_> {
    fn push(&mut self, start: u32, length: u32) {
        let topic = self.topic;
        match self.runs.last_mut() {
            Some(last)
                if last.topic == topic && last.start.checked_add(last.length) == Some(start) =>
            {
                last.length = last.length.saturating_add(length);
            }
            _ => self.runs.push(Run { topic, start, length }),
        }
    }
}

impl<'de> DeserializeSeed<'de> for NumbersSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NumbersSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of partitions, or ranges of them as in \"0-3,7\"")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(number) = list.next_element::<i64>()? {
            // Members claim such numbers, too (a client once wrote -1), and leaders leave them out.
            self.push(u32::try_from(number).unwrap_or(u32::MAX), 1);
        }
        Ok(())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        for range in text.split(',').map(str::trim).filter(|range| !range.is_empty()) {
            let (start, length) = read_range(range).ok_or_else(|| {
                E::custom(format_args!("`{range}` is neither a partition nor a range as in `0-3`"))
            })?;
            self.push(start, length);
        }
        Ok(())
    }
}

/// Start and length of `7` or `0-3`.
fn read_range(range: &str) -> Option<(u32, u32)> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    last.checked_sub(first)?.checked_add(1).map(|length| (first, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs that a piece of JSON comes to, as text.
    fn read(json: &str) -> String {
        let mut runs = Vec::new();
        let seed = NumbersSeed { topic: 0, runs: &mut runs };
        match seed.deserialize(&mut serde_json::Deserializer::from_str(json)) {
            Ok(()) => format!("{:?}", runs.iter().map(|r| (r.start, r.length)).collect::<Vec<_>>()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_list_and_ranges_say_the_same() {
        assert_eq!(read("[0, 1, 2, 7]"), "[(0, 3), (7, 1)]");
        assert_eq!(read(r#""0-2, 7""#), "[(0, 3), (7, 1)]");
        assert_eq!(read(r#""""#), "[]");
        assert_eq!(read(r#""0-4294967294""#), "[(0, 4294967295)]");
    }

    #[test]
    fn what_no_partition_can_be_is_kept_to_be_left_out() {
        assert_eq!(read("[-1, 4294967296]"), "[(4294967295, 1), (4294967295, 1)]");
    }

    #[test]
    fn what_is_no_range_is_said() {
        for bad in ["3-1", "a", "1-2-3", "0-4294967295", "-1"] {
            let error = read(&format!("\"{bad}\""));
            assert!(error.starts_with(&format!("`{bad}` is neither")), "{error}");
        }
        assert!(read("7").starts_with("invalid type: integer `7`, expected a list of partitions"));
    }
}
