//! What groups are, in Kafka's words.

use std::fmt;

/// The state of a group.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum GroupState {
    /// All members have their part.
    Stable,
    /// Members are being waited for.
    PreparingRebalance,
    /// The leader's plan is being waited for.
    CompletingRebalance,
    /// Nobody is in it; it may have offsets.
    Empty,
    /// It is being deleted.
    Dead,
    /// Another: those of groups that the broker manages, and what later brokers say.
    Other(String),
}

/// The protocol that a group runs.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum GroupType {
    /// Members plan: what this crate takes part in.
    Classic,
    /// The broker assigns partitions (KIP-848).
    Consumer,
    /// Records are shared out one by one (KIP-932).
    Share,
    /// Kafka Streams, assigned by the broker (KIP-1071).
    Streams,
    /// What later brokers say.
    Other(String),
}

const STATES: [GroupState; 5] = [
    GroupState::Stable,
    GroupState::PreparingRebalance,
    GroupState::CompletingRebalance,
    GroupState::Empty,
    GroupState::Dead,
];

const TYPES: [GroupType; 4] =
    [GroupType::Classic, GroupType::Consumer, GroupType::Share, GroupType::Streams];

impl GroupState {
    /// Kafka's name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stable => "Stable",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Empty => "Empty",
            Self::Dead => "Dead",
            Self::Other(name) => name,
        }
    }
}

impl GroupType {
    /// Kafka's name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Classic => "classic",
            Self::Consumer => "consumer",
            Self::Share => "share",
            Self::Streams => "streams",
            Self::Other(name) => name,
        }
    }
}

/// Case counts for nothing, as in Kafka.
impl From<&str> for GroupState {
    fn from(name: &str) -> Self {
        let known = STATES.into_iter().find(|state| state.as_str().eq_ignore_ascii_case(name));
        known.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

/// Case counts for nothing, as in Kafka.
impl From<&str> for GroupType {
    fn from(name: &str) -> Self {
        let known = TYPES.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(name));
        known.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

impl fmt::Display for GroupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for GroupType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_went_and_case_counts_for_nothing() {
        for name in ["Stable", "PreparingRebalance", "CompletingRebalance", "Empty", "Dead", "New"]
        {
            assert_eq!(GroupState::from(name).as_str(), name);
        }
        for name in ["classic", "consumer", "share", "streams", "new"] {
            assert_eq!(GroupType::from(name).as_str(), name);
        }
        assert_eq!(GroupState::from("stable"), GroupState::Stable);
        assert_eq!(GroupType::from("Consumer"), GroupType::Consumer);
    }
}
