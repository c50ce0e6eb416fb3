use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::subscription::hex;
use crate::subscription::sticky::{StickyClaim, decode_generation};

fn partitions(set: &[(&str, i32)]) -> Partitions {
    set.iter().copied().collect()
}

fn subscription() -> Subscription {
    Subscription {
        topics: ["bc".into(), "a".into(), "a".into()].into(),
        user_data: None,
        owned: (&partitions(&[("a", 2), ("a", 0)])).into(),
        generation: Generation(7),
        rack: Some("r1".into()),
    }
}

const TOPICS_OWNED: &str =
    "00000002 0001 61 0002 6263 ffffffff 00000001 0001 61 00000002 00000000 00000002";

#[test]
fn a_subscription_is_written_as_kafka_writes_version_3() {
    let expected = hex(&format!("0003 {TOPICS_OWNED} 00000007 0002 7231"));
    assert_eq!(subscription().encode(), expected);
}

#[test]
fn an_assignment_is_written_as_kafka_writes_version_3() {
    let mut assignment =
        Assignment { partitions: partitions(&[("a", 3), ("a", 1)]), user_data: Some(Bytes::new()) };
    let entries = "0003 00000001 0001 61 00000002 00000001 00000003";
    assert_eq!(assignment.encode(), hex(&format!("{entries} 00000000")));
    assignment.user_data = None;
    assert_eq!(assignment.encode(), hex(&format!("{entries} ffffffff")));
}

#[test]
fn an_empty_assignment_has_bytes() {
    assert_eq!(Assignment::default().encode(), hex("0003 00000000 ffffffff"));
}

#[test]
fn a_subscription_that_ends_early_lacks_what_was_to_follow() {
    let whole = Subscription { topics: ["a".into(), "bc".into()].into(), ..subscription() };
    let ungenerated = Subscription { generation: Generation::NONE, rack: None, ..whole.clone() };
    let unowned = Subscription { owned: PartitionRanges::default(), ..ungenerated.clone() };
    let topics = "00000002 0001 61 0002 6263 ffffffff";
    for (bytes, expected) in [
        (format!("0000 {topics}"), &unowned),
        (format!("0001 {topics}"), &unowned),
        (format!("0003 {topics}"), &unowned),
        (format!("0001 {TOPICS_OWNED}"), &ungenerated),
        (format!("0002 {TOPICS_OWNED}"), &ungenerated),
        (format!("0001 {TOPICS_OWNED} 00000007"), &ungenerated),
        (
            format!("0002 {TOPICS_OWNED} 00000007 0002 7231"),
            &Subscription { rack: None, ..whole.clone() },
        ),
        (
            format!("0003 {TOPICS_OWNED} 00000007 0000"),
            &Subscription { rack: None, ..whole.clone() },
        ),
        (format!("0003 {TOPICS_OWNED} 00000007 0002 7231 0000"), &whole),
        (format!("0009 {TOPICS_OWNED} 00000007 0002 7231 ffff"), &whole),
    ] {
        assert_eq!(Subscription::decode(hex(&bytes)).as_ref(), Ok(expected), "{bytes}");
    }
}

#[test]
fn what_is_cut_in_the_middle_of_a_field_is_refused() {
    let bytes = subscription().encode();
    // Where a field ends, the rest is taken as not sent.
    let ends = [17, 36, 40];
    for end in 0..bytes.len() {
        let read = Subscription::decode(bytes.slice(..end));
        assert_eq!(read.is_ok(), ends.contains(&end), "{end} bytes: {read:?}");
    }
}

#[test]
fn a_negative_version_is_refused() {
    let bytes = hex("ffff 00000000 ffffffff");
    assert_eq!(Subscription::decode(bytes.clone()), Err(ReadError::Version(-1)));
    assert_eq!(Assignment::decode(bytes), Err(ReadError::Version(-1)));
}

#[test]
fn counts_of_a_gibibyte_are_refused_before_anything_is_reserved() {
    for bytes in
        ["0003 40000000", "0003 00000000 40000000", "0003 00000001 0001 61 ffffffff 40000000"]
    {
        assert!(Subscription::decode(hex(bytes)).is_err(), "{bytes}");
    }
    for bytes in ["0003 40000000", "0003 00000001 0001 61 40000000", "0003 00000000 40000000"] {
        assert!(Assignment::decode(hex(bytes)).is_err(), "{bytes}");
    }
}

#[test]
fn entries_of_one_topic_are_merged() {
    let bytes = hex(
        "0000 00000003 0001 61 00000001 00000002 0001 62 00000000 0001 61 00000002 00000001 00000000",
    );
    let expected = partitions(&[("a", 0), ("a", 1), ("a", 2)]);
    assert_eq!(Assignment::decode(bytes).map(|read| read.partitions), Ok(expected));
}

#[test]
fn no_bytes_are_an_empty_assignment() {
    assert_eq!(Assignment::decode(Bytes::new()), Ok(Assignment::default()));
}

#[test]
fn every_captured_blob_reads_as_its_client_meant_it() {
    for blob in blobs() {
        let bytes = hex(text(&blob["hex"]));
        match text(&blob["kind"]) {
            "subscription" => check_subscription(&blob, bytes),
            _ => check_assignment(&blob, bytes),
        }
    }
}

