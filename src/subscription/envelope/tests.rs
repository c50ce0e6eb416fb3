use proptest::prelude::*;

use super::*;
use crate::assign::MetadataPayload;
use crate::subscription::hex;
use crate::types::{Generation, PartitionRanges, Partitions};
use std::sync::Arc;
use std::time::Duration;

/// The bytes of a file: digits of hex, with comments behind `#`.
macro_rules! pinned {
    ($name:literal) => {
        golden(include_str!(concat!("../../../tests/data/envelope/", $name)))
    };
}

fn golden(file: &str) -> Bytes {
    hex(&file.lines().filter_map(|line| line.split('#').next()).collect::<String>())
}

fn partitions(set: &[(&str, i32)]) -> Partitions {
    set.iter().copied().collect()
}

fn full_up() -> Up {
    Up {
        payload: Some(MetadataPayload {
            codec: 1,
            version: 300,
            bytes: Bytes::from_static(b"\x08"),
        }),
        counts: TopicCounts(Arc::new([("orders".into(), 12), ("payments".into(), 0)].into())),
        nonce: 0x0102_0304_0506_0708,
        prior: Some(Prior {
            generation: Generation(7),
            partitions: (&partitions(&[
                ("orders", 0),
                ("orders", 1),
                ("orders", 5),
                ("payments", 3),
            ]))
                .into(),
        }),
        process: Some("host-a/4711".into()),
        session_timeout: Some(Duration::from_secs(45)),
        rebalance_timeout: Some(Duration::from_secs(300)),
        rounds: Rounds { eager: true, cooperative: true },
        standbys: PartitionRanges::default(),
    }
}

fn standing_by_up() -> Up {
    Up {
        nonce: 9,
        standbys: (&partitions(&[("orders", 1), ("orders", 2)])).into(),
        ..Up::default()
    }
}

fn full_down() -> Down {
    Down {
        generation: Generation(8),
        failure: Some(PlanFailure {
            code: 2,
            by: "least-loaded".into(),
            message: "topics differ".into(),
        }),
        told: Some(Told { codec: 2, bytes: Bytes::from_static(b"\"a\"") }),
        planned_on: Some(0x1122_3344_5566_7788),
        group_size: 1000,
        counts: Some(vec![12, 0, 128]),
        follow_up: true,
        rebalance_after: Some(Duration::from_secs(60)),
        digest: 0x8877_6655_4433_2211,
        leader: "member-1".into(),
        second_round: false,
        standbys: PartitionRanges::default(),
    }
}

fn standing_by_down() -> Down {
    Down {
        group_size: 3,
        standbys: (&partitions(&[("orders", 1), ("orders", 2)])).into(),
        ..Down::default()
    }
}

fn second_round() -> Down {
    Down { second_round: true, ..Down::default() }
}

#[test]
fn up_envelopes_are_written_as_pinned() {
    assert_eq!(full_up().encode(), pinned!("up-1-full.hex"));
    assert_eq!(Up::default().encode(), pinned!("up-1-least.hex"));
    assert_eq!(standing_by_up().encode(), pinned!("up-1-standbys.hex"));
}

#[test]
fn down_envelopes_are_written_as_pinned() {
    assert_eq!(full_down().encode(), pinned!("down-1-full.hex"));
    assert_eq!(Down::default().encode(), pinned!("down-1-least.hex"));
    assert_eq!(second_round().encode(), pinned!("down-1-second-round.hex"));
    assert_eq!(standing_by_down().encode(), pinned!("down-1-standbys.hex"));
}

#[test]
fn up_envelopes_of_every_release_are_read() {
    for (bytes, expected) in [
        (pinned!("up-1-full.hex"), full_up()),
        (pinned!("up-1-least.hex"), Up::default()),
        (pinned!("up-1-standbys.hex"), standing_by_up()),
        (pinned!("up-1-unknown-section.hex"), Up { nonce: 9, ..Up::default() }),
    ] {
        assert_eq!(Up::decode(&bytes), Ok(expected));
    }
}

