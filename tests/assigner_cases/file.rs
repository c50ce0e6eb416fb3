//! The form of the file.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct CaseFile {
    pub(crate) schema: String,
    pub(crate) cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) assigners: Vec<String>,
    #[serde(flatten)]
    pub(crate) group: Group,
    pub(crate) checks: BTreeMap<String, Vec<Check>>,
    #[serde(default)]
    pub(crate) expect: String,
    #[serde(default)]
    pub(crate) missing: BTreeSet<String>,
    #[serde(default)]
    pub(crate) generators: Vec<Generator>,
    #[serde(default)]
    pub(crate) weights: BTreeMap<String, Vec<f64>>,
    #[serde(default)]
    pub(crate) params: Params,
}

/// What is chosen for an assigner.
#[derive(Default, Deserialize)]
pub(crate) struct Params {
    /// Of `redundant`: how many copies.
    pub(crate) n: Option<u16>,
}

pub(crate) type Named = BTreeMap<String, BTreeMap<String, Vec<i32>>>;

#[derive(Clone, Deserialize)]
pub(crate) struct Group {
    #[serde(default)]
    pub(crate) topics: BTreeMap<String, Topic>,
    #[serde(default)]
    pub(crate) members: Vec<Member>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Topic {
    pub(crate) partitions: u32,
    #[serde(default)]
    pub(crate) racks: Vec<Vec<String>>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) instance: Option<String>,
    pub(crate) rack: Option<String>,
    #[serde(default)]
    pub(crate) subscribes: Vec<String>,
    #[serde(default)]
    pub(crate) owned: BTreeMap<String, Vec<i32>>,
    /// Of which of these another had the first copy.
    #[serde(skip)]
    pub(crate) standbys: BTreeMap<String, Vec<i32>>,
    #[serde(default = "no_generation")]
    pub(crate) generation: i32,
}

/// Of who has nothing.
fn no_generation() -> i32 {
    -1
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Check {
    Equals { plan: Named },
    Complete,
    Spread { max: usize },
    TopicSpread { max: usize },
    Counts { counts: BTreeMap<String, usize> },
    MembersInOutput { members: BTreeSet<String> },
    Keeps { member: String, partitions: Vec<String> },
    SameOwner { groups: Vec<Vec<String>> },
    Copies { value: usize },
    NotGranted { member: String, partitions: Vec<String> },
    RackMatchedMin { value: usize },
    Withheld { partitions: BTreeSet<String> },
    WithheldCount { value: usize },
    ThenRound2 { plan: Named },
    ShuffleInvariant,
    MaxMs { value: u64 },
}

/// A group too large to be written down.
#[derive(Deserialize)]
pub(crate) struct Generator {
    pub(crate) topics: usize,
    pub(crate) partitions: u32,
    pub(crate) members: usize,
    pub(crate) max_ms: u64,
    pub(crate) subscribe: Option<String>,
}
