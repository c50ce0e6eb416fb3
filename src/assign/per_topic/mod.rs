//! One assigner for some topics, another for others.

mod parts;
mod planning;

#[cfg(test)]
#[cfg(all(feature = "bincode", feature = "json"))]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use regex::Regex;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::erased::ErasedAssigner;
use super::names::UnfitAssigner;
use super::{
    AssignError, Coverage, GroupAssignment, GroupSubscription, LocalMember, MetadataCodec,
    PartitionAssigner, RebalanceProtocol,
};
use crate::types::Partitions;
use parts::PartKey;
pub use parts::Parts;

/// Lets each topic be planned by an assigner of its own: joined topics by one, all others by another.
///
/// When to use it: a group reads topics that want different plans. Each topic is planned by the part whose rule it
/// matches first, or by the one for the rest. Parts may tell the leader values of different types, each sees only its
/// own topics, and their plans become one. An error or a panic of one is the whole plan's, with its name.
///
/// ```
/// use kafka_group::assign::{CoPartitionAssigner, PerTopicAssigner, RoundRobinAssigner, StickyAssigner};
///
/// let assigner = PerTopicAssigner::new(StickyAssigner::default())?
///     .topics(["orders", "payments"], CoPartitionAssigner::default())?
///     .pattern(r"^metrics\.", RoundRobinAssigner::default())?;
/// # Ok::<(), kafka_group::assign::UnfitAssigner>(())
/// ```
///
/// The traps: parts know nothing of each other, so that what one leaves uneven no other levels. The leader's rules count
/// for all. They may be changed one member after the other: what a member says for a part that the leader does not have
/// is passed over, and a part of which a member says nothing finds [`MetadataError::Missing`](super::MetadataError).
/// Parts of one name are told apart by their order, so add further ones behind.
pub struct PerTopicAssigner {
    name: Arc<str>,
    rules: Vec<Rule>,
    rest: ErasedAssigner,
    protocols: Vec<RebalanceProtocol>,
}

/// Which topics, and by which assigner.
struct Rule {
    topics: Topics,
    assigner: ErasedAssigner,
}

enum Topics {
    Named(BTreeSet<Arc<str>>),
    Pattern(Regex),
}

impl PerTopicAssigner {
    /// With an assigner for all topics that no rule is for.
    pub fn new<T, A>(rest: A) -> Result<Self, UnfitAssigner>
    where
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let rest = ErasedAssigner::new(rest)?;
        let whole =
            Self { name: "per-topic".into(), rules: Vec::new(), rest, protocols: Vec::new() };
        Ok(whole.with_protocols())
    }

    /// An assigner for these topics, as far as no earlier rule is for them.
    pub fn topics<N, T, A>(
        self,
        topics: impl IntoIterator<Item = N>,
        assigner: A,
    ) -> Result<Self, UnfitAssigner>
    where
        N: Into<Arc<str>>,
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let topics = Topics::Named(topics.into_iter().map(Into::into).collect());
        self.rule(topics, ErasedAssigner::new(assigner)?)
    }

    /// An assigner for the topics in whose names this regular expression is found, as far as no earlier rule is for
    /// them. Anchors are the caller's: `^metrics\.`.
    pub fn pattern<T, A>(self, pattern: &str, assigner: A) -> Result<Self, UnfitAssigner>
    where
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let regex = Regex::new(pattern).map_err(|error| UnfitAssigner::Pattern {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        })?;
        self.rule(Topics::Pattern(regex), ErasedAssigner::new(assigner)?)
    }

    /// Under another protocol name than `per-topic`: where rules change so much that members of old and new ones must
    /// not plan for each other.
    #[must_use]
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    fn rule(mut self, topics: Topics, assigner: ErasedAssigner) -> Result<Self, UnfitAssigner> {
        if self.rules.len() >= usize::from(u8::MAX) {
            return Err(UnfitAssigner::TooManyParts);
        }
        self.rules.push(Rule { topics, assigner });
        Ok(self.with_protocols())
    }

    /// What all parts allow. Those of this crate allow everything here: where one is eager, its name at Kafka's is.
    fn with_protocols(mut self) -> Self {
        let all = [RebalanceProtocol::Cooperative, RebalanceProtocol::Eager];
        let allows = |protocol: &RebalanceProtocol| {
            self.assigners().all(|a| a.is_builtin() || a.protocols().contains(protocol))
        };
        self.protocols = all.into_iter().filter(allows).collect();
        self
    }

    /// All parts, the one for the rest at last.
    fn assigners(&self) -> impl Iterator<Item = &ErasedAssigner> + Clone {
        self.rules.iter().map(|rule| &rule.assigner).chain([&self.rest])
    }

    /// All parts with what tells them apart.
    fn parts(&self) -> impl Iterator<Item = (PartKey<'_>, &ErasedAssigner)> {
        self.assigners().enumerate().map(|(at, assigner)| {
            let before = self.assigners().take(at);
            let place = before.filter(|other| other.name() == assigner.name()).count() as u8;
            (PartKey { name: assigner.name(), place }, assigner)
        })
    }

    /// Which part plans a topic, by its place among [`parts`](Self::parts).
    fn part_of(&self, topic: &str) -> usize {
        let rule = self.rules.iter().position(|rule| rule.topics.contain(topic));
        rule.unwrap_or(self.rules.len())
    }

    /// How often partitions of a topic are given.
    pub(super) fn coverage_of(&self, topic: &str) -> Coverage {
        let part = self.assigners().nth(self.part_of(topic)).unwrap_or(&self.rest);
        part.coverage_of(topic)
    }
}

impl PartitionAssigner<Parts> for PerTopicAssigner {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self, local: &LocalMember<'_>) -> Parts {
        let mut parts = Parts::default();
        for ((key, assigner), at) in self.parts().zip(0..).filter(|((_, a), _)| !a.tells_nothing())
        {
            let topics: Vec<&str> =
                local.topics.iter().copied().filter(|topic| self.part_of(topic) == at).collect();
            let held = local.held.map(|held| {
                let mut held: Partitions = held.clone();
                held.retain(|topic, _| self.part_of(topic) == at);
                held
            });
            let local = LocalMember { topics: &topics, held: held.as_ref(), ..local.clone() };
            match assigner.describe(&local) {
                Ok(payload) => parts.say(key, payload),
                Err(error) => parts.fail(format!("`{}`: {error}", key.name)),
            }
        }
        parts
    }

    fn assign(&self, group: &GroupSubscription<Parts>) -> Result<GroupAssignment, AssignError> {
        planning::plan(self, group)
    }

    fn codec(&self) -> MetadataCodec {
        MetadataCodec::Parts
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        &self.protocols
    }

    /// What all parts have in common. Where they differ, plans know for each topic what holds for it.
    fn coverage(&self) -> Coverage {
        let common = self.rest.coverage();
        match self.assigners().all(|assigner| assigner.coverage() == common) {
            true => common,
            false => Coverage::Unchecked,
        }
    }
}

impl fmt::Debug for PerTopicAssigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.assigners().map(|assigner| &**assigner.name()).collect();
        f.debug_struct("PerTopicAssigner").field("name", &self.name).field("parts", &names).finish()
    }
}

impl Topics {
    fn contain(&self, topic: &str) -> bool {
        match self {
            Self::Named(names) => names.contains(topic),
            Self::Pattern(pattern) => pattern.is_match(topic),
        }
    }
}
