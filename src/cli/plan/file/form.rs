//! What may stand in a file, as far as JSON alone can tell.
//!
//! Lists with numbers that point into other lists are what generators write; objects with names are what people
//! write. Either is taken in each place.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::numbers::{NumbersSeed, Run};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with topics and members")]
pub(super) struct Form {
    pub(super) name: Option<String>,
    /// For whoever reads the file.
    #[serde(rename = "note")]
    _note: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) racks: Vec<String>,
    pub(super) topics: Entries<TopicForm>,
    /// Topics by their places.
    #[serde(default)]
    pub(super) subscriptions: Vec<Vec<u32>>,
    pub(super) members: Entries<MemberForm>,
    /// What partitions weigh, by topic, from partition 0 on.
    #[serde(default)]
    pub(super) weights: BTreeMap<String, Vec<f64>>,
}

/// A topic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a topic")]
pub(super) struct TopicFields {
    pub(super) name: Option<String>,
    pub(super) partitions: u32,
    /// How many replicas there are; 0 where racks are unknown.
    #[serde(default)]
    pub(super) rf: u32,
    /// Replica `j` of partition `p` is in rack `(p + rack_offset + j) % racks`, and replica 0 leads.
    #[serde(default)]
    pub(super) rack_offset: u32,
    /// The racks of each partition from 0 on, the leader's first.
    #[serde(default)]
    pub(super) racks: Vec<Vec<String>>,
}

/// A topic, or the number of its partitions alone.
#[derive(Debug)]
pub(super) struct TopicForm(pub(super) TopicFields);

/// A member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a member")]
pub(super) struct MemberForm {
    pub(super) id: Option<String>,
    pub(super) instance: Option<String>,
    pub(super) rack: Option<RackForm>,
    /// Its host and what tells it from the host's others, with a slash between them.
    pub(super) process: Option<String>,
    /// Which of the subscriptions.
    pub(super) sub: Option<u32>,
    /// Topics by name; all where neither this nor `sub` is there.
    pub(super) subscribes: Option<Vec<String>>,
    /// When it was given what it owned.
    #[serde(default = "no_generation")]
    pub(super) generation: i32,
    #[serde(default)]
    pub(super) owned: OwnedForm,
    /// Of which of that others have the first copy.
    #[serde(default)]
    pub(super) stands_by: OwnedForm,
    /// What it tells the assigner.
    pub(super) metadata: Option<serde_json::Value>,
}

fn no_generation() -> i32 {
    -1
}

/// A rack by name, or by its place in `racks`; a negative place is none.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a rack's name, or its place in `racks`")]
pub(super) enum RackForm {
    Place(i64),
    Name(String),
}

/// What a member had.
#[derive(Debug)]
pub(super) enum OwnedForm {
    /// Topics by their places.
    ByPlace(Vec<Run>),
    /// Topics by the places of their names in the list beside.
    ByName(Vec<String>, Vec<Run>),
}

impl OwnedForm {
    pub(super) fn runs(&self) -> &[Run] {
        let (Self::ByPlace(runs) | Self::ByName(_, runs)) = self;
        runs
    }
}

impl Default for OwnedForm {
    fn default() -> Self {
        Self::ByPlace(Vec::new())
    }
}

/// Things with names: an object whose keys they are, or a list of things that know theirs.
#[derive(Debug)]
pub(super) struct Entries<V>(pub(super) Vec<V>);

/// What takes its name from the key that it stands under.
pub(super) trait Entry {
    /// What it is, and where it says its name in a list.
    const WHAT: &str;
    const NAME: &str;

    fn name(&mut self) -> &mut Option<String>;
}

impl Entry for TopicForm {
    const WHAT: &str = "topics";
    const NAME: &str = "name";

    fn name(&mut self) -> &mut Option<String> {
        &mut self.0.name
    }
}

impl Entry for MemberForm {
    const WHAT: &str = "members";
    const NAME: &str = "id";

    fn name(&mut self) -> &mut Option<String> {
        &mut self.id
    }
}

impl<'de, V: Deserialize<'de> + Entry> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de> + Entry> Visitor<'de> for EntriesVisitor<V> {
            type Value = Entries<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} as an object, or as a list", V::WHAT)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(mut entry) = list.next_element::<V>()? {
                    if entry.name().is_none() {
                        return Err(A::Error::missing_field(V::NAME));
                    }
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    let mut entry: V = map.next_value()?;
                    *entry.name() = Some(key);
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_any(EntriesVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for TopicForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TopicVisitor;

        impl<'de> Visitor<'de> for TopicVisitor {
            type Value = TopicForm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a topic, or the number of its partitions")
            }

            fn visit_u64<E: Error>(self, partitions: u64) -> Result<TopicForm, E> {
                let partitions = u32::try_from(partitions)
                    .map_err(|_| E::custom(format_args!("{partitions} partitions are too many")))?;
                let (name, racks) = (None, Vec::new());
                Ok(TopicForm(TopicFields { name, partitions, rf: 0, rack_offset: 0, racks }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TopicForm, A::Error> {
                TopicFields::deserialize(MapAccessDeserializer::new(map)).map(TopicForm)
            }
        }

        deserializer.deserialize_any(TopicVisitor)
    }
}

impl<'de> Deserialize<'de> for OwnedForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OwnedVisitor;

        impl<'de> Visitor<'de> for OwnedVisitor {
            type Value = OwnedForm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "partitions by topic, or lists of topic, start, length, start, length, …",
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OwnedForm, A::Error> {
                let mut runs = Vec::new();
                while list.next_element_seed(RunsSeed(&mut runs))?.is_some() {}
                Ok(OwnedForm::ByPlace(runs))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OwnedForm, A::Error> {
                let (mut names, mut runs) = (Vec::new(), Vec::new());
                while let Some(name) = map.next_key()? {
                    let topic = names.len() as u32;
                    names.push(name);
                    map.next_value_seed(NumbersSeed { topic, runs: &mut runs })?;
                }
                Ok(OwnedForm::ByName(names, runs))
            }
        }

        deserializer.deserialize_any(OwnedVisitor)
    }
}

/// One list of topic, start, length, start, length, …
struct RunsSeed<'a>(&'a mut Vec<Run>);

impl<'de> DeserializeSeed<'de> for RunsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RunsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of topic, start, length, start, length, …")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some(topic) = list.next_element()? else {
            return Err(A::Error::custom("an empty list, where at least a topic should be"));
        };
        while let Some(start) = list.next_element()? {
            let Some(length) = list.next_element()? else {
                return Err(A::Error::custom(format_args!("start {start} has no length")));
            };
            self.0.push(Run { topic, start, length });
        }
        Ok(())
    }
}
