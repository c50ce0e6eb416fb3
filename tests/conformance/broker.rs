//! The broker that a scenario plays against, and what it has said so far.

use std::fmt::Debug;
use std::time::Duration;

use kafka_group::testing::ErrorCode;
use kafka_protocol::messages::{
    DescribeClusterRequest, DescribeGroupsRequest, FindCoordinatorRequest, GroupId,
    ListGroupsRequest, OffsetFetchRequest, TopicName,
    offset_fetch_request::{
        OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    },
};
use kafka_protocol::protocol::{Request, StrBytes};

use crate::common::unique;
use crate::member::Member;
use crate::run::Side;
use crate::wire::{Connection, Sent, send};

/// The topic that offsets are committed for; it has two partitions.
pub(crate) const TOPIC: &str = "conformance";

/// A broker, a group on it, and the transcript.
#[derive(Debug)]
pub(crate) struct Broker {
    side: Side,
    /// The newest DescribeGroups that both brokers speak: before Kafka 4.0 there is no version 6.
    pub(crate) newest_describe: i16,
    /// The coordinator of the group.
    address: String,
    scenario: &'static str,
    /// The group that members speak of.
    pub(crate) group: String,
    /// Ids and what the transcript calls them.
    names: Vec<(String, String)>,
    transcript: Vec<String>,
}

/// A group as DescribeGroups tells it; members as `name=metadata/assignment`, by name.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Described {
    pub(crate) error: ErrorCode,
    pub(crate) state: String,
    pub(crate) protocol_type: String,
    pub(crate) protocol: String,
    pub(crate) members: Vec<String>,
}

impl Broker {
    pub(crate) async fn new(side: Side, newest_describe: i16, scenario: &'static str) -> Self {
        let (address, group) = (side.bootstrap(), String::new());
        let mut broker = Self {
            side,
            newest_describe,
            address,
            scenario,
            group,
            names: Vec::new(),
            transcript: Vec::new(),
        };
        broker.next_group().await;
        broker
    }

    /// From now on, another group.
    pub(crate) async fn next_group(&mut self) {
        let name = unique(&self.scenario[..self.scenario.len().min(40)]);
        self.use_group(name).await;
    }

    /// From now on, this group.
    pub(crate) async fn use_group(&mut self, name: String) {
        for _ in 0..300 {
            let request =
                FindCoordinatorRequest::default().with_key(StrBytes::from_string(name.clone()));
            let asked = send(&self.side.bootstrap(), "admin", 3, request);
            let Ok(found) = asked.try_answer().await else {
                self.pass(100).await;
                continue;
            };
            let address = format!("{}:{}", found.host, found.port);
            if found.error_code == 0 && is_loaded(&address, &name).await {
                (self.address, self.group) = (address, name);
                return;
            }
            self.pass(100).await;
        }
        panic!("{:?} coordinates no group", self.side);
    }

    /// The coordinator dies, and another (the same broker, come back) takes over.
    pub(crate) async fn fail_over(&self) {
        let side = self.side;
        tokio::task::spawn_blocking(move || side.fail_over()).await.expect("it comes back");
    }

    /// Someone who is not in the group yet.
    pub(crate) fn member(&self, name: &'static str) -> Member {
        Member::new(name)
    }

    /// All that was said, with names for ids: also for those that were seen before their members knew them.
    pub(crate) fn transcript(self) -> Vec<String> {
        self.transcript.iter().map(|line| self.plain(line)).collect()
    }

