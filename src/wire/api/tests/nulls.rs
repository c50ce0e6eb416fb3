//! Answers as librdkafka's mock cluster writes them, and other shapes that the oracle does not write.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use super::read;
use crate::types::{Generation, MemberId};
use crate::wire::api::*;
use crate::wire::{ErrorCode, ReadError};

/// Classic text: two bytes of length, -1 for null.
const NULL: i16 = -1;

fn bytes(write: impl FnOnce(&mut BytesMut)) -> Bytes {
    let mut bytes = BytesMut::new();
    write(&mut bytes);
    bytes.freeze()
}

#[test]
fn a_join_error_may_have_null_for_protocol_leader_and_member() {
    let answer = bytes(|answer| {
        answer.put_i32(7);
        answer.put_i16(25);
        answer.put_i32(-1);
        answer.put_i16(NULL);
        answer.put_i16(NULL);
        answer.put_i16(NULL);
        answer.put_i32(0);
    });
    let expected = JoinGroupResponse {
        throttle: Duration::from_millis(7),
        error: ErrorCode::UnknownMemberId,
        generation: Generation::NONE,
        leader: MemberId::default(),
        ..JoinGroupResponse::default()
    };
    assert_eq!(read::<JoinGroupRequest>(5, answer), Ok(expected));
}

#[test]
fn a_sync_error_may_have_a_null_assignment() {
    let answer = bytes(|answer| {
        answer.put_i32(0);
        answer.put_i16(27);
        answer.put_i32(-1);
    });
    let read = read::<SyncGroupRequest>(3, answer).unwrap();
    assert_eq!((read.error, read.assignment), (ErrorCode::RebalanceInProgress, Bytes::new()));
}

#[test]
fn a_coordinator_error_may_have_a_null_host() {
    let answer = bytes(|answer| {
        answer.put_i32(0);
        answer.put_i16(15);
        answer.put_i16(NULL);
        answer.put_i32(-1);
        answer.put_i16(NULL);
        answer.put_i32(-1);
    });
    let read = read::<FindCoordinatorRequest>(2, answer).unwrap();
    assert_eq!((read.error, read.coordinator), (ErrorCode::CoordinatorNotAvailable, None));
}

#[test]
fn of_an_error_whose_remainder_makes_no_sense_the_throttle_time_and_the_code_are_read() {
    let answer = bytes(|answer| {
        answer.put_i32(9);
        answer.put_i16(16);
        answer.put_slice(b"nonsense");
    });
    let throttle = Duration::from_millis(9);
    let join = read::<JoinGroupRequest>(9, answer.clone()).unwrap();
    assert_eq!((join.throttle, join.error), (throttle, ErrorCode::NotCoordinator));
    let leave = read::<LeaveGroupRequest>(5, answer.clone()).unwrap();
    assert_eq!((leave.throttle, leave.error), (throttle, ErrorCode::NotCoordinator));
    let found = read::<FindCoordinatorRequest>(3, answer).unwrap();
    assert_eq!((found.throttle, found.error), (throttle, ErrorCode::NotCoordinator));
}

#[test]
fn a_success_whose_remainder_makes_no_sense_is_an_error() {
    let answer = bytes(|answer| {
        answer.put_i32(0);
        answer.put_i16(0);
        answer.put_slice(b"nonsense");
    });
    assert!(read::<JoinGroupRequest>(9, answer).is_err());
}

#[test]
fn a_broker_that_does_not_know_the_version_names_the_one_to_retry_with() {
    let answer = bytes(|answer| {
        answer.put_i16(35);
        answer.put_i32(1);
        answer.put_slice(&[0, 18, 0, 0, 0, 3]);
    });
    let read = read::<ApiVersionsRequest>(4, answer).unwrap();
    assert_eq!(read.error, ErrorCode::UnsupportedVersion);
    assert_eq!(read.retry_version(), 3);
}

#[test]
fn a_broker_that_says_nothing_but_error_35_is_asked_again_with_version_0() {
    let read = read::<ApiVersionsRequest>(4, Bytes::from_static(&[0, 35, 9, 9])).unwrap();
    assert_eq!((read.error, read.retry_version()), (ErrorCode::UnsupportedVersion, 0));
}

#[test]
fn a_port_that_no_host_has_is_an_error() {
    let answer = bytes(|answer| {
        answer.put_i32(1);
        answer.put_i32(3);
        answer.put_i16(1);
        answer.put_slice(b"h");
        answer.put_i32(70_000);
        answer.put_i16(NULL);
        answer.put_i32(3);
        answer.put_i32(0);
    });
    assert_eq!(read::<MetadataRequest>(1, answer), Err(ReadError::Port(70_000)));
}

#[test]
fn what_follows_an_answer_is_ignored() {
    assert!(read::<HeartbeatRequest>(0, Bytes::from_static(&[0, 0, 0xff, 0xff])).is_ok());
}
