use super::*;
use crate::cli::plan::draft::{Group, WhatIf};

/// The group of a text, its members holding on, as text: claims by member, and how many were left out.
fn group(text: &str) -> Group {
    let file = GroupFile::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    file.draft(true, 3).build(&WhatIf::default()).unwrap()
}

fn claims(group: &Group) -> String {
    let model = &group.model;
    let named = (0..model.members().len() as u32).map(|member| {
        let names = model.claims(member).iter().filter_map(|place| model.partition_name(*place));
        format!("{}: {:?}", model.members()[member as usize].id, names.collect::<Vec<_>>())
    });
    named.collect::<Vec<_>>().join("; ")
}

fn problem(text: &str) -> String {
    GroupFile::parse(text.as_bytes()).unwrap_err().to_string()
}

const SCENARIO: &str = r#"{
    "name": "small", "note": "anything", "racks": ["r0", "r1"],
    "topics": [
        {"name": "b", "partitions": 3, "rf": 1, "rack_offset": 1},
        {"name": "a", "partitions": 2, "rf": 0, "rack_offset": 0}
    ],
    "subscriptions": [[0], [0, 1]],
    "members": [
        {"id": "m1", "instance": null, "rack": -1, "sub": 0, "generation": -1, "owned": []},
        {"id": "m0", "instance": "i", "rack": 1, "sub": 1, "generation": 7, "owned": [[0, 0, 1, 2, 1], [1, 1, 9]]}
    ]
}"#;

const BY_HAND: &str = r#"{
    "topics": {"b": {"partitions": 3, "racks": [["r1"], ["r0"], ["r1"]]}, "a": 2},
    "members": {
        "m0": {"instance": "i", "rack": "r1", "generation": 7, "owned": {"b": [2, 0], "a": "1"}},
        "m1": {"subscribes": ["b"]}
    }
}"#;

#[test]
fn both_ways_of_writing_say_the_same() {
    for (text, left_out) in [(SCENARIO, 8), (BY_HAND, 0)] {
        let group = group(text);
        let model = &group.model;
        assert_eq!(claims(&group), "m0: [a-1, b-0, b-2]; m1: []");
        assert_eq!(group.left_out, left_out);
        let racks = (0..5).map(|place| {
            model.partition_leader(place).and_then(|node| node.rack.as_deref()).unwrap_or("-")
        });
        assert_eq!(racks.collect::<Vec<_>>(), ["-", "-", "r1", "r0", "r1"]);
        assert_eq!(model.members()[0].rack.as_deref(), Some("r1"));
        assert_eq!((model.subscription(0), model.subscription(1)), (&[0, 1][..], &[1][..]));
        assert_eq!(model.members()[0].generation, Generation(7));
        assert!(model.members()[0].holds);
    }
}

