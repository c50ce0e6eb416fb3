//! Described groups as tables and as lines of JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::value::Value;

use super::show::{cell, cell_or_none, hex, seconds};
use crate::admin::{
    Content, GroupDescription, GroupType, MemberDescription, MemberMetadata, PlanWords,
    SubscriptionDescription,
};
use crate::cli::page::Page;
use crate::cli::partitions::in_words;
use crate::cli::table::{Align, Table, printable};
use crate::types::Partitions;

/// Members by their ids.
pub(super) fn members(groups: &[GroupDescription], several: bool) -> Table {
    let head = [
        ("GROUP", Align::Left),
        ("INSTANCE-ID", Align::Left),
        ("MEMBER-ID", Align::Left),
        ("CLIENT-ID", Align::Left),
        ("HOST", Align::Left),
        ("PARTITIONS", Align::Right),
    ];
    let skipped = usize::from(!several);
    let mut table = Table::new(head.get(skipped..).unwrap_or_default());
    for group in groups {
        for member in &group.members {
            let cells = [
                printable(&group.group_id),
                member.group_instance_id.as_deref().map_or_else(|| "-".to_owned(), printable),
                printable(member.member_id.as_str()),
                cell(&member.client_id),
                cell(&member.client_host),
                count(member),
            ];
            table.row(cells.into_iter().skip(skipped).collect());
        }
    }
    table
}

pub(super) fn count(member: &MemberDescription) -> String {
    match &member.assignment {
        Content::Nothing => "0".to_owned(),
        Content::Read(assignment) => assignment.partitions.len().to_string(),
        _ => "-".to_owned(),
    }
}

/// Everything of one group that fits into tables.
pub(super) fn whole(group: &GroupDescription, page: Page) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    let (being, having) = (being(group), having(group));
    let _ = write!(text, "{}\n{}\n{}", head(group), being.on(page), having.on(page));
    if group.members.iter().any(|member| !matches!(member.subscription, Content::Nothing)) {
        let _ = write!(text, "\n{}", wanting(group).on(page));
    }
    text
}

fn head(group: &GroupDescription) -> String {
    let node = &group.coordinator;
    let protocol_type = match group.protocol_type.as_str() {
        "" => "none: it has offsets alone".to_owned(),
        name => cell(name),
    };
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<13}  {value}");
    };
    line("group", printable(&group.group_id));
    line("state", printable(group.state.as_str()));
    if group.group_type != GroupType::Classic {
        line("type", printable(group.group_type.as_str()));
    }
    line("protocol type", protocol_type);
    line("assigner", cell_or_none(group.protocol.as_deref()));
    line("coordinator", format!("broker {} at {}:{}", node.id, cell(&node.host), node.port));
    if let Some(epoch) = group.epoch {
        line("epoch", epoch.to_string());
    }
    if let Some(words) = plan(group) {
        let leader =
            group.members.iter().find(|member| *words.leader == *member.member_id.as_str());
        let leader = leader.map_or(&*words.leader, MemberDescription::name);
        line("generation", format!("{}, planned by {}", words.generation, cell(leader)));
        if let Some((by, message)) = &words.failure {
            line("no new plan", format!("{}: {}", cell(by), printable(message)));
        }
    }
    line("members", group.members.len().to_string());
    text
}

/// The words of the newest plan that any member has.
fn plan(group: &GroupDescription) -> Option<&PlanWords> {
    let assignments = group.members.iter().filter_map(|member| member.assignment.read());
    assignments
        .filter_map(|assignment| assignment.words.as_ref())
        .max_by_key(|words| words.generation)
}

/// Who they are, and how long they may be silent.
fn being(group: &GroupDescription) -> Table {
    let mut table = Table::new(&[
        ("INSTANCE-ID", Align::Left),
        ("MEMBER-ID", Align::Left),
        ("CLIENT-ID", Align::Left),
        ("HOST", Align::Left),
        ("RACK", Align::Left),
        ("SESSION", Align::Right),
        ("REBALANCE", Align::Right),
    ]);
    for member in &group.members {
        let subscription = member.subscription.read();
        let rack = subscription.and_then(|subscription| subscription.rack.as_deref());
        let words = subscription.and_then(|subscription| subscription.words.as_ref());
        let time = |time: Option<Duration>| time.map_or_else(|| "-".to_owned(), seconds);
        table.row(vec![
            member.group_instance_id.as_deref().map_or_else(|| "-".to_owned(), printable),
            printable(member.member_id.as_str()),
            cell(&member.client_id),
            cell(&member.client_host),
            cell_or_none(rack),
            time(words.and_then(|words| words.session_timeout)),
            time(words.and_then(|words| words.rebalance_timeout)),
        ]);
    }
    table
}

