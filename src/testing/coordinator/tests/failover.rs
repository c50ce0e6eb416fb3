//! The coordinator is lost, and another knows only what the log says.

use super::*;

/// The new coordinator has loaded the group.
fn fail_over(bench: &mut Bench, loss: Loss) {
    bench.coordinator.fail_over(bench.now, loss);
    bench.collect();
    bench.pass(bench.coordinator.settings.loading_time);
}

#[test]
fn a_stable_group_survives_with_generation_ids_and_assignments() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|_| {});
    fail_over(&mut bench, Loss::Killed);
    assert_eq!(bench.heartbeat(&ann), ErrorCode::None);
    let sync = bench.sync(&ann, &[]);
    let Some(ResponseBody::SyncGroup(synced)) = bench.answered.get(&sync.0) else {
        panic!("not answered")
    };
    assert_eq!(synced.assignment, b"plan"[..]);
}

#[test]
fn a_generation_that_was_only_joined_is_lost_and_its_number_handed_out_again() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|_| {});
    let bob = bench.join(&MemberId::default(), |_| {});
    let again = bench.join(&ann.member_id, |_| {});
    let (ahead, bob) = (bench.who(again), bench.who(bob));
    assert_eq!(ahead.generation, 2);

    fail_over(&mut bench, Loss::Killed);
    assert_eq!(bench.heartbeat(&ahead), ErrorCode::IllegalGeneration);
    assert_eq!(bench.heartbeat(&ann), ErrorCode::None);
    assert_eq!(bench.heartbeat(&bob), ErrorCode::UnknownMemberId);

    let next = bench.join(&ann.member_id, |_| {});
    assert_eq!(bench.who(next).generation, 2);
}

#[test]
fn a_group_whose_first_generation_was_only_joined_comes_back_empty() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let join = bench.join(&MemberId::default(), |_| {});
    bench.pass(seconds(0));
    let ann = bench.who(join);
    fail_over(&mut bench, Loss::HandedOver);
    assert_eq!(bench.state(), "Empty");
    assert_eq!(bench.heartbeat(&ann), ErrorCode::UnknownMemberId);
}

#[test]
fn handing_over_answers_parked_requests_and_dying_does_not() {
    for (loss, answered) in [(Loss::HandedOver, true), (Loss::Killed, false)] {
        let mut bench = Bench::new(CoordinatorSettings::default());
        bench.stable(|_| {});
        let parked = bench.join(&MemberId::default(), |_| {});
        fail_over(&mut bench, loss);
        assert_eq!(!bench.is_parked(parked), answered, "{loss:?}");
        if answered {
            assert_eq!(bench.error(parked), ErrorCode::NotCoordinator);
        }
        assert_eq!(bench.state(), "Stable", "though it was preparing a rebalance");
    }
}

#[test]
fn while_it_loads_heartbeats_say_nothing_and_the_rest_is_put_off() {
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(|_| {});
    bench.coordinator.fail_over(bench.now, Loss::Killed);
    assert_eq!(bench.heartbeat(&Who { generation: 77, ..ann.clone() }), ErrorCode::None);
    let sync = bench.sync(&ann, &[]);
    assert_eq!(bench.error(sync), ErrorCode::CoordinatorLoadInProgress);
}

#[test]
fn of_a_members_protocols_only_the_chosen_one_is_in_the_log() {
    let two = |join: &mut JoinGroupRequest| join.protocols.push(("q".into(), Bytes::new()));
    let mut bench = Bench::new(CoordinatorSettings::default());
    let ann = bench.stable(two);
    let bob = bench.join(&MemberId::default(), two);
    let again = bench.join(&ann.member_id, two);
    let (ann, bob) = (bench.who(again), bench.who(bob));
    bench.sync(&bob, &[]);
    bench.sync(&ann, &[]);

    let free = bench.join(&bob.member_id, two);
    assert!(!bench.is_parked(free), "the same bytes are free");
    fail_over(&mut bench, Loss::Killed);
    let dear = bench.join(&bob.member_id, two);
    assert!(bench.is_parked(dear), "the same bytes are not what the log says");
}

#[test]
fn a_group_that_is_too_large_for_a_record_rebalances_for_ever() {
    let mut bench =
        Bench::new(CoordinatorSettings { max_record_size: 300, ..CoordinatorSettings::default() });
    let ann = bench.stable(|_| {});
    let again = bench.join(&ann.member_id, |_| {});
    let ahead = bench.who(again);
    let sync = bench.sync(&ahead, &[(&ahead, &[0; 300])]);
    assert_eq!(bench.error(sync), ErrorCode::UnknownServerError);
    assert_eq!(bench.state(), "PreparingRebalance");
    assert_eq!(bench.heartbeat(&ahead), ErrorCode::RebalanceInProgress);
}
