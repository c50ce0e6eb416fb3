//! From what stands in a file to a group.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Weights;
use super::form::{Entries, Entry, Form, MemberForm, OwnedForm, RackForm, TopicForm};
use super::locate::Step;
use super::numbers::Run;
use crate::assign::{
    MemberInput, MetadataCodec, MetadataError, MetadataPayload, ModelBuilder, TopicInput,
};
use crate::cli::plan::draft::Draft;
use crate::types::{Generation, MemberId, Node, NodeId, PartitionRanges, RangesBuilder};

/// The most partitions, claims and replicas of one file; more would not be planned in the memory of most machines.
const MOST: u64 = 1 << 25;

/// A file whose parts fit together.
#[derive(Debug)]
pub(in crate::cli::plan) struct GroupFile {
    form: Form,
    topics: Topics,
}

/// The topics' names in the order of the file, and the way back.
#[derive(Debug)]
struct Topics {
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
}

/// What does not fit, and where.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) steps: Vec<Step>,
    pub(super) message: String,
}

impl Fault {
    fn at(steps: impl Into<Vec<Step>>, message: impl Into<String>) -> Self {
        Self { steps: steps.into(), message: message.into() }
    }
}

impl GroupFile {
    /// What the file calls itself.
    pub(in crate::cli::plan) fn name(&self) -> Option<&str> {
        self.form.name.as_deref()
    }

    /// What partitions weigh, where the file says it.
    pub(in crate::cli::plan) fn weights(&self) -> Option<&Weights> {
        Some(&self.form.weights).filter(|weights| !weights.is_empty())
    }

    /// Checks that everything that points somewhere points at something.
    pub(super) fn check(mut form: Form) -> Result<Self, Fault> {
        check_names(&mut form.topics)?;
        check_names(&mut form.members)?;
        check_topics(&form)?;
        for (topics, place) in form.subscriptions.iter().zip(0..) {
            if let Some(topic) = topics.iter().find(|topic| **topic as usize >= form.topics.0.len())
            {
                let message = format!("topic {topic}, of {} topics", form.topics.0.len());
                return Err(Fault::at([Step::Key("subscriptions"), Step::Place(place)], message));
            }
        }
        for (member, place) in form.members.0.iter().zip(0..) {
            check_member(&form, member).map_err(|fault| {
                let steps = [Step::Key("members"), Step::Place(place)].into_iter();
                Fault { steps: steps.chain(fault.steps).collect(), ..fault }
            })?;
        }
        let topics = Topics::of(&mut form);
        check_weights(&form, &topics)?;
        let file = Self { form, topics };
        match file.claim_count() > MOST {
            true => Err(Fault::at([Step::Key("members")], format!("more than {MOST} claims"))),
            false => Ok(file),
        }
    }

    /// The group, whose members hold on to what they had or have given it up; `version` is that of the assigner.
    pub(in crate::cli::plan) fn draft(self, holds: bool, version: u16) -> Draft {
        let mut builder = ModelBuilder::new("plan", Generation(0), MemberId::default());
        let mut racks = RackNodes::of(&self.form.racks);
        for (topic, name) in self.form.topics.0.iter().zip(&self.topics.names) {
            builder.topics.insert(Arc::clone(name), racks.topic(topic));
        }
        builder.nodes = racks.nodes.iter().map(|node| (node.id, node.clone())).collect();
        let subscriptions = Subscriptions::of(&self.form, &self.topics);
        let mut left_out = 0;
        for member in &self.form.members.0 {
            let (claims, wrong) = self.claims(&member.owned);
            left_out += wrong;
            builder.members.push(MemberInput {
                id: MemberId::new(member.id.as_deref().unwrap_or_default()),
                instance_id: member.instance.as_deref().map(Arc::from),
                rack: rack_of(member, &self.form.racks).map(Arc::from),
                process: member.process.as_deref().map(Arc::from),
                topics: subscriptions.of_member(member, &self.topics),
                claims,
                standbys: self.claims(&member.stands_by).0,
                generation: Generation(member.generation),
                holds,
                column: told(member, version),
            });
        }
        Draft { left_out, ..Draft::new(builder) }
    }

    /// How many partitions members claim, as far as there are such.
    fn claim_count(&self) -> u64 {
        let owned =
            self.form.members.0.iter().flat_map(|member| [&member.owned, &member.stands_by]);
        owned.flat_map(|owned| self.known_runs(owned)).map(|(_, run)| u64::from(run.length)).sum()
    }

