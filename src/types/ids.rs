//! Who a member is: ids given by the broker, ids given by the operator, generations.

use std::fmt;
use std::sync::Arc;

use super::random_id;

/// The id that the coordinator gave a member; empty before it gave one.
///
/// Kafka: `member.id`. It changes when a static member restarts, so nothing durable should hang on it.
#[derive(Clone, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct MemberId(Arc<str>);

impl MemberId {
    /// Wraps an id as the coordinator wrote it.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the coordinator has given no id yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id that an operator gave a member, which makes it static (KIP-345).
///
/// Kafka: `group.instance.id`. 1 to 249 characters from `[a-zA-Z0-9._-]`, not `.` or `..`. The broker checks
/// none of this, so it is checked here. Ids that differ in case alone are two ids.
///
/// It must be there again at the next start: a StatefulSet's host name is, a Deployment's is not. See
/// [`from_hostname`](Self::from_hostname) and [`from_env`](Self::from_env).
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct GroupInstanceId(Arc<str>);

/// Why a text is no `group.instance.id`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidInstanceId {
    /// Empty: leave the option out for a dynamic member.
    #[error("is empty")]
    Empty,
    /// Longer than 249 characters.
    #[error("has more than 249 characters")]
    TooLong,
    /// `.` or `..`.
    #[error("is `.` or `..`")]
    Dots,
    /// A character outside `[a-zA-Z0-9._-]`.
    #[error("holds {0:?}; allowed are letters, digits, `.`, `_` and `-`")]
    Character(char),
}

impl GroupInstanceId {
    /// Checks and wraps an id.
    pub fn new(id: impl Into<Arc<str>>) -> Result<Self, InvalidInstanceId> {
        let id = id.into();
        let illegal = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        match &*id {
            "" => Err(InvalidInstanceId::Empty),
            "." | ".." => Err(InvalidInstanceId::Dots),
            text if text.len() > 249 => Err(InvalidInstanceId::TooLong),
            text => match text.chars().find(illegal) {
                Some(character) => Err(InvalidInstanceId::Character(character)),
                None => Ok(Self(id)),
            },
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the id looks as if it was made up at this start: it holds a UUID or a container's id, or is the name of
    /// a pod of a Kubernetes Deployment. Then every start *adds* a member, and the old ones hold their partitions
    /// until their sessions end; joining with such an id warns.
    pub fn looks_random(&self) -> bool {
        random_id::looks_random(&self.0)
    }
}

impl From<GroupInstanceId> for String {
    fn from(id: GroupInstanceId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Debug for GroupInstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for GroupInstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How often the group has been formed, as its coordinator counts.
///
/// Not a fencing token: it can go back (an empty group is swept, a coordinator fails between JoinGroup and
/// SyncGroup), and a number can be handed out twice.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Generation(pub i32);

impl Generation {
    /// No generation: before the first round, and after being thrown out.
    pub const NONE: Self = Self(-1);

    /// Whether this is a generation at all.
    pub fn is_some(self) -> bool {
        self.0 >= 0
    }
}

impl Default for Generation {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_id_is_checked_as_kafka_checks_topic_names() {
        let long = "x".repeat(250);
        for (id, expected) in [
            ("indexer-7", None),
            ("a", None),
            ("", Some(InvalidInstanceId::Empty)),
            (".", Some(InvalidInstanceId::Dots)),
            ("..", Some(InvalidInstanceId::Dots)),
            ("...", None),
            ("a b", Some(InvalidInstanceId::Character(' '))),
            (" a", Some(InvalidInstanceId::Character(' '))),
            ("a\n", Some(InvalidInstanceId::Character('\n'))),
            ("a/b", Some(InvalidInstanceId::Character('/'))),
            ("a:1", Some(InvalidInstanceId::Character(':'))),
            ("grün", Some(InvalidInstanceId::Character('ü'))),
            (&long, Some(InvalidInstanceId::TooLong)),
            (&long[1..], None),
        ] {
            assert_eq!(GroupInstanceId::new(id).err(), expected, "{id:?}");
        }
    }

    #[test]
    fn an_instance_id_in_another_case_is_another_id() {
        assert_ne!(GroupInstanceId::new("indexer"), GroupInstanceId::new("Indexer"));
    }
}
