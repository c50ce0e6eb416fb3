//! Whether a plan can be: everything that would otherwise come out as a stuck group.

use std::sync::Arc;

use super::Coverage;
use super::model::{Model, NONE};
use super::plan::{GroupAssignment, PlanFault};
use crate::types::TopicPartition;

/// Why a plan cannot be published.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPlan {
    /// It was made for another group, or with members or partitions of another.
    #[error("it holds members or partitions of another group")]
    OtherGroup,
    /// It names a member that is not in the group.
    #[error("no member `{member}` in the group")]
    UnknownMember {
        /// The name.
        member: String,
    },
    /// It names a topic that does not exist, or to which nobody subscribes.
    #[error("no topic `{topic}` in the group")]
    UnknownTopic {
        /// The name.
        topic: String,
    },
    /// It names a partition that the topic does not have.
    #[error("topic `{topic}` has no partition {number}")]
    UnknownPartition {
        /// The topic.
        topic: String,
        /// The number.
        number: i32,
    },
    /// A member gets a partition of a topic that it does not subscribe to.
    #[error("member `{member}` gets {partition} and does not subscribe to its topic")]
    NotSubscribed {
        /// The member's id.
        member: String,
        /// The partition.
        partition: TopicPartition,
    },
    /// A partition goes to more members than the assigner's coverage says.
    #[error("{partition} goes to {}, to {most} at most", .members.join(" and "))]
    GivenTooOften {
        /// The partition.
        partition: TopicPartition,
        /// The ids of the members that get it.
        members: Vec<String>,
        /// How many may.
        most: usize,
    },
    /// Partitions go to fewer members than the assigner's coverage says.
    #[error(
        "{partition} goes to {holders} of {wanted} members, and so do {others} other partitions"
    )]
    GivenTooSeldom {
        /// The first of them.
        partition: TopicPartition,
        /// How many members get it.
        holders: usize,
        /// How many should.
        wanted: usize,
        /// How many more partitions lack holders.
        others: usize,
    },
    /// Words to a member cannot be written.
    #[error("what is told to member `{member}` cannot be written: {reason}")]
    Untellable {
        /// The member's id.
        member: String,
        /// Why.
        reason: String,
    },
    /// The broker could not store the group: metadata and assignments of all members share one record.
    #[error(
        "the group's record would take about {size} of {limit} bytes; the largest: {}",
        .largest.iter().map(|(member, size)| format!("`{member}` {size}")).collect::<Vec<_>>().join(", ")
    )]
    RecordTooLarge {
        /// How large it would be, about.
        size: usize,
        /// What the broker takes (`max.message.bytes` of the offsets topic).
        limit: usize,
        /// The ids of the members with the largest parts, and how large those are.
        largest: Vec<(String, usize)>,
    },
}

impl GroupAssignment {
    /// Whether the leader would publish this plan: known members, topics and partitions, subscribers only, each
    /// partition as often as `coverage` says.
    ///
    /// The leader checks by itself; this is for tests.
    pub fn validate(&self, coverage: Coverage) -> Result<(), InvalidPlan> {
        validate(self, coverage)
    }

    /// The topics that fewer members subscribe to than `coverage` says should hold each partition, by name.
    ///
    /// The leader tells them by itself, see [`Event::FewCopies`](crate::Event::FewCopies); this is for tests.
    pub fn few_copies(&self, coverage: Coverage) -> Vec<FewCopies> {
        let model = self.model();
        let topics = model.topics().iter().zip(0..).filter(|(topic, _)| topic.count > 0);
        let few = topics.filter_map(|(topic, place)| {
            let Coverage::Copies(wanted) = self.coverage_of(place, coverage) else { return None };
            let wanted = usize::from(wanted);
            let copies = model.subscribers(place).len();
            let is_few = copies > 0 && copies < wanted;
            is_few.then(|| FewCopies { topic: Arc::clone(&topic.name), copies, wanted })
        });
        few.collect()
    }
}

/// A topic whose partitions have fewer copies than they should: no more members subscribe to it, and all have it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FewCopies {
    /// The topic.
    pub topic: Arc<str>,
    /// How many copies there are of each of its partitions.
    pub copies: usize,
    /// How many there should be.
    pub wanted: usize,
}

