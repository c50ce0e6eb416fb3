//! Assigners without their types: what they say and read, and what becomes of their faults.

use serde::Deserialize;

use super::*;
use crate::assign::TopicInput;
use crate::assign::build::{MemberInput, ModelBuilder};
use crate::assign::{AssignFailure, RangeAssigner, RoundRobinAssigner, run_assign};
use crate::types::{Generation, MemberId};

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Capacity {
    threads: u32,
}

/// Gives everything to whoever told the most, and answers with what was told.
#[derive(Clone)]
struct Largest {
    name: &'static str,
    version: u16,
    codec: MetadataCodec,
}

impl Default for Largest {
    fn default() -> Self {
        Self { name: "largest", version: 0, codec: MetadataCodec::Bincode }
    }
}

impl PartitionAssigner<Capacity> for Largest {
    fn name(&self) -> &str {
        self.name
    }

    fn metadata(&self, local: &LocalMember<'_>) -> Capacity {
        assert!(local.cpus > 0, "no CPU at all");
        Capacity { threads: local.cpus as u32 }
    }

    fn assign(&self, group: &GroupSubscription<Capacity>) -> Result<GroupAssignment, AssignError> {
        let mut plan = group.plan();
        let largest =
            group.members().max_by_key(|member| member.metadata().map_or(0, |told| told.threads));
        for (member, partition) in largest.into_iter().cycle().zip(group.partitions()) {
            plan.give(member, partition);
        }
        for member in group.members() {
            plan.tell(member, &member.metadata().ok());
        }
        Ok(plan)
    }

    fn version(&self) -> u16 {
        self.version
    }

    fn codec(&self) -> MetadataCodec {
        self.codec
    }
}

fn payload(assigner: &ErasedAssigner, cpus: usize) -> MetadataPayload {
    assigner.describe(&LocalMember { cpus, ..LocalMember::new("group") }).unwrap()
}

type Column = Vec<Result<MetadataPayload, MetadataError>>;

fn group_of(told: Column) -> (Arc<Model>, Column) {
    let mut group = ModelBuilder::new("group", Generation(1), MemberId::new("m0"));
    group.topics.insert("t".into(), TopicInput::new(2));
    for (told, number) in told.into_iter().zip(0..) {
        group.members.push(MemberInput::new(
            MemberId::new(format!("m{number}")),
            vec!["t".into()],
            told,
        ));
    }
    let (model, column) = group.build();
    (Arc::new(model), column)
}

fn plan(assigner: &ErasedAssigner, told: Column) -> Result<GroupAssignment, AssignFailure> {
    let (model, column) = group_of(told);
    run_assign(assigner, &model, &column, None)
}

#[test]
fn assigners_of_different_types_stand_side_by_side() {
    let largest = ErasedAssigner::new(Largest::default()).unwrap();
    let assigners = [largest, ErasedAssigner::new(RangeAssigner::default()).unwrap()];
    let told = || vec![Ok(payload(&assigners[0], 1)), Ok(payload(&assigners[0], 9))];
    let loads = assigners.each_ref().map(|assigner| {
        let plan = plan(assigner, told()).unwrap();
        plan.by_name().values().map(crate::types::Partitions::len).collect::<Vec<_>>()
    });
    assert_eq!(loads, [vec![0, 2], vec![1, 1]]);
}

#[test]
fn what_is_told_goes_up_and_comes_down_typed() {
    let assigner = ErasedAssigner::new(Largest::default()).unwrap();
    let plan = plan(&assigner, vec![Ok(payload(&assigner, 3))]).unwrap();
    let told = plan.told(0).unwrap();
    assert_eq!(read_told(told.codec.id(), &told.bytes), Ok(Some(Capacity { threads: 3 })));
    assert_eq!(read_told::<u8>(9, &told.bytes), Err(MetadataError::OtherCodec { codec: 9 }));
}

#[test]
fn one_unreadable_member_stops_nobody() {
    let assigner = ErasedAssigner::new(Largest::default()).unwrap();
    let garbage = MetadataPayload { bytes: Bytes::from_static(&[0xfd]), ..payload(&assigner, 1) };
    let plan =
        plan(&assigner, vec![Err(MetadataError::Missing), Ok(garbage), Ok(payload(&assigner, 2))]);
    assert_eq!(plan.unwrap().by_name()["m2"].len(), 2);
}

#[test]
fn a_rolling_change_of_codec_reads_both() {
    let [bincode, json] = [MetadataCodec::Bincode, MetadataCodec::Json]
        .map(|codec| ErasedAssigner::new(Largest { codec, ..Largest::default() }).unwrap());
    for leader in [&bincode, &json] {
        let plan = plan(leader, vec![Ok(payload(&bincode, 1)), Ok(payload(&json, 2))]).unwrap();
        assert_eq!(plan.by_name()["m1"].len(), 2);
    }
}

#[test]
fn metadata_is_shown_as_json() {
    let assigner = ErasedAssigner::new(Largest::default()).unwrap();
    assert_eq!(assigner.show(&payload(&assigner, 5)), Ok(r#"{"threads":5}"#.to_owned()));
    let range = ErasedAssigner::new(RangeAssigner::default()).unwrap();
    assert_eq!(range.show(&payload(&range, 5)), Ok("null".to_owned()));
}

#[test]
fn a_panic_while_describing_is_said_and_contained() {
    let assigner = ErasedAssigner::new(Largest::default()).unwrap();
    let described = assigner.describe(&LocalMember { cpus: 0, ..LocalMember::new("group") });
    assert_eq!(described, Err(DescribeError::Panicked("no CPU at all".to_owned())));
}

#[test]
fn kafkas_names_are_for_kafkas_assigners() {
    let unfit = |name| ErasedAssigner::new(Largest { name, ..Largest::default() }).err();
    for name in ["range", "roundrobin", "sticky", "cooperative-sticky"] {
        assert_eq!(unfit(name), Some(UnfitAssigner::KafkasName { name: name.to_owned() }));
    }
    assert_eq!(unfit(""), Some(UnfitAssigner::NoName));
    assert_eq!(unfit("Range"), None);
    assert!(ErasedAssigner::new(RoundRobinAssigner).is_ok());
}

#[test]
fn raw_metadata_is_bytes() {
    let raw = Largest { codec: MetadataCodec::Raw, ..Largest::default() };
    let error = CodecError::RawNeedsBytes;
    let unfit = UnfitAssigner::Codec { name: "largest".to_owned(), error };
    assert_eq!(ErasedAssigner::new(raw).err(), Some(unfit));
}
