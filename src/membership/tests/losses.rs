//! When what is held is not ours any more, and how the application hears of it.

use super::*;

#[test]
fn everything_is_lost_a_session_after_the_last_acknowledged_heartbeat_was_sent() {
    let mut script = Script::dynamic().settled(&[1, 2]);
    script.pass(Duration::from_secs(20));
    let until = script.member.owned_until().unwrap();
    script.beats = None;
    script.pass(until - script.now - Duration::from_millis(1));
    assert_eq!(script.lost(), None);
    script.pass(Duration::from_millis(1));
    assert_eq!(script.lost(), Some((&[1, 2].into(), &LossCause::SessionExpired)));
    assert_eq!(script.member.member_id().as_str(), "me", "the id may still be good");
    assert_eq!(script.member.generation(), Generation(1), "and so may the generation");
}

#[test]
fn who_has_lost_everything_claims_nothing() {
    let mut script = Script::dynamic().cooperative().settled(&[1, 2]);
    script.beats = None;
    script.pass(SESSION + Duration::from_secs(1));
    let claims = &script.last_join().protocols[0].1;
    assert_eq!(claims[1..5], (-1_i32).to_be_bytes());
    assert_eq!(claims.len(), 13, "no piece");
}

#[test]
fn the_answer_to_an_old_heartbeat_does_not_make_ours_what_was_lost() {
    let mut script = Script::dynamic().settled(&[1]);
    script.beats = None;
    script.pass(Duration::from_secs(4));
    let (id, ..) = script.sent.pop_front().unwrap();
    script.now += Duration::from_secs(60); // The process stood still.
    let beat = GroupResponse::Heartbeat(HeartbeatResponse::default());
    script.tell(|member, now| member.handle_response(now, id, Ok(beat)));
    assert!(script.member.owned_until().unwrap() < script.now);
    script.tell(Membership::handle_timeout);
    assert!(script.lost().is_some());
}

#[test]
fn nothing_is_taken_up_on_the_word_of_an_answer_as_old_as_a_session() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    script.pass(Duration::from_secs(50));
    script.joined(1, "me", "other");
    script.synced(&[1]);
    assert_eq!(script.events, [], "our session may have ended before it began for us");
    assert_eq!(script.requests(), ["Heartbeat"]);
    script.refused(ErrorCode::None);
    assert!(matches!(&script.events[..], [Event::Assigned { .. }]));
}

#[test]
fn the_deadline_of_a_revocation_counts_from_the_last_heartbeat_without_a_rebalance() {
    let mut script = Script::dynamic().settled(&[1]);
    let calm = script.now;
    script.rebalance();
    let Some(Event::Revoked { deadline, .. }) = script.events.last() else { panic!("Revoked") };
    assert_eq!(*deadline, calm + REBALANCE - Duration::from_secs(5));
}

#[test]
fn what_is_not_released_in_time_is_lost_and_join_group_goes_out() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.pass(REBALANCE);
    assert_eq!(script.lost(), Some((&[1].into(), &LossCause::NotReleased)));
    assert_eq!(script.count("JoinGroup"), 1);
    let released = script.events.len();
    let Some(Event::Revoked { id, .. }) = script.events.first().cloned() else { panic!("Revoked") };
    script.tell(|member, now| member.release(now, id));
    assert_eq!(script.events.len(), released, "too late to matter");
}

#[test]
fn a_loss_takes_the_place_of_what_the_application_has_not_taken() {
    let mut script = Script::dynamic();
    script.takes = false;
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "other");
    script.synced(&[1]);
    script.beats = Some(ErrorCode::UnknownMemberId);
    script.pass(Duration::from_secs(4));
    assert!(matches!(&script.events[..], [Event::Assigned { .. }, Event::Lost { .. }]));
    script.events.clear();
    script.tell(Membership::delivered);
    assert_eq!(script.events, [], "nothing is behind the loss");
}

#[test]
fn a_loss_takes_the_place_of_a_revocation_that_is_under_way() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.beats = Some(ErrorCode::IllegalGeneration);
    script.pass(Duration::from_secs(4));
    assert_eq!(script.lost(), Some((&[1].into(), &LossCause::GenerationOver)));
    script.pass(Duration::from_millis(200));
    assert_eq!(script.count("JoinGroup"), 1, "nobody waits for the release");
}

