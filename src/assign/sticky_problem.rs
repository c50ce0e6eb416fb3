//! The group as the solver sees it: topics are families of items, equal subscriptions are groups.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::GroupSubscription;
use super::model::{Model, NONE as NOBODY};
use super::refs::{MemberRef, TopicRef};
use super::solver::{Family, ItemRacks, Member, NONE, Problem, RackSet};
use super::sticky_planner::{BrokerRack, Capacity, MemberRack, Racks, Weight};
use crate::types::Node;

/// What an assigner asks for beside few moves.
pub(super) struct Asked<'a, T> {
    pub(super) racks: Racks,
    /// In which rack a member is; by its `client.rack` where nothing else is said.
    pub(super) member_rack: Option<&'a MemberRack<'a, T>>,
    /// In which rack a broker is; by its `broker.rack` where nothing else is said.
    pub(super) broker_rack: Option<&'a BrokerRack<'a>>,
    pub(super) capacity: Option<&'a Capacity<'a, T>>,
    pub(super) weight: Option<&'a Weight<'a>>,
}

impl<T> Asked<'_, T> {
    /// Nothing but what racks are to count for.
    pub(super) fn of(racks: Racks) -> Self {
        Self { racks, member_rack: None, broker_rack: None, capacity: None, weight: None }
    }
}

/// The problem that a group is, as far as its view shows topics.
pub(super) fn problem<'g, T>(group: &'g GroupSubscription<T>, asked: &Asked<'_, T>) -> Problem<'g> {
    let model = &*group.model;
    let takers_of = |topic: u32| match group.shows(topic) {
        true => model.topics()[topic as usize].subscribers,
        false => NOBODY,
    };
    let families = model.topics().iter().zip(0..).map(|(topic, place)| Family {
        first: topic.first,
        count: topic.count,
        takers: takers_of(place),
    });
    let known = match asked.racks {
        Racks::Ignored => MemberRacks::default(),
        _ => MemberRacks::of(group, asked.member_rack),
    };
    Problem {
        families: families.collect(),
        takers: takers(model),
        members: members(group, asked, &known),
        groups: model.subscriptions.len(),
        owners: Cow::Borrowed(&model.claims.owners),
        racks: item_racks(model, asked, &known),
        weights: asked.weight.map(|weight| weights(group, weight)).unwrap_or_default(),
    }
}

/// Per set of subscribers the subscriptions that it consists of.
fn takers(model: &Model) -> Vec<Vec<u32>> {
    let mut takers: Vec<Vec<u32>> = vec![Vec::new(); model.subscriber_sets.len()];
    for (topics, subscription) in model.subscriptions.iter().zip(0..) {
        for topic in topics {
            let set = model.topics()[*topic as usize].subscribers;
            if let Some(takers) = takers.get_mut(set as usize) {
                if takers.last() != Some(&subscription) {
                    takers.push(subscription);
                }
            }
        }
    }
    takers
}

fn members<T>(
    group: &GroupSubscription<T>,
    asked: &Asked<'_, T>,
    known: &MemberRacks<'_>,
) -> Vec<Member> {
    let member = |view: MemberRef<'_, T>| {
        let entry = &group.model.members()[view.position()];
        Member {
            group: entry.subscription,
            rack: known.of_member.get(view.position()).copied().unwrap_or(NONE),
            capacity: asked.capacity.map_or(1, |capacity| capacity(view)),
        }
    };
    group.members().map(member).collect()
}

/// The racks in which there are members.
#[derive(Default)]
struct MemberRacks<'g> {
    numbers: BTreeMap<Cow<'g, str>, u32>,
    /// `NONE` where the rack is not known.
    of_member: Vec<u32>,
}

impl<'g> MemberRacks<'g> {
    fn of<T>(group: &'g GroupSubscription<T>, said: Option<&MemberRack<'_, T>>) -> Self {
        let mut racks = Self::default();
        for member in group.members() {
            let rack = match said {
                Some(said) => said(member).map(Cow::Owned),
                None => member.rack().map(Cow::Borrowed),
            };
            let next = racks.numbers.len() as u32;
            let number = rack.map_or(NONE, |rack| *racks.numbers.entry(rack).or_insert(next));
            racks.of_member.push(number);
        }
        racks
    }
}

