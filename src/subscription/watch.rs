//! Growth, new and deleted topics: who asks for a round when the cluster changes.
//!
//! Twenty members that see one new partition must not ask for twenty rounds. The leader asks at once; the others after
//! a part of a second that differs, and only if their view is ahead of what the plan was made on, so that a member
//! whose metadata is old asks for nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::members::count_in;
use crate::types::Cluster;

/// The counts that the plan was made on, of the topics that this member looks after.
#[derive(Debug, Default)]
pub(super) struct Watch {
    planned: BTreeMap<Arc<str>, u32>,
    leads: bool,
    /// There is a plan at all.
    set: bool,
    /// Topics that are missing from the cluster do not exist: it was asked for all.
    sees_all: bool,
}

impl Watch {
    /// Looks after these topics from now on: the leader after those of all members.
    pub(super) fn new(planned: BTreeMap<Arc<str>, u32>, leads: bool, sees_all: bool) -> Self {
        Self { planned, leads, set: true, sees_all }
    }

    /// Whether a plan was ever joined.
    pub(super) fn is_set(&self) -> bool {
        self.set
    }

    pub(super) fn topics(&self) -> impl Iterator<Item = &Arc<str>> {
        self.planned.keys()
    }

    /// Whether a round is due. A topic that shrinks is no growth seen from an older view, but only the leader can tell
    /// the two apart: it had the newest view when it planned.
    pub(super) fn is_due(&self, cluster: &Cluster) -> bool {
        self.planned.iter().any(|(topic, planned)| match self.count(cluster, topic) {
            Some(0) => self.leads && *planned > 0,
            Some(count) => count > *planned,
            None => false,
        })
    }

    /// How long to wait before asking; `jitter` is from 0 to 1.
    pub(super) fn delay(&self, jitter: f64) -> Duration {
        match self.leads {
            true => Duration::ZERO,
            false => Duration::from_secs(1).mul_f64(jitter),
        }
    }

    fn count(&self, cluster: &Cluster, topic: &str) -> Option<u32> {
        match cluster.topic(topic) {
            None if self.sees_all && !cluster.is_empty() => Some(0),
            _ => count_in(cluster, topic),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Node, NodeId, Partition, Topic, TopicError};

    fn cluster(topics: impl IntoIterator<Item = Topic>) -> Cluster {
        Cluster::new([Node { id: NodeId(1), host: "a".into(), port: 9092, rack: None }], topics)
    }

    fn topic(partitions: i32) -> Topic {
        Topic::new(
            "t",
            (0..partitions).map(|number| Partition::new(number, None, vec![])).collect(),
        )
    }

    fn watch(planned: u32, leads: bool) -> Watch {
        Watch::new([("t".into(), planned)].into_iter().collect(), leads, false)
    }

    #[test]
    fn a_round_is_due_where_the_view_is_ahead_of_the_plan() {
        let missing = || Topic::failed("t", TopicError::Missing);
        let unavailable = || Topic::failed("t", TopicError::Unavailable(5));
        for (planned, leads, now, due) in [
            (4, false, topic(4), false),
            (4, false, topic(5), true),
            (4, false, topic(3), false),
            (4, true, topic(3), false),
            (0, false, topic(1), true),
            (0, true, missing(), false),
            (4, false, missing(), false),
            (4, true, missing(), true),
            (4, true, unavailable(), false),
        ] {
            let case = format!("{planned} planned, leads: {leads}, now {now:?}");
            assert_eq!(watch(planned, leads).is_due(&cluster([now])), due, "{case}");
        }
    }

    #[test]
    fn a_topic_that_nobody_asked_for_is_not_missing() {
        assert!(!watch(4, true).is_due(&cluster([])));
        let sees_all = Watch { sees_all: true, ..watch(4, true) };
        assert!(sees_all.is_due(&cluster([])));
        assert!(!sees_all.is_due(&Cluster::default()), "nothing is known yet");
    }

    #[test]
    fn the_leader_asks_at_once_and_the_others_spread() {
        assert_eq!(watch(1, true).delay(0.9), Duration::ZERO);
        assert_eq!(watch(1, false).delay(0.25), Duration::from_millis(250));
    }
}
