//! The group as an assigner sees it: one model without types, and a column of what each member told.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::codec::MetadataCodec;
use super::error::{AssignError, MetadataError};
use super::index::{MemberIndex, PartitionIndex};
use super::model::Model;
use super::plan::GroupAssignment;
use super::refs::{MemberRef, PartitionRef, Subscribers, TopicRef};
use crate::types::{Generation, MemberId};

/// What the leader's `Gather` brought.
pub(crate) type Gathered = Option<Arc<dyn Any + Send + Sync>>;

/// Everything that a plan may depend on.
///
/// Members are in Kafka's order (static ones by instance id, then the others by member id), topics by name,
/// partitions by number: equal groups give equal plans. Cheap to clone.
///
/// In a test: [`GroupSubscription::builder`](Self::builder).
pub struct GroupSubscription<T = ()> {
    pub(super) model: Arc<Model>,
    /// Which topics this view shows; all where there is none.
    pub(super) mask: Option<Arc<[bool]>>,
    /// The missing topics that it shows; all where there is none.
    pub(super) missing: Option<Arc<[MissingTopic]>>,
    pub(super) column: Arc<[Result<T, MetadataError>]>,
    pub(super) gathered: Gathered,
    /// How the plan's words to members are written.
    pub(super) codec: MetadataCodec,
}

impl<T> GroupSubscription<T> {
    pub(crate) fn new(
        model: Arc<Model>,
        column: Arc<[Result<T, MetadataError>]>,
        gathered: Gathered,
        codec: MetadataCodec,
    ) -> Self {
        Self { model, mask: None, missing: None, column, gathered, codec }
    }

    /// Kafka: `group.id`.
    pub fn group_id(&self) -> &str {
        self.model.group_id()
    }

    /// The generation that is planned for.
    pub fn generation(&self) -> Generation {
        self.model.generation()
    }

    /// An empty plan of this group.
    pub fn plan(&self) -> GroupAssignment {
        GroupAssignment::new(Arc::clone(&self.model), self.codec)
    }

    /// The members, static ones by instance id, then the others by member id.
    pub fn members(&self) -> impl ExactSizeIterator<Item = MemberRef<'_, T>> + Clone {
        (0..self.model.members().len() as u32).map(|index| self.member_at(index))
    }

    /// The member that runs the assigner.
    ///
    /// None in a group that was built without one.
    pub fn leader(&self) -> Option<MemberRef<'_, T>> {
        self.model.leader.map(|index| self.member_at(index))
    }

    /// A member by its index; none if the index is another group's.
    pub fn member(&self, index: impl Into<MemberIndex>) -> Option<MemberRef<'_, T>> {
        self.model.own_member(index.into()).map(|index| self.member_at(index))
    }

    /// The topics that exist and that somebody subscribes to or the group was built with, by name.
    pub fn topics(&self) -> impl Iterator<Item = TopicRef<'_>> + Clone {
        let shown = (0..self.model.topics().len() as u32).filter(|topic| self.shows(*topic));
        shown.filter_map(|topic| TopicRef::at(&self.model, topic))
    }

    /// A topic by name; none if it does not exist or is not in this view.
    pub fn topic(&self, name: &str) -> Option<TopicRef<'_>> {
        let topic = self.model.topic_index(name).filter(|topic| self.shows(*topic))?;
        TopicRef::at(&self.model, topic)
    }

    /// The partitions of all topics, by topic and number.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionRef<'_>> + Clone {
        self.topics().flat_map(TopicRef::partitions)
    }

    /// A partition by its index; none if the index is another group's.
    pub fn partition(&self, index: impl Into<PartitionIndex>) -> Option<PartitionRef<'_>> {
        let partition = self.model.own_partition(index.into())?;
        let topic = self.model.topic_of(partition);
        Some(PartitionRef { topic: TopicRef::at(&self.model, topic)?, index: partition })
    }

    /// A partition by its place; none if there are not so many.
    #[cfg(feature = "cli")]
    pub(crate) fn partition_at(&self, place: u32) -> Option<PartitionRef<'_>> {
        self.partition(PartitionIndex { stamp: self.model.stamp(), index: place })
    }

    /// The members that subscribe to a topic, in order.
    pub fn subscribers<'g>(&'g self, topic: &str) -> Subscribers<'g, T> {
        let topic = self.model.topic_index(topic).filter(|topic| self.shows(*topic));
        let members = topic.map_or(&[][..], |topic| self.model.subscribers(topic));
        Subscribers { group: self, members: members.iter() }
    }

    /// Who validly had a partition before this round and still subscribes to its topic.
    ///
    /// The claim of the highest generation counts; of two claims of one generation neither does.
    pub fn owner(&self, partition: impl Into<PartitionIndex>) -> Option<MemberRef<'_, T>> {
        let owner = self.model.owner(self.model.own_partition(partition.into())?);
        ((owner as usize) < self.model.members().len()).then(|| self.member_at(owner))
    }

    /// The topics that members subscribe to and that do not exist, by name.
    ///
    /// No plan can hold them; whether that matters is the assigner's choice
    /// ([`AssignError::MissingTopics`]).
    pub fn missing_topics(&self) -> &[MissingTopic] {
        self.missing.as_deref().unwrap_or_else(|| self.model.missing_topics())
    }

    /// What the leader's `Gather` brought; none without one, after its failure, or if it brought another type.
    pub fn gathered<G: Any + Send + Sync>(&self) -> Option<&G> {
        self.gathered.as_ref()?.downcast_ref()
    }

    /// Every member with its metadata, or the first error: for an assigner that makes no plan without all.
    pub fn require_metadata(&self) -> Result<Vec<(MemberRef<'_, T>, &T)>, AssignError> {
        let required = |member: MemberRef<'_, T>| AssignError::Metadata {
            member: member.id().to_owned(),
            error: member.metadata().err().cloned().unwrap_or(MetadataError::Missing),
        };
        self.members()
            .map(|member| {
                self.metadata_at(member.index)
                    .map(|told| (member, told))
                    .map_err(|_| required(member))
            })
            .collect()
    }

    /// The same group with only some of its topics: for an assigner composed of others.
    ///
    /// Its plan is one of the whole group, so parts can be given into one plan.
    pub fn only(&self, keep: impl Fn(TopicRef<'_>) -> bool) -> Self {
        let keeps =
            |topic| self.shows(topic) && TopicRef::at(&self.model, topic).is_some_and(&keep);
        let mask = (0..self.model.topics().len() as u32).map(keeps).collect();
        Self { mask: Some(mask), ..self.clone() }
    }

    /// The same with only some topics, existing or missing.
    pub(super) fn within(self, scope: Scope) -> Self {
        Self { mask: Some(scope.mask), missing: Some(scope.missing), ..self }
    }

    #[cfg(test)]
    pub(crate) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    pub(super) fn shows(&self, topic: u32) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.get(topic as usize).copied().unwrap_or(false))
    }

    pub(super) fn member_at(&self, index: u32) -> MemberRef<'_, T> {
        MemberRef { group: self, index }
    }

    pub(super) fn metadata_at(&self, index: u32) -> Result<&T, &MetadataError> {
        self.column.get(index as usize).map_or(Err(&MetadataError::Missing), Result::as_ref)
    }
}

