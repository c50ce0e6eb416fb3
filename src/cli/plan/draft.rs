//! A group before it is planned for, and what could become of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::assign::{MemberInput, MetadataError, MetadataPayload, Model, ModelBuilder};
use crate::cli::table::printable;
use crate::types::{Generation, MemberId, PartitionRanges, TopicError};

/// What a member told, if it told something.
pub(super) type Told = Result<MetadataPayload, MetadataError>;

/// A group as it is.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) builder: ModelBuilder<Told>,
    /// Claims of partitions that do not exist.
    pub(super) left_out: u64,
    /// Topics that nothing is known of, though they may exist.
    pub(super) untold: BTreeMap<Arc<str>, TopicError>,
}

/// What is supposed to happen to it.
#[derive(Clone, Debug, Default)]
pub(super) struct WhatIf {
    /// Members that leave, by instance id or member id.
    pub(super) without: Vec<String>,
    /// How many come whose names do not matter.
    pub(super) with: usize,
    /// The names of others that come.
    pub(super) named: Vec<String>,
}

/// A group to plan for.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) model: Arc<Model>,
    /// In the order of the model's members.
    pub(super) told: Vec<Told>,
    pub(super) left_out: u64,
    pub(super) untold: BTreeMap<Arc<str>, TopicError>,
    /// Those that leave. Their places are behind the members'.
    pub(super) gone: Vec<String>,
    /// What leavers had and nobody has any more, and the leavers' places.
    pub(super) freed: BTreeMap<u32, u32>,
    /// In words, what happens to it before it is planned for.
    pub(super) notes: Vec<String>,
}

impl Draft {
    pub(super) fn new(builder: ModelBuilder<Told>) -> Self {
        Self { builder, left_out: 0, untold: BTreeMap::new() }
    }

    /// The group after what is supposed has happened.
    pub(super) fn build(mut self, what_if: &WhatIf) -> Result<Group, String> {
        let gone = self.leave(&what_if.without)?;
        let newcomers = self.join(what_if)?;
        let (model, told) = self.builder.build();
        let notes = [leaving(&gone), newcomers].into_iter().flatten().collect();
        Ok(Group {
            freed: freed(&model, &gone),
            model: Arc::new(model),
            told,
            left_out: self.left_out,
            untold: self.untold,
            gone: gone.iter().map(|member| name(member).to_owned()).collect(),
            notes,
        })
    }

    /// Takes members out.
    fn leave(&mut self, without: &[String]) -> Result<Vec<MemberInput<Told>>, String> {
        let mut gone = Vec::new();
        for id in without {
            let by_instance =
                |member: &MemberInput<Told>| member.instance_id.as_deref() == Some(id);
            let by_id = |member: &MemberInput<Told>| member.id.as_str() == id;
            let members = &self.builder.members;
            let place = members.iter().position(by_instance);
            let place = place.or_else(|| members.iter().position(by_id));
            let place = place.ok_or_else(|| format!(": no member {id} in it"))?;
            gone.push(self.builder.members.remove(place));
        }
        Ok(gone)
    }

    /// Adds members like the others, each like the next of them in turn; says so.
    fn join(&mut self, what_if: &WhatIf) -> Result<Option<String>, String> {
        let others = std::mem::take(&mut self.builder.members);
        let is_taken = |taken: &str| {
            others.iter().any(|other| other.id.as_str() == taken || name(other) == taken)
        };
        if let Some(taken) = what_if.named.iter().find(|named| is_taken(named)) {
            return Err(format!(": {taken} is in it already"));
        }
        let free = |made: &String| !is_taken(made) && !what_if.named.contains(made);
        let made = (1_u64..).map(|number| format!("new-{number}")).filter(free).take(what_if.with);
        let names: Vec<String> = what_if.named.iter().cloned().chain(made).collect();
        let alike = others.iter().cycle().zip(&names);
        let newcomers: Vec<_> = alike.map(|(other, name)| like(other, name)).collect();
        if newcomers.len() < names.len() {
            return Err(": nobody is left in it whom newcomers could be like".to_owned());
        }
        let note = (!newcomers.is_empty()).then(|| joining(&newcomers, &others));
        self.builder.members = others;
        self.builder.members.extend(newcomers);
        Ok(note)
    }
}

