//! A group, and how it is written down.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde_json::{Value, json};

/// Members of topics, with what they had.
pub(crate) struct Group {
    /// Per topic how many partitions it has.
    counts: Vec<u32>,
    /// The first is of all topics.
    subscriptions: Vec<Vec<usize>>,
    pub(crate) members: Vec<Member>,
    racks: usize,
    replicas: usize,
    /// The rack of a member, by its number.
    rack_of: fn(usize) -> usize,
}

pub(crate) struct Member {
    number: usize,
    pub(crate) subscription: usize,
    /// By topic, ascending.
    owned: BTreeMap<usize, Vec<u32>>,
}

impl Group {
    /// Topics with so many partitions, and nobody who takes them.
    pub(crate) fn new(counts: &[u32]) -> Self {
        Self {
            counts: counts.to_vec(),
            subscriptions: vec![(0..counts.len()).collect()],
            members: Vec::new(),
            racks: 0,
            replicas: 0,
            rack_of: |_| 0,
        }
    }

    /// One more subscription.
    pub(crate) fn subscribe(&mut self, topics: impl IntoIterator<Item = usize>) {
        let mut topics: Vec<usize> = topics.into_iter().collect();
        topics.sort_unstable();
        topics.dedup();
        self.subscriptions.push(topics);
    }

    /// So many racks, in which the replicas of a partition follow one another, and members are somewhere.
    pub(crate) fn place(&mut self, racks: usize, replicas: usize, rack_of: fn(usize) -> usize) {
        (self.racks, self.replicas, self.rack_of) = (racks, replicas, rack_of);
    }

    /// Members that had nothing; each says by its place among them what it subscribes to.
    pub(crate) fn add_members(
        &mut self,
        count: usize,
        mut subscription: impl FnMut(usize) -> usize,
    ) {
        let first = self.members.last().map_or(0, |member| member.number + 1);
        for place in 0..count {
            let (number, subscription) = (first + place, subscription(place));
            self.members.push(Member { number, subscription, owned: BTreeMap::new() });
        }
    }

    /// So many members go, at places so far apart.
    pub(crate) fn remove_members(&mut self, count: usize, step: usize) {
        for number in 0..count {
            self.members.remove(number * step % self.members.len());
        }
    }

    /// Each partition has the owner that is named by its place.
    pub(crate) fn own(&mut self, mut owner: impl FnMut(usize, u32) -> usize) {
        for (topic, count) in self.counts.iter().enumerate() {
            for partition in 0..*count {
                let owned = &mut self.members[owner(topic, partition)].owned;
                owned.entry(topic).or_default().push(partition);
            }
        }
    }

    /// All partitions in turn, across topics.
    pub(crate) fn own_in_turn(&mut self) {
        let mut places = (0..self.members.len()).cycle();
        self.own(|_, _| places.next().unwrap());
    }

    /// Each partition with whoever has least, those of topics with few subscribers first.
    pub(crate) fn own_evenly(&mut self) {
        let mut subscribers: Vec<Vec<usize>> = vec![Vec::new(); self.counts.len()];
        for (place, member) in self.members.iter().enumerate() {
            for topic in &self.subscriptions[member.subscription] {
                subscribers[*topic].push(place);
            }
        }
        let mut topics: Vec<usize> = (0..self.counts.len()).collect();
        topics.sort_by_key(|topic| subscribers[*topic].len());
        let mut loads = vec![0; self.members.len()];
        for topic in topics {
            let of_topic = subscribers[topic].iter();
            let mut least: BinaryHeap<_> =
                of_topic.map(|place| Reverse((loads[*place], *place))).collect();
            for partition in 0..self.counts[topic] {
                let Some(Reverse((load, place))) = least.pop() else { break };
                self.members[place].owned.entry(topic).or_default().push(partition);
                loads[place] = load + 1;
                least.push(Reverse((load + 1, place)));
            }
        }
    }

    /// The group as `kafka-group plan` reads it; its help shows the same with names, as people write it.
    pub(crate) fn json(&self, name: &str) -> String {
        let topic = |(topic, count): (usize, &u32)| {
            let name = format!("topic-{topic:05}");
            json!({"name": name, "partitions": count, "rf": self.replicas, "rack_offset": topic})
        };
        let member = |member: &Member| {
            json!({
                "id": format!("member-{:05}", member.number),
                "instance": null,
                "rack": if self.racks == 0 { -1 } else { (self.rack_of)(member.number) as i64 },
                "sub": member.subscription,
                "generation": if member.owned.is_empty() { -1 } else { 7 },
                "owned": runs(&member.owned),
            })
        };
        let group = json!({
            "name": name,
            "racks": (0..self.racks).map(|rack| format!("rack-{rack}")).collect::<Vec<_>>(),
            "topics": self.counts.iter().enumerate().map(topic).collect::<Vec<_>>(),
            "subscriptions": self.subscriptions,
            "members": self.members.iter().map(member).collect::<Vec<_>>(),
        });
        group.to_string()
    }
}

/// Topic, start, length, start, length, … of each topic.
fn runs(owned: &BTreeMap<usize, Vec<u32>>) -> Vec<Value> {
    let topic = |(topic, numbers): (&usize, &Vec<u32>)| {
        let mut list = vec![*topic as u32];
        for run in numbers.chunk_by(|one, next| one + 1 == *next) {
            list.extend([run[0], run.len() as u32]);
        }
        json!(list)
    };
    owned.iter().map(topic).collect()
}
