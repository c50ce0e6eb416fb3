//! Which topics a member wants: by name or by pattern.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;

use crate::types::{Cluster, Topic, TopicError};

/// Topics of Kafka's own, for when nothing is known of a topic but its name.
const INTERNAL: [&str; 2] = ["__consumer_offsets", "__transaction_state"];

/// Which topics a member wants.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    /// These, whether they exist or not.
    Topics(BTreeSet<Arc<str>>),
    /// Those that exist and match, Kafka's own excepted.
    Pattern(Regex),
}

impl Selection {
    pub(crate) fn topics<N: Into<Arc<str>>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::Topics(names.into_iter().map(Into::into).collect())
    }

    /// The error says what is wrong with the pattern, and where.
    pub(crate) fn pattern(pattern: &str) -> Result<Self, regex::Error> {
        Regex::new(pattern).map(Self::Pattern)
    }

    /// The topics to subscribe to, sorted.
    pub(crate) fn resolve(&self, cluster: &Cluster) -> Vec<Arc<str>> {
        match self {
            Self::Topics(names) => names.iter().map(Arc::clone).collect(),
            Self::Pattern(pattern) => {
                let matches = |topic: &&Topic| {
                    exists(topic) && !topic.is_internal() && pattern.is_match(topic.name())
                };
                cluster.topics().filter(matches).map(|topic| Arc::clone(topic.name())).collect()
            }
        }
    }

    /// Whether partitions of this topic are wanted, should they be given.
    pub(crate) fn wants(&self, topic: &str) -> bool {
        match self {
            Self::Topics(names) => names.contains(topic),
            Self::Pattern(pattern) => !INTERNAL.contains(&topic) && pattern.is_match(topic),
        }
    }

    /// Whether what exists decides what is subscribed to.
    pub(crate) fn is_pattern(&self) -> bool {
        matches!(self, Self::Pattern(_))
    }
}

impl PartialEq for Selection {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Topics(ours), Self::Topics(theirs)) => ours == theirs,
            (Self::Pattern(ours), Self::Pattern(theirs)) => ours.as_str() == theirs.as_str(),
            _ => false,
        }
    }
}

/// A topic that cannot be described just now is there all the same.
fn exists(topic: &Topic) -> bool {
    matches!(topic.error(), None | Some(TopicError::Unavailable(_)))
}

/// Whether a topic can have this name. One that cannot would fail a Metadata request for all the others.
pub(super) fn is_topic_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=249).contains(&name.len()) && !matches!(name, "." | "..") && name.chars().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> Cluster {
        let offsets = Topic::new("__consumer_offsets", vec![]).internal(true);
        let gone = Topic::failed("orders.gone", TopicError::Missing);
        Cluster::new(
            [],
            [Topic::new("orders.b", vec![]), Topic::new("orders.a", vec![]), offsets, gone],
        )
    }

    #[test]
    fn a_pattern_matches_what_exists_and_is_not_kafkas_own() {
        let resolved = |pattern: &str| Selection::pattern(pattern).unwrap().resolve(&cluster());
        assert_eq!(resolved("^orders\\..*"), ["orders.a".into(), "orders.b".into()]);
        assert_eq!(resolved(".*"), ["orders.a".into(), "orders.b".into()]);
        assert!(!Selection::pattern(".*").unwrap().wants("__consumer_offsets"));
    }

    #[test]
    fn a_list_is_wanted_whether_it_exists_or_not() {
        let list = Selection::topics(["z", "a", "z"]);
        assert_eq!(list.resolve(&cluster()), ["a".into(), "z".into()]);
        assert!(list.wants("z") && !list.wants("orders.a"));
    }

    #[test]
    fn a_name_is_legal_where_kafka_says_so() {
        let long = "x".repeat(250);
        for (name, legal) in [
            ("a.b_c-1", true),
            ("", false),
            ("..", false),
            ("a b", false),
            (&long, false),
            (&long[1..], true),
        ] {
            assert_eq!(is_topic_name(name), legal, "{name:?}");
        }
    }
}
