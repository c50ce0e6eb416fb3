//! Several assigners as one.

mod composed;

use std::time::Duration;

use super::*;
use crate::assign::TopicInput;
use crate::assign::build::{MemberInput, ModelBuilder};
use crate::assign::erased::{MetadataPayload, read_told};
use crate::assign::error::MetadataError;
use crate::assign::free::Free;
use crate::assign::{
    AssignFailure, CoPartitionAssigner, RoundRobinAssigner, StickyAssigner, keep_claims, run_assign,
};
use crate::types::{Generation, MemberId};

/// Gives everything to whoever told the greatest value, and tells everybody what was read.
struct Greatest<T> {
    name: &'static str,
    value: T,
    codec: MetadataCodec,
    protocols: Vec<RebalanceProtocol>,
}

impl<T> Greatest<T> {
    fn new(name: &'static str, value: T) -> Self {
        let protocols = vec![RebalanceProtocol::Eager, RebalanceProtocol::Cooperative];
        Self { name, value, codec: MetadataCodec::preferred(), protocols }
    }
}

impl<T> PartitionAssigner<T> for Greatest<T>
where
    T: Serialize + DeserializeOwned + Send + Sync + Clone + Ord + fmt::Debug + 'static,
{
    fn name(&self) -> &str {
        self.name
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> T {
        self.value.clone()
    }

    fn assign(&self, group: &GroupSubscription<T>) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        let greatest = group.members().max_by_key(|member| member.metadata().ok());
        for (member, partition) in greatest.into_iter().cycle().zip(group.partitions()) {
            plan.give(member, partition);
        }
        for member in group.members() {
            plan.tell(member, &format!("{:?}", member.metadata()));
        }
        Ok(plan)
    }

    fn codec(&self) -> MetadataCodec {
        self.codec
    }

    fn protocols(&self) -> &[RebalanceProtocol] {
        &self.protocols
    }
}

/// Gives each partition to two.
struct Twice;

impl PartitionAssigner for Twice {
    fn name(&self) -> &str {
        "twice"
    }

    fn metadata(&self, _local: &LocalMember<'_>) {}

    fn assign(&self, group: &GroupSubscription) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        for partition in group.partitions() {
            group.members().take(2).for_each(|member| plan.give(member, partition));
        }
        Ok(plan)
    }

    fn coverage(&self) -> Coverage {
        Coverage::Copies(2)
    }
}

fn sticky() -> PerTopicAssigner {
    PerTopicAssigner::new(StickyAssigner::default()).unwrap()
}

fn free(
    assign: fn(&GroupSubscription) -> Result<GroupAssignment, AssignError>,
) -> PerTopicAssigner {
    sticky().topics(["y"], Free(assign)).unwrap()
}

fn numbers(value: u32) -> Greatest<u32> {
    Greatest::new("numbers", value)
}

fn words(value: &str) -> Greatest<String> {
    Greatest::new("words", value.to_owned())
}

/// Two members with topics x and y of two partitions each, as their assigners describe them; the first one plans.
fn run(members: [PerTopicAssigner; 2]) -> Result<GroupAssignment, AssignFailure> {
    let members = members.map(|member| ErasedAssigner::new(member).unwrap());
    let told =
        members.each_ref().map(|member| member.describe(&LocalMember::new("group")).unwrap());
    run_told(&members[0], told.map(Ok))
}

fn run_told(
    leader: &ErasedAssigner,
    told: [Result<MetadataPayload, MetadataError>; 2],
) -> Result<GroupAssignment, AssignFailure> {
    let mut group = ModelBuilder::new("group", Generation(1), MemberId::new("a"));
    for topic in ["x", "y"] {
        group.topics.insert(topic.into(), TopicInput::new(2));
    }
    for (told, id) in told.into_iter().zip(["a", "b"]) {
        let topics = vec!["x".into(), "y".into(), "ghost".into()];
        group.members.push(MemberInput::new(MemberId::new(id), topics, told));
    }
    let (model, told) = group.build();
    run_assign(leader, &Arc::new(model), &told, None)
}

fn failure(assigner: PerTopicAssigner) -> String {
    run([assigner, sticky()]).unwrap_err().to_string()
}

/// What a member reads, asking for a text.
fn told(plan: &GroupAssignment, member: u32) -> Result<String, MetadataError> {
    let told = plan.told(member).unwrap();
    read_told(told.codec.id(), &told.bytes)
}

#[test]
fn each_topic_is_planned_by_the_first_rule_that_matches() {
    let group = GroupSubscription::builder().topic("m.x", 2).topic("m.y", 2).topic("z", 3);
    let topics = ["m.x", "m.y", "z", "w"];
    let assigner = PerTopicAssigner::new(RoundRobinAssigner::default()).unwrap();
    let assigner = assigner.topics(["m.y"], numbers(0)).unwrap();
    let assigner = assigner.pattern(r"^m\.", CoPartitionAssigner::default()).unwrap();
    let assigner = assigner.topics(["m.x", "w"], words("")).unwrap();
    let parts = assigner.metadata(&LocalMember::new("group"));
    let group = group.topic("w", 1).member("a", topics, parts.clone()).member("b", topics, parts);
    let plan = assigner.assign(&group.build()).unwrap();
    let expected =
        r#"{"a": {"m.x": [0], "z": [0, 2]}, "b": {"m.x": [1], "m.y": [0, 1], "w": [0], "z": [1]}}"#;
    assert_eq!(format!("{plan:?}"), expected);
}