fn having(group: &GroupDescription) -> Table {
    let mut table =
        Table::new(&[("MEMBER", Align::Left), ("HAS", Align::Right), ("PARTITIONS", Align::Left)]);
    for member in &group.members {
        let partitions = match &member.assignment {
            Content::Nothing => String::new(),
            Content::Read(assignment) => in_words(&assignment.partitions),
            Content::Foreign(bytes) => cell(&hex(bytes)),
            Content::Unreadable { bytes, why } => format!("{} ({why})", cell(&hex(bytes))),
        };
        table.row(vec![printable(member.name()), count(member), partitions]);
    }
    table
}

fn wanting(group: &GroupDescription) -> Table {
    let mut table = Table::new(&[
        ("MEMBER", Align::Left),
        ("SUBSCRIBES", Align::Left),
        ("METADATA", Align::Left),
    ]);
    for member in &group.members {
        let (topics, metadata) = match &member.subscription {
            Content::Nothing => ("-".to_owned(), "-".to_owned()),
            Content::Read(subscription) => {
                (cell(&subscribed(subscription)), told_in_cell(subscription))
            }
            Content::Foreign(bytes) => ("-".to_owned(), cell(&hex(bytes))),
            Content::Unreadable { bytes, why } => (format!("({why})"), cell(&hex(bytes))),
        };
        table.row(vec![printable(member.name()), topics, metadata]);
    }
    table
}

fn subscribed(subscription: &SubscriptionDescription) -> String {
    let topics = subscription.topics.join(", ");
    match &subscription.pattern {
        Some(pattern) if topics.is_empty() => format!("/{pattern}/"),
        Some(pattern) => format!("{topics}, /{pattern}/"),
        None => topics,
    }
}

/// What a member told, in a few words; user data of other clients as bytes.
fn told_in_cell(subscription: &SubscriptionDescription) -> String {
    let foreign = subscription.user_data.as_deref().filter(|_| subscription.words.is_none());
    let shown = subscription.metadata.as_ref().map(|metadata| match &metadata.shown {
        Some(Ok(json)) if json == "null" => "-".to_owned(),
        Some(Ok(json)) => cell(json),
        Some(Err(error)) => format!("{} ({error})", cell(&hex(&metadata.bytes))),
        None if metadata.bytes.is_empty() => "-".to_owned(),
        None => cell(&hex(&metadata.bytes)),
    });
    shown.or_else(|| foreign.map(|bytes| cell(&hex(bytes)))).unwrap_or_else(|| "-".to_owned())
}

/// A group's members by their ids, as a line of JSON.
#[derive(Serialize)]
pub(super) struct MembersLine<'a> {
    group: &'a str,
    members: Vec<Ids<'a>>,
}

#[derive(Serialize)]
struct Ids<'a> {
    instance_id: Option<&'a str>,
    member_id: &'a str,
    client_id: &'a str,
    host: &'a str,
    partitions: Option<usize>,
}

pub(super) fn members_line(group: &GroupDescription) -> MembersLine<'_> {
    let members = group.members.iter().map(|member| Ids {
        instance_id: member.group_instance_id.as_deref(),
        member_id: member.member_id.as_str(),
        client_id: &member.client_id,
        host: &member.client_host,
        partitions: match &member.assignment {
            Content::Nothing => Some(0),
            assignment => assignment.read().map(|assignment| assignment.partitions.len()),
        },
    });
    MembersLine { group: &group.group_id, members: members.collect() }
}

/// All of a group, as a line of JSON.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    group: &'a str,
    #[serde(rename = "type")]
    group_type: &'a str,
    state: &'a str,
    epoch: Option<i32>,
    protocol_type: &'a str,
    assigner: Option<&'a str>,
    coordinator: Broker<'a>,
    plan: Option<Plan<'a>>,
    members: Members<'a>,
}

/// Members, of which one at a time is made ready to be written: there may be thousands.
struct Members<'a>(&'a [MemberDescription]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(member))
    }
}

#[derive(Serialize)]
struct Broker<'a> {
    id: i32,
    host: &'a str,
    port: u16,
}

#[derive(Serialize)]
struct Plan<'a> {
    generation: i32,
    leader: &'a str,
    digest: String,
    failure: Option<Failure<'a>>,
}

