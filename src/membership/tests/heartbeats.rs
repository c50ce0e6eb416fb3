//! When heartbeats go out, how often, and what their answers do.

use super::*;

fn beats(script: &mut Script, span: Duration) -> usize {
    script.beats = None;
    let until = script.now + span;
    let mut count = 0;
    while script.now < until {
        script.pass(Duration::from_millis(10));
        while let Some(at) = script
            .sent
            .iter()
            .position(|(_, request, _)| matches!(request, GroupRequest::Heartbeat(_)))
        {
            let (id, ..) = script.sent.remove(at).unwrap();
            count += 1;
            let beat = GroupResponse::Heartbeat(HeartbeatResponse::default());
            script.tell(|member, now| member.handle_response(now, id, Ok(beat)));
        }
    }
    count
}

#[test]
fn they_go_out_every_three_seconds_give_or_take_a_tenth() {
    let mut script = Script::dynamic().settled(&[1]);
    let count = beats(&mut script, Duration::from_secs(60));
    assert!((18..=23).contains(&count), "{count} in a minute");
}

#[test]
fn the_plan_may_ask_for_another_interval_and_the_configuration_decides() {
    for (configured, told, expected) in [
        (None, Some(300), 180..=230),
        (Some(1000), Some(300), 54..=67),
        (None, Some(60_000), 3..=5),
    ] {
        let heartbeat_interval = configured.map(Duration::from_millis);
        let mut script =
            Script::with(MembershipConfig { heartbeat_interval, ..config() }).settled(&[1]);
        script.member.heartbeats.told_interval = told.map(Duration::from_millis);
        beats(&mut script, Duration::from_secs(16));
        let count = beats(&mut script, Duration::from_secs(60));
        assert!(expected.contains(&count), "{count} for {configured:?} and {told:?}");
    }
}

#[test]
fn a_round_that_the_plan_announced_is_listened_for_for_two_seconds_or_until_it_comes() {
    let (usual, hurried) = (Some(Duration::from_secs(1)), Some(Duration::from_millis(50)));
    for heartbeat_interval in [None, Some(Duration::from_secs(2))] {
        let config = MembershipConfig { heartbeat_interval, ..config() };
        let mut script = Script::with(config).settled(&[1]);
        script.tell(|member, now| member.take_intervals(now, usual, hurried));
        let count = beats(&mut script, Duration::from_secs(2));
        assert!((34..=46).contains(&count), "{count} while it is expected");
        let count = beats(&mut script, Duration::from_secs(4));
        assert!((2..=5).contains(&count), "{count} when it did not come");
    }

    let mut script = Script::dynamic().settled(&[1]);
    script.tell(|member, now| member.take_intervals(now, usual, hurried));
    script.rebalance();
    script.release();
    script.joined(2, "me", "other");
    script.beats = Some(ErrorCode::None);
    script.synced(&[1]);
    let count = beats(&mut script, Duration::from_millis(1500));
    assert!(count <= 2, "{count} in the next generation");
}

#[test]
fn answers_that_carry_a_throttle_time_stretch_the_interval_up_to_a_third_of_the_session() {
    let mut script = Script::dynamic().settled(&[1]);
    script.beats = None;
    let mut gaps = Vec::new();
    for _ in 0..6 {
        let before = script.now;
        while script.sent.is_empty() {
            script.pass(Duration::from_millis(50));
        }
        gaps.push((script.now - before).as_secs_f64());
        let throttle = Duration::from_millis(100);
        let beat = HeartbeatResponse { throttle, ..HeartbeatResponse::default() };
        script.answer(Ok(GroupResponse::Heartbeat(beat)));
    }
    assert!(gaps[1] > 5.0 && gaps[2] > 10.0 && gaps[5] > 13.0 && gaps[5] <= 15.1, "{gaps:?}");
}

#[test]
fn they_are_off_while_join_group_is_parked_and_on_while_sync_group_is() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.release();
    assert_eq!(beats(&mut script, Duration::from_secs(30)), 0);
    script.joined(2, "me", "other");
    assert!(beats(&mut script, Duration::from_secs(30)) >= 9);
}