#[test]
fn parts_tell_values_of_different_types_with_different_codecs() {
    let member = |number, word| {
        let numbers = Greatest { codec: MetadataCodec::Json, ..numbers(number) };
        sticky().topics(["x"], numbers).unwrap().topics(["y"], words(word)).unwrap()
    };
    let plan = run([member(9, "a"), member(3, "b")]).unwrap();
    assert_eq!(format!("{plan:?}"), r#"{"a": {"x": [0, 1]}, "b": {"y": [0, 1]}}"#);
}

#[test]
fn what_members_say_is_in_the_form_of_parts() {
    let assigner = sticky().topics(["x"], numbers(7)).unwrap().topics(["y"], words("w")).unwrap();
    let assigner = ErasedAssigner::new(assigner.topics(["z"], numbers(8)).unwrap()).unwrap();
    let told = assigner.describe(&LocalMember::new("group")).unwrap();
    assert_eq!((told.codec, told.version), (4, 0));
    let codec = MetadataCodec::preferred();
    let mut expected = Vec::new();
    for (name, place, bytes) in [
        ("numbers", 0, codec.encode(&7_u32).unwrap()),
        ("words", 0, codec.encode(&"w".to_owned()).unwrap()),
        ("numbers", 1, codec.encode(&8_u32).unwrap()),
    ] {
        let head = [name.len() as u8].into_iter().chain(name.bytes()).chain([place, codec.id()]);
        expected.extend(head.chain([0, 0, bytes.len() as u8]).chain(bytes));
    }
    assert_eq!(told.bytes, expected);
    let silent = ErasedAssigner::new(sticky()).unwrap();
    assert_eq!(silent.describe(&LocalMember::new("group")).unwrap().bytes, b""[..]);
}

#[test]
fn one_unreadable_value_is_that_parts_and_that_members_trouble_alone() {
    let member = || sticky().topics(["x"], numbers(7)).unwrap().topics(["y"], words("w")).unwrap();
    let leader = ErasedAssigner::new(member()).unwrap();
    let good = leader.describe(&LocalMember::new("group")).unwrap();
    let mut parts = Parts::decode(&good.bytes).unwrap();
    let broken = MetadataPayload { codec: 9, version: 0, bytes: Default::default() };
    let intact = parts.payload(PartKey { name: "words", place: 0 }).unwrap();
    parts = Parts::default();
    parts.say(PartKey { name: "numbers", place: 0 }, broken);
    parts.say(PartKey { name: "words", place: 0 }, intact);
    let bytes = parts.encode().unwrap().into();
    let told = [Ok(good), Ok(MetadataPayload { codec: 4, version: 0, bytes })];
    let plan = run_told(&leader, told).unwrap();
    let parts = Parts::decode(&plan.told(1).unwrap().bytes).unwrap();
    let read = |name| parts.of::<String>(name).unwrap().unwrap();
    assert_eq!(read("numbers"), "Err(OtherCodec { codec: 9 })");
    assert_eq!(read("words"), r#"Ok("w")"#);
}

#[test]
fn a_member_that_says_nothing_readable_says_nothing_to_any_part() {
    let member = || sticky().topics(["x"], numbers(7)).unwrap();
    let leader = ErasedAssigner::new(member()).unwrap();
    let told = leader.describe(&LocalMember::new("group")).unwrap();
    let cut = MetadataPayload { bytes: told.bytes.slice(..5), ..told.clone() };
    let plan = run_told(&leader, [Ok(told), Ok(cut)]).unwrap();
    assert_eq!(told_of(&plan), ["Ok(7)", "Err(TooShort)"]);
}

fn told_of(plan: &GroupAssignment) -> [String; 2] {
    [0, 1].map(|member| told(plan, member).unwrap())
}

#[test]
fn rules_change_member_by_member_whoever_leads() {
    let old = || sticky().topics(["x"], numbers(7)).unwrap();
    let new = || old().topics(["y"], words("w")).unwrap();
    let by_old = run([old(), new()]).unwrap();
    assert_eq!(told_of(&by_old), ["Ok(7)", "Ok(7)"]);
    let by_new = run([new(), old()]).unwrap();
    let of_old = Parts::decode(&by_new.told(1).unwrap().bytes).unwrap();
    assert_eq!(of_old.of::<String>("numbers").unwrap().unwrap(), "Ok(7)");
    assert_eq!(of_old.of::<String>("words").unwrap().unwrap(), "Err(Missing)");
    assert_eq!(of_old.of::<String>("sticky"), None);
}

#[test]
fn words_of_one_part_are_read_at_once_and_those_of_several_by_name() {
    let plan = run([sticky().topics(["x"], numbers(7)).unwrap(), sticky()]).unwrap();
    assert_eq!(told(&plan, 0), Ok("Ok(7)".to_owned()));
    let both = || sticky().topics(["x"], numbers(7)).unwrap().topics(["y"], words("w")).unwrap();
    let plan = run([both(), both()]).unwrap();
    assert!(matches!(told(&plan, 0), Err(MetadataError::Undecodable(_))));
    let told = plan.told(0).unwrap();
    let parts: Parts = read_told(told.codec.id(), &told.bytes).unwrap();
    assert_eq!(parts.of::<String>("words"), Some(Ok(r#"Ok("w")"#.to_owned())));
}

#[test]
fn an_error_of_a_part_is_the_wholes_with_its_name() {
    let error = failure(free(|_| Err(AssignError::other("not today"))));
    assert_eq!(error, "`free`: not today");
    let later = |_: &GroupSubscription| {
        Err(AssignError::KeepCurrent { retry_after: Duration::from_secs(7) })
    };
    assert!(matches!(
        run([free(later), sticky()]),
        Err(AssignFailure::Refused(AssignError::Part { error, .. }))
            if matches!(*error, AssignError::KeepCurrent { .. })
    ));
}

#[test]
fn a_panic_of_a_part_is_the_wholes_with_its_name() {
    let error = failure(free(|group| panic!("no idea of {group:?}")));
    assert!(error.starts_with("the assigner panicked: `free`: no idea of"), "{error}");
}

#[test]
fn a_part_gives_nothing_but_its_own_topics_and_all_of_them() {
    let foreign = |group: &GroupSubscription| {
        let mut plan = group.plan();
        plan.give_by_name("a", "x", 0);
        Ok(plan)
    };
    assert_eq!(failure(free(foreign)), "`free`: `x` is not a topic of this part");
    let nonsense = |group: &GroupSubscription| {
        let mut plan = group.plan();
        plan.give_by_name("nobody", "y", 0);
        Ok(plan)
    };
    assert_eq!(failure(free(nonsense)), "`free`: no member `nobody` in the group");
    let other = |_: &GroupSubscription| Ok(GroupSubscription::<()>::builder().build().plan());
    let said = "`free`: it holds members or partitions of another group";
    assert_eq!(failure(free(other)), said);
    let said = "invalid plan: y-0 goes to 0 of 1 members, and so do 1 other partitions";
    assert_eq!(failure(free(|group| Ok(group.plan()))), said);
}

#[test]
fn a_part_sees_its_own_topics_missing_ones_included() {
    let sees = |group: &GroupSubscription| {
        let topics: Vec<&str> = group.topics().map(|topic| topic.name()).collect();
        let missing: Vec<&str> = group.missing_topics().iter().map(|topic| &*topic.name).collect();
        Err(AssignError::other(format!("{topics:?}, missing {missing:?}")))
    };
    let with = |topics: &[&'static str]| {
        failure(sticky().topics(topics.iter().copied(), Free(sees)).unwrap())
    };
    assert_eq!(with(&["y"]), r#"`free`: ["y"], missing []"#);
    assert_eq!(with(&["x", "ghost"]), r#"`free`: ["x"], missing ["ghost"]"#);
    assert_eq!(with(&["ghost"]), r#"`free`: [], missing ["ghost"]"#);
}

#[test]
fn a_part_without_topics_is_not_asked() {
    let assigner = sticky().topics(["other"], Free(|_| panic!("asked"))).unwrap();
    assert!(run([assigner, sticky()]).is_ok());
}

#[test]
fn the_earliest_round_that_a_part_wants_is_wanted() {
    let assigner = PerTopicAssigner::new(Free(|group| waits(group, 9))).unwrap();
    let assigner = assigner.topics(["x"], Free(|group| waits(group, 4))).unwrap();
    let plan = run([assigner, sticky()]).unwrap();
    assert_eq!(plan.wanted_rebalance(), Some(Duration::from_secs(4)));
}

fn waits(group: &GroupSubscription, seconds: u64) -> Result<GroupAssignment, AssignError> {
    let mut plan = RoundRobinAssigner::default().assign(group)?;
    plan.rebalance_after(Duration::from_secs(seconds));
    Ok(plan)
}

#[test]
fn what_cannot_be_a_part_is_said_at_once() {
    let error = sticky().pattern("(", numbers(0)).unwrap_err();
    assert!(error.to_string().starts_with("pattern `(`: "), "{error}");
    let error = sticky().topics(["x"], Greatest::new("range", 0_u32)).unwrap_err();
    assert_eq!(error, UnfitAssigner::KafkasName { name: "range".to_owned() });
    let mut many = sticky();
    for _ in 0..255 {
        many = many.topics(["x"], RoundRobinAssigner::default()).unwrap();
    }
    let error = many.topics(["x"], RoundRobinAssigner::default()).unwrap_err();
    assert_eq!(error, UnfitAssigner::TooManyParts);
}
