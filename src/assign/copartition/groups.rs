//! Which topics belong together.

use std::collections::BTreeSet;
use std::sync::Arc;

/// The declared groups of topics. No topic is in two; while there are none, all topics are one group.
#[derive(Clone, Debug, Default)]
pub(super) struct CoGroups {
    declared: Vec<BTreeSet<Arc<str>>>,
}

impl CoGroups {
    /// Adds a group. It becomes one with all that it shares topics with, at the place of the first of them: whatever
    /// is joined with both has to lie with both.
    pub(super) fn add(&mut self, topics: BTreeSet<Arc<str>>) {
        let (touched, apart): (Vec<_>, Vec<_>) =
            self.declared.drain(..).enumerate().partition(|(_, group)| !group.is_disjoint(&topics));
        // Groups before the first touched one stay where they are, so its place is still good.
        let place = touched.first().map_or(apart.len(), |(place, _)| *place);
        self.declared = apart.into_iter().map(|(_, group)| group).collect();
        let others = touched.into_iter().flat_map(|(_, group)| group);
        self.declared.insert(place, topics.into_iter().chain(others).collect());
    }

    /// The place of the group that a topic is in.
    pub(super) fn of_topic(&self, name: &str) -> Option<usize> {
        match self.declared.is_empty() {
            true => Some(0),
            false => self.declared.iter().position(|group| group.contains(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(groups: &[&[&str]], topics: &[&str]) -> Vec<Option<usize>> {
        let mut declared = CoGroups::default();
        for group in groups {
            declared.add(group.iter().copied().map(Arc::from).collect());
        }
        topics.iter().map(|topic| declared.of_topic(topic)).collect()
    }

    #[test]
    fn all_topics_belong_together_until_some_are_said_to() {
        assert_eq!(places(&[], &["a", "b"]), [Some(0), Some(0)]);
        assert_eq!(places(&[&["a", "b"]], &["a", "b", "c"]), [Some(0), Some(0), None]);
        assert_eq!(places(&[&[]], &["a"]), [None]);
    }

    #[test]
    fn groups_that_share_a_topic_are_one() {
        let groups: &[&[&str]] = &[&["x"], &["a", "b"], &["y"], &["c", "d"], &["d", "b"]];
        let places = places(groups, &["x", "a", "b", "y", "c", "d"]);
        assert_eq!(places, [Some(0), Some(1), Some(1), Some(2), Some(1), Some(1)]);
    }
}