#[test]
fn a_join_group_that_is_parked_for_longer_than_a_session_makes_nobody_look_for_a_coordinator() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.release();
    script.pass(4 * SESSION);
    assert_eq!(script.log, ["BeforeJoin", "JoinGroup"]);
}

#[test]
fn they_go_on_while_the_leader_plans_and_while_the_application_gives_up() {
    let mut script = Script::dynamic();
    script.plans = false;
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "me");
    assert!(beats(&mut script, Duration::from_secs(90)) >= 27);

    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    assert!(beats(&mut script, 3 * SESSION) >= 40);
    assert_eq!(script.lost(), None);
}

#[test]
fn a_cooperative_member_that_holds_something_goes_on_while_join_group_is_parked() {
    let mut script = Script::dynamic().cooperative().settled(&[1]);
    script.rebalance();
    assert_eq!(script.requests(), ["JoinGroup"]);
    assert!(beats(&mut script, 2 * SESSION) >= 25);
    assert_eq!(script.lost(), None);
}

#[test]
fn a_rebalance_is_a_success_and_starts_a_round_only_when_stable() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "other");
    script.beats = Some(ErrorCode::RebalanceInProgress);
    script.pass(Duration::from_secs(20));
    assert_eq!(script.count("JoinGroup"), 2, "none since the id was given");
    assert!(script.member.heartbeats.alive.unwrap() > script.now - Duration::from_secs(4));
}

#[test]
fn one_is_out_at_a_time_and_several_tries_fit_in_a_session() {
    let mut script = Script::dynamic().settled(&[1]);
    script.beats = None;
    script.pass(Duration::from_secs(14));
    assert_eq!(script.count("Heartbeat"), 1);
    script.pass(Duration::from_secs(26));
    assert!(script.count("Heartbeat") >= 2, "{:?}", script.log);
}

#[test]
fn a_coordinator_that_moves_changes_nothing_but_whom_we_ask() {
    for failure in [ErrorCode::NotCoordinator, ErrorCode::CoordinatorNotAvailable] {
        let mut script = Script::dynamic().settled(&[1]);
        script.beats = None;
        script.pass(Duration::from_secs(4));
        script.refused(failure);
        script.pass(Duration::from_millis(500));
        assert_eq!(script.log, ["Heartbeat", "FindCoordinator", "Heartbeat"]);
        assert_eq!(
            (script.member.generation(), script.member.held()),
            (Generation(1), &[1].into())
        );
    }
}

#[test]
fn a_refused_permission_is_told_once_and_waited_out_until_the_rejoin() {
    let mut script = Script::dynamic().settled(&[1]);
    script.beats = Some(ErrorCode::GroupAuthorizationFailed);
    script.pass(SESSION - Duration::from_secs(5));
    assert_eq!(script.events, [Event::Unauthorized]);
    assert_eq!(script.member.ended(), None);
    script.pass(Duration::from_secs(10));
    assert!(matches!(script.lost(), Some((_, LossCause::SessionExpired))));
    script.refused(ErrorCode::GroupAuthorizationFailed);
    let (api, code) = (ApiKey::JoinGroup, ErrorCode::GroupAuthorizationFailed);
    assert_eq!(script.member.ended(), Some(&Ended::Refused { api, code }));
}

#[test]
fn a_static_member_that_was_absent_for_a_round_asks_whether_it_still_has_a_session() {
    let mut script = Script::of_instance("a").settled(&[1]);
    script.beats = None;
    script.now += REBALANCE; // The process stood still.
    script.tell(Membership::handle_timeout);
    assert_eq!(script.requests(), ["Heartbeat", "JoinGroup"]);
    script.answer(Err(Failure::Unreadable));
    script.joined(2, "me", "other");
    assert_eq!(script.requests(), ["SyncGroup", "Heartbeat"]);
    script.synced(&[1]);
    assert!(!script.events.iter().any(|event| matches!(event, Event::Assigned { .. })));
    script.refused(ErrorCode::None);
    assert!(script.events.iter().any(|event| matches!(event, Event::Assigned { .. })));
}
