//! A group that lives through changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::change::GroupChange;
use crate::assign::{
    GroupAssignment, LocalMember, MemberInput, MetadataError, MetadataPayload, Model, ModelBuilder,
    TopicInput,
};
use crate::types::{Generation, MemberId, Node, NodeId, Partitions};

const GROUP: &str = "kit";

/// What members told, in the order of the model's.
pub(super) type Column = Vec<Result<MetadataPayload, MetadataError>>;

/// Topics, members, and what they have.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// How many partitions each topic has.
    topics: BTreeMap<Arc<str>, u32>,
    pub(super) members: Vec<Member>,
    /// How many racks there are; 0 where they are unknown.
    racks: u32,
    generation: i32,
    /// How many members there have ever been.
    born: usize,
    /// How many ids were given to static members that restarted.
    restarts: usize,
    /// Who tells nothing.
    pub(super) silent: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its place among all members that there have ever been.
    born: usize,
    id: String,
    instance: Option<String>,
    rack: Option<String>,
    topics: Vec<Arc<str>>,
    pub(super) has: Partitions,
    /// Of which of these another has the first copy.
    stands_by: Partitions,
}

impl Group {
    /// A group of nobody who has anything yet: equal subscriptions or differing ones, with racks or without.
    pub(super) fn random(dice: &mut fastrand::Rng) -> Self {
        let topic = |number: usize, dice: &mut fastrand::Rng| {
            (Arc::from(format!("topic-{number}")), dice.u32(1..13))
        };
        let topics = (0..dice.usize(1..6)).map(|number| topic(number, dice)).collect();
        let racks = if dice.u8(..3) == 0 { dice.u32(1..5) } else { 0 };
        let mut group = Self {
            topics,
            members: Vec::new(),
            racks,
            generation: 0,
            born: 0,
            restarts: 0,
            silent: None,
        };
        let (members, all_alike) = (dice.usize(1..8), dice.bool());
        for _ in 0..members {
            let topics = match all_alike {
                true => group.topics.keys().cloned().collect(),
                false => group.some_topics(dice),
            };
            group.add_member(topics, dice);
        }
        group
    }

    /// Lets something happen; says whether it could.
    pub(super) fn change(&mut self, change: GroupChange, dice: &mut fastrand::Rng) -> bool {
        let some =
            |dice: &mut fastrand::Rng, members: &[Member]| dice.usize(0..members.len().max(1));
        let chosen = some(dice, &self.members);
        match change {
            GroupChange::Start | GroupChange::Nothing => {}
            GroupChange::Join => {
                let topics = self.members.get(chosen).map(|member| member.topics.clone());
                let topics = topics.unwrap_or_else(|| self.some_topics(dice));
                self.add_member(topics, dice);
            }
            GroupChange::Leave if self.members.len() > 1 => drop(self.members.remove(chosen)),
            GroupChange::Leave => return false,
            GroupChange::Bounce => return self.bounce(chosen),
            GroupChange::Restart => return self.restart(),
            GroupChange::Growth => {
                let grown = dice.usize(0..self.topics.len().max(1));
                let more = dice.u32(1..8);
                self.topics.values_mut().skip(grown).take(1).for_each(|count| *count += more);
            }
            GroupChange::NewTopic => self.add_topic(dice),
            GroupChange::Resubscription => {
                let topics = self.some_topics(dice);
                self.members[chosen].topics = topics;
            }
            GroupChange::Silence => self.silent = Some(chosen),
        }
        true
    }

    /// The plan came true: everybody has what it was given, in a new generation.
    pub(super) fn take(&mut self, plan: &GroupAssignment) {
        let (given, standbys) = (plan.by_name(), plan.standbys_by_name());
        self.generation += 1;
        for member in &mut self.members {
            member.has = given.get(&member.id).cloned().unwrap_or_default();
            member.stands_by = standbys.get(&member.id).cloned().unwrap_or_default();
        }
    }

    /// What everybody has, by what stays when a process restarts.
    pub(super) fn held(&self) -> BTreeMap<String, Partitions> {
        let name = |member: &Member| member.instance.clone().unwrap_or_else(|| member.id.clone());
        self.members.iter().map(|member| (name(member), member.has.clone())).collect()
    }

    /// Every partition of every topic.
    pub(super) fn partitions(&self) -> Partitions {
        let numbers = |count: u32| (0..count).map(|number| number as i32);
        let named = self.topics.iter().flat_map(|(topic, count)| {
            numbers(*count).map(move |number| (Arc::clone(topic), number))
        });
        named.collect()
    }

    /// The same group, told in another order.
    pub(super) fn shuffled(&self, dice: &mut fastrand::Rng) -> Self {
        let mut group = self.clone();
        let silent = self.silent.and_then(|silent| self.members.get(silent)).map(|m| m.born);
        dice.shuffle(&mut group.members);
        group.members.iter_mut().for_each(|member| dice.shuffle(&mut member.topics));
        group.silent = group.members.iter().position(|member| Some(member.born) == silent);
        group
    }