/// Checks a plan against its own group.
pub(crate) fn validate(plan: &GroupAssignment, coverage: Coverage) -> Result<(), InvalidPlan> {
    if let Some(fault) = plan.faults().first() {
        return Err(fault.into());
    }
    match plan.only_holders().is_some_and(|holders| each_has_one(plan, holders, coverage)) {
        true => Ok(()),
        false => validate_each(plan, coverage),
    }
}

/// Whether each partition that somebody subscribes to has one holder who does, and that is right: what nearly all plans
/// are like.
fn each_has_one(plan: &GroupAssignment, holders: &[u32], coverage: Coverage) -> bool {
    let model = plan.model();
    let subscriptions: Vec<u32> = model.members.iter().map(|member| member.subscription).collect();
    model.topics().iter().zip(0..).all(|(topic, place)| {
        let partitions = topic.first as usize..(topic.first + topic.count) as usize;
        let holders = holders.get(partitions).unwrap_or_default();
        let fewest = fewest_holders(model, place, plan.coverage_of(place, coverage));
        if model.subscribers(place).is_empty() || fewest > 1 {
            return fewest == 0 && holders.iter().all(|holder| *holder == NONE);
        }
        // Many partitions go to members with one and the same subscription.
        let mut takes = NONE;
        holders.iter().all(|holder| {
            let Some(subscription) = subscriptions.get(*holder as usize) else { return false };
            if *subscription != takes && model.subscribes(*holder, place) {
                takes = *subscription;
            }
            *subscription == takes
        })
    })
}

fn validate_each(plan: &GroupAssignment, coverage: Coverage) -> Result<(), InvalidPlan> {
    let model = plan.model();
    let mut seldom: Option<(u32, usize, usize)> = None;
    let mut others = 0;
    for (topic, place) in model.topics().iter().zip(0..) {
        let coverage = plan.coverage_of(place, coverage);
        let fewest = fewest_holders(model, place, coverage);
        for partition in topic.first..topic.first + topic.count {
            let mut holders = 0;
            for member in plan.holder_places(partition) {
                if !model.subscribes(member, place) {
                    let (member, partition) =
                        (plan.member_name(member).to_owned(), name(model, partition));
                    return Err(InvalidPlan::NotSubscribed { member, partition });
                }
                holders += 1;
            }
            if holders > coverage.most_holders() {
                return Err(too_often(plan, partition, coverage));
            }
            match seldom {
                _ if holders >= fewest => {}
                None => seldom = Some((partition, holders, fewest)),
                Some(_) => others += 1,
            }
        }
    }
    match seldom {
        None => Ok(()),
        Some((partition, holders, wanted)) => Err(InvalidPlan::GivenTooSeldom {
            partition: name(model, partition),
            holders,
            wanted,
            others,
        }),
    }
}

/// How many members have to hold each partition of a topic.
fn fewest_holders(model: &Model, topic: u32, coverage: Coverage) -> usize {
    let subscribers = model.subscribers(topic).len();
    match coverage {
        Coverage::ExactlyOnce => subscribers.min(1),
        Coverage::Copies(copies) => subscribers.min(usize::from(copies)),
        Coverage::AtMostOnce | Coverage::Unchecked => 0,
    }
}

fn too_often(plan: &GroupAssignment, partition: u32, coverage: Coverage) -> InvalidPlan {
    let members =
        plan.holder_places(partition).map(|member| plan.member_name(member).to_owned()).collect();
    InvalidPlan::GivenTooOften {
        partition: name(plan.model(), partition),
        members,
        most: coverage.most_holders(),
    }
}

fn name(model: &Model, partition: u32) -> TopicPartition {
    model.partition_name(partition).unwrap_or_else(|| TopicPartition::new("", -1))
}

