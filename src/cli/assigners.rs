//! Which assigners the command knows, by name, and what can be chosen for each.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::UsageError;
use super::plan::{Choices, Knob};
use crate::assign::{
    AssignError, CoPartitionAssigner, EagerStickyAssigner, ErasedAssigner, GroupAssignment,
    GroupSubscription, LocalMember, PartitionAssigner, RackAwareAssigner, Racks, RangeAssigner,
    RebalanceProtocol, RedundantAssigner, RoundRobinAssigner, StickyAssigner, StickyPlanner,
    UnfitAssigner,
};

/// The assigners that a command knows by name.
pub struct Assigners {
    /// Of two with one name the later counts.
    known: Vec<Known>,
}

/// An assigner in the making.
struct Known {
    name: String,
    knobs: &'static [Knob],
    make: Box<Make>,
}

pub(super) type Made = Result<ErasedAssigner, UnfitAssigner>;
pub(super) type Make = dyn Fn(&Choices) -> Made + Send + Sync;

/// A name, what can be chosen, and the assigner for a choice.
type Builtin = (&'static str, &'static [Knob], fn(&Choices) -> Made);

/// The built-in assigners: a line each.
const BUILTINS: &[Builtin] = &[
    ("range", &[Knob::Racks], range),
    ("roundrobin", &[], |_| ErasedAssigner::new(RoundRobinAssigner::default())),
    ("sticky", &[Knob::Racks, Knob::Slack], eager_sticky),
    ("cooperative-sticky", &[Knob::Racks, Knob::Slack], sticky),
    ("co-partition", &[Knob::Racks, Knob::CoPartition, Knob::Strict], co_partition),
    ("redundant", &[Knob::Copies], |choices| {
        ErasedAssigner::new(RedundantAssigner::new(choices.copies.unwrap_or(2)))
    }),
    ("rack-aware", &[Knob::Racks, Knob::Slack], rack_aware),
];

impl Assigners {
    /// Those of this crate, under the names that they have in groups.
    pub fn builtin() -> Self {
        let known = |(name, knobs, make): &Builtin| Known {
            name: (*name).to_owned(),
            knobs,
            make: Box::new(*make),
        };
        Self { known: BUILTINS.iter().map(known).collect() }
    }

    /// One more, under its own name, in place of another of that name.
    ///
    /// What it would be told by members stands in the files as `metadata`, in JSON. One that no member could use
    /// either (an empty name, no codec) is refused when the command is asked for it.
    #[must_use]
    pub fn with<A, T>(mut self, assigner: A) -> Self
    where
        A: PartitionAssigner<T>,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let name = assigner.name().to_owned();
        let made = ErasedAssigner::new(assigner);
        self.known.push(Known { name, knobs: &[], make: Box::new(move |_| made.clone()) });
        self
    }

    /// All of them as they are without choices, to read what their members wrote. One that no member could use is left
    /// out: nobody wrote anything for it.
    pub(super) fn readers(&self) -> Vec<ErasedAssigner> {
        let choices = Choices::default();
        self.known.iter().filter_map(|known| (known.make)(&choices).ok()).collect()
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|known| known.name.as_str())
    }

    /// Whether there is an assigner of this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The assigner of this name, which may be asked for with these knobs turned.
    pub(super) fn find(&self, name: &str, turned: &[Knob]) -> Result<&Make, UsageError> {
        let Some(known) = self.known.iter().rev().find(|known| known.name == name) else {
            let names: Vec<&str> = self.names().collect();
            let message = format!("no assigner `{name}`; there are {}", names.join(", "));
            return Err(UsageError::Other(message));
        };
        match turned.iter().find(|knob| !known.knobs.contains(knob)) {
            Some(knob) => {
                Err(UsageError::Other(format!("`{}` is nothing that {name} knows", knob.option())))
            }
            None => Ok(&*known.make),
        }
    }
}

impl fmt::Debug for Assigners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.known.iter().map(|known| &known.name)).finish()
    }
}

/// Kafka's range knows one order alone (KIP-881).
fn range(choices: &Choices) -> Made {
    let assigner = RangeAssigner::default();
    ErasedAssigner::new(match choices.racks {
        Racks::BeforeMoves | Racks::LeadersBeforeMoves => assigner.rack_aware(),
        _ => assigner,
    })
}

fn eager_sticky(choices: &Choices) -> Made {
    match weighted(choices, RebalanceProtocol::Eager) {
        Some(weighted) => ErasedAssigner::new(weighted),
        None => ErasedAssigner::new(
            EagerStickyAssigner::default().racks(choices.racks).slack(choices.slack),
        ),
    }
}

fn sticky(choices: &Choices) -> Made {
    match weighted(choices, RebalanceProtocol::Cooperative) {
        Some(weighted) => ErasedAssigner::new(weighted),
        None => {
            ErasedAssigner::new(StickyAssigner::default().racks(choices.racks).slack(choices.slack))
        }
    }
}

fn co_partition(choices: &Choices) -> Made {
    let groups = choices.co_partitioned.iter();
    let assigner = groups.fold(CoPartitionAssigner::default(), |assigner, topics| {
        assigner.group(topics.iter().map(String::as_str))
    });
    let assigner = assigner.racks(choices.racks);
    ErasedAssigner::new(if choices.strict { assigner.strict() } else { assigner })
}

fn rack_aware(choices: &Choices) -> Made {
    let assigner = RackAwareAssigner::new().slack(choices.slack);
    ErasedAssigner::new(match choices.racks {
        Racks::LeadersAfterMoves | Racks::LeadersBeforeMoves => assigner.leaders_only(),
        _ => assigner,
    })
}

/// The sticky assigner with weights of partitions, which a file may give and no member of a group knows.
struct Weighted {
    choices: Choices,
    rounds: [RebalanceProtocol; 1],
}

fn weighted(choices: &Choices, rounds: RebalanceProtocol) -> Option<Weighted> {
    choices.weights.as_ref()?;
    Some(Weighted { choices: choices.clone(), rounds: [rounds] })
}

impl PartitionAssigner for Weighted {
    fn name(&self) -> &str {
        "weighted"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let weights = self.choices.weights.clone().unwrap_or_default();
        let planner = StickyPlanner::new().racks(self.choices.racks).slack(self.choices.slack);
        let planner = planner.weight(|partition| {
            let weights = weights.get(partition.topic());
            weights.and_then(|of| of.get(partition.number() as usize)).copied().unwrap_or(0.0)
        });
        Ok(planner.plan(group))
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        &self.rounds
    }
}