#[test]
fn metadata_travels_as_json_with_the_version_of_the_assigner() {
    let group =
        group(r#"{"topics": {}, "members": {"a": {"metadata": {"threads": [8]}}, "b": {}}}"#);
    let told = group.told[0].as_ref().unwrap();
    assert_eq!((told.codec, told.version, &told.bytes[..]), (3, 3, &br#"{"threads":[8]}"#[..]));
    assert_eq!(group.told[1], Err(MetadataError::Missing));
}

#[test]
fn claims_of_nothing_are_left_out_and_counted() {
    let group = group(
        r#"{"topics": {"t": 3}, "members": {"a": {"owned": {"t": [-1, 2, 3, 99999999999], "ghost": "0-4294967294"}}}}"#,
    );
    assert_eq!(claims(&group), "a: [t-2]");
    assert_eq!(group.left_out, 3 + (1 << 32) - 1);
}

#[test]
fn what_points_nowhere_is_said_with_its_line() {
    let members = |member: &str| {
        format!(
            "{{\n\"racks\": [\"x\"],\n\"topics\": {{\"t\": 3}},\n\"subscriptions\": [[0]],\n\"members\": [\n{{\"id\": \"a\"}},\n{member}]}}"
        )
    };
    for (member, expected) in [
        (r#"{"id": "a"}"#, ":7: `a` is there twice"),
        (r#"{"id": "b", "sub": 1}"#, ":7: subscription 1, of 1"),
        (r#"{"id": "b", "sub": 0, "subscribes": []}"#, ":7: `sub` and `subscribes` say the same"),
        ("{\"id\": \"b\",\n\"rack\": 1}", ":8: rack 1, of 1"),
        (r#"{"id": "b", "owned": [[1, 0, 1]]}"#, ":7: topic 1, of 1 topics"),
        (r#"{"id": "b", "owned": [[0, 0]]}"#, ":7: start 0 has no length"),
        (r#"{"id": "b", "owned": [[]]}"#, ":7: an empty list, where at least a topic should be"),
        (
            r#"{"id": "b", "owned": {"t": "x"}}"#,
            ":7: `x` is neither a partition nor a range as in `0-3`",
        ),
        (r#"{"id": "b", "rack": true}"#, ":7: a rack's name, or its place in `racks`"),
        (
            r#"{"id": "b", "racks": "x"}"#,
            ":7: unknown field `racks`, expected one of `id`, `instance`, `rack`, `process`, `sub`, `subscribes`, `generation`, `owned`, `stands_by`, `metadata`",
        ),
        (r#"{"id": 7}"#, ":7: invalid type: integer `7`, expected a string"),
        (r#"{}"#, ":7: missing field `id`"),
        (r#"{"id": "b" "#, ":7: expected `,` or `}`"),
    ] {
        assert_eq!(problem(&members(member)), expected, "{member}");
    }
    for (text, expected) in [
        ("", ":1: EOF while parsing a value"),
        ("{", ":1: EOF while parsing an object"),
        ("[]", ":1: invalid length 0, expected an object with topics and members"),
        ("{\"topics\": {}}", ":1: missing field `members`"),
        (
            "{\"topics\": {\"t\": -1}}",
            ":1: invalid type: integer `-1`, expected a topic, or the number of its partitions",
        ),
        ("{\"topics\": {\"t\": 4294967296}}", ":1: 4294967296 partitions are too many"),
        ("{\"topics\": {\"t\": 1,\n\"t\": 2}, \"members\": {}}", ":2: `t` is there twice"),
        (
            "{\"subscriptions\": [[],\n[3]], \"topics\": {}, \"members\": {}}",
            ":2: topic 3, of 0 topics",
        ),
        (
            "{\"racks\": [\"x\"], \"topics\": {\"t\":\n{\"partitions\": 1, \"rf\": 2}}, \"members\": {}}",
            ":2: 2 replicas in 1 racks",
        ),
        (
            "{\"topics\": {\"t\": {\"partitions\": 1,\n\"racks\": [[], []]}}, \"members\": {}}",
            ":2: racks of 2 partitions, of 1",
        ),
        ("{\"topics\": {}, \"members\": {}} {}", ":1: trailing characters"),
        (
            "{\"topics\": {}, \"members\": {},\n\"weights\": {\"t\": [1]}}",
            ":2: `t` is not among the topics",
        ),
        (
            "{\"topics\": {\"t\": 1}, \"members\": {},\n\"weights\": {\"t\": [1, 1]}}",
            ":2: `t`: weights of 2 partitions, of 1",
        ),
        (
            "{\"topics\": {\"t\": 1}, \"members\": {},\n\"weights\": {\"t\": [-0.5]}}",
            ":2: `t`: a weight of -0.5, which is less than nothing",
        ),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn what_would_take_all_memory_is_refused() {
    let topics = r#""topics": {"t": 4294967295}, "members": {}"#;
    assert_eq!(
        problem(&format!("{{{topics}}}")),
        ":1: more than 33554432 partitions or replicas in all"
    );
    let racks = (0..1000).map(|rack| format!("\"{rack}\"")).collect::<Vec<_>>().join(",");
    let topics = r#"{"name": "t", "partitions": 1000000, "rf": 1000}"#;
    let replicas = format!("{{\"racks\": [{racks}], \"topics\": [{topics}], \"members\": {{}}}}");
    assert_eq!(problem(&replicas), ":1: more than 33554432 partitions or replicas in all");
    let members =
        (0..40).map(|member| format!("\"{member}\": {{\"owned\": {{\"t\": \"0-999999\"}}}}"));
    let members = members.collect::<Vec<_>>().join(",\n");
    let claims = format!("{{\"topics\": {{\"t\": 1000000}},\n\"members\": {{{members}}}}}");
    assert_eq!(problem(&claims), ":2: more than 33554432 claims");
}

#[test]
fn no_text_ends_in_a_panic() {
    let mut dice = fastrand::Rng::with_seed(5);
    for _ in 0..2_000 {
        let mut text = [SCENARIO, BY_HAND][dice.usize(0..2)].as_bytes().to_vec();
        for _ in 0..dice.usize(1..6) {
            let at = dice.usize(0..text.len());
            match dice.u8(0..3) {
                0 => text[at] = dice.u8(..),
                1 => text.insert(at, b'"'),
                _ => text.truncate(at.max(1)),
            }
        }
        if let Ok(file) = GroupFile::parse(&text) {
            drop(file.draft(false, 0).build(&WhatIf::default()));
        }
    }
}
