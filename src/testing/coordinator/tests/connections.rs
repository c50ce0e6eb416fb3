//! What is answered when, and what never.

use super::*;

#[test]
fn requests_behind_a_parked_one_wait_for_it() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|_| {});
    let parked = bench.send_on(500, 3, RequestBody::JoinGroup(join_request(&MemberId::default())));
    let behind = bench.send_on(500, 4, RequestBody::Heartbeat(heartbeat_request(&ann)));
    assert!(bench.is_parked(behind));
    bench.join(&ann.member_id, |_| {});
    assert_eq!(bench.error(parked), ErrorCode::None);
    assert_eq!(bench.error(behind), ErrorCode::IllegalGeneration);
}

#[test]
fn a_join_that_replaces_a_parked_one_is_answered_and_the_other_never() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|_| {});
    let _bob = bench.join(&MemberId::default(), |_| {});
    bench.join(&MemberId::default(), |_| {});
    let first = bench.join(&ann.member_id, |_| {});
    assert!(!bench.is_parked(first), "all three are there");
    let who = bench.who(first);
    let first = bench.join(&who.member_id, |join| join.protocols[0].1 = Bytes::from_static(b"x"));
    let second = bench.join(&who.member_id, |join| join.protocols[0].1 = Bytes::from_static(b"x"));
    bench.pass(seconds(60));
    assert!(bench.is_parked(first));
    assert_eq!(bench.joined(second).error, ErrorCode::None);
}

#[test]
fn a_connection_that_is_gone_gets_no_answer_but_its_member_stays_in_the_round() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|_| {});
    let bob = bench.send_on(500, 3, RequestBody::JoinGroup(join_request(&MemberId::default())));
    bench.coordinator.disconnect(ConnectionId(500));
    let again = bench.join(&ann.member_id, |_| {});
    assert!(bench.is_parked(bob));
    assert_eq!(bench.joined(again).members.len(), 2);
}

#[test]
fn ties_are_broken_by_the_seed_and_always_in_the_same_way() {
    let chosen = |seed: u64| {
        let mut bench = Bench::new(CoordinatorSettings { seed, ..CoordinatorSettings::default() });
        let list = |names: [&str; 2]| names.map(|name| (name.to_owned(), Bytes::new())).to_vec();
        bench.join(&MemberId::default(), |join| join.protocols = list(["a", "b"]));
        let join = bench.join(&MemberId::default(), |join| join.protocols = list(["b", "a"]));
        bench.pass(seconds(0));
        bench.joined(join).protocol.clone().unwrap()
    };
    let all: Vec<_> = (0..20).map(chosen).collect();
    assert!(all.iter().any(|name| name == "a") && all.iter().any(|name| name == "b"), "{all:?}");
    assert_eq!(all, (0..20).map(chosen).collect::<Vec<_>>());
}
