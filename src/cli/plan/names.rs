//! Partitions as people write them: `orders 0-3,7  payments 1`.

use std::fmt::Write as _;

use crate::assign::Model;
use crate::cli::table::printable;

/// How many runs of numbers a list has at most, unless all are wanted.
const MOST_RUNS: usize = 24;

/// Some partitions by their places, ascending.
pub(super) fn ranges(model: &Model, places: &[u32], all: bool) -> String {
    let most = if all { usize::MAX } else { MOST_RUNS };
    let (mut text, mut last_topic, mut said) = (String::new(), None, 0);
    for run in places.chunk_by(|one, next| follows(model, *one, *next)).take(most) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let place = model.topic_of(*first);
        let Some(topic) = model.topics().get(place as usize) else { continue };
        let separator = match last_topic.replace(place) {
            Some(last) if last == place => ",".to_owned(),
            Some(_) => format!("  {} ", printable(&topic.name)),
            None => format!("{} ", printable(&topic.name)),
        };
        let (first, last) = (first - topic.first, last - topic.first);
        // Writing to a text does not fail.
        let _ = match first == last {
            true => write!(text, "{separator}{first}"),
            false => write!(text, "{separator}{first}-{last}"),
        };
        said += run.len();
    }
    if said < places.len() {
        let _ = write!(text, "  … and {} more", places.len() - said);
    }
    text
}

/// Whether two places are consecutive partitions of one topic.
fn follows(model: &Model, one: u32, next: u32) -> bool {
    let end_of = |topic: u32| {
        let topic = model.topics().get(topic as usize);
        topic.map_or(0, |topic| topic.first + topic.count)
    };
    next == one + 1 && next < end_of(model.topic_of(one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::GroupSubscription;

    #[test]
    fn consecutive_partitions_of_one_topic_are_one_range() {
        let group = GroupSubscription::<()>::builder().topic("a", 3).topic("b", 9).topic("c", 1);
        let group = group.build();
        let text = |places: &[u32]| ranges(group.model(), places, false);
        assert_eq!(text(&[0, 1, 2, 3, 4, 6, 12]), "a 0-2  b 0-1,3  c 0");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn long_lists_end_early() {
        let group = GroupSubscription::<()>::builder().topic("t", 100).build();
        let places: Vec<u32> = (0..100).step_by(2).collect();
        assert!(ranges(group.model(), &places, false).ends_with(",46  … and 26 more"));
        assert!(ranges(group.model(), &places, true).ends_with(",96,98"));
    }
}