fn item_racks<T>(
    model: &Model,
    asked: &Asked<'_, T>,
    known: &MemberRacks<'_>,
) -> Option<ItemRacks> {
    if known.numbers.is_empty() || model.layout().leaders.is_empty() {
        return None;
    }
    let rack_of = |node: &Node| match asked.broker_rack {
        Some(said) => known.numbers.get(&*said(node)?).copied().or(Some(NONE)),
        None => known.numbers.get(node.rack.as_deref()?).copied().or(Some(NONE)),
    };
    let mut sets = RackSets::new(model.nodes().iter().map(rack_of).collect());
    let layout = model.layout();
    let mut start = 0;
    let replicas = layout.replica_ends.iter().map(|end| {
        let nodes = layout.replicas.get(start..*end as usize).unwrap_or(&[]);
        start = *end as usize;
        nodes
    });
    let set_of: Vec<u32> = match asked.racks.only_leaders() {
        true => layout.leaders.chunks(1).map(|leader| sets.of_nodes(leader)).collect(),
        false => replicas.map(|nodes| sets.of_nodes(nodes)).collect(),
    };
    Some(ItemRacks { set_of, sets: sets.sets })
}

/// How many lists of nodes are remembered.
const REMEMBERED: usize = 1024;

/// The sets of racks of the brokers that hold partitions.
struct RackSets<'g> {
    /// Per node the number of its rack among those of members: none if it has no rack, `NONE` if no member is there.
    of_node: Vec<Option<u32>>,
    sets: Vec<RackSet>,
    seen: BTreeMap<RackSet, u32>,
    /// Lists of nodes with their sets, at places that depend on the lists.
    recent: Vec<(&'g [u32], u32)>,
}

impl<'g> RackSets<'g> {
    fn new(of_node: Vec<Option<u32>>) -> Self {
        Self {
            of_node,
            sets: Vec::new(),
            seen: BTreeMap::new(),
            recent: vec![(&[], NONE); REMEMBERED],
        }
    }

    /// The set of some nodes' racks; `NONE` if none of them is known to be in a rack.
    #[inline]
    fn of_nodes(&mut self, nodes: &'g [u32]) -> u32 {
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return NONE };
        let place = (*first as usize * 31 + *last as usize) % REMEMBERED;
        let (remembered, set) = self.recent[place];
        // Short lists are compared faster one by one than as memory.
        if remembered.len() == nodes.len() && (0..nodes.len()).all(|at| remembered[at] == nodes[at])
        {
            return set;
        }
        let set = self.find(nodes);
        self.recent[place] = (nodes, set);
        set
    }

    #[cold]
    fn find(&mut self, nodes: &[u32]) -> u32 {
        let mut racks =
            nodes.iter().filter_map(|node| *self.of_node.get(*node as usize)?).peekable();
        if racks.peek().is_none() {
            return NONE;
        }
        let mut set = RackSet::default();
        racks.filter(|rack| *rack != NONE).for_each(|rack| set.insert(rack));
        if let Some(place) = self.seen.get(&set) {
            return *place;
        }
        let place = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.seen.insert(set, place);
        place
    }
}

/// Weights as whole numbers in proportion, the heaviest being so large that small ones count, and all together no
/// overflow.
fn weights<T>(group: &GroupSubscription<T>, weight: &Weight<'_>) -> Vec<u64> {
    let mut weights = vec![0.0; group.model.partition_count()];
    for partition in group.topics().flat_map(TopicRef::partitions) {
        weights[partition.position()] = weight(partition);
    }
    let finite = weights.iter().copied().filter(|weight| weight.is_finite());
    let heaviest = finite.fold(0.0, f64::max);
    let whole = |weight: f64| match weight {
        weight if weight.is_nan() || weight <= 0.0 => 0,
        weight if weight >= heaviest => HEAVIEST as u64,
        weight => (weight / heaviest * HEAVIEST) as u64,
    };
    weights.into_iter().map(whole).collect()
}

/// 2³², with room for the sum of as many as there may be partitions.
const HEAVIEST: f64 = 4_294_967_296.0;