    /// The model, and what everybody tells: `describe` says what the `n`-th member ever does.
    pub(super) fn build(
        &self,
        holds: bool,
        describe: impl Fn(usize, &LocalMember<'_>) -> Result<MetadataPayload, MetadataError>,
    ) -> (Arc<Model>, Column) {
        let leader = self.members.first().map_or("", |member| member.id.as_str());
        let generation = Generation(self.generation + 1);
        let mut builder = ModelBuilder::new(GROUP, generation, MemberId::new(leader));
        for rack in 0..self.racks {
            let (id, rack) = (NodeId(rack as i32), Some(rack_name(rack).into()));
            builder.nodes.insert(id, Node { id, host: "broker".into(), port: 9092, rack });
        }
        for (topic, count) in &self.topics {
            builder.topics.insert(Arc::clone(topic), self.topic(*count));
        }
        for (member, place) in self.members.iter().zip(0..) {
            let column = match self.silent == Some(place) {
                true => Err(MetadataError::Missing),
                false => self.described(member, &describe),
            };
            builder.members.push(self.input(member, holds, column));
        }
        let (model, told) = builder.build();
        (Arc::new(model), told)
    }

    fn described(
        &self,
        member: &Member,
        describe: impl Fn(usize, &LocalMember<'_>) -> Result<MetadataPayload, MetadataError>,
    ) -> Result<MetadataPayload, MetadataError> {
        let mut topics: Vec<&str> = member.topics.iter().map(AsRef::as_ref).collect();
        topics.sort_unstable();
        let host = format!("host-{}", member.born / 2);
        let local = LocalMember {
            client_id: "kit",
            member_id: &member.id,
            instance_id: member.instance.as_deref(),
            rack: member.rack.as_deref(),
            host_name: &host,
            cpus: 1 + member.born % 8,
            topics: &topics,
            held: Some(&member.has),
            generation: Generation(self.generation),
            ..LocalMember::new(GROUP)
        };
        describe(member.born, &local)
    }

    fn input<C>(&self, member: &Member, holds: bool, column: C) -> MemberInput<C> {
        MemberInput {
            id: MemberId::new(member.id.as_str()),
            instance_id: member.instance.as_deref().map(Into::into),
            rack: member.rack.as_deref().map(Into::into),
            process: Some(format!("host-{}/{}", member.born / 2, member.born).into()),
            topics: member.topics.as_slice().into(),
            claims: (&member.has).into(),
            standbys: (&member.stands_by).into(),
            generation: Generation(self.generation),
            holds: holds && !member.has.is_empty(),
            column,
        }
    }

    /// A topic whose partitions have two replicas each, in racks next to each other.
    fn topic(&self, count: u32) -> TopicInput {
        let mut topic = TopicInput::new(count);
        for number in 0..if self.racks > 0 { count } else { 0 } {
            let [leader, follower] =
                [number, number + 1].map(|place| NodeId((place % self.racks) as i32));
            topic.describe(Some(leader), &[leader, follower]);
        }
        topic
    }

    fn add_member(&mut self, topics: Vec<Arc<str>>, dice: &mut fastrand::Rng) {
        let born = self.born;
        self.born += 1;
        let rack = (self.racks > 0 && dice.u8(..5) > 0).then(|| rack_name(dice.u32(0..self.racks)));
        self.members.push(Member {
            born,
            // The coordinator's ids are in no order that means anything.
            id: format!("member-{:04x}-{born}", dice.u16(..)),
            instance: dice.bool().then(|| format!("instance-{born}")),
            rack,
            topics,
            has: Partitions::new(),
            stands_by: Partitions::new(),
        });
    }

    fn add_topic(&mut self, dice: &mut fastrand::Rng) {
        let name: Arc<str> = format!("new-{}", self.topics.len()).into();
        self.topics.insert(Arc::clone(&name), dice.u32(1..13));
        for member in &mut self.members {
            if dice.bool() {
                member.topics.push(Arc::clone(&name));
            }
        }
    }

    fn bounce(&mut self, chosen: usize) -> bool {
        let found = self.members.iter_mut().skip(chosen).find(|member| member.instance.is_none());
        let Some(member) = found else { return false };
        self.restarts += 1;
        member.id = format!("again-{}", self.restarts);
        member.has = Partitions::new();
        true
    }

    fn restart(&mut self) -> bool {
        self.restarts += 1;
        let restarts = self.restarts;
        let found = self.members.iter_mut().find(|member| member.instance.is_some());
        // An id that sorts elsewhere.
        found.map(|member| member.id = format!("zzz-{restarts}")).is_some()
    }

    /// Some of the topics, or none, or one that does not exist.
    fn some_topics(&self, dice: &mut fastrand::Rng) -> Vec<Arc<str>> {
        let mut topics: Vec<Arc<str>> =
            self.topics.keys().filter(|_| dice.u8(..3) > 0).cloned().collect();
        if dice.u8(..8) == 0 {
            topics.push("missing".into());
        }
        topics
    }
}

fn rack_name(rack: u32) -> String {
    format!("rack-{rack}")
}
