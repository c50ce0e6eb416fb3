//! Changes that roll through a group, one member after the other.

use serde::{Deserialize, Serialize};

use super::*;
use crate::assign::{MetadataCodec, MetadataError};

const WEIGHTED: Round<'static> = Round { generation: 1, leader: "m1", protocol: "weighted" };

/// The first release's metadata.
#[derive(Deserialize, Serialize)]
enum MetaV1 {
    V1 { weight: u32 },
}

/// The second release's: a variant appended.
#[derive(Deserialize, Serialize)]
enum MetaV2 {
    V1 { weight: u32 },
    V2 { weight: u32, zone: String },
}

struct Old;
struct New;

impl PartitionAssigner<MetaV1> for Old {
    fn name(&self) -> &str {
        "weighted"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> MetaV1 {
        MetaV1::V1 { weight: 3 }
    }

    fn assign(&self, group: &GroupSubscription<MetaV1>) -> Result<GroupAssignment, AssignError> {
        Ok(told_back(group, |told| match told {
            Ok(MetaV1::V1 { weight }) => format!("weight {weight}"),
            Err(error) => error.to_string(),
        }))
    }

    fn codec(&self) -> MetadataCodec {
        MetadataCodec::Bincode
    }
}

impl PartitionAssigner<MetaV2> for New {
    fn name(&self) -> &str {
        "weighted"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> MetaV2 {
        MetaV2::V2 { weight: 3, zone: "z".into() }
    }

    fn assign(&self, group: &GroupSubscription<MetaV2>) -> Result<GroupAssignment, AssignError> {
        Ok(told_back(group, |told| match told {
            Ok(MetaV2::V1 { weight }) => format!("weight {weight}"),
            Ok(MetaV2::V2 { weight, zone }) => format!("weight {weight} in {zone}"),
            Err(error) => error.to_string(),
        }))
    }

    fn version(&self) -> u16 {
        1
    }

    fn codec(&self) -> MetadataCodec {
        MetadataCodec::Bincode
    }
}

/// Deals, and tells each member how it was understood.
fn told_back<T>(
    group: &GroupSubscription<T>,
    understood: impl Fn(Result<&T, &MetadataError>) -> String,
) -> GroupAssignment {
    let mut plan = deal(group);
    for member in group.members() {
        plan.tell(member, &understood(member.metadata()));
    }
    plan
}

fn old(id: &'static str) -> Member {
    Member::new(id, options(topics(&["a"]), ErasedAssigner::new(Old).unwrap()))
}

fn new(id: &'static str) -> Member {
    Member::new(id, options(topics(&["a"]), ErasedAssigner::new(New).unwrap()))
}

fn understood(plan: &Plan, id: &str) -> String {
    let told = down(plan, id).told.unwrap();
    crate::assign::read_told(told.codec, &told.bytes).unwrap()
}

#[test]
fn a_new_leader_reads_old_members() {
    let ended = run(WEIGHTED, &mut [new("m1"), old("m2")], &[]).unwrap();
    assert_eq!(understood(&ended.plan, "m1"), "weight 3 in z");
    assert_eq!(understood(&ended.plan, "m2"), "weight 3");
    assert_eq!(ended.changes["m2"].add.len(), 2);
}

#[test]
fn an_old_leader_plans_for_new_members_that_it_cannot_read() {
    let ended = run(WEIGHTED, &mut [old("m1"), new("m2")], &[]).unwrap();
    assert_eq!(understood(&ended.plan, "m1"), "weight 3");
    assert_eq!(understood(&ended.plan, "m2"), "written as version 1; this program is at version 0");
    assert_eq!(ended.changes["m2"].add.len(), 2);
    assert_eq!(ended.changes["m2"].rejoin, None, "planned on what it said, understood or not");
}

#[test]
fn a_rolling_change_of_assigner_takes_its_claims_along() {
    let both = |id| {
        let custom = ErasedAssigner::new(Custom::default()).unwrap();
        let mut options = options(topics(&["a"]), custom);
        options.assigners.push(range());
        Member::new(id, options)
    };
    // An old member with range alone, a new one with both: the broker chooses range.
    let mut members = [on_range("m1"), both("m2")];
    let ended = run(FIRST, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m2"].add, set(&[("a", 2), ("a", 3)]));

    // The old one is replaced: the broker chooses the common first, and the new member leads.
    members[0] = both("m1");
    let round = Round { generation: 2, leader: "m2", protocol: "custom" };
    let ended = run(round, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m1"].add.len(), 2);
    assert!(ended.changes.values().all(|change| change.rejoin.is_none()));
}

#[test]
fn names_are_offered_in_the_order_of_preference() {
    let mut options = options(topics(&["a"]), ErasedAssigner::new(Custom::default()).unwrap());
    options.assigners.push(ErasedAssigner::new(RoundRobinAssigner).unwrap());
    options.assigners.push(range());
    let said = Member::new("m1", options).describe();
    let names: Vec<_> = said.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["custom", "roundrobin", "range"]);
}