fn check_subscription(blob: &Value, bytes: Bytes) {
    let decoded = &blob["decoded"];
    let read = Subscription::decode(bytes).unwrap_or_else(|error| panic!("{blob}: {error}"));
    let mut topics: Vec<&str> = decoded["topics"].as_array().unwrap().iter().map(text).collect();
    topics.sort_unstable();
    assert_eq!(read.topics.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), topics, "{blob}");
    assert_eq!(read.user_data, user_data(decoded), "{blob}");
    assert_eq!(read.owned, (&partitions_of(&decoded["owned"])).into(), "{blob}");
    assert_eq!(read.generation, generation_of(&decoded["generation"]), "{blob}");
    let rack = decoded["rack"].as_str().filter(|rack| !rack.is_empty() && *rack != "absent");
    assert_eq!(read.rack.as_deref(), rack, "{blob}");
    check_sticky(blob, read.user_data);
}

fn check_assignment(blob: &Value, bytes: Bytes) {
    let decoded = &blob["decoded"];
    let read = Assignment::decode(bytes).unwrap_or_else(|error| panic!("{blob}: {error}"));
    assert_eq!(read.partitions, partitions_of(&decoded["topics"]), "{blob}");
    assert_eq!(read.user_data, user_data(decoded), "{blob}");
    check_sticky(blob, read.user_data);
}

fn check_sticky(blob: &Value, user_data: Option<Bytes>) {
    let sticky = &blob["decoded"]["sticky"];
    let user_data = user_data.unwrap_or_default();
    let claim = StickyClaim::decode(&user_data);
    match sticky["layout"].as_str() {
        Some("generation only (int32)") => {
            let generation = generation_of(&sticky["generation"]);
            assert_eq!(decode_generation(&user_data), Some(generation), "{blob}");
            assert!(claim.is_none_or(|claim| claim.partitions.is_empty()), "{blob}");
        }
        Some(
            "assignment + generation"
            | "assignment only"
            | "int16 version, then assignment + generation",
        ) => {
            let partitions = partitions_of(&sticky["assignment"]);
            let generation = generation_of(&sticky["generation"]);
            assert_eq!(
                claim,
                Some(StickyClaim { partitions: (&partitions).into(), generation }),
                "{blob}"
            );
        }
        _ => assert_eq!(claim, None, "{blob}"),
    }
}

fn blobs() -> Vec<Value> {
    serde_json::from_str(include_str!("../../../tests/data/wire/blobs.json")).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn user_data(decoded: &Value) -> Option<Bytes> {
    decoded["user_data_hex"].as_str().map(hex).filter(|bytes| !bytes.is_empty())
}

fn partitions_of(topics: &Value) -> Partitions {
    let mut set = Partitions::new();
    for (topic, numbers) in topics.as_object().into_iter().flatten() {
        let numbers =
            numbers.as_array().unwrap().iter().map(|number| number.as_i64().unwrap() as i32);
        set.insert_all(&topic.as_str().into(), numbers);
    }
    set
}

fn generation_of(value: &Value) -> Generation {
    value.as_i64().map_or(Generation::NONE, |number| Generation(number as i32))
}

fn any_partitions() -> impl Strategy<Value = Partitions> {
    prop::collection::vec(("[a-c]{0,3}", 0..50_i32), 0..20)
        .prop_map(|set| set.into_iter().collect())
}

fn any_user_data() -> impl Strategy<Value = Option<Bytes>> {
    prop::option::of(prop::collection::vec(any::<u8>(), 1..40).prop_map(Bytes::from))
}

prop_compose! {
    fn any_subscription()(
        topics in prop::collection::btree_set("[a-z]{0,4}", 0..6),
        user_data in any_user_data(),
        owned in any_partitions(),
        generation in -1..i32::MAX,
        rack in prop::option::of("[a-z]{1,4}"),
    ) -> Subscription {
        Subscription {
            topics: topics.iter().map(|topic| topic.as_str().into()).collect(),
            user_data,
            owned: (&owned).into(),
            generation: Generation(generation),
            rack: rack.as_deref().map(Into::into),
        }
    }
}

proptest! {
    #[test]
    fn a_subscription_reads_back_as_it_was_written(subscription in any_subscription()) {
        prop_assert_eq!(Subscription::decode(subscription.encode()), Ok(subscription));
    }

    #[test]
    fn what_a_member_says_does_not_depend_on_who_was_read_before(
        few in prop::collection::vec(any_subscription(), 1..4),
        order in prop::collection::vec((any::<prop::sample::Index>(), any::<u16>()), 1..30),
    ) {
        let mut reading = Reading::default();
        for (one, end) in order {
            let whole = one.get(&few).encode();
            // Every second one is cut somewhere.
            let end = if end % 2 == 0 { whole.len() } else { usize::from(end) % whole.len() };
            let bytes = whole.slice(..end);
            prop_assert_eq!(
                Subscription::read(bytes.clone(), &mut reading),
                Subscription::decode(bytes)
            );
        }
    }

    #[test]
    fn an_assignment_reads_back_as_it_was_written(
        partitions in any_partitions(),
        user_data in any_user_data(),
    ) {
        let assignment = Assignment { partitions, user_data };
        prop_assert_eq!(Assignment::decode(assignment.encode()), Ok(assignment));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        version in 0..5_i16,
        bytes in prop::collection::vec(prop_oneof![Just(0), Just(1), Just(2), any::<u8>()], 0..80),
    ) {
        let bytes = Bytes::from([&version.to_be_bytes()[..], &bytes].concat());
        let _ = Subscription::decode(bytes.clone());
        let _ = Assignment::decode(bytes.clone());
        let _ = StickyClaim::decode(&bytes);
        let _ = decode_generation(&bytes);
    }
}
