//! The group as the solver sees it: topics are families of items, equal subscriptions are groups.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use super::GroupSubscription;
use super::model::{Model, NONE as NOBODY};
use super::refs::{MemberRef, PartitionRef, TopicRef};
use super::solver::{Family, ItemRacks, Member, NONE, Problem, RackSet};
use super::sticky_planner::Racks;

/// What an assigner asks for beside few moves.
pub(super) struct Asked<'a, T> {
    pub(super) racks: Racks,
    pub(super) capacity: Option<&'a dyn Fn(MemberRef<'_, T>) -> u32>,
    pub(super) weight: Option<&'a dyn Fn(PartitionRef<'_>) -> f64>,
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
        Racks::Ignored => BTreeMap::new(),
        _ => known_racks(model),
    };
    Problem {
        families: families.collect(),
        takers: takers(model),
        members: members(group, asked, &known),
        groups: model.subscriptions.len(),
        owners: Cow::Borrowed(&model.claims.owners),
        racks: item_racks(model, asked.racks, &known),
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
    known: &BTreeMap<&str, u32>,
) -> Vec<Member> {
    let member = |view: MemberRef<'_, T>| {
        let entry = &group.model.members()[view.position()];
        Member {
            group: entry.subscription,
            rack: entry.rack.as_ref().and_then(|rack| known.get(&**rack)).copied().unwrap_or(NONE),
            capacity: asked.capacity.map_or(1, |capacity| capacity(view)),
        }
    };
    group.members().map(member).collect()
}

/// The racks in which there are members.
fn known_racks(model: &Model) -> BTreeMap<&str, u32> {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    for rack in model.members().iter().filter_map(|member| member.rack.as_deref()) {
        let next = known.len() as u32;
        known.entry(rack).or_insert(next);
    }
    known
}

fn item_racks(model: &Model, racks: Racks, known: &BTreeMap<&str, u32>) -> Option<ItemRacks> {
    if known.is_empty() || model.layout.leaders.is_empty() {
        return None;
    }
    let mut sets = RackSets { model, known, racks: ItemRacks::default(), seen: HashMap::default() };
    let places = 0..model.partition_count() as u32;
    let set_of: Vec<u32> = match racks.only_leaders() {
        true => places.map(|partition| sets.of_leader(partition)).collect(),
        false => places.map(|partition| sets.of_nodes(model.replicas(partition))).collect(),
    };
    Some(ItemRacks { set_of, ..sets.racks })
}

/// The sets of racks of the brokers that hold partitions.
struct RackSets<'g> {
    model: &'g Model,
    known: &'g BTreeMap<&'g str, u32>,
    racks: ItemRacks,
    seen: HashMap<&'g [u32], u32, BuildHasherDefault<NodesHasher>>,
}

impl<'g> RackSets<'g> {
    fn of_leader(&mut self, partition: u32) -> u32 {
        self.of_nodes(
            self.model.layout.leaders.get(partition as usize..=partition as usize).unwrap_or(&[]),
        )
    }

    fn of_nodes(&mut self, nodes: &'g [u32]) -> u32 {
        if let Some(set) = self.seen.get(nodes) {
            return *set;
        }
        let nodes_racks = nodes.iter().filter_map(|node| self.model.nodes().get(*node as usize));
        let mut set = RackSet::default();
        let mut is_somewhere = false;
        for rack in nodes_racks.filter_map(|node| node.rack.as_deref()) {
            is_somewhere = true;
            self.known.get(rack).into_iter().for_each(|rack| set.insert(*rack));
        }
        let place = if is_somewhere { self.racks.sets.len() as u32 } else { NONE };
        if is_somewhere {
            self.racks.sets.push(set);
        }
        self.seen.insert(nodes, place);
        place
    }
}

/// For short lists of small numbers, looked up once a partition.
#[derive(Clone, Copy, Debug, Default)]
struct NodesHasher(u64);

impl Hasher for NodesHasher {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(4) {
            let part = part.iter().fold(0, |part, byte| part << 8 | u64::from(*byte));
            self.0 = (self.0.rotate_left(23) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Weights as whole numbers in proportion, the heaviest being so large that small ones count, and all together no
/// overflow.
fn weights<T>(group: &GroupSubscription<T>, weight: &dyn Fn(PartitionRef<'_>) -> f64) -> Vec<u64> {
    let mut weights = vec![0.0; group.model.partition_count()];
    for partition in group.topics().flat_map(TopicRef::partitions) {
        weights[partition.position()] = weight(partition);
    }
    let finite = weights.iter().copied().filter(|weight| weight.is_finite());
    let heaviest = finite.fold(0.0, f64::max);
    let whole = |weight: f64| match weight {
        // NaN is not greater than anything.
        weight if !(weight > 0.0) => 0,
        weight if weight >= heaviest => HEAVIEST as u64,
        weight => (weight / heaviest * HEAVIEST) as u64,
    };
    weights.into_iter().map(whole).collect()
}

/// 2³², with room for the sum of as many as there may be partitions.
const HEAVIEST: f64 = 4_294_967_296.0;
