//! How rounds begin, what they say, and who plans.

use super::*;

#[test]
fn join_group_goes_out_when_what_was_revoked_was_released() {
    let mut script = Script::dynamic().settled(&[1, 2]);
    script.rebalance();
    assert!(
        matches!(&script.events[..], [Event::Revoked { revoked, .. }] if *revoked == [1, 2].into())
    );
    assert_eq!(script.count("JoinGroup"), 0);
    script.release();
    assert_eq!(script.count("JoinGroup"), 1);
    assert_eq!(script.member.held(), &Pieces::default());
}

#[test]
fn preparing_is_done_once_a_rebalance_and_not_once_a_join_group() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.release();
    script.refused(ErrorCode::RebalanceInProgress);
    script.pass(Duration::from_millis(200));
    script.refused(ErrorCode::NotCoordinator);
    script.pass(Duration::from_millis(200));
    script.joined(2, "me", "other");
    script.refused(ErrorCode::RebalanceInProgress);
    assert_eq!(script.count("JoinGroup"), 4);
    assert_eq!(script.count("BeforeJoin"), 1);
}

#[test]
fn a_retry_says_the_same_bytes_and_the_next_round_may_say_others() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.release();
    let said = script.last_join().protocols.clone();
    script.tell(|member, now| member.rejoin(now, Cause::MetadataChanged));
    script.refused(ErrorCode::RebalanceInProgress);
    script.pass(Duration::from_millis(200));
    assert_eq!(script.last_join().protocols, said, "frozen until SyncGroup is answered");

    script.joined(2, "me", "other");
    script.synced(&[]);
    assert_ne!(script.last_join().protocols, said, "what was asked for meanwhile is not forgotten");
    assert_eq!(script.last_join().reason.as_deref(), Some("topics or partitions changed"));
}

#[test]
fn a_rejoin_changes_the_bytes_so_that_the_broker_starts_a_round() {
    let mut script = Script::dynamic().settled(&[]);
    script.tell(|member, now| member.rejoin(now, Cause::Requested("a whim".into())));
    let first = script.last_join().clone();
    script.joined(1, "me", "other");
    script.synced(&[]);
    script.pass(Duration::from_secs(1));
    script.tell(|member, now| member.rejoin(now, Cause::Requested("a whim".into())));
    assert_ne!(script.last_join().protocols, first.protocols);
    assert_eq!(first.reason.as_deref(), Some("a whim"));
}

#[test]
fn the_wish_for_a_round_outlives_everything_but_a_successful_sync() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.release();
    script.beats = Some(ErrorCode::None);
    script.refused(ErrorCode::NotCoordinator);
    script.pass(Duration::from_millis(200));
    script.refused(ErrorCode::CoordinatorLoadInProgress);
    script.pass(Duration::from_millis(300));
    script.answer(Err(Failure::Disconnected));
    script.pass(Duration::from_millis(600));
    script.joined(2, "me", "other");
    script.refused(ErrorCode::UnknownServerError);
    script.pass(Duration::from_secs(2));
    script.joined(3, "me", "other");
    script.synced(&[1]);
    script.pass(Duration::from_secs(20));
    assert_eq!(script.requests(), [""; 0]);
    assert_eq!(script.member.state(), MemberState::Stable);
}

#[test]
fn a_round_for_later_begins_in_its_time_unless_one_began_before() {
    let settled = || {
        let mut script = Script::dynamic().settled(&[1]);
        let wait = Duration::from_secs(5);
        script.tell(|member, now| member.rejoin_later(now, Cause::MetadataChanged, wait));
        script
    };
    let mut script = settled();
    script.pass(Duration::from_millis(4900));
    assert_eq!(script.count("BeforeJoin"), 0);
    script.pass(Duration::from_millis(200));
    assert_eq!(script.count("BeforeJoin"), 1);

    let mut script = settled();
    script.rebalance();
    script.release();
    script.pass(Duration::from_secs(2));
    script.joined(2, "me", "other");
    script.beats = Some(ErrorCode::None);
    script.synced(&[1]);
    script.pass(Duration::from_secs(20));
    assert_eq!(script.count("JoinGroup"), 1);
}

#[test]
fn of_two_rounds_for_later_the_sooner_one_begins() {
    let mut script = Script::dynamic().settled(&[]);
    for (cause, seconds) in
        [(Cause::Scheduled, 60), (Cause::MetadataChanged, 5), (Cause::Scheduled, 6)]
    {
        let wait = Duration::from_secs(seconds);
        script.tell(|member, now| member.rejoin_later(now, cause, wait));
    }
    script.pass(Duration::from_secs(6));
    assert_eq!(script.last_join().reason.as_deref(), Some("topics or partitions changed"));
    assert_eq!(script.count("JoinGroup"), 1);
}

#[test]
fn a_leader_publishes_its_plan_and_takes_its_part_from_the_answer() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "me");
    let Some((_, GroupRequest::Sync(sync), _)) = script.sent.front() else { panic!("SyncGroup") };
    assert_eq!(sync.assignments.len(), 1, "the plan gives us everything");
    script.synced(&[3]);
    assert_eq!(script.member.held(), &[3].into(), "the broker kept an older one");
}

