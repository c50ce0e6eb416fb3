//! A group that lives as a file, to be planned for without its cluster.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use serde_json::value::Value;

use crate::admin::{GroupDescription, MemberDescription};
use crate::assign::MemberInput;
use crate::types::{Cluster, PartitionRanges, Topic};

#[derive(Serialize)]
struct Form<'a> {
    name: &'a str,
    /// For whoever reads the file.
    note: String,
    topics: BTreeMap<&'a str, TopicForm<'a>>,
    members: BTreeMap<&'a str, MemberForm<'a>>,
}

#[derive(Serialize)]
struct TopicForm<'a> {
    partitions: usize,
    /// By partition, the leader's first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    racks: Vec<Vec<&'a str>>,
}

#[derive(Serialize)]
struct MemberForm<'a> {
    subscribes: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a str>,
    generation: i32,
    owned: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    stands_by: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
}

/// The text of the file. What members told their leader is in it where their assigner is known here.
pub(super) fn text(group: &GroupDescription, cluster: &Cluster) -> String {
    let inputs = group.to_plan(true);
    let wanted = |topic: &&Topic| {
        let wants = |input: &MemberInput<_>| input.topics.contains(topic.name());
        topic.error().is_none() && inputs.iter().any(wants)
    };
    let topics = cluster.topics().filter(wanted);
    let members = group.members.iter().zip(&inputs);
    let assigner = group.protocol.as_deref().unwrap_or_default();
    let form = Form {
        name: &group.group_id,
        note: format!("{}, planned by {assigner}", group.state),
        topics: topics.map(|it| (&**it.name(), topic(it, cluster))).collect(),
        members: members.map(|(told, input)| (input.id.as_str(), member(told, input))).collect(),
    };
    // Texts, numbers and lists of them can always be written.
    let mut text = serde_json::to_string_pretty(&form).unwrap_or_default();
    text.push('\n');
    text
}

fn topic<'a>(topic: &Topic, cluster: &'a Cluster) -> TopicForm<'a> {
    let rack = |node| cluster.node(node).and_then(|node| node.rack.as_deref());
    let racks = topic.partitions().iter().map(|partition| {
        let leader = partition.leader();
        let others = partition.replicas().iter().copied().filter(|node| Some(*node) != leader);
        leader.into_iter().chain(others).filter_map(rack).collect()
    });
    let racks: Vec<Vec<&str>> = racks.collect();
    let known = racks.iter().any(|racks| !racks.is_empty());
    TopicForm { partitions: topic.partition_count(), racks: if known { racks } else { Vec::new() } }
}

fn member<'a, C>(told: &'a MemberDescription, input: &'a MemberInput<C>) -> MemberForm<'a> {
    let subscription = told.subscription.read();
    let metadata = subscription.and_then(|subscription| subscription.metadata.as_ref());
    let shown = metadata.and_then(|metadata| metadata.shown.as_ref()?.as_ref().ok());
    MemberForm {
        subscribes: input.topics.iter().map(|topic| &**topic).collect(),
        instance: input.instance_id.as_deref(),
        rack: input.rack.as_deref(),
        process: input.process.as_deref(),
        generation: input.generation.0,
        owned: ranges(&input.claims),
        stands_by: ranges(&input.standbys),
        metadata: shown.and_then(|json| serde_json::from_str(json).ok()),
    }
}

/// Numbers as in `0-4,7`.
fn ranges(claims: &PartitionRanges) -> BTreeMap<&str, String> {
    let text = |range: &Range<u32>| match range.end - 1 {
        last if last == range.start => last.to_string(),
        last => format!("{}-{last}", range.start),
    };
    let words = |ranges: &[Range<u32>]| ranges.iter().map(text).collect::<Vec<_>>().join(",");
    claims.by_topic().map(|(topic, ranges)| (&**topic, words(ranges))).collect()
}
