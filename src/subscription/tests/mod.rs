//! Members of one group, round after round, without broker, clock and threads.

mod cooperative;
mod copies;
mod describing;
mod failures;
mod garbage;
mod growth;
mod interop;
mod per_topic;
mod rolling;
mod rounds;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::*;
use crate::assign::{
    AssignError, ErasedAssigner, GroupAssignment, GroupSubscription, LocalMember,
    PartitionAssigner, RangeAssigner, RoundRobinAssigner,
};
use crate::protocol::{
    Cause, Change, Facts, GroupProtocol, JobError, Joined, Joining, Led, LedMember, Plan, Rejoin,
};
use crate::types::{
    Cluster, Generation, MemberId, Node, NodeId, Partition, Partitions, Topic, TopicError,
};

type Changed = Change<Partitions, ConsumerNotice>;

/// One member with what its driver would know.
struct Member {
    id: &'static str,
    protocol: ConsumerProtocol,
    held: Partitions,
    generation: Generation,
    nonce: u64,
}

impl Member {
    fn new(id: &'static str, options: ConsumerOptions) -> Self {
        let mut protocol = ConsumerProtocol::new(options);
        protocol.cluster_changed(&cluster(&[("a", 4), ("b", 2)]), 0.5);
        Self { id, protocol, held: Partitions::new(), generation: Generation::NONE, nonce: 0 }
    }

    /// What it says under each name, after giving up what it must.
    fn describe(&mut self) -> Vec<(String, Bytes)> {
        let released = self.protocol.before_join(&self.held, &Cause::FirstJoin);
        self.held.subtract(&released);
        let member_id = MemberId::new(if self.generation.is_some() { self.id } else { "" });
        let joining = Joining {
            held: &self.held,
            generation: self.generation,
            member_id: &member_id,
            cause: &Cause::FirstJoin,
            nonce: self.nonce,
        };
        self.protocol.describe(joining)().unwrap()
    }

    /// What it says under one name.
    fn says(&mut self, protocol: &str) -> LedMember {
        let said = self.describe();
        let (_, metadata) = said.into_iter().find(|(name, _)| name == protocol).unwrap();
        LedMember { member_id: MemberId::new(self.id), group_instance_id: None, metadata }
    }

    fn joined(&mut self, round: &Round<'_>, assignment: Bytes) -> Changed {
        let change = self.protocol.joined(Joined {
            generation: Generation(round.generation),
            protocol: round.protocol,
            member_id: &MemberId::new(self.id),
            group_instance_id: None,
            leads: round.leader == self.id,
            held: &self.held,
            assignment,
        });
        self.held.subtract(&change.revoke);
        self.held.extend_with(&change.add);
        self.generation = Generation(round.generation);
        change
    }
}

/// A round: who leads what.
#[derive(Clone, Copy)]
struct Round<'a> {
    generation: i32,
    leader: &'a str,
    protocol: &'a str,
}

/// What came of a round: the plan, and what it changed for each of our members.
struct Ended {
    plan: Plan,
    changes: BTreeMap<&'static str, Changed>,
}

/// Runs a round of our members and of foreign ones that say these bytes.
fn run(
    round: Round<'_>,
    members: &mut [Member],
    foreign: &[(&str, Bytes)],
) -> Result<Ended, JobError> {
    let led = led(round, members, foreign);
    let leader = members.iter_mut().find(|member| member.id == round.leader).unwrap();
    let facts = facts_of(leader);
    let (_, job) = leader.protocol.lead(led);
    let plan = job(facts)?;
    Ok(end(round, members, plan))
}

fn led(round: Round<'_>, members: &mut [Member], foreign: &[(&str, Bytes)]) -> Led {
    let mut said: Vec<LedMember> =
        members.iter_mut().map(|member| member.says(round.protocol)).collect();
    said.extend(foreign.iter().map(|(id, metadata)| LedMember {
        member_id: MemberId::new(*id),
        group_instance_id: None,
        metadata: metadata.clone(),
    }));
    Led {
        generation: Generation(round.generation),
        protocol: round.protocol.to_owned(),
        member_id: MemberId::new(round.leader),
        members: said,
        skip_assignment: false,
    }
}