    /// A member's claims, and how many were left out.
    fn claims(&self, owned: &OwnedForm) -> (PartitionRanges, u64) {
        let mut claims = RangesBuilder::default();
        let mut known = 0;
        for (topic, run) in self.known_runs(owned) {
            let Some(name) = self.topics.names.get(topic as usize) else { continue };
            known += u64::from(run.length);
            claims.topic_again(Arc::clone(name));
            claims.range(run.start..run.start + run.length);
        }
        let said: u64 = owned.runs().iter().map(|run| u64::from(run.length)).sum();
        (claims.finish(), said.saturating_sub(known))
    }

    /// The runs that exist, cut to what exists of them, with the place of their topic.
    fn known_runs<'a>(&'a self, owned: &'a OwnedForm) -> impl Iterator<Item = (u32, Run)> + 'a {
        owned.runs().iter().filter_map(move |run| {
            let topic = match owned {
                OwnedForm::ByPlace(_) => run.topic,
                OwnedForm::ByName(names, _) => {
                    *self.topics.places.get(names.get(run.topic as usize)?.as_str())?
                }
            };
            let count = self.form.topics.0.get(topic as usize)?.0.partitions;
            let length = run.length.min(count.checked_sub(run.start)?);
            (length > 0).then_some((topic, Run { length, ..*run }))
        })
    }
}

impl Topics {
    fn of(form: &mut Form) -> Self {
        let name = |topic: &mut TopicForm| topic.name().as_deref().unwrap_or_default().into();
        let names: Vec<Arc<str>> = form.topics.0.iter_mut().map(name).collect();
        let places = names.iter().zip(0..).map(|(name, place)| (Arc::clone(name), place)).collect();
        Self { names, places }
    }

    /// A name, shared if it is a topic's.
    fn shared(&self, name: &str) -> Arc<str> {
        self.places.get_key_value(name).map_or_else(|| name.into(), |(name, _)| Arc::clone(name))
    }
}

/// Each name stands once.
fn check_names<V: Entry>(entries: &mut Entries<V>) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for (entry, place) in entries.0.iter_mut().zip(0..) {
        let name = entry.name().as_deref().unwrap_or_default();
        if seen.contains(name) {
            let message = format!("`{}` is there twice", name.escape_debug());
            return Err(Fault::at([Step::Key(V::WHAT), Step::Place(place)], message));
        }
        seen.insert(name.to_owned());
    }
    Ok(())
}

/// Replicas are where racks are, and there are not too many of anything.
fn check_topics(form: &Form) -> Result<(), Fault> {
    let (mut partitions, mut replicas) = (0, 0);
    for (TopicForm(topic), place) in form.topics.0.iter().zip(0..) {
        let fault = |key, message: String| {
            Err(Fault::at([Step::Key("topics"), Step::Place(place), Step::Key(key)], message))
        };
        let has_replicas = topic.rf > 0 && !form.racks.is_empty();
        if has_replicas && topic.rf as usize > form.racks.len() {
            return fault("rf", format!("{} replicas in {} racks", topic.rf, form.racks.len()));
        }
        if topic.racks.len() > topic.partitions as usize {
            let (racks, count) = (topic.racks.len(), topic.partitions);
            return fault("racks", format!("racks of {racks} partitions, of {count}"));
        }
        partitions += u64::from(topic.partitions);
        if has_replicas {
            replicas += u64::from(topic.partitions) * u64::from(topic.rf);
        }
        if partitions.max(replicas) > MOST {
            return fault("partitions", format!("more than {MOST} partitions or replicas in all"));
        }
    }
    Ok(())
}

/// Weights are of partitions that there are, and some load.
fn check_weights(form: &Form, topics: &Topics) -> Result<(), Fault> {
    for (topic, weights) in &form.weights {
        let name = topic.escape_debug();
        let place = topics.places.get(topic.as_str()).map(|place| *place as usize);
        let count = place.and_then(|place| form.topics.0.get(place));
        let Some(TopicForm(described)) = count else {
            let message = format!("`{name}` is not among the topics");
            return Err(Fault::at([Step::Key("weights")], message));
        };
        if weights.len() > described.partitions as usize {
            let (given, count) = (weights.len(), described.partitions);
            let message = format!("`{name}`: weights of {given} partitions, of {count}");
            return Err(Fault::at([Step::Key("weights")], message));
        }
        if let Some(weight) = weights.iter().find(|weight| **weight < 0.0) {
            let message = format!("`{name}`: a weight of {weight}, which is less than nothing");
            return Err(Fault::at([Step::Key("weights")], message));
        }
    }
    Ok(())
}

