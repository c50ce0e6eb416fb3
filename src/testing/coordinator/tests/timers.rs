//! Long waits.

use super::*;

#[test]
fn the_first_join_of_a_new_member_is_parked_for_five_minutes_at_most() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|join| join.rebalance_timeout = seconds(1200));
    let newcomer = bench.join(&MemberId::default(), |join| join.rebalance_timeout = seconds(1200));
    for _ in 0..299 {
        bench.pass(seconds(1));
        assert_eq!(bench.heartbeat(&ann), ErrorCode::RebalanceInProgress);
    }
    assert!(bench.is_parked(newcomer));
    bench.pass(seconds(1));
    assert_eq!(bench.error(newcomer), ErrorCode::UnknownMemberId);
    assert_eq!(bench.joined(newcomer).member_id, MemberId::default());
}

#[test]
fn a_known_member_in_a_parked_join_outlives_its_session() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|_| {});
    let bob = bench.join(&MemberId::default(), |_| {});
    let again = bench.join(&ann.member_id, |_| {});
    let (ann, bob) = (bench.who(again), bench.who(bob));
    bench.sync(&bob, &[]);
    bench.sync(&ann, &[]);

    let parked = bench.join(&ann.member_id, |_| {});
    for _ in 0..30 {
        bench.pass(seconds(1));
        assert_eq!(bench.heartbeat(&bob), ErrorCode::RebalanceInProgress);
    }
    assert!(bench.is_parked(parked));
    bench.join(&bob.member_id, |_| {});
    assert_eq!(bench.joined(parked).error, ErrorCode::None);
}

#[test]
fn the_initial_delay_is_extended_while_members_come_and_ends_at_the_rebalance_timeout() {
    let initial_rebalance_delay = seconds(3);
    let mut bench = Bench::new(CoordinatorSettings {
        initial_rebalance_delay,
        ..CoordinatorSettings::default()
    });
    let mut joins = Vec::new();
    for _ in 0..9 {
        joins.push(bench.join(&MemberId::default(), |join| join.rebalance_timeout = seconds(8)));
        bench.pass(seconds(1) - Duration::from_millis(125)); // the last one comes at 7 s
    }
    assert!(joins.iter().all(|join| bench.is_parked(*join)));
    bench.pass(seconds(1));
    assert!(joins.iter().all(|join| bench.joined(*join).generation == Generation(1)));
}

#[test]
fn the_initial_delay_is_not_cut_short_by_a_smaller_rebalance_timeout() {
    let initial_rebalance_delay = seconds(3);
    let mut bench = Bench::new(CoordinatorSettings {
        initial_rebalance_delay,
        ..CoordinatorSettings::default()
    });
    let join = bench.join(&MemberId::default(), |join| join.rebalance_timeout = seconds(1));
    bench.pass(Duration::from_millis(2999));
    assert!(bench.is_parked(join));
    bench.pass(Duration::from_millis(1));
    assert_eq!(bench.joined(join).generation, Generation(1));
}

#[test]
fn an_id_that_was_handed_out_is_forgotten_after_a_session_timeout() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let asked = bench.send_on(100, 4, RequestBody::JoinGroup(join_request(&MemberId::default())));
    assert_eq!(bench.error(asked), ErrorCode::MemberIdRequired);
    let id = bench.joined(asked).member_id.clone();
    bench.pass(seconds(10));
    let late = bench.join(&id, |_| {});
    assert_eq!(bench.error(late), ErrorCode::UnknownMemberId);
}

#[test]
fn when_nobody_rejoins_the_join_phase_goes_on_until_sessions_end() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|join| {
        join.group_instance_id = instance("a");
        (join.session_timeout, join.rebalance_timeout) = (seconds(60), seconds(5));
    });
    let newcomer = bench.join(&MemberId::default(), |join| join.rebalance_timeout = seconds(5));
    let id = bench
        .coordinator
        .describe("g")
        .unwrap()
        .members
        .into_iter()
        .find(|member| member.group_instance_id.is_none());
    bench.leave(&Who { member_id: id.unwrap().member_id, generation: 0 });
    assert_eq!(bench.error(newcomer), ErrorCode::UnknownMemberId);
    bench.pass(seconds(30));
    assert_eq!(bench.state(), "PreparingRebalance");
    assert_eq!(bench.heartbeat(&ann), ErrorCode::RebalanceInProgress);
    bench.pass(seconds(60));
    assert_eq!(bench.state(), "Empty");
}

#[test]
fn an_absent_static_member_is_out_a_rebalance_timeout_after_the_next_round() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    bench.stable(|join| {
        join.group_instance_id = instance("a");
        (join.session_timeout, join.rebalance_timeout) = (seconds(1800), seconds(5));
    });
    let newcomer = bench.join(&MemberId::default(), |join| {
        (join.session_timeout, join.rebalance_timeout) = (seconds(1800), seconds(5));
    });
    bench.pass(seconds(5));
    let bob = bench.who(newcomer);
    assert_eq!(bench.joined(newcomer).members.len(), 2, "the absent one is in the list");
    bench.sync(&bob, &[]);
    assert_eq!(bench.heartbeat(&bob), ErrorCode::None);
    bench.pass(seconds(5));
    assert_eq!(bench.heartbeat(&bob), ErrorCode::RebalanceInProgress);
    assert_eq!(bench.coordinator.describe("g").unwrap().members.len(), 1);
}

#[test]
fn a_rebalance_timeout_of_zero_does_not_stop_the_clock() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let join = bench.join(&MemberId::default(), |join| join.rebalance_timeout = seconds(0));
    bench.pass(seconds(1));
    assert_eq!(bench.joined(join).generation, Generation(1));
    assert_eq!(bench.state(), "Empty", "it had no time for its SyncGroup");
}