fn facts_of(member: &Member) -> Facts {
    Facts { cluster: Arc::clone(&member.protocol.cluster), gathered: None }
}

fn end(round: Round<'_>, members: &mut [Member], plan: Plan) -> Ended {
    let mut changes = BTreeMap::new();
    for member in members {
        let assignment = assignment_of(&plan, member.id);
        changes.insert(member.id, member.joined(&round, assignment));
    }
    Ended { plan, changes }
}

fn assignment_of(plan: &Plan, id: &str) -> Bytes {
    let entry = plan.assignments.iter().find(|(member, _)| member.as_str() == id);
    entry.map(|(_, bytes)| bytes.clone()).unwrap_or_default()
}

fn read(plan: &Plan, id: &str) -> Assignment {
    Assignment::decode(assignment_of(plan, id)).unwrap()
}

fn down(plan: &Plan, id: &str) -> Down {
    Down::decode(&read(plan, id).user_data.unwrap()).unwrap()
}

fn cluster(topics: &[(&str, i32)]) -> Arc<Cluster> {
    let node = Node { id: NodeId(1), host: "kafka-1".into(), port: 9092, rack: None };
    let topics = topics.iter().map(|(name, count)| match count {
        0 => Topic::failed(*name, TopicError::Missing),
        count => {
            let partition = |number| Partition::new(number, Some(NodeId(1)), vec![NodeId(1)]);
            Topic::new(*name, (0..*count).map(partition).collect())
        }
    });
    Arc::new(Cluster::new([node], topics))
}

fn set(partitions: &[(&str, i32)]) -> Partitions {
    partitions.iter().copied().collect()
}

fn topics(names: &[&'static str]) -> Selection {
    Selection::topics(names.iter().copied())
}

fn options(selection: Selection, assigner: ErasedAssigner) -> ConsumerOptions {
    ConsumerOptions::new("group", selection, vec![assigner])
}

fn range() -> ErasedAssigner {
    ErasedAssigner::new(RangeAssigner::default()).unwrap()
}

/// A member on "range" that subscribes to `a`.
fn on_range(id: &'static str) -> Member {
    Member::new(id, options(topics(&["a"]), range()))
}

/// An assigner of our own name that does as it is told.
#[derive(Clone)]
struct Custom {
    plan: fn(&GroupSubscription<u64>) -> Result<GroupAssignment, AssignError>,
    says: fn() -> u64,
}

impl Default for Custom {
    fn default() -> Self {
        Self { plan: |group| Ok(deal(group)), says: || 7 }
    }
}

impl PartitionAssigner<u64> for Custom {
    fn name(&self) -> &str {
        "custom"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> u64 {
        (self.says)()
    }

    fn assign(&self, group: &GroupSubscription<u64>) -> Result<GroupAssignment, AssignError> {
        (self.plan)(group)
    }
}

/// Deals partitions to their topic's subscribers, one after the other.
fn deal<T>(group: &GroupSubscription<T>) -> GroupAssignment {
    let mut plan = group.plan();
    for topic in group.topics() {
        let subscribers: Vec<_> = group.subscribers(topic.name()).collect();
        for (partition, member) in topic.partitions().zip(subscribers.iter().cycle()) {
            plan.give(member, partition);
        }
    }
    plan
}

/// A member with an assigner of our own name that subscribes to `a`.
fn on_custom(id: &'static str, custom: Custom) -> Member {
    Member::new(id, options(topics(&["a"]), ErasedAssigner::new(custom).unwrap()))
}

/// What another client says that subscribes to `a`.
fn foreign(user_data: Option<Bytes>) -> Subscription {
    Subscription { topics: ["a".into()].into(), user_data, ..Subscription::default() }
}

const FIRST: Round<'static> = Round { generation: 1, leader: "m1", protocol: "range" };

fn at_once(cause: Cause) -> Option<Rejoin> {
    Some(Rejoin { cause, after: Duration::ZERO })
}
