//! One group with members of other clients, each leading and following.

use super::*;
use crate::subscription::dialect::{Claim, Dialect};
use crate::subscription::envelope::Prior;
use crate::subscription::members::ReadMember;
use crate::subscription::reading::Reading;

#[test]
fn whoever_sent_no_envelope_is_answered_with_null_and_not_with_zero_length() {
    let others = [("java", foreign(None)), ("rdk", foreign(Some(Bytes::new())))];
    let others = others.map(|(id, said)| (id, said.encode()));
    let mut members = [on_range("m1")];
    let ended = run(FIRST, &mut members, &others).unwrap();
    assert!(read(&ended.plan, "m1").user_data.is_some());
    for (id, _) in others {
        let bytes = assignment_of(&ended.plan, id);
        assert!(bytes.ends_with(&[0xff; 4]), "{id}: {bytes:?}");
    }
}

#[test]
fn everybody_has_an_entry_with_bytes_even_who_cannot_be_read() {
    let broken = ("broken", Bytes::from_static(&[0xff, 0xff]));
    let mut members = [on_range("m1")];
    let ended = run(FIRST, &mut members, &[broken]).unwrap();
    assert_eq!(read(&ended.plan, "broken"), Assignment::default());
    assert!(!assignment_of(&ended.plan, "broken").is_empty());
    assert_eq!(ended.changes["m1"].add.len(), 4);
    let reported = |notice: &ConsumerNotice| matches!(notice, ConsumerNotice::UnreadableMembers(members) if members[0].0.as_str() == "broken");
    assert!(ended.changes["m1"].notices.iter().any(reported));
}

#[test]
fn under_our_own_name_everybody_gets_an_envelope() {
    let mut members = [on_custom("m1", Custom::default())];
    let round = Round { protocol: "custom", ..FIRST };
    let ended = run(round, &mut members, &[("f", foreign(None).encode())]).unwrap();
    assert_eq!(down(&ended.plan, "f").group_size, 2);
}

#[test]
fn librdkafka_as_leader_hands_back_what_we_said_and_is_known_for_a_stranger() {
    let mut member = on_range("m1");
    let said = Subscription::decode(member.says("range").metadata).unwrap();
    let echo = Assignment { partitions: set(&[("a", 1)]), user_data: said.user_data };
    let change = member.joined(&Round { leader: "rdk", ..FIRST }, echo.encode());
    assert_eq!(change.add, set(&[("a", 1)]));
    assert_eq!((change.rejoin, change.heartbeat_interval), (None, None));
    assert_eq!((change.notices, member.protocol.last_plan()), (vec![], None));
}

#[test]
fn a_stale_envelope_that_sarama_carries_on_means_nothing() {
    let stale = Down {
        generation: Generation(3),
        failure: Some(Default::default()),
        planned_on: Some(1),
        group_size: 1000,
        ..Down::default()
    };
    // To our leader, in Sarama's subscription.
    let mut members = [on_range("m1")];
    let sarama = ("sarama", foreign(Some(stale.encode())).encode());
    let ended = run(FIRST, &mut members, &[sarama]).unwrap();
    assert_eq!(read(&ended.plan, "sarama").user_data, None, "null cures it");
    assert_eq!(read(&ended.plan, "sarama").partitions.len(), 2);

    // To us, in an assignment of another leader's.
    let mut member = on_range("m1");
    member.describe();
    let carried = Assignment { partitions: set(&[("a", 0)]), user_data: Some(stale.encode()) };
    let change = member.joined(&Round { leader: "rdk", generation: 9, ..FIRST }, carried.encode());
    assert_eq!((change.notices, change.rejoin, change.heartbeat_interval), (vec![], None, None));
}

#[test]
fn what_is_not_subscribed_to_is_not_taken_and_complained_of_once() {
    let mut member = on_range("m1");
    member.describe();
    let given = Assignment { partitions: set(&[("a", 0), ("old", 1)]), user_data: None };
    let change = member.joined(&Round { leader: "java", ..FIRST }, given.encode());
    assert_eq!(change.add, set(&[("a", 0)]));
    assert_eq!(change.notices, [ConsumerNotice::Unwanted(set(&[("old", 1)]))]);
    assert_eq!(change.rejoin, at_once(Cause::UnwantedAssignment));

    member.describe();
    let change = member.joined(&Round { leader: "java", generation: 2, ..FIRST }, given.encode());
    assert_eq!(change.rejoin, None);
}