impl Group {
    /// The names by which people know members, those that leave among them.
    pub(super) fn names(&self, members: impl IntoIterator<Item = u32>) -> String {
        let name = |place: u32| {
            let members = self.model.members();
            let gone = || self.gone.get((place as usize).checked_sub(members.len())?);
            let member = members.get(place as usize);
            let known = member.map(|it| it.instance_id.as_deref().unwrap_or(it.id.as_str()));
            printable(known.or_else(|| gone().map(String::as_str)).unwrap_or_default())
        };
        members.into_iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// What is not known of a topic that is subscribed to, and not there.
    pub(super) fn why_missing(&self, topic: &str) -> String {
        match self.untold.get(topic) {
            Some(error) => format!("topic {} {error}", printable(topic)),
            None => format!("no topic {}", printable(topic)),
        }
    }
}

/// A member that has nothing yet and is otherwise like another, on a host of its own.
fn like(other: &MemberInput<Told>, name: &str) -> MemberInput<Told> {
    MemberInput {
        id: MemberId::new(name),
        instance_id: other.instance_id.as_ref().map(|_| name.into()),
        process: other.process.as_ref().map(|_| format!("{name}/1").into()),
        claims: PartitionRanges::default(),
        standbys: PartitionRanges::default(),
        generation: Generation::NONE,
        ..other.clone()
    }
}

/// What those that leave had and no member claims, with their places behind the members'.
fn freed(model: &Model, gone: &[MemberInput<Told>]) -> BTreeMap<u32, u32> {
    let members = model.members().len() as u32;
    let claimed: BTreeSet<u32> =
        (0..members).flat_map(|member| model.claims(member)).copied().collect();
    let mut freed = BTreeMap::new();
    let count_of = |topic: &str| {
        model.topic_index(topic).and_then(|at| model.topics().get(at as usize)).map(|it| it.count)
    };
    for (member, place) in gone.iter().zip(members..) {
        for partition in member.claims.within(count_of).iter() {
            let at = model.partition_index(partition.topic(), partition.partition());
            freed.extend(at.filter(|at| !claimed.contains(at)).map(|at| (at, place)));
        }
    }
    freed
}

fn leaving(gone: &[MemberInput<Told>]) -> Option<String> {
    let names: Vec<String> = gone.iter().map(|member| printable(name(member))).collect();
    (!names.is_empty()).then(|| format!("as if {} had left", names.join(", ")))
}

fn joining(newcomers: &[MemberInput<Told>], others: &[MemberInput<Told>]) -> String {
    /// So many are named.
    const MOST: usize = 4;
    let alike = newcomers.iter().zip(others.iter().cycle()).take(MOST);
    let words = |(new, other): (&MemberInput<Told>, _)| {
        format!("{} (like {})", printable(name(new)), printable(name(other)))
    };
    let named: Vec<String> = alike.map(words).collect();
    let more = match newcomers.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("as if {}{more} had joined", named.join(", "))
}

fn name(member: &MemberInput<Told>) -> &str {
    member.instance_id.as_deref().unwrap_or(member.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::file::GroupFile;
    use super::*;

    const THREE: &str = r#"{"topics": {"t": 4}, "members": {
        "a": {"instance": "pod-a", "rack": "r", "owned": {"t": [0, 1]}},
        "b": {"owned": {"t": [2]}, "process": "h/1"}, "new-1": {"owned": {"t": [2, 3]}}}}"#;

    fn draft() -> Draft {
        GroupFile::parse(THREE.as_bytes()).unwrap().draft(true, 0)
    }

    fn what_if(without: &[&str], with: usize) -> Result<Group, String> {
        let without = without.iter().map(|id| (*id).to_owned()).collect();
        draft().build(&WhatIf { without, with, named: Vec::new() })
    }

    fn coming(names: [&str; 2]) -> Result<Group, String> {
        let named = names.map(str::to_owned).into();
        draft().build(&WhatIf { named, with: 1, without: Vec::new() })
    }

    #[test]
    fn whoever_leaves_is_named_by_either_id_and_frees_what_nobody_else_claims() {
        let group = what_if(&["pod-a", "new-1"], 0).unwrap();
        assert_eq!(group.names(0..3), "b, pod-a, new-1");
        assert_eq!(group.freed, [(0, 1), (1, 1), (3, 2)].into());
        assert_eq!(group.notes, ["as if pod-a, new-1 had left"]);
        assert_eq!(what_if(&["a"], 0).unwrap().gone, ["pod-a"]);
    }

    #[test]
    fn whoever_is_not_there_cannot_leave() {
        assert_eq!(what_if(&["c\n"], 0).unwrap_err(), ": no member c\n in it");
        assert_eq!(what_if(&["a", "pod-a"], 0).unwrap_err(), ": no member pod-a in it");
    }

    #[test]
    fn newcomers_are_like_the_others_in_turn_and_have_names_and_hosts_of_their_own() {
        let group = what_if(&[], 2).unwrap();
        let members = group.model.members();
        let told = |id: &str| members.iter().find(|member| member.id.as_str() == id).unwrap();
        let (like_a, like_b) = (told("new-2"), told("new-3"));
        assert_eq!(
            (like_a.instance_id.as_deref(), like_a.rack.as_deref()),
            (Some("new-2"), Some("r"))
        );
        assert_eq!(
            (like_b.instance_id.as_deref(), like_b.process.as_deref()),
            (None, Some("new-3/1"))
        );
        assert_eq!(group.notes, ["as if new-2 (like pod-a), new-3 (like b) had joined"]);
        let names = ["a", "b", "new-1"];
        let nobody = what_if(&names, 1).unwrap_err();
        assert_eq!(nobody, ": nobody is left in it whom newcomers could be like");
        assert_eq!(coming(["x", "pod-a"]).unwrap_err(), ": pod-a is in it already");
        let notes = coming(["x", "new-2"]).unwrap().notes;
        assert_eq!(notes, ["as if x (like pod-a), new-2 (like b), new-3 (like new-1) had joined"]);
        assert!(what_if(&[], 9).unwrap().notes[0].ends_with("(like pod-a) and 5 more had joined"));
    }
}