#[test]
fn down_envelopes_of_every_release_are_read() {
    for (bytes, expected) in [
        (pinned!("down-1-full.hex"), full_down()),
        (pinned!("down-1-least.hex"), Down::default()),
        (pinned!("down-1-second-round.hex"), second_round()),
        (pinned!("down-1-standbys.hex"), standing_by_down()),
        (pinned!("down-1-unknown-section.hex"), Down { group_size: 3, ..Down::default() }),
    ] {
        assert_eq!(Down::decode(&bytes), Ok(expected));
    }
}

#[test]
fn an_envelope_for_the_other_direction_is_an_echo() {
    assert_eq!(Up::decode(&full_down().encode()), Err(EnvelopeError::Echo));
    assert_eq!(Down::decode(&full_up().encode()), Err(EnvelopeError::Echo));
}

#[test]
fn what_has_no_magic_is_somebody_elses() {
    for bytes in ["", "ffffffff", "f54b47", "f54b4703 01", "00000001"] {
        assert_eq!(Up::decode(&hex(bytes)), Err(EnvelopeError::Foreign), "{bytes}");
    }
}

#[test]
fn a_format_that_is_not_known_is_named() {
    assert_eq!(Up::decode(&hex("f54b4701 02 0300")), Err(EnvelopeError::Format(2)));
}

#[test]
fn a_sticky_reader_sees_a_negative_count() {
    for bytes in [Up::default().encode(), Down::default().encode()] {
        assert!(bytes[0] >= 0x80);
        assert_eq!(crate::subscription::sticky::StickyClaim::decode(&bytes), None);
    }
}

#[test]
fn an_envelope_that_is_cut_inside_a_section_is_refused() {
    let whole = full_up().encode();
    let refused = |end: usize| Up::decode(&whole.slice(..end)).is_err();
    let read = (0..whole.len()).filter(|end| !refused(*end)).count();
    // Between sections a cut looks like a shorter envelope: once before each of the seven.
    assert_eq!(read, 7);
}

#[test]
fn a_gibibyte_is_refused_before_anything_is_reserved() {
    for (tag, length) in [(1, "8080808004"), (2, "05"), (4, "09")] {
        let section = format!("f54b4701 01 0{tag} {length} 00000001 8180808004");
        assert!(Up::decode(&hex(&section)).is_err(), "tag {tag}");
    }
}

#[test]
fn claims_beyond_what_exists_are_not_written_out() {
    // One topic, one range: all numbers that an int32 has.
    let up = Up::decode(&hex("f54b4701 01 04 0e 00000001 02 0261 02 00 feffffff07")).unwrap();
    let claimed = up.prior.unwrap().partitions;
    assert_eq!(claimed.within(|_| Some(2)), partitions(&[("a", 0), ("a", 1)]));
    assert_eq!(claimed.within(|_| None), Partitions::new());
}

#[test]
fn a_range_beyond_the_last_partition_number_is_refused() {
    let up = Up::decode(&hex("f54b4701 01 04 0e 00000001 02 0261 02 00 ffffffff0f"));
    assert!(matches!(up, Err(EnvelopeError::Malformed(ReadError::Count(_)))), "{up:?}");
}

fn any_partitions() -> impl Strategy<Value = Partitions> {
    prop::collection::vec(("[a-c]{1,3}", 0..50_i32), 0..40)
        .prop_map(|set| set.into_iter().collect())
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..30).prop_map(Bytes::from)
}

fn millis() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of(any::<u32>().prop_map(|millis| Duration::from_millis(u64::from(millis))))
}

