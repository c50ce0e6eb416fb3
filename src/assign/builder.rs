//! A group from nothing: for the tests of an assigner.

use std::any::Any;
use std::sync::Arc;

use super::build::{MemberInput, ModelBuilder};
use super::codec::MetadataCodec;
use super::error::MetadataError;
use super::layout::TopicInput;
use super::view::GroupSubscription;
use crate::types::{Generation, MemberId, Node, NodeId};

/// Builds the group that an assigner's test plans for.
///
/// Topics and members come first; what says more about one follows it and means the last one named.
///
/// ```
/// use kafka_group::assign::{AssignError, GroupSubscription, PartitionAssigner, RangeAssigner};
///
/// let group = GroupSubscription::builder()
///     .topic("orders", 3)
///     .member("a", ["orders"], ()).instance_id("pod-1").owns([("orders", 0)], 7)
///     .member("b", ["orders"], ()).instance_id("pod-0")
///     .build();
/// let plan = RangeAssigner::default().assign(&group)?;
/// assert_eq!(plan.by_name()["b"].len(), 2);
/// # Ok::<(), AssignError>(())
/// ```
#[derive(Debug)]
pub struct GroupSubscriptionBuilder<T> {
    group: ModelBuilder<Result<T, MetadataError>>,
    last_topic: Option<Arc<str>>,
    gathered: Option<Arc<dyn Any + Send + Sync>>,
}

impl<T> GroupSubscription<T> {
    /// Begins a group for a test.
    pub fn builder() -> GroupSubscriptionBuilder<T> {
        GroupSubscriptionBuilder {
            group: ModelBuilder::new("group", Generation(1), MemberId::default()),
            last_topic: None,
            gathered: None,
        }
    }
}

impl<T> GroupSubscriptionBuilder<T> {
    /// A topic that exists.
    #[must_use]
    pub fn topic(mut self, name: impl Into<Arc<str>>, partitions: u32) -> Self {
        let name = name.into();
        self.group.topics.insert(Arc::clone(&name), TopicInput::new(partitions));
        self.last_topic = Some(name);
        self
    }

    /// Where the last topic's partitions live: for each from 0 on its brokers, the leader first.
    #[must_use]
    pub fn replicas<P>(mut self, partitions: impl IntoIterator<Item = P>) -> Self
    where
        P: IntoIterator<Item = i32>,
    {
        for brokers in partitions {
            let brokers: Vec<NodeId> = brokers.into_iter().map(NodeId).collect();
            self.describe_partition(&brokers);
        }
        self
    }

    /// In which racks the last topic's partitions live: for each from 0 on, the leader's first.
    ///
    /// A broker in each of these racks is made up.
    #[must_use]
    pub fn racks<P, R>(mut self, partitions: impl IntoIterator<Item = P>) -> Self
    where
        P: IntoIterator<Item = R>,
        R: Into<Arc<str>>,
    {
        for racks in partitions {
            let brokers: Vec<NodeId> =
                racks.into_iter().map(|rack| self.broker_in(rack.into())).collect();
            self.describe_partition(&brokers);
        }
        self
    }

    /// A broker with its rack, for [`replicas`](Self::replicas).
    #[must_use]
    pub fn broker(mut self, id: i32, rack: Option<&str>) -> Self {
        self.add_node(NodeId(id), rack.map(Arc::from));
        self
    }

    /// A member, the topics that it subscribes to and what it tells the leader.
    #[must_use]
    pub fn member<N: Into<Arc<str>>>(
        mut self,
        id: impl Into<Arc<str>>,
        topics: impl IntoIterator<Item = N>,
        metadata: T,
    ) -> Self {
        let topics: Vec<Arc<str>> = topics.into_iter().map(Into::into).collect();
        let mut member = MemberInput::new(MemberId::new(id), topics, Ok(metadata));
        // As where a leader reads them: lists that are equal are one.
        if let Some(last) = self.group.members.last().filter(|last| last.topics == member.topics) {
            member.topics = Arc::clone(&last.topics);
        }
        self.group.members.push(member);
        self
    }