#[test]
fn what_a_cooperative_member_still_holds_is_not_given_away() {
    let mut members = [on_range("m1")];
    let holds = Subscription {
        owned: (&set(&[("a", 0), ("a", 1), ("a", 2), ("a", 3)])).into(),
        generation: Generation(4),
        ..foreign(None)
    };
    // "a-java" is before "m1", so range gives it 0 and 1; 2 and 3 wait until it has let go.
    let round = Round { generation: 5, ..FIRST };
    let ended = run(round, &mut members, &[("a-java", holds.encode())]).unwrap();
    assert_eq!(read(&ended.plan, "a-java").partitions, set(&[("a", 0), ("a", 1)]));
    assert_eq!(ended.changes["m1"].add, Partitions::new());

    let let_go = Subscription {
        owned: (&set(&[("a", 0), ("a", 1)])).into(),
        generation: Generation(5),
        ..holds
    };
    let ended = run(Round { generation: 6, ..FIRST }, &mut members, &[("a-java", let_go.encode())])
        .unwrap();
    assert_eq!(ended.changes["m1"].add, set(&[("a", 2), ("a", 3)]));
}

#[test]
fn every_captured_subscription_can_be_led() {
    let blobs: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../../tests/data/wire/blobs.json")).unwrap();
    let said = blobs.iter().filter(|blob| blob["kind"] == "subscription");
    for blob in said {
        let text = blob["hex"].as_str().unwrap();
        let mut member = Member::new("m1", options(topics(&["orders"]), range()));
        member.protocol.cluster_changed(&cluster(&[("orders", 3), ("payments", 2)]), 0.0);
        let ended = run(FIRST, &mut [member], &[("other", hex(text))]).unwrap();
        let given = read(&ended.plan, "other").partitions.len() + ended.changes["m1"].add.len();
        let held = blob["decoded"]["owned"].as_object().is_some_and(|owned| !owned.is_empty());
        let both = blob["decoded"]["topics"].as_array().unwrap().len() == 2;
        assert!(held || given == if both { 5 } else { 3 }, "{blob}: {given}");
        assert_eq!(read(&ended.plan, "other").user_data, None, "{blob}");
    }
}

#[test]
fn what_every_captured_sticky_member_claims_is_read() {
    let blobs: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../../tests/data/wire/blobs.json")).unwrap();
    for blob in blobs.iter().filter(|blob| blob["kind"] == "subscription") {
        let decoded = &blob["decoded"];
        let (dialect, said) = match blob["assigner"].as_str() {
            Some("cooperative-sticky") => (Dialect::CooperativeSticky, decoded),
            Some("sticky") => (Dialect::Sticky, &decoded["sticky"]),
            _ => continue,
        };
        let owned = if dialect == Dialect::Sticky { &said["assignment"] } else { &said["owned"] };
        // Sarama's older subscriptions have their generation in the user data alone.
        let generations = [&said["generation"], &decoded["sticky"]["generation"]];
        let generation = generations.into_iter().find_map(serde_json::Value::as_i64).unwrap_or(-1);
        let generation = Generation(generation.try_into().unwrap());

        let metadata = hex(blob["hex"].as_str().unwrap());
        let member =
            LedMember { member_id: MemberId::new("other"), group_instance_id: None, metadata };
        let expected = match (partitions_of(owned), dialect) {
            (none, _) if none.is_empty() => Claim::Nothing,
            (held, Dialect::CooperativeSticky) => Claim::Held((&held).into(), generation),
            (had, _) => Claim::Prior(Prior { generation, partitions: (&had).into() }),
        };
        assert_eq!(
            ReadMember::read(&member, dialect, &mut Reading::default()).claim,
            expected,
            "{blob}"
        );
    }
}

fn partitions_of(owned: &serde_json::Value) -> Partitions {
    let topics = owned.as_object().into_iter().flatten();
    let numbers = |numbers: &serde_json::Value| -> Vec<i32> {
        numbers.as_array().unwrap().iter().map(|it| it.as_i64().unwrap() as i32).collect()
    };
    topics
        .flat_map(|(topic, all)| numbers(all).into_iter().map(move |it| (topic.clone(), it)))
        .collect()
}

#[test]
fn every_captured_assignment_can_be_taken() {
    let blobs: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../../tests/data/wire/blobs.json")).unwrap();
    for blob in blobs.iter().filter(|blob| blob["kind"] == "assignment") {
        let mut member = Member::new("m1", options(topics(&["orders", "payments"]), range()));
        member.describe();
        let bytes = hex(blob["hex"].as_str().unwrap());
        let given = Assignment::decode(bytes.clone()).unwrap().partitions;
        let change = member.joined(&Round { leader: "other", ..FIRST }, bytes);
        assert_eq!((change.add, change.rejoin), (given, None), "{blob}");
    }
}