#[cfg(any(feature = "cli", feature = "test-util"))]
impl GroupSubscription {
    /// A group as an assigner sees it that is told nothing by anybody.
    pub(crate) fn untold(model: &Arc<Model>) -> Self {
        let nothing = model.members().iter().map(|_| Ok(())).collect();
        Self::new(Arc::clone(model), nothing, None, MetadataCodec::preferred())
    }
}

impl<T> Clone for GroupSubscription<T> {
    fn clone(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            mask: self.mask.clone(),
            missing: self.missing.clone(),
            column: Arc::clone(&self.column),
            gathered: self.gathered.clone(),
            codec: self.codec,
        }
    }
}

impl<T> fmt::Debug for GroupSubscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupSubscription")
            .field("group_id", &self.group_id())
            .field("generation", &self.generation())
            .field("members", &self.model.members().len())
            .field("topics", &self.model.topics().len())
            .field("partitions", &self.model.partition_count())
            .finish_non_exhaustive()
    }
}

/// Some of a group's topics.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    mask: Arc<[bool]>,
    missing: Arc<[MissingTopic]>,
}

impl Scope {
    /// Says of each topic whether it is in the scope, and which missing ones are.
    pub(super) fn new(
        mask: impl IntoIterator<Item = bool>,
        missing: impl IntoIterator<Item = MissingTopic>,
    ) -> Self {
        Self { mask: mask.into_iter().collect(), missing: missing.into_iter().collect() }
    }

    pub(super) fn shows(&self, topic: u32) -> bool {
        self.mask.get(topic as usize).copied().unwrap_or(false)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.missing.is_empty() && !self.mask.contains(&true)
    }
}

