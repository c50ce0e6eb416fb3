//! What a member says of itself.

use super::*;
use crate::types::PartitionRanges;

fn up(said: &LedMember) -> Up {
    let subscription = Subscription::decode(said.metadata.clone()).unwrap();
    Up::decode(&subscription.user_data.unwrap()).unwrap()
}

#[test]
fn under_kafkas_name_a_member_speaks_kafkas_layout_with_an_envelope_inside() {
    let mut member = Member::new("m1", options(topics(&["b", "a"]), range()));
    let said = member.says("range");
    let subscription = Subscription::decode(said.metadata.clone()).unwrap();
    assert_eq!(*subscription.topics, ["a".into(), "b".into()]);
    assert_eq!(
        (&subscription.owned, subscription.generation),
        (&PartitionRanges::default(), Generation::NONE)
    );
    assert_eq!(*up(&said).counts.0, [("a".into(), 4), ("b".into(), 2)].into());
}

#[test]
fn equal_members_say_equal_bytes_and_another_nonce_changes_them() {
    let mut member = on_range("m1");
    let first = member.says("range").metadata;
    assert_eq!(member.says("range").metadata, first);
    member.nonce += 1;
    assert_ne!(member.says("range").metadata, first);
}

#[test]
fn an_eager_member_remembers_what_it_gave_up_and_when_it_had_it() {
    let mut members = [on_range("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    let said = members[0].says("range");
    assert!(members[0].held.is_empty(), "everything was given up");
    let prior = up(&said).prior.unwrap();
    assert_eq!(prior.generation, Generation(1));
    assert_eq!(
        prior.partitions.within(|_| Some(4)),
        set(&[("a", 0), ("a", 1), ("a", 2), ("a", 3)])
    );
    assert_eq!(Subscription::decode(said.metadata).unwrap().generation, Generation(1));
}

#[test]
fn a_round_that_fails_leaves_the_claim_and_its_generation_as_they_were() {
    let mut members = [on_range("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    // JoinGroup was answered for generation 2, SyncGroup was not.
    let first = members[0].says("range");
    assert_eq!(up(&first).prior, up(&members[0].says("range")).prior);
}

#[test]
fn a_member_that_was_thrown_out_claims_nothing() {
    let mut members = [on_range("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members[0].generation = Generation::NONE;
    assert_eq!(up(&members[0].says("range")).prior, None);
}

#[test]
fn metadata_that_panics_keeps_the_last_good_value_and_is_told_of() {
    let mut members = [on_custom("m1", Custom::default())];
    let round = Round { protocol: "custom", ..FIRST };
    run(round, &mut members, &[]).unwrap();
    let good = up(&members[0].says("custom")).payload;

    // A panic in every call from now on; what was said before is still known.
    let broken = Custom { says: || panic!("no disk"), ..Custom::default() };
    let mut options = (*members[0].protocol.options).clone();
    options.assigners = vec![ErasedAssigner::new(broken).unwrap()];
    members[0].protocol.options = Arc::new(options);
    let ended = run(Round { generation: 2, ..round }, &mut members, &[]).unwrap();
    assert_eq!(up(&members[0].says("custom")).payload, good);
    let told = |notice: &ConsumerNotice| matches!(notice, ConsumerNotice::MetadataFailed { message, .. } if message.contains("no disk"));
    assert!(ended.changes["m1"].notices.iter().any(told), "{:?}", ended.changes["m1"].notices);
}

#[test]
fn metadata_that_never_succeeded_is_missing_and_stops_nobody() {
    let broken = Custom { says: || panic!("no disk"), ..Custom::default() };
    let mut members = [on_custom("m1", broken), on_custom("m2", Custom::default())];
    let ended = run(Round { protocol: "custom", ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m1"].add.len(), 2);
}

/// `T = Bytes`, as for an assigner in another language.
struct Raw;

impl PartitionAssigner<Bytes> for Raw {
    fn name(&self) -> &str {
        "raw"
    }

    fn metadata(&self, _local: &LocalMember<'_>) -> Bytes {
        Bytes::from_static(b"\x01\x02")
    }

    fn assign(&self, group: &GroupSubscription<Bytes>) -> Result<GroupAssignment, AssignError> {
        Ok(deal(group))
    }

    fn codec(&self) -> crate::assign::MetadataCodec {
        crate::assign::MetadataCodec::Raw
    }
}

#[test]
fn raw_metadata_has_no_envelope_and_a_nonce_becomes_a_name_that_stays() {
    let raw = || Member::new("m1", options(topics(&["a"]), ErasedAssigner::new(Raw).unwrap()));
    let mut members = [raw()];
    let round = Round { protocol: "raw", ..FIRST };
    let user_data = Subscription::decode(members[0].says("raw").metadata).unwrap().user_data;
    assert_eq!(user_data, Some(Bytes::from_static(b"\x01\x02")));
    run(round, &mut members, &[]).unwrap();
    assert_eq!(members[0].describe().len(), 1, "no name before one is needed");

    members[0].nonce = 9;
    let said = members[0].describe();
    let names: Vec<&str> = said.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["raw", "rejoin-m1-9"]);
    run(Round { generation: 2, ..round }, &mut members, &[]).unwrap();
    assert_eq!(members[0].describe()[1].0, "rejoin-m1-9", "taking it away would cost a round");
}

#[test]
fn a_raw_member_was_planned_on_the_bytes_that_it_said() {
    let raw = || Member::new("m1", options(topics(&["a"]), ErasedAssigner::new(Raw).unwrap()));
    let ended = run(Round { protocol: "raw", ..FIRST }, &mut [raw()], &[]).unwrap();
    assert_eq!(ended.changes["m1"].rejoin, None);
    assert_eq!(ended.changes["m1"].add.len(), 4);
}

#[test]
fn where_migration_is_allowed_nothing_keeps_the_new_protocol_out() {
    let migrating = |id| {
        let mut options = options(topics(&["a"]), range());
        options.allow_migration = true;
        Member::new(id, options)
    };
    let mut members = [migrating("m1"), migrating("m2")];
    let said = Subscription::decode(members[0].says("range").metadata).unwrap();
    assert_eq!(said.user_data, None, "librdkafka would copy it into an assignment");
    let ended = run(FIRST, &mut members, &[("rdk", foreign(None).encode())]).unwrap();
    for id in ["m1", "m2", "rdk"] {
        assert_eq!(read(&ended.plan, id).user_data, None, "{id}");
    }
}

#[test]
fn a_leader_that_allows_migration_answers_nobodys_envelope() {
    let mut options = options(topics(&["a"]), ErasedAssigner::new(Custom::default()).unwrap());
    options.allow_migration = true;
    let mut members = [Member::new("m1", options), on_custom("m2", Custom::default())];
    let ended = run(Round { protocol: "custom", ..FIRST }, &mut members, &[]).unwrap();
    for id in ["m1", "m2"] {
        assert_eq!(read(&ended.plan, id).user_data, None, "{id}");
        assert_eq!(ended.changes[id].add.len(), 2, "{id}");
    }
}