prop_compose! {
    fn any_up()(
        payload in prop::option::of((any::<u8>(), any::<u16>(), any_bytes())),
        counts in prop::collection::btree_map("[a-z]{0,5}", any::<u32>(), 0..5),
        nonce in any::<u64>(),
        prior in prop::option::of((-1..i32::MAX, any_partitions())),
        process in prop::option::of("[a-z]{0,9}"),
        timeouts in prop::option::of((any::<u32>(), any::<u32>())),
        (eager, cooperative) in any::<(bool, bool)>(),
        standbys in any_partitions(),
    ) -> Up {
        let millis = |millis: u32| Duration::from_millis(u64::from(millis));
        Up {
            payload: payload.map(|(codec, version, bytes)| MetadataPayload { codec, version, bytes }),
            counts: TopicCounts(Arc::new(counts.into_iter().map(|(name, count)| (Arc::from(name), count)).collect())),
            nonce,
            prior: prior.map(|(generation, partitions)| Prior {
                generation: Generation(generation),
                partitions: (&partitions).into(),
            }),
            process: process.map(Into::into),
            session_timeout: timeouts.map(|(session, _)| millis(session)),
            rebalance_timeout: timeouts.map(|(_, rebalance)| millis(rebalance)),
            rounds: Rounds { eager, cooperative },
            standbys: (&standbys).into(),
        }
    }
}

prop_compose! {
    fn any_down()(
        generation in any::<i32>(),
        failure in prop::option::of((any::<u8>(), "[a-z]{0,9}", "\\PC{0,9}")),
        told in prop::option::of((any::<u8>(), any_bytes())),
        planned_on in any::<Option<u64>>(),
        group_size in any::<u32>(),
        counts in any::<Option<Vec<u32>>>(),
        follow_up in any::<bool>(),
        rebalance_after in millis(),
        digest in any::<u64>(),
        leader in "[a-z]{0,9}",
        second_round in any::<bool>(),
        standbys in any_partitions(),
    ) -> Down {
        Down {
            generation: Generation(generation),
            failure: failure.map(|(code, by, message)| PlanFailure {
                code,
                by: by.into(),
                message: message.into(),
            }),
            told: told.map(|(codec, bytes)| Told { codec, bytes }),
            planned_on,
            group_size,
            counts,
            follow_up,
            rebalance_after,
            digest,
            leader: leader.into(),
            second_round,
            standbys: (&standbys).into(),
        }
    }
}

proptest! {
    #[test]
    fn what_goes_up_reads_back_as_it_was_written(up in any_up()) {
        prop_assert_eq!(Up::decode(&up.encode()), Ok(up));
    }

    #[test]
    fn what_goes_down_reads_back_as_it_was_written(down in any_down()) {
        prop_assert_eq!(Down::decode(&down.encode()), Ok(down));
    }

    #[test]
    fn prior_partitions_survive_as_ranges(set in any_partitions()) {
        prop_assert_eq!(PartitionRanges::from(&set).within(|_| Some(50)), set);
    }

    #[test]
    fn ranges_know_what_is_among_them(set in any_partitions(), other in any_partitions()) {
        prop_assert_eq!(PartitionRanges::from(&set).among(&other), set.intersection(&other));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(
        direction in 1..3_u8,
        bytes in prop::collection::vec(prop_oneof![0..14_u8, any::<u8>()], 0..80),
    ) {
        let bytes = Bytes::from([&MAGIC[..], &[direction, FORMAT], &bytes].concat());
        if let Ok(up) = Up::decode(&bytes) {
            let _ = up.prior.map(|prior| prior.partitions.within(|_| Some(10)));
        }
        let _ = Down::decode(&bytes);
    }

    #[test]
    fn an_envelope_with_one_wrong_byte_does_not_panic(
        up in any_up(),
        down in any_down(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (mut up, mut down) = (up.encode().to_vec(), down.encode().to_vec());
        let (up_at, down_at) = (at.index(up.len()), at.index(down.len()));
        up[up_at] = byte;
        down[down_at] = byte;
        let _ = Up::decode(&up.into());
        let _ = Down::decode(&down.into());
    }
}