    /// A connection of its own.
    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(&self.address).await
    }

    pub(crate) fn send<R>(&self, client_id: &str, version: i16, request: R) -> Sent<R::Response>
    where
        R: Request + Send + 'static,
        R::Response: Send + 'static,
    {
        send(&self.address, client_id, version, request)
    }

    /// Writes down what was said.
    pub(crate) fn note(&mut self, who: &str, what: &str, said: &impl Debug) {
        self.transcript.push(format!("{who} {what}: {said:?}"));
    }

    /// A text with names for ids.
    pub(crate) fn plain(&self, text: &str) -> String {
        let text = match self.group.trim().is_empty() {
            true => text.to_owned(),
            false => text.replace(&self.group, "GROUP"),
        };
        self.names.iter().fold(text, |text, (id, name)| text.replace(id, name))
    }

    /// What the transcript calls an id that was given to a member.
    pub(crate) fn name_of(&mut self, id: &str, member: &str) -> String {
        if id.is_empty() || self.names.iter().any(|(known, _)| known == id) {
            return self.plain(id);
        }
        let earlier =
            self.names.iter().filter(|(_, name)| name.starts_with(&format!("{member}#"))).count();
        let name = format!("{member}#{}", earlier + 1);
        self.names.push((id.to_owned(), name.clone()));
        name
    }

    /// Time passes; for the few rules whose point it is.
    pub(crate) async fn pass(&self, milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    pub(crate) async fn describe(&mut self) -> Described {
        self.describe_in(5).await
    }

    pub(crate) async fn describe_in(&mut self, version: i16) -> Described {
        let groups = vec![group(&self.group)];
        let request = DescribeGroupsRequest::default().with_groups(groups);
        let answer = self.send("admin", version, request).answer().await;
        let group = answer.groups.into_iter().next().expect("one was asked for");
        let mut members: Vec<String> = group
            .members
            .iter()
            .map(|member| {
                let (metadata, part) =
                    (text(&member.member_metadata), text(&member.member_assignment));
                let host = &member.client_host;
                let instance = member.group_instance_id.as_deref().unwrap_or("-");
                self.plain(&format!("{} {instance} {host}={metadata}/{part}", member.member_id))
            })
            .collect();
        members.sort();
        let described = Described {
            error: group.error_code.into(),
            state: group.group_state.to_string(),
            protocol_type: group.protocol_type.to_string(),
            protocol: group.protocol_data.to_string(),
            members,
        };
        self.note("admin", &format!("describe v{version}"), &(&described, group.error_message));
        described
    }

    /// The group as ListGroups tells it, if it does: type, state.
    pub(crate) async fn list(&mut self, version: i16, states: &[&str]) -> Option<(String, String)> {
        let states =
            states.iter().map(|state| StrBytes::from_string((*state).to_owned())).collect();
        let request = ListGroupsRequest::default().with_states_filter(states);
        let answer = self.send("admin", version, request).answer().await;
        let group = answer.groups.iter().find(|group| group.group_id.as_str() == self.group);
        let listed =
            group.map(|group| (group.protocol_type.to_string(), group.group_state.to_string()));
        self.note(
            "admin",
            &format!("list v{version}"),
            &(&listed, group.map(|group| group.group_type.to_string())),
        );
        listed
    }

    /// What the one who asks may do to the cluster, as DescribeCluster tells it where it is asked for.
    pub(crate) async fn may(&mut self, version: i16, asked: bool) -> i32 {
        let request = DescribeClusterRequest::default();
        let request = request.with_include_cluster_authorized_operations(asked);
        let answer = self.send("admin", version, request).answer().await;
        let told = (answer.error_code, answer.cluster_authorized_operations);
        self.note("admin", &format!("cluster v{version}"), &told);
        told.1
    }

    /// Waits until there is a group. Kafka shows what it has committed to its log, which for a group without members is
    /// what others have written behind it.
    pub(crate) async fn until_listed(&self) {
        for _ in 0..500 {
            let answer = self.send("admin", 4, ListGroupsRequest::default()).answer().await;
            if answer.groups.iter().any(|group| group.group_id.as_str() == self.group) {
                return;
            }
            self.pass(10).await;
        }
        panic!("the group is not listed");
    }

    /// The offsets of these partitions, or of all that have one: partition, offset, metadata, error.
    pub(crate) async fn fetch(
        &mut self,
        version: i16,
        partitions: Option<&[i32]>,
    ) -> Vec<(i32, i64, String, i16)> {
        let topic = TopicName(StrBytes::from_static_str(TOPIC));
        let mut fetched: Vec<_> = if version >= 8 {
            let asked = partitions.map(|partitions| {
                let topic = OffsetFetchRequestTopics::default().with_name(topic);
                vec![topic.with_partition_indexes(partitions.to_vec())]
            });
            let group = OffsetFetchRequestGroup::default()
                .with_group_id(group(&self.group))
                .with_topics(asked);
            let request = OffsetFetchRequest::default()
                .with_groups(vec![group])
                .with_topics(Some(Vec::new()));
            let answer = self.send("admin", version, request).answer().await;
            self.note(
                "admin",
                "fetch",
                &answer.groups.iter().map(|group| group.error_code).collect::<Vec<_>>(),
            );
            let all = answer
                .groups
                .into_iter()
                .flat_map(|group| group.topics)
                .flat_map(|topic| topic.partitions);
            all.map(|it| (it.partition_index, it.committed_offset, it.metadata, it.error_code))
                .collect()
        } else {
            let asked = partitions.map(|partitions| {
                let topic = OffsetFetchRequestTopic::default().with_name(topic);
                vec![topic.with_partition_indexes(partitions.to_vec())]
            });
            let request =
                OffsetFetchRequest::default().with_group_id(group(&self.group)).with_topics(asked);
            let answer = self.send("admin", version, request).answer().await;
            self.note("admin", "fetch", &answer.error_code);
            let all = answer.topics.into_iter().flat_map(|topic| topic.partitions);
            all.map(|it| (it.partition_index, it.committed_offset, it.metadata, it.error_code))
                .collect()
        };
        fetched.sort();
        let fetched: Vec<_> = fetched
            .into_iter()
            .map(|(partition, offset, metadata, error)| {
                (partition, offset, metadata.as_deref().unwrap_or("null").to_owned(), error)
            })
            .collect();
        self.note("admin", &format!("fetch v{version}"), &fetched);
        fetched
    }
}

/// Whether the coordinator has read what it must know of the group.
async fn is_loaded(address: &str, name: &str) -> bool {
    let request = DescribeGroupsRequest::default().with_groups(vec![group(name)]);
    let described = send(address, "admin", 5, request).try_answer().await;
    described.is_ok_and(|described| described.groups.iter().all(|group| group.error_code == 0))
}

/// A group's id as the encoder wants it.
pub(crate) fn group(id: &str) -> GroupId {
    GroupId(StrBytes::from_string(id.to_owned()))
}

/// Bytes as a test reads them.
pub(crate) fn text(bytes: &[u8]) -> String {
    match bytes.len() {
        0..100 => bytes.escape_ascii().to_string(),
        length => format!("{length} bytes"),
    }
}
