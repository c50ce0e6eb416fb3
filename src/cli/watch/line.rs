//! A look as a line of JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::seen::MemberSeen;
use super::view::{GroupView, Happened, View};
use crate::cli::arguments::json;
use crate::cli::console::Console;
use crate::types::Partitions;

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    group: &'a str,
    /// Why the group was not seen; the rest is then what was seen last.
    trouble: Option<String>,
    state: Option<&'a str>,
    assigner: Option<&'a str>,
    generation: Option<i32>,
    lag: Option<i64>,
    members: Vec<Member<'a>>,
    unowned: BTreeMap<&'a str, &'a [i32]>,
    changes: Vec<String>,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    member_id: &'a str,
    client_id: &'a str,
    host: &'a str,
    partitions: Option<BTreeMap<&'a str, &'a [i32]>>,
    lag: Option<i64>,
}

/// Says a line for each group of which something has changed.
pub(super) fn say(view: &View, happened: &[Happened], console: &mut Console<'_>) {
    let changed: BTreeSet<usize> = happened.iter().map(|happened| happened.group).collect();
    for place in changed {
        let Some(group) = view.groups.get(place) else { continue };
        let own = happened.iter().filter(|happened| happened.group == place);
        let changes = own.map(|happened| happened.change.to_string()).collect();
        console.say(format_args!("{}", json(&line(view, group, changes))));
    }
}

fn line<'a>(view: &View, group: &'a GroupView, changes: Vec<String>) -> Line<'a> {
    let seen = group.seen.as_ref();
    let members = seen.map_or(&[][..], |seen| &seen.members);
    Line {
        time: view.time.to_string(),
        group: &group.name,
        trouble: group.trouble.as_ref().map(|trouble| trouble.error.to_string()),
        state: seen.map(|seen| seen.state.as_str()),
        assigner: seen.and_then(|seen| seen.assigner.as_deref()),
        generation: seen.and_then(|seen| seen.generation),
        lag: seen.and_then(|seen| seen.lag),
        members: members.iter().map(member).collect(),
        unowned: seen.map(|seen| by_topic(&seen.unowned)).unwrap_or_default(),
        changes,
    }
}

fn member(member: &MemberSeen) -> Member<'_> {
    Member {
        name: &member.name,
        member_id: &member.member_id,
        client_id: &member.client_id,
        host: &member.host,
        partitions: member.partitions.as_ref().map(by_topic),
        lag: member.lag,
    }
}

fn by_topic(partitions: &Partitions) -> BTreeMap<&str, &[i32]> {
    partitions.by_topic().map(|(topic, numbers)| (&**topic, numbers)).collect()
}
