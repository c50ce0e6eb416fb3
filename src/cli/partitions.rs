//! Sets of partitions as people write them: `orders 0-3,7  payments 1`.

use std::fmt::Write as _;

use super::table::printable;
use crate::types::Partitions;

/// How many runs of numbers a list has at most, unless all are wanted.
const MOST_RUNS: usize = 24;

/// Consecutive partitions of a topic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) topic: &'a str,
    pub(super) first: i32,
    pub(super) last: i32,
}

/// Partitions in one line; of very many the first ones, and how many more there are.
pub(super) fn in_words(partitions: &Partitions) -> String {
    let runs = partitions.by_topic().flat_map(|(topic, numbers)| {
        let runs = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
        runs.filter_map(|run| Some(Run { topic, first: *run.first()?, last: *run.last()? }))
    });
    runs_in_words(runs, MOST_RUNS)
}

/// Runs in one line, those of a topic together; the first `most`, and how many partitions are in the others.
pub(super) fn runs_in_words<'a>(runs: impl Iterator<Item = Run<'a>>, most: usize) -> String {
    let (mut text, mut last_topic, mut unsaid) = (String::new(), None, 0);
    for (at, Run { topic, first, last }) in runs.enumerate() {
        if at >= most {
            unsaid += 1 + last.abs_diff(first) as usize;
            continue;
        }
        let separator = match last_topic.replace(topic) {
            Some(last) if last == topic => ",".to_owned(),
            Some(_) => format!("  {} ", printable(topic)),
            None => format!("{} ", printable(topic)),
        };
        // Writing to a text does not fail.
        let _ = match first == last {
            true => write!(text, "{separator}{first}"),
            false => write!(text, "{separator}{first}-{last}"),
        };
    }
    if unsaid > 0 {
        let _ = write!(text, "  … and {unsaid} more");
    }
    text
}

/// As many runs as one line should have, or all.
pub(super) fn most_runs(all: bool) -> usize {
    if all { usize::MAX } else { MOST_RUNS }
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
