//! Bytes that nobody should have written.

use proptest::prelude::*;

use super::*;

fn nasty() -> impl Strategy<Value = Bytes> {
    let byte = prop_oneof![Just(0), Just(1), Just(3), Just(b'a'), Just(0xf5), any::<u8>()];
    prop::collection::vec(byte, 0..120).prop_map(Bytes::from)
}

/// A subscription with nonsense in one of its parts.
fn nasty_subscription() -> impl Strategy<Value = Bytes> {
    let subscription = (
        prop::collection::vec("[ab]{0,2}", 0..4),
        prop::option::of(nasty_envelope()),
        prop::collection::vec(("[ab]{0,2}", -2..2000_i32), 0..6),
        any::<i32>(),
    );
    let valid = subscription.prop_map(|(topics, user_data, owned, generation)| {
        Subscription {
            topics: topics.iter().map(|topic| topic.as_str().into()).collect(),
            user_data,
            owned: owned.into_iter().collect(),
            generation: Generation(generation),
            rack: None,
        }
        .encode()
    });
    prop_oneof![nasty(), valid]
}

fn nasty_envelope() -> impl Strategy<Value = Bytes> {
    let magic =
        prop_oneof![Just(&b"\xf5KG\x01\x01"[..]), Just(&b"\xf5KG\x02\x01"[..]), Just(&b""[..])];
    (magic, nasty()).prop_map(|(magic, rest)| Bytes::from([magic, &rest].concat()))
}

fn gibibyte(magic: &str) -> Bytes {
    hex(&format!("{magic} 01 01 8080808004 00"))
}

proptest! {
    #[test]
    fn whatever_members_say_everybody_gets_a_part(
        said in prop::collection::vec(nasty_subscription(), 1..4),
        protocol in prop_oneof![Just("range"), Just("custom")],
    ) {
        let ids = ["x0", "x1", "x2", "x3"];
        let foreign: Vec<_> = ids.into_iter().zip(said).collect();
        let mut members = match protocol {
            "range" => [on_range("m1")],
            _ => [on_custom("m1", Custom::default())],
        };
        let ended = run(Round { protocol, ..FIRST }, &mut members, &foreign).unwrap();
        prop_assert_eq!(ended.plan.assignments.len(), foreign.len() + 1);
        prop_assert!(ended.plan.assignments.iter().all(|(_, bytes)| !bytes.is_empty()));
        prop_assert_eq!(&ended.changes["m1"].rejoin, &None);
    }

    #[test]
    fn whatever_a_leader_says_a_member_takes_only_what_it_wants(
        garbage in nasty(),
        user_data in nasty_envelope(),
        given in prop::collection::vec(("[ab]{1,2}", 0..2000_i32), 0..6),
    ) {
        let given = Assignment { partitions: given.into_iter().collect(), user_data: Some(user_data) };
        for assignment in [garbage, given.encode()] {
            let mut member = on_range("m1");
            member.describe();
            let change = member.joined(&Round { leader: "other", ..FIRST }, assignment);
            prop_assert!(change.add.by_topic().all(|(topic, _)| &**topic == "a"));
        }
    }
}

#[test]
fn a_gibibyte_announced_by_one_member_costs_nobody_anything() {
    for user_data in [gibibyte("f54b4701"), hex("40000000"), hex("f54b4701 01 02 05 8080808004")] {
        let said = foreign(Some(user_data)).encode();
        let ended = run(FIRST, &mut [on_range("m1")], &[("big", said)]).unwrap();
        assert_eq!(read(&ended.plan, "big").partitions.len(), 2);
    }
    let assignment =
        Assignment { partitions: set(&[("a", 0)]), user_data: Some(gibibyte("f54b4702")) };
    let mut member = on_range("m1");
    member.describe();
    let change = member.joined(&Round { leader: "other", ..FIRST }, assignment.encode());
    assert_eq!(change.add, set(&[("a", 0)]));
}
