//! 64-bit FNV-1a over what a plan is made on, and over a plan.
//!
//! Both travel between releases, so neither the functions nor the order of what is fed to them ever changes.

use std::sync::Arc;

use crate::assign::{MemberEntry, MemberLists, MetadataPayload, Model};
use crate::types::Partitions;

/// A hash in the making. Each piece is fed with its length, so that no two lists of pieces look the same.
#[derive(Clone, Copy, Debug)]
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn raw(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn number(&mut self, number: u32) {
        self.raw(&number.to_be_bytes());
    }

    fn length(&mut self, length: usize) {
        self.number(u32::try_from(length).unwrap_or(u32::MAX));
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.raw(bytes);
    }
}

/// The hash of the metadata that a plan was made on: of what a member says about itself, apart from what changes in
/// every round (generation, claims, nonce, counts).
///
/// A static member that restarted with other metadata is handed the old plan, because the broker compares nothing but
/// the protocol's name (KAFKA-12759); this is how it finds out.
pub(crate) fn planned_on(
    protocol: &str,
    payload: Option<&MetadataPayload>,
    topics: &[Arc<str>],
    rack: Option<&str>,
) -> u64 {
    let mut hash = Fnv::new();
    hash.piece(protocol.as_bytes());
    let said = payload.map(|payload| (payload.version, payload.codec, &payload.bytes[..]));
    let (version, codec, bytes) = said.unwrap_or((0, 0, &[]));
    hash.number(u32::from(version));
    hash.number(u32::from(codec));
    hash.piece(bytes);
    let mut topics: Vec<&str> = topics.iter().map(AsRef::as_ref).collect();
    topics.sort_unstable();
    topics.dedup();
    hash.length(topics.len());
    for topic in topics {
        hash.piece(topic.as_bytes());
    }
    hash.piece(rack.unwrap_or_default().as_bytes());
    hash.0
}

/// The digest of a plan: the same words for all members of a generation to log it by. One step a partition, as there
/// may be a million.
pub(crate) fn digest(model: &Model, plan: &MemberLists<'_>) -> u64 {
    let of_name = |name: &str| {
        let mut hash = Fnv::new();
        hash.piece(name.as_bytes());
        hash.0
    };
    let topics: Vec<u64> = model.topics().iter().map(|topic| of_name(&topic.name)).collect();
    let of_member = |(member, at): (&MemberEntry, u32)| {
        let mut hash = Fnv::new();
        hash.piece(member.id.as_str().as_bytes());
        for (topic, places) in plan.runs(at) {
            hash.word(topics.get(topic as usize).copied().unwrap_or(0));
            let first = model.topics().get(topic as usize).map_or(0, |topic| topic.first);
            places.iter().for_each(|place| hash.word(u64::from(place - first)));
        }
        hash.0
    };
    // Added up, so that the order of members means nothing.
    model.members().iter().zip(0..).map(of_member).fold(0, u64::wrapping_add)
}

/// A hash of some partitions, to know them again.
pub(crate) fn of_partitions(partitions: &Partitions) -> u64 {
    let mut hash = Fnv::new();
    for (topic, numbers) in partitions.by_topic() {
        hash.piece(topic.as_bytes());
        hash.length(numbers.len());
        numbers.iter().for_each(|number| hash.raw(&number.to_be_bytes()));
    }
    hash.0
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::assign::GroupSubscription;

    fn payload(bytes: &'static str) -> MetadataPayload {
        MetadataPayload { codec: 1, version: 2, bytes: Bytes::from_static(bytes.as_bytes()) }
    }

    fn topics(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().map(|name| (*name).into()).collect()
    }

    #[test]
    fn it_is_fnv_1a() {
        for (text, expected) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            let mut hash = Fnv::new();
            hash.raw(text.as_bytes());
            assert_eq!(hash.0, expected, "{text:?}");
        }
    }

    #[test]
    fn the_hash_of_a_release_is_the_hash_of_all_later_ones() {
        let hash = planned_on("least-loaded", Some(&payload("x")), &topics(&["b", "a"]), Some("r"));
        assert_eq!(hash, PINNED);
    }

    const PINNED: u64 = 0xf317_01aa_c701_13b8;

    #[test]
    fn the_order_of_topics_is_not_part_of_a_subscription() {
        let hash = |names: &[&str]| planned_on("range", None, &topics(names), None);
        assert_eq!(hash(&["a", "b"]), hash(&["b", "a", "b"]));
        assert_ne!(hash(&["a", "b"]), hash(&["ab"]));
    }

    #[test]
    fn whatever_a_member_says_of_itself_changes_the_hash() {
        let base = planned_on("range", Some(&payload("x")), &topics(&["a"]), None);
        for other in [
            planned_on("sticky", Some(&payload("x")), &topics(&["a"]), None),
            planned_on("range", Some(&payload("y")), &topics(&["a"]), None),
            planned_on(
                "range",
                Some(&MetadataPayload { codec: 2, ..payload("x") }),
                &topics(&["a"]),
                None,
            ),
            planned_on(
                "range",
                Some(&MetadataPayload { version: 3, ..payload("x") }),
                &topics(&["a"]),
                None,
            ),
            planned_on("range", None, &topics(&["a"]), None),
            planned_on("range", Some(&payload("x")), &topics(&[]), None),
            planned_on("range", Some(&payload("x")), &topics(&["a"]), Some("rack")),
        ] {
            assert_ne!(base, other);
        }
    }

    /// The digest of a plan of `a` and `b` that gives these partitions of `t` to these members.
    fn digest_of(gifts: [(&str, i32); 2]) -> u64 {
        let group = GroupSubscription::<()>::builder().topic("t", 3);
        let group = group.member("a", ["t"], ()).member("b", ["t"], ()).build();
        let mut plan = group.plan();
        gifts.iter().for_each(|(member, number)| plan.give_by_name(member, "t", *number));
        digest(plan.model(), &plan.by_member())
    }

    #[test]
    fn a_digest_is_of_the_plan_and_not_of_its_order() {
        assert_eq!(digest_of([("a", 0), ("b", 1)]), digest_of([("b", 1), ("a", 0)]));
        assert_ne!(digest_of([("a", 0), ("b", 1)]), digest_of([("a", 1), ("b", 0)]));
        assert_ne!(digest_of([("a", 0), ("b", 1)]), digest_of([("a", 0), ("b", 2)]));
    }
}
