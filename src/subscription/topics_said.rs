//! Which topics the application was told are missing, so that it is told once.

use std::sync::Arc;

use super::notice::ConsumerNotice;
use super::selection::Selection;
use crate::types::{Cluster, TopicError};

/// What was said last.
#[derive(Debug, Default)]
pub(super) struct TopicsSaid {
    missing: Vec<Arc<str>>,
    unauthorized: Vec<Arc<str>>,
}

impl TopicsSaid {
    /// What is to be said now. A topic of which nothing is known yet is not missing.
    pub(super) fn changes(
        &mut self,
        selection: &Selection,
        cluster: &Cluster,
    ) -> Vec<ConsumerNotice> {
        let Selection::Topics(names) = selection else { return Vec::new() };
        let (mut missing, mut unauthorized) = (Vec::new(), Vec::new());
        for name in names {
            match cluster.topic(name).and_then(|topic| topic.error()) {
                Some(TopicError::Missing | TopicError::InvalidName) => {
                    missing.push(Arc::clone(name))
                }
                Some(TopicError::NotAuthorized) => unauthorized.push(Arc::clone(name)),
                _ => {}
            }
        }
        let mut notices = Vec::new();
        if missing != self.missing {
            notices.push(ConsumerNotice::MissingTopics(missing.clone()));
            self.missing = missing;
        }
        if unauthorized != self.unauthorized {
            notices.push(ConsumerNotice::UnauthorizedTopics(unauthorized.clone()));
            self.unauthorized = unauthorized;
        }
        notices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Topic;

    #[test]
    fn a_topic_is_said_to_be_missing_once() {
        let selection = Selection::topics(["a", "b"]);
        let missing = |names: &[&str]| {
            Cluster::new([], names.iter().map(|name| Topic::failed(*name, TopicError::Missing)))
        };
        let mut said = TopicsSaid::default();
        let mut changes = |names| said.changes(&selection, &missing(names));
        let notice = |names: &[&str]| {
            vec![ConsumerNotice::MissingTopics(names.iter().map(|name| (*name).into()).collect())]
        };
        assert_eq!(changes(&["a"]), notice(&["a"]));
        assert_eq!(changes(&["a"]), []);
        assert_eq!(changes(&["a", "b"]), notice(&["a", "b"]));
        assert_eq!(changes(&[]), notice(&[]));
        assert_eq!(changes(&["of another member"]), []);
    }
}