/// A topic that somebody subscribes to and that does not exist.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct MissingTopic {
    /// Its name.
    pub name: Arc<str>,
    /// Who subscribes to it.
    pub members: Vec<MemberId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assign::GroupSubscriptionBuilder;

    fn group() -> GroupSubscriptionBuilder<u8> {
        GroupSubscription::builder().topic("x", 2).topic("y", 1).topic("z", 0)
    }

    fn ids<'a, T: 'a>(members: impl IntoIterator<Item = MemberRef<'a, T>>) -> Vec<&'a str> {
        members.into_iter().map(MemberRef::id).collect()
    }

    #[test]
    fn members_stand_in_kafkas_order_with_static_ones_first() {
        let group = group().member("b", ["x"], 1).member("z", ["x"], 2).instance_id("p1");
        let group =
            group.member("a", ["x"], 3).member("y", ["x"], 4).instance_id("p0").leader("a").build();
        assert_eq!(ids(group.members()), ["y", "z", "a", "b"]);
        assert_eq!(
            group.members().map(|member| *member.metadata().unwrap()).collect::<Vec<_>>(),
            [4, 2, 3, 1]
        );
        assert_eq!(group.leader().map(MemberRef::id), Some("a"));
    }

    #[test]
    fn partitions_know_where_they_live() {
        let group = group().broker(7, Some("r7")).topic("x", 2).replicas([[7, 8], [8, 7]]).build();
        let x = group.topic("x").unwrap();
        let [first, second] = [0, 1].map(|number| x.partition(number).unwrap());
        assert_eq!(first.leader().and_then(|node| node.rack.as_deref()), Some("r7"));
        assert_eq!(second.replicas().map(|node| node.id.0).collect::<Vec<_>>(), [8, 7]);
        assert_eq!(group.topic("y").unwrap().partition(0).unwrap().leader(), None);
        assert_eq!(x.partition(2), None);
    }

    #[test]
    fn a_view_of_some_topics_shows_nothing_of_the_others_and_plans_for_the_whole_group() {
        let group = group().member("a", ["x", "y"], 1).build();
        let part = group.only(|topic| topic.name() == "y");
        assert_eq!(format!("{:?}", part.partitions().collect::<Vec<_>>()), "[y-0]");
        assert_eq!(part.subscribers("x").len(), 0);
        assert!(part.topic("x").is_none());
        let mut plan = group.plan();
        plan.give(part.members().next().unwrap(), part.partitions().next().unwrap());
        assert_eq!(format!("{plan:?}"), r#"{"a": {"y": [0]}}"#);
        assert_eq!(part.only(|topic| topic.name() == "x").topics().count(), 0);
    }

    #[test]
    fn topics_that_do_not_exist_are_reported_with_who_wants_them() {
        let group =
            group().member("a", ["x", "ghost", "ghost"], 1).member("b", ["ghost", ""], 2).build();
        let missing =
            group.missing_topics().iter().map(|topic| (&*topic.name, topic.members.len()));
        assert_eq!(missing.collect::<Vec<_>>(), [("", 1), ("ghost", 2)]);
        assert_eq!(
            group.members().map(|member| member.topics().count()).collect::<Vec<_>>(),
            [1, 0]
        );
    }

    #[test]
    fn valid_claims_are_those_of_the_highest_generation() {
        let group = group().member("a", ["x"], 1).owns([("x", 0), ("x", 1), ("x", 9), ("y", 0)], 4);
        let group = group.member("b", ["x"], 2).owned_before([("x", 1)], 5).build();
        let owned = |member: MemberRef<'_, u8>| format!("{:?}", member.owned().collect::<Vec<_>>());
        assert_eq!(group.members().map(owned).collect::<Vec<_>>(), ["[x-0]", "[x-1]"]);
        let owner = |partition| group.owner(partition).map(MemberRef::id);
        assert_eq!(group.partitions().map(owner).collect::<Vec<_>>(), [Some("a"), Some("b"), None]);
        assert_eq!(group.model().dropped_claims(), 1);
    }

    #[test]
    fn metadata_can_be_required() {
        let group = group()
            .member("a", ["x"], 1)
            .member("b", ["x"], 2)
            .undecodable("b", MetadataError::TooShort);
        let error = group.build().require_metadata().unwrap_err();
        assert_eq!(error.to_string(), "metadata of member `b`: cut short");
        let whole = self::group().member("a", ["x"], 1).build();
        assert_eq!(
            whole
                .require_metadata()
                .unwrap()
                .into_iter()
                .map(|(_, told)| *told)
                .collect::<Vec<_>>(),
            [1]
        );
    }

    #[test]
    fn what_was_gathered_comes_out_as_the_type_it_went_in() {
        let group = group().gathered(vec![1_i64]).build();
        assert_eq!(group.gathered::<Vec<i64>>(), Some(&vec![1]));
        assert_eq!(group.gathered::<String>(), None);
    }

    #[test]
    fn an_index_finds_its_way_back_in_its_own_group_only() {
        let (here, there) =
            (group().member("a", ["x"], 1).build(), group().member("b", ["x"], 1).build());
        let (member, partition) =
            (here.members().next().unwrap(), here.partitions().last().unwrap());
        assert_eq!(here.member(member.index()).map(MemberRef::id), Some("a"));
        assert_eq!(format!("{:?}", here.partition(partition.index())), "Some(y-0)");
        assert!(there.member(member).is_none());
        assert!(there.partition(partition).is_none());
        assert!(there.owner(partition).is_none());
    }
}
