//! Several assigners under one name, through the bytes of a round.

use super::*;
use crate::assign::{CoPartitionAssigner, MetadataCodec, Parts, PerTopicAssigner, read_told};

const ROUND: Round<'static> = Round { generation: 1, leader: "m1", protocol: "per-topic" };

/// Deals, and tells each member a text.
struct Greets(&'static str);

impl PartitionAssigner<String> for Greets {
    fn name(&self) -> &str {
        self.0
    }

    fn metadata(&self, local: &LocalMember<'_>) -> String {
        format!("{:?}", local.topics)
    }

    fn assign(&self, group: &GroupSubscription<String>) -> Result<GroupAssignment, AssignError> {
        let mut plan = deal(group);
        for member in group.members() {
            plan.tell(member, &member.metadata().map_or_else(ToString::to_string, Clone::clone));
        }
        Ok(plan)
    }

    fn codec(&self) -> MetadataCodec {
        MetadataCodec::Bincode
    }
}

fn joined() -> PerTopicAssigner {
    PerTopicAssigner::new(CoPartitionAssigner::default()).unwrap()
}

fn member(id: &'static str, assigner: PerTopicAssigner) -> Member {
    Member::new(id, options(topics(&["a", "b"]), ErasedAssigner::new(assigner).unwrap()))
}

#[test]
fn what_parts_say_goes_up_and_what_they_tell_comes_down() {
    let both = || joined().topics(["a"], Greets("one")).unwrap();
    let both = || both().topics(["b"], Greets("other")).unwrap();
    let ended = run(ROUND, &mut [member("m1", both()), member("m2", both())], &[]).unwrap();
    let told = down(&ended.plan, "m2").told.unwrap();
    let parts: Parts = read_told(told.codec, &told.bytes).unwrap();
    let said = ["one", "other"].map(|name| parts.of::<String>(name).unwrap().unwrap());
    assert_eq!(said, [r#"["a"]"#, r#"["b"]"#]);
    assert_eq!(ended.changes["m1"].add.len() + ended.changes["m2"].add.len(), 6);
}

#[test]
fn members_that_differ_in_their_rules_are_planned_for_by_the_leaders() {
    let with_part = || joined().topics(["a"], Greets("one")).unwrap();
    for (leads, follows, said) in
        [(with_part(), joined(), "none was sent"), (with_part(), with_part(), r#"["a"]"#)]
    {
        let mut members = [member("m1", leads), member("m2", follows)];
        let ended = run(ROUND, &mut members, &[]).unwrap();
        let told = down(&ended.plan, "m2").told.unwrap();
        assert_eq!(read_told(told.codec, &told.bytes), Ok(said.to_owned()));
        assert!(ended.changes.values().all(|change| change.rejoin.is_none()));
    }
    let mut members = [member("m1", joined()), member("m2", with_part())];
    let ended = run(ROUND, &mut members, &[]).unwrap();
    assert_eq!(down(&ended.plan, "m2").told, None);
    assert_eq!(ended.changes["m2"].add.len(), 3);
}

#[test]
fn a_part_that_fails_keeps_the_whole_group_as_it_was_and_is_named() {
    let strict = CoPartitionAssigner::default().strict();
    let assigner = || joined().topics(["a", "b"], strict.clone()).unwrap();
    let mut members = [member("m1", assigner()), member("m2", assigner())];
    let ended = run(ROUND, &mut members, &[]).unwrap();
    let failure = down(&ended.plan, "m2").failure.unwrap();
    let said =
        "`co-partition`: topics that belong together differ in their partition counts: a=4, b=2";
    assert_eq!((failure.code, &*failure.message), (1, said));
}