impl From<&PlanFault> for InvalidPlan {
    fn from(fault: &PlanFault) -> Self {
        match fault.clone() {
            PlanFault::OtherGroup => Self::OtherGroup,
            PlanFault::UnknownMember(member) => Self::UnknownMember { member },
            PlanFault::UnknownTopic(topic) => Self::UnknownTopic { topic },
            PlanFault::UnknownPartition { topic, number } => {
                Self::UnknownPartition { topic, number }
            }
            PlanFault::Untellable { member, reason } => Self::Untellable { member, reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::assign::GroupSubscription;

    fn group() -> GroupSubscription {
        let group = GroupSubscription::builder().topic("x", 2).topic("y", 1).topic("idle", 5);
        group.member("a", ["x"], ()).member("b", ["x", "y"], ()).build()
    }

    /// A plan of (member, topic, number).
    fn plan(gifts: &[(&str, &str, i32)]) -> GroupAssignment {
        let mut plan = group().plan();
        for (member, topic, number) in gifts {
            plan.give_by_name(member, topic, *number);
        }
        plan
    }

    const WHOLE: [(&str, &str, i32); 3] = [("a", "x", 0), ("b", "x", 1), ("b", "y", 0)];

    fn with(gift: (&'static str, &'static str, i32)) -> GroupAssignment {
        plan(&[&WHOLE[..], &[gift]].concat())
    }

    #[test]
    fn each_partition_once_to_a_subscriber_is_valid() {
        assert_eq!(plan(&WHOLE).validate(Coverage::ExactlyOnce), Ok(()));
    }

    #[test]
    fn a_partition_for_nobody_is_named() {
        let error = plan(&WHOLE[1..2]).validate(Coverage::ExactlyOnce).unwrap_err();
        assert_eq!(error.to_string(), "x-0 goes to 0 of 1 members, and so do 1 other partitions");
        assert_eq!(plan(&WHOLE[1..2]).validate(Coverage::AtMostOnce), Ok(()));
    }

    #[test]
    fn a_partition_for_two_needs_a_coverage_of_two() {
        let twice = with(("b", "x", 0));
        let error = twice.validate(Coverage::ExactlyOnce).unwrap_err();
        assert_eq!(error.to_string(), "x-0 goes to a and b, to 1 at most");
        assert!(twice.validate(Coverage::AtMostOnce).is_err());
        assert_eq!(twice.validate(Coverage::Unchecked), Ok(()));
        assert!(matches!(
            twice.validate(Coverage::Copies(2)),
            Err(InvalidPlan::GivenTooSeldom { .. })
        ));
        assert_eq!(
            plan(&[&WHOLE[..], &[("b", "x", 0), ("a", "x", 1)]].concat())
                .validate(Coverage::Copies(2)),
            Ok(())
        );
    }

    #[test]
    fn a_partition_for_someone_who_does_not_subscribe_is_refused_under_any_coverage() {
        let error = with(("a", "y", 0)).validate(Coverage::Unchecked).unwrap_err();
        assert_eq!(error.to_string(), "member `a` gets y-0 and does not subscribe to its topic");
    }

    #[test]
    fn unknown_names_are_said() {
        for (gift, text) in [
            (("c", "x", 0), "no member `c` in the group"),
            (("a", "z", 0), "no topic `z` in the group"),
            (("a", "x", 2), "topic `x` has no partition 2"),
            (("a", "x", -1), "topic `x` has no partition -1"),
        ] {
            assert_eq!(with(gift).validate(Coverage::Unchecked).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn indices_of_another_group_are_refused_and_move_nothing() {
        let (here, other) =
            (group(), GroupSubscription::builder().topic("x", 9).member("a", ["x"], ()).build());
        let (mine, foreign) =
            (here.partitions().next().unwrap(), other.partitions().next().unwrap());
        let mut plan = plan(&WHOLE);
        plan.give(other.members().next().unwrap(), mine);
        plan.give(here.members().next().unwrap(), foreign);
        assert_eq!(plan.by_name(), self::plan(&WHOLE).by_name());
        assert_eq!(plan.validate(Coverage::Unchecked), Err(InvalidPlan::OtherGroup));
        assert!(!plan.take_back(here.members().next().unwrap(), foreign));
        assert_eq!(plan.holders(foreign).count(), 0);
    }

    proptest! {
        #[test]
        fn what_passes_at_a_glance_passes_the_whole_check(
            owners in prop::collection::vec(prop::option::of(0..2_u32), 8),
            coverage in prop_oneof![
                Just(Coverage::ExactlyOnce), Just(Coverage::AtMostOnce), Just(Coverage::Copies(2)),
            ],
        ) {
            let mut plan = group().plan();
            let gifts = owners.iter().zip(0..).filter_map(|(owner, place)| Some(((*owner)?, place)));
            gifts.for_each(|(member, partition)| plan.give_place(member, partition));
            let holders = plan.only_holders().unwrap_or_default();
            if each_has_one(&plan, holders, coverage) {
                prop_assert_eq!(validate_each(&plan, coverage), Ok(()));
            }
        }
    }
}