#[test]
fn a_cooperative_member_asks_again_before_a_round_can_leave_it_behind() {
    let mut script = Script::dynamic().cooperative().settled(&[1]);
    script.rebalance();
    let said = script.last_join().clone();
    script.log.clear();
    script.pass(REBALANCE);
    assert_eq!(script.log, ["DropRounds", "JoinGroup"]);
    assert_eq!(script.last_join(), &said, "the broker parks it in the place of the first");
    assert_eq!(script.lost(), None, "for we may well be parked");
}

#[test]
fn an_answer_to_join_group_that_must_have_been_given_is_asked_for_again() {
    let mut script = Script::dynamic().cooperative().settled(&[1]);
    script.rebalance();
    script.log.clear();
    script.beats = Some(ErrorCode::IllegalGeneration);
    script.pass(Duration::from_secs(7));
    assert_eq!(script.log, ["DropRounds", "JoinGroup"]);
    assert_eq!(script.lost(), None);
}

#[test]
fn the_plan_of_a_generation_that_is_being_replaced_is_asked_for_again() {
    let mut script = Script::dynamic().cooperative().settled(&[1]);
    script.rebalance();
    script.joined(2, "me", "other");
    script.beats = Some(ErrorCode::None);
    script.pass(Duration::from_secs(4));
    script.beats = Some(ErrorCode::RebalanceInProgress);
    script.log.clear();
    script.pass(Duration::from_millis(3400));
    assert_eq!(script.log, [""; 0], "its refusal may be on its way");
    script.pass(Duration::from_secs(3));
    assert_eq!(script.log, ["DropRounds", "SyncGroup"], "else the next round ends without us");
    assert_eq!(script.lost(), None);
}

#[test]
fn a_broker_that_says_so_until_the_plan_is_there_is_asked_once() {
    let mut script = Script::dynamic().cooperative().settled(&[1]);
    script.rebalance();
    script.joined(2, "me", "other");
    script.log.clear();
    script.pass(Duration::from_secs(60));
    assert_eq!(script.log, [""; 0], "librdkafka's mock dies of a second SyncGroup");
}

#[test]
fn who_holds_nothing_waits_for_the_plan_it_asked_for() {
    let mut script = Script::dynamic().settled(&[]);
    script.rebalance();
    script.joined(2, "me", "other");
    script.pass(Duration::from_secs(20));
    assert_eq!(script.count("SyncGroup"), 1);
    script.synced(&[1]);
    assert!(matches!(&script.events[..], [Event::Assigned { .. }]), "{:?}", script.events);
}

#[test]
fn a_static_member_that_a_round_may_have_left_behind_loses_everything_when_its_generation_is_over()
{
    for (passed, is_lost) in [(SESSION, false), (REBALANCE, true)] {
        let mut script = Script::of_instance("a").cooperative().settled(&[1]);
        script.rebalance();
        script.pass(passed);
        assert_eq!(script.lost(), None);
        script.beats = Some(ErrorCode::IllegalGeneration);
        script.pass(Duration::from_secs(4));
        assert_eq!(script.lost().is_some(), is_lost, "after {passed:?}");
    }
}

#[test]
fn a_static_member_that_a_generation_came_and_went_without_loses_everything_when_it_is_back() {
    for (generation, is_lost) in [(2, false), (3, true)] {
        let mut script = Script::of_instance("a").cooperative().settled(&[1]);
        script.rebalance();
        script.pass(REBALANCE);
        script.sent.drain(..script.sent.len() - 1); // Asked again.
        script.joined(generation, "me", "other");
        assert_eq!(script.lost().is_some(), is_lost, "in generation {generation}");
    }
}

#[test]
fn a_member_owns_nothing_past_the_end_of_a_round_that_it_may_have_missed() {
    let rebalance_timeout = Duration::from_secs(20);
    let mut script = Script::with(MembershipConfig { rebalance_timeout, ..config() }).settled(&[1]);
    script.beats = None;
    script.pass(rebalance_timeout + Duration::from_millis(1));
    assert_eq!(script.lost(), Some((&[1].into(), &LossCause::GenerationOver)));
}

#[test]
fn claims_that_became_untrue_under_way_are_taken_back_in_another_round() {
    let mut script = Script::dynamic().cooperative().settled(&[1]);
    script.rebalance();
    script.beats = None;
    script.pass(SESSION);
    assert_eq!(script.lost(), Some((&[1].into(), &LossCause::SessionExpired)));
    script.sent.retain(|(_, request, _)| matches!(request, GroupRequest::Join(_)));
    script.beats = Some(ErrorCode::None);
    script.joined(2, "me", "other");
    script.synced(&[]);
    script.pass(Duration::from_secs(4));
    assert_eq!(script.last_join().reason.as_deref(), Some("partitions were given up for others"));
}
