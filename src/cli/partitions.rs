//! Sets of partitions as people write them: `orders 0-3,7  payments 1`.

use std::fmt::Write as _;

use super::table::printable;
use crate::types::Partitions;

/// How many runs of numbers a list has at most.
const MOST_RUNS: usize = 24;

/// Partitions in one line; of very many the first ones, and how many more there are.
pub(super) fn in_words(partitions: &Partitions) -> String {
    let (mut text, mut runs, mut said) = (String::new(), 0, 0);
    for (topic, numbers) in partitions.by_topic() {
        for (at, run) in numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next)).enumerate()
        {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            if runs == MOST_RUNS {
                let _ = write!(text, "  … and {} more", partitions.len() - said);
                return text;
            }
            // Writing to a text does not fail.
            let _ = match (at, text.is_empty()) {
                (0, true) => write!(text, "{} ", printable(topic)),
                (0, false) => write!(text, "  {} ", printable(topic)),
                _ => write!(text, ","),
            };
            let _ = match first == last {
                true => write!(text, "{first}"),
                false => write!(text, "{first}-{last}"),
            };
            (runs, said) = (runs + 1, said + run.len());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(topics: &[(&str, &[i32])]) -> Partitions {
        let pairs = topics.iter().flat_map(|(topic, numbers)| {
            numbers.iter().map(|number| (*topic, *number)).collect::<Vec<_>>()
        });
        pairs.collect()
    }

    #[test]
    fn consecutive_partitions_of_one_topic_are_one_range() {
        let partitions = set(&[("a", &[0, 1, 2, 5, i32::MAX]), ("b\n", &[3])]);
        assert_eq!(in_words(&partitions), "a 0-2,5,2147483647  b\\n 3");
        assert_eq!(in_words(&Partitions::new()), "");
    }

    #[test]
    fn long_lists_end_early() {
        let even: Vec<i32> = (0..100).step_by(2).collect();
        assert!(in_words(&set(&[("t", &even)])).ends_with(",44,46  … and 26 more"));
    }
}
