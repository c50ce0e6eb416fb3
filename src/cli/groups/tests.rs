//! What describing a large group takes.

mod heap;

use std::time::Instant;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::DescribeGroupsResponse;
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::protocol::{Encodable, StrBytes};

use super::report;
use crate::admin;
use crate::cli::arguments::json;
use crate::cli::page::Page;

const MEMBERS: usize = 1_000;
const VERSION: i16 = 6;

/// What a member writes: host and process, two timeouts, the kinds of rounds that it knows.
const UP: &[u8] =
    b"\xf5KG\x01\x01\x05\x0c\x0chost-a/4711\x06\x06\xc8\xdf\x02\xe0\xa7\x12\x07\x01\x03";

/// What a leader writes: generation, size of the group, digest, its member id.
const DOWN: &[u8] = b"\xf5KG\x02\x01\x01\x04\0\0\0\x08\x05\x02\xe8\x07\x09\x08\x88wfUD3\x22\x11\x0a\x09\x09member-1";

fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

/// A topic with ten partitions, as subscriptions and assignments have it.
fn partitions(number: usize) -> Vec<u8> {
    let first = i32::try_from(number * 10).unwrap();
    let numbers = (first..first + 10).flat_map(i32::to_be_bytes);
    b"\0\0\0\x01\0\x06orders\0\0\0\x0a".iter().copied().chain(numbers).collect()
}

fn bytes(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap().to_be_bytes()
}

/// A static member of ours with ten partitions, as brokers tell of it.
fn member(number: usize) -> DescribedGroupMember {
    let (up, down) = (bytes(UP.len()), bytes(DOWN.len()));
    let generation = 7_i32.to_be_bytes();
    let subscription = [
        b"\0\x03\0\0\0\x01\0\x06orders",
        &up[..],
        UP,
        &partitions(number),
        &generation,
        b"\0\x03r-1",
    ];
    let assignment = [b"\0\x03", &partitions(number)[..], &down, DOWN];
    DescribedGroupMember::default()
        .with_member_id(text(format!("indexer-{number}-9a45cd88-8d59-40d6-8144-5b6a189663f5")))
        .with_group_instance_id(Some(text(format!("indexer-{number}"))))
        .with_client_id(text("kafka-group"))
        .with_client_host(text("/10.0.12.34"))
        .with_member_metadata(subscription.concat().into())
        .with_member_assignment(assignment.concat().into())
}

fn answer() -> Bytes {
    let group = DescribedGroup::default()
        .with_group_id(text("indexers").into())
        .with_group_state(text("Stable"))
        .with_protocol_type(text("consumer"))
        .with_protocol_data(text("mine"))
        .with_members((0..MEMBERS).map(member).collect());
    let mut body = BytesMut::new();
    let message = DescribeGroupsResponse::default().with_groups(vec![group]);
    message.encode(&mut body, VERSION).unwrap();
    body.freeze()
}

#[test]
fn a_thousand_members_are_described_in_less_than_ten_times_their_bytes() {
    let answer = answer();
    let bytes = answer.len();
    let group = admin::read(VERSION, answer.clone()).unwrap();
    assert_eq!(group.members.len(), MEMBERS);
    for member in &group.members {
        assert_eq!(member.partitions().unwrap().len(), 10);
        assert!(member.subscription.read().unwrap().words.is_some(), "{member:?}");
        assert!(member.assignment.read().unwrap().words.is_some(), "{member:?}");
    }
    drop(group);
    for (form, render) in [
        ("tables", (|group| report::whole(group, Page::endless())) as fn(&_) -> String),
        ("JSON", |group| json(&report::line(group))),
    ] {
        let begun = started();
        let (rendered, peak) = heap::peak_of(|| {
            let group = admin::read(VERSION, answer.clone()).unwrap();
            render(&group).len()
        });
        let took = begun.elapsed();
        println!(
            "{MEMBERS} members, {bytes} bytes: read and rendered as {form}, {rendered} bytes, in {took:?}, {peak} bytes of \
             heap at most, {:.1} times the answer",
            peak as f64 / bytes as f64
        );
        assert!(peak < 10 * bytes, "{form}: {peak} for {bytes}");
    }
}

#[expect(clippy::disallowed_methods, reason = "what it takes is printed, and judged by nobody")]
fn started() -> Instant {
    Instant::now()
}