#[derive(Serialize)]
struct Failure<'a> {
    by: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Member<'a> {
    instance_id: Option<&'a str>,
    member_id: &'a str,
    client_id: &'a str,
    host: &'a str,
    rack: Option<&'a str>,
    process: Option<&'a str>,
    session_timeout_ms: Option<u64>,
    rebalance_timeout_ms: Option<u64>,
    subscribes: Option<Topics<'a>>,
    pattern: Option<&'a str>,
    owned: Option<ByTopic<'a>>,
    metadata: Option<Value>,
    partitions: Option<ByTopic<'a>>,
    /// What could not be read, by what it is.
    unread: BTreeMap<&'static str, String>,
}

pub(super) fn line(group: &GroupDescription) -> Line<'_> {
    let plan = plan(group).map(|words| Plan {
        generation: words.generation.0,
        leader: &words.leader,
        digest: format!("{:016x}", words.digest),
        failure: words.failure.as_ref().map(|(by, message)| Failure { by, message }),
    });
    let node = &group.coordinator;
    Line {
        group: &group.group_id,
        group_type: group.group_type.as_str(),
        state: group.state.as_str(),
        epoch: group.epoch,
        protocol_type: &group.protocol_type,
        assigner: group.protocol.as_deref(),
        coordinator: Broker { id: node.id.0, host: &node.host, port: node.port },
        plan,
        members: Members(&group.members),
    }
}

fn member(member: &MemberDescription) -> Member<'_> {
    let subscription = member.subscription.read();
    let words = subscription.and_then(|subscription| subscription.words.as_ref());
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Member {
        instance_id: member.group_instance_id.as_deref(),
        member_id: member.member_id.as_str(),
        client_id: &member.client_id,
        host: &member.client_host,
        rack: subscription.and_then(|subscription| subscription.rack.as_deref()),
        process: words.and_then(|words| words.process.as_deref()),
        session_timeout_ms: words.and_then(|words| words.session_timeout).map(millis),
        rebalance_timeout_ms: words.and_then(|words| words.rebalance_timeout).map(millis),
        subscribes: subscription.map(|subscription| Topics(&subscription.topics)),
        pattern: subscription.and_then(|subscription| subscription.pattern.as_deref()),
        owned: subscription.map(|subscription| ByTopic(&subscription.owned)),
        metadata: subscription.and_then(|subscription| told(subscription.metadata.as_ref()?)),
        partitions: member.partitions().map(ByTopic),
        unread: unread(member),
    }
}

/// Topics' names.
struct Topics<'a>(&'a [Arc<str>]);

impl Serialize for Topics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|topic| &**topic))
    }
}

/// Numbers by topic.
struct ByTopic<'a>(&'a Partitions);

impl Serialize for ByTopic<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.by_topic().map(|(topic, numbers)| (&**topic, numbers)))
    }
}

/// What an assigner reads in what a member told.
fn told(metadata: &MemberMetadata) -> Option<Value> {
    serde_json::from_str(metadata.shown.as_ref()?.as_ref().ok()?).ok()
}

/// The bytes that are told in no other field.
fn unread(member: &MemberDescription) -> BTreeMap<&'static str, String> {
    let mut unread = BTreeMap::new();
    match &member.subscription {
        Content::Read(subscription) => {
            let metadata = subscription.metadata.as_ref();
            let told_nowhere = metadata.filter(|metadata| {
                !matches!(metadata.shown, Some(Ok(_))) && !metadata.bytes.is_empty()
            });
            if let Some(metadata) = told_nowhere {
                unread.insert("metadata", hex(&metadata.bytes));
            }
            let foreign = subscription.words.is_none() && metadata.is_none();
            if let Some(user_data) = subscription.user_data.as_deref().filter(|_| foreign) {
                unread.insert("subscription_user_data", hex(user_data));
            }
        }
        Content::Foreign(bytes) | Content::Unreadable { bytes, .. } => {
            unread.insert("subscription", hex(bytes));
        }
        Content::Nothing => {}
    }
    match &member.assignment {
        Content::Read(assignment) => {
            let foreign = assignment.words.is_none();
            if let Some(user_data) = assignment.user_data.as_deref().filter(|_| foreign) {
                unread.insert("assignment_user_data", hex(user_data));
            }
        }
        Content::Foreign(bytes) | Content::Unreadable { bytes, .. } => {
            unread.insert("assignment", hex(bytes));
        }
        Content::Nothing => {}
    }
    unread
}