#[test]
fn zero_bytes_are_an_empty_assignment() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "other");
    script.answer(Ok(GroupResponse::Sync(SyncGroupResponse::default())));
    assert_eq!(script.member.state(), MemberState::Stable);
    assert!(matches!(&script.events[..], [Event::Assigned { held, .. }] if held.is_empty()));
}

#[test]
fn a_leader_that_cannot_plan_leaves_so_that_the_parked_followers_rejoin_and_comes_back() {
    let mut script = Script::dynamic();
    script.plans = false;
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "me");
    let id = script.leading.unwrap();
    let error = JobError::StepDown("no idea".to_owned());
    script.tell(|member, now| member.handle_planned(now, id, Err(error)));
    let Some((_, GroupRequest::Leave(leave), _)) = script.sent.front() else {
        panic!("LeaveGroup")
    };
    assert_eq!(leave.members[0].reason.as_deref(), Some("no idea"));
    script.refused(ErrorCode::None);
    assert_eq!(script.requests(), [""; 0]);
    script.pass(Duration::from_millis(1300));
    assert!(script.last_join().member_id.is_empty());
}

#[test]
fn a_leader_whose_policy_is_to_fail_leaves_and_ends() {
    let mut script = Script::dynamic();
    script.plans = false;
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "me");
    let id = script.leading.unwrap();
    script.tell(|member, now| member.handle_planned(now, id, Err(JobError::Fail("no".to_owned()))));
    assert_eq!(script.requests(), ["LeaveGroup"]);
    assert_eq!(script.member.ended(), Some(&Ended::PlanFailed { message: "no".to_owned() }));
}

#[test]
fn a_leader_whose_plan_was_not_what_it_wanted_comes_back_to_it() {
    let mut script = Script::dynamic();
    script.plans = false;
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "me");
    let id = script.leading.unwrap();
    let again_after = Some(Duration::from_secs(2));
    let plan = Plan { assignments: vec![(MemberId::new("me"), Bytes::new())], again_after };
    script.tell(|member, now| member.handle_planned(now, id, Ok(plan)));
    script.beats = Some(ErrorCode::None);
    script.synced(&[]);
    script.pass(Duration::from_millis(1900));
    assert_eq!(script.requests(), [""; 0]);
    script.pass(Duration::from_millis(200));
    assert_eq!(script.last_join().reason.as_deref(), Some("the leader could not plan"));
}

#[test]
fn a_plan_for_a_generation_that_is_over_is_dropped() {
    let mut script = Script::dynamic();
    script.plans = false;
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "me");
    let id = script.leading.unwrap();
    script.beats = Some(ErrorCode::UnknownMemberId);
    script.pass(Duration::from_secs(4));
    script.tell(|member, now| member.handle_planned(now, id, Ok(Plan::default())));
    assert_eq!(script.count("SyncGroup"), 0);
}

#[test]
fn a_description_that_fails_leaves_the_last_one_and_ends_a_member_that_has_none() {
    let mut script = Script::dynamic().settled(&[]);
    script.describes = false;
    script.rebalance();
    let id = script.describing.take().unwrap();
    let panicked = || Err(JobError::Panicked("oh".to_owned()));
    script.tell(|member, now| member.handle_described(now, id, panicked()));
    assert_eq!(script.count("JoinGroup"), 1);

    let mut script = Script::dynamic();
    script.describes = false;
    script.tell(Membership::join);
    let id = script.describing.take().unwrap();
    script.tell(|member, now| member.handle_described(now, id, panicked()));
    assert!(matches!(script.member.ended(), Some(Ended::PlanFailed { .. })));
}

#[test]
fn a_cooperative_member_gives_up_what_the_plan_takes_and_rejoins_to_say_so() {
    let mut script = Script::dynamic().cooperative().settled(&[1, 2]);
    script.rebalance();
    assert_eq!(script.events, [], "nothing is revoked before the plan");
    script.joined(2, "me", "other");
    script.synced(&[2, 3]);
    assert!(
        matches!(&script.events[..], [Event::Revoked { revoked, .. }] if *revoked == [1].into())
    );
    assert_eq!(script.member.state(), MemberState::Stable);
    script.release();
    assert!(matches!(&script.events[1..], [Event::Assigned { added, held, .. }]
        if *added == [3].into() && *held == [2, 3].into()));
    assert_eq!(script.last_join().reason.as_deref(), Some("partitions were given up for others"));
}

#[test]
fn a_join_group_that_is_answered_with_the_same_generation_is_followed_by_sync_and_heartbeats() {
    let mut script = Script::dynamic().settled(&[]);
    script.tell(|member, now| member.rejoin(now, Cause::SubscriptionChanged));
    script.beats = None;
    script.joined(1, "me", "other");
    assert_eq!(script.requests(), ["SyncGroup", "Heartbeat"]);
    script.synced(&[4]);
    assert_eq!(script.member.held(), &[4].into());
}

#[test]
fn a_plan_that_came_too_late_to_be_taken_up_is_left_for_the_next_round() {
    let rebalance_timeout = Duration::from_secs(20);
    let mut script = Script::with(MembershipConfig { rebalance_timeout, ..config() });
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "other");
    script.beats = Some(ErrorCode::None);
    script.pass(rebalance_timeout);
    script.synced(&[1]);
    assert_eq!(script.events, [], "a round may have ended since");
    script.rebalance();
    assert_eq!(script.events, []);
    assert_eq!(script.last_join().reason.as_deref(), Some("the group is rebalancing"));
}
