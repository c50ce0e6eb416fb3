//! Partitions of a model as people write them.

use crate::assign::Model;
use crate::cli::partitions::{Run, most_runs, runs_in_words};

/// Some partitions by their places, ascending.
pub(super) fn ranges(model: &Model, places: &[u32], all: bool) -> String {
    let runs = places.chunk_by(|one, next| follows(model, *one, *next)).filter_map(|run| {
        let (first, last) = (*run.first()?, *run.last()?);
        let topic = model.topics().get(model.topic_of(first) as usize)?;
        let number = |place: u32| (place - topic.first) as i32;
        Some(Run { topic: &topic.name, first: number(first), last: number(last) })
    });
    runs_in_words(runs, most_runs(all))
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