    /// The last member's `group.instance.id`.
    #[must_use]
    pub fn instance_id(self, id: impl Into<Arc<str>>) -> Self {
        self.last_member(|member| member.instance_id = Some(id.into()))
    }

    /// The last member's `client.rack`.
    #[must_use]
    pub fn rack(self, rack: impl Into<Arc<str>>) -> Self {
        self.last_member(|member| member.rack = Some(rack.into()))
    }

    /// The last member's host and process: equal for all members of one process.
    #[must_use]
    pub fn process(self, host: &str, process: &str) -> Self {
        self.last_member(|member| member.process = Some(format!("{host}/{process}").into()))
    }

    /// What the last member holds and goes on with while the round runs, as in cooperative rounds.
    #[must_use]
    pub fn owns<N: Into<Arc<str>>>(
        self,
        claims: impl IntoIterator<Item = (N, i32)>,
        generation: i32,
    ) -> Self {
        self.last_member(|member| {
            member.claims = claims.into_iter().collect();
            member.generation = Generation(generation);
            member.holds = true;
        })
    }

    /// What the last member had and gave up before the round, as in eager rounds.
    #[must_use]
    pub fn owned_before<N: Into<Arc<str>>>(
        self,
        claims: impl IntoIterator<Item = (N, i32)>,
        generation: i32,
    ) -> Self {
        self.owns(claims, generation).last_member(|member| member.holds = false)
    }

    /// Of which of these partitions the last member had no more than a copy, another having the first one.
    #[must_use]
    pub fn standing_by<N: Into<Arc<str>>>(
        self,
        claims: impl IntoIterator<Item = (N, i32)>,
    ) -> Self {
        self.last_member(|member| {
            member.standbys = claims.into_iter().collect();
        })
    }

    /// The id of the member that runs the assigner.
    #[must_use]
    pub fn leader(mut self, id: impl Into<Arc<str>>) -> Self {
        self.group.leader = MemberId::new(id);
        self
    }

    /// Makes what a member told unreadable.
    #[must_use]
    pub fn undecodable(mut self, id: &str, error: MetadataError) -> Self {
        for member in self.group.members.iter_mut().filter(|member| member.id.as_str() == id) {
            member.column = Err(error.clone());
        }
        self
    }

    /// What `Gather` brought.
    #[must_use]
    pub fn gathered<G: Any + Send + Sync>(mut self, gathered: G) -> Self {
        self.gathered = Some(Arc::new(gathered));
        self
    }

    /// The group.
    pub fn build(self) -> GroupSubscription<T> {
        let (model, column) = self.group.build();
        GroupSubscription::new(
            Arc::new(model),
            column.into(),
            self.gathered,
            MetadataCodec::preferred(),
        )
    }

    fn last_member(
        mut self,
        change: impl FnOnce(&mut MemberInput<Result<T, MetadataError>>),
    ) -> Self {
        if let Some(member) = self.group.members.last_mut() {
            change(member);
        }
        self
    }

    fn describe_partition(&mut self, brokers: &[NodeId]) {
        for broker in brokers {
            if !self.group.nodes.contains_key(broker) {
                self.add_node(*broker, None);
            }
        }
        let topic = self.last_topic.as_ref().and_then(|topic| self.group.topics.get_mut(topic));
        if let Some(topic) = topic {
            topic.describe(brokers.first().copied(), brokers);
        }
    }

    fn broker_in(&mut self, rack: Arc<str>) -> NodeId {
        let known = self.group.nodes.values().find(|node| node.rack.as_ref() == Some(&rack));
        if let Some(node) = known {
            return node.id;
        }
        let id = NodeId(self.group.nodes.keys().last().map_or(1, |last| last.0.saturating_add(1)));
        self.add_node(id, Some(rack));
        id
    }

    fn add_node(&mut self, id: NodeId, rack: Option<Arc<str>>) {
        let host = format!("broker-{id}").into();
        self.group.nodes.insert(id, Node { id, host, port: 9092, rack });
    }
}