/// A member's subscription, rack and claims point at something. Steps are from the member on.
fn check_member(form: &Form, member: &MemberForm) -> Result<(), Fault> {
    let fault = |key, message: String| Err(Fault::at([Step::Key(key)], message));
    match (member.sub, &member.subscribes) {
        (Some(_), Some(_)) => {
            return fault("sub", "`sub` and `subscribes` say the same".to_owned());
        }
        (Some(sub), None) if sub as usize >= form.subscriptions.len() => {
            let message = format!("subscription {sub}, of {}", form.subscriptions.len());
            return fault("sub", message);
        }
        _ => {}
    }
    if let Some(RackForm::Place(place)) = member.rack {
        if place >= form.racks.len() as i64 {
            return fault("rack", format!("rack {place}, of {}", form.racks.len()));
        }
    }
    for (key, owned) in [("owned", &member.owned), ("stands_by", &member.stands_by)] {
        let OwnedForm::ByPlace(runs) = owned else { continue };
        let count = form.topics.0.len();
        if let Some(run) = runs.iter().find(|run| run.topic as usize >= count) {
            return fault(key, format!("topic {}, of {count} topics", run.topic));
        }
    }
    Ok(())
}

fn rack_of<'a>(member: &'a MemberForm, racks: &'a [String]) -> Option<&'a str> {
    match member.rack.as_ref()? {
        RackForm::Name(name) => Some(name),
        RackForm::Place(place) => racks.get(usize::try_from(*place).ok()?).map(String::as_str),
    }
}

/// What a member tells, as if it had come by an envelope.
fn told(member: &MemberForm, version: u16) -> Result<MetadataPayload, MetadataError> {
    let metadata = member.metadata.as_ref().ok_or(MetadataError::Missing)?;
    Ok(MetadataPayload {
        codec: MetadataCodec::Json.id(),
        version,
        bytes: metadata.to_string().into(),
    })
}

/// A broker in each rack.
struct RackNodes {
    nodes: Vec<Node>,
    by_rack: HashMap<String, NodeId>,
    /// How many racks the file lists.
    listed: u32,
}

impl RackNodes {
    fn of(racks: &[String]) -> Self {
        let mut nodes =
            Self { nodes: Vec::new(), by_rack: HashMap::new(), listed: racks.len() as u32 };
        for rack in racks {
            nodes.add(rack);
        }
        nodes
    }

    fn add(&mut self, rack: &str) -> NodeId {
        let id = NodeId(self.nodes.len() as i32);
        let host = format!("broker-{id}").into();
        self.nodes.push(Node { id, host, port: 9092, rack: Some(rack.into()) });
        self.by_rack.insert(rack.to_owned(), id);
        id
    }

    fn topic(&mut self, TopicForm(topic): &TopicForm) -> TopicInput {
        let mut input = TopicInput::new(topic.partitions);
        let mut brokers = Vec::new();
        for racks in &topic.racks {
            brokers.clear();
            for rack in racks {
                let known = self.by_rack.get(rack).copied();
                brokers.push(known.unwrap_or_else(|| self.add(rack)));
            }
            input.describe(brokers.first().copied(), &brokers);
        }
        if !topic.racks.is_empty() || topic.rf == 0 || self.listed == 0 {
            return input;
        }
        for partition in 0..topic.partitions {
            let broker = |replica| {
                let place =
                    u64::from(partition) + u64::from(topic.rack_offset) + u64::from(replica);
                NodeId((place % u64::from(self.listed)) as i32)
            };
            brokers.clear();
            brokers.extend((0..topic.rf).map(broker));
            input.describe(brokers.first().copied(), &brokers);
        }
        input
    }
}

/// The lists of topics that members share.
struct Subscriptions {
    listed: Vec<Arc<[Arc<str>]>>,
    all: Arc<[Arc<str>]>,
}

impl Subscriptions {
    fn of(form: &Form, topics: &Topics) -> Self {
        let name = |topic: &u32| topics.names.get(*topic as usize).map(Arc::clone);
        let list = |listed: &Vec<u32>| listed.iter().filter_map(name).collect();
        let listed = form.subscriptions.iter().map(list).collect();
        Self { listed, all: topics.names.as_slice().into() }
    }

    fn of_member(&self, member: &MemberForm, topics: &Topics) -> Arc<[Arc<str>]> {
        if let Some(names) = &member.subscribes {
            return names.iter().map(|name| topics.shared(name)).collect();
        }
        let listed = member.sub.and_then(|sub| self.listed.get(sub as usize));
        Arc::clone(listed.unwrap_or(&self.all))
    }
}

#[cfg(test)]
mod tests;
