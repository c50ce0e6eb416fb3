//! Ids, instance ids, and what the answer to JoinGroup makes of a member.

use super::*;

#[test]
fn a_dynamic_member_needs_three_round_trips() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    script.joined(1, "me", "other");
    script.synced(&[1]);
    assert_eq!(
        script.log,
        ["FindCoordinator", "BeforeJoin", "JoinGroup", "JoinGroup", "SyncGroup"]
    );
    let assigned = Event::Assigned {
        added: [1].into(),
        held: [1].into(),
        standby: Pieces::default(),
        generation: Generation(1),
        leads: false,
    };
    assert_eq!(script.events, [assigned]);
}

#[test]
fn nothing_happens_before_the_member_is_told_to_join() {
    let mut script = Script::dynamic();
    script.tell(|member, now| member.rejoin(now, Cause::MetadataChanged));
    script.tell(Membership::handle_timeout);
    assert_eq!(script.log, [""; 0]);
}

#[test]
fn a_static_member_needs_two_and_heartbeats_at_once() {
    let mut script = Script::of_instance("a");
    script.tell(Membership::join);
    script.joined(1, "a-id", "other");
    assert_eq!(
        script.log,
        ["FindCoordinator", "BeforeJoin", "JoinGroup", "SyncGroup", "Heartbeat"]
    );
    script.synced(&[1]);
    assert_eq!(script.events.len(), 1, "the heartbeat's answer is not waited for");
}

#[test]
fn the_id_that_is_given_is_used_at_once_and_with_the_same_words() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    let said = script.last_join().protocols.clone();
    script.id_given("me");
    assert_eq!(script.last_join().member_id.as_str(), "me");
    assert_eq!(script.last_join().protocols, said);
}

#[test]
fn an_answer_that_gives_no_id_is_asked_for_again_after_a_backoff() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("");
    assert_eq!(script.requests(), [""; 0]);
    script.pass(Duration::from_millis(120));
    assert!(script.last_join().member_id.is_empty());
}

#[test]
fn every_request_of_a_static_member_names_its_instance() {
    let mut script = Script::of_instance("a");
    script.tell(Membership::join);
    script.joined(1, "a-id", "other");
    script.synced(&[1]);
    script.tell(|member, now| member.commit(now, CommitId(1), [1].into()));
    script.tell(|member, now| member.leave(now, None, now + Duration::from_secs(30)));
    script.release();
    assert_eq!(script.commits[0].3.group_instance_id.as_ref().unwrap().as_str(), "a");
    script.committed(ErrorCode::None);
    assert_eq!(script.requests(), ["Heartbeat", "LeaveGroup"]);
    for (_, request, _) in &script.sent {
        let instance = match request {
            GroupRequest::Join(join) => &join.group_instance_id,
            GroupRequest::Sync(sync) => &sync.group_instance_id,
            GroupRequest::Heartbeat(beat) => &beat.group_instance_id,
            GroupRequest::Leave(leave) => &leave.members[0].group_instance_id,
        };
        assert_eq!(instance.as_ref().unwrap().as_str(), "a", "{request:?}");
    }
}

#[test]
fn join_group_may_take_as_long_as_a_round_and_five_seconds() {
    for (rebalance, expected) in [(300, 305), (10, 30)] {
        let rebalance_timeout = Duration::from_secs(rebalance);
        let mut script = Script::with(MembershipConfig { rebalance_timeout, ..config() });
        script.tell(Membership::join);
        let (_, _, deadline) = script.sent[0];
        assert_eq!(deadline - script.now, Duration::from_secs(expected));
    }
}

#[test]
fn a_rebalance_timeout_beyond_all_measure_gives_no_tiny_deadline() {
    let mut script =
        Script::with(MembershipConfig { rebalance_timeout: Duration::MAX, ..config() });
    script.tell(Membership::join);
    let (_, _, deadline) = script.sent[0];
    assert!(deadline - script.now > Duration::from_secs(24 * 3600));
}

#[test]
fn a_join_group_that_is_not_answered_drops_its_connection_and_keeps_the_id() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    script.sent.clear();
    script.log.clear();
    script.pass(REBALANCE + Duration::from_secs(6));
    assert_eq!(script.log, ["DropRounds", "FindCoordinator", "JoinGroup"]);
    assert_eq!(script.last_join().member_id.as_str(), "me");
}

#[test]
fn a_late_answer_to_a_join_group_that_was_given_up_changes_nothing() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    let (first, ..) = script.sent.pop_front().unwrap();
    script.pass(REBALANCE + Duration::from_secs(6));
    let late = GroupResponse::Join(joined(1, "me", "other"));
    script.tell(|member, now| member.handle_response(now, first, Ok(late)));
    assert_eq!(script.member.state(), MemberState::PreparingRebalance);
}

#[test]
fn a_fence_of_our_own_making_is_recognised_once() {
    let mut script = Script::of_instance("a");
    script.tell(Membership::join);
    let (first, ..) = script.sent.pop_front().unwrap();
    script.pass(REBALANCE + Duration::from_secs(6));
    let fence =
        JoinGroupResponse { error: ErrorCode::FencedInstanceId, ..JoinGroupResponse::default() };
    script.tell(|member, now| {
        member.handle_response(now, first, Ok(GroupResponse::Join(fence.clone())));
    });
    assert_eq!(script.member.ended(), None, "the late answer to the first JoinGroup");

    script.refused(ErrorCode::FencedInstanceId);
    assert_eq!(script.member.ended(), None, "the first JoinGroup was taken after the second");
    script.pass(Duration::from_millis(200));
    script.refused(ErrorCode::FencedInstanceId);
    assert!(matches!(script.member.ended(), Some(Ended::Fenced { .. })), "then it is another");
}

#[test]
fn an_answer_without_a_leader_ends_the_membership() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.joined(1, "me", "");
    assert_eq!(script.member.ended(), Some(&Ended::ManagedByBroker));
    assert_eq!(script.requests(), ["LeaveGroup"]);
}

#[test]
fn an_answer_in_another_s_protocol_ends_the_membership() {
    for change in [
        |joined: &mut JoinGroupResponse| joined.protocol_type = Some("consumer".to_owned()),
        |joined: &mut JoinGroupResponse| joined.protocol = Some("range".to_owned()),
        |joined: &mut JoinGroupResponse| joined.protocol = None,
    ] {
        let mut script = Script::dynamic();
        script.tell(Membership::join);
        let mut answer = joined(1, "me", "other");
        change(&mut answer);
        script.answer(Ok(GroupResponse::Join(answer)));
        assert!(matches!(script.member.ended(), Some(Ended::Inconsistent { .. })));
    }
}

#[test]
fn a_leader_whose_plan_stands_syncs_with_nothing_and_looks_after_the_topics() {
    let mut script = Script::of_instance("a");
    script.plans = false;
    script.tell(Membership::join);
    let answer = JoinGroupResponse { skip_assignment: true, ..joined(1, "a-id", "a-id") };
    script.answer(Ok(GroupResponse::Join(answer)));
    assert!(script.leading.is_some());
    assert!(script.member.is_leader());
    let Some((_, GroupRequest::Sync(sync), _)) = script.sent.front() else { panic!("SyncGroup") };
    assert_eq!(sync.assignments, []);
}

#[test]
fn a_leader_that_restarted_is_told_its_old_id_by_old_brokers_and_knows_itself() {
    let mut script = Script::of_instance("a");
    script.plans = false;
    script.tell(Membership::join);
    script.joined(1, "a-new", &format!("a-{UUID}"));
    assert!(script.member.is_leader());
    assert!(script.leading.is_some());
    assert_eq!(script.requests(), ["SyncGroup", "Heartbeat"]);
}

#[test]
fn a_group_without_a_common_protocol_is_told_once_and_tried_for_a_while() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    let mut tries = 0;
    while script.member.ended().is_none() {
        script.refused(ErrorCode::InconsistentGroupProtocol);
        script.pass(Duration::from_millis(1300));
        tries += 1;
    }
    assert!((40..80).contains(&tries), "{tries} tries in a minute");
    let ended = Event::Ended(Ended::NoCommonProtocol);
    assert_eq!(script.events, [Event::NoCommonProtocol, ended]);
}

#[test]
fn a_full_group_is_the_end_for_a_dynamic_member() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.refused(ErrorCode::GroupMaxSizeReached);
    assert_eq!(script.member.ended(), Some(&Ended::GroupFull));
}

#[test]
fn a_full_group_is_tried_by_a_static_member_until_its_old_entry_must_be_gone() {
    let mut script = Script::of_instance("a");
    script.tell(Membership::join);
    let began = script.now;
    while script.member.ended().is_none() {
        script.refused(ErrorCode::GroupMaxSizeReached);
        script.pass(Duration::from_millis(1300));
    }
    assert_eq!(script.member.ended(), Some(&Ended::GroupFull));
    let tried = script.now - began;
    assert!(tried > SESSION && tried < SESSION + Duration::from_secs(10), "{tried:?}");
}

#[test]
fn two_protocols_of_one_name_are_never_sent() {
    let mut script = Script::dynamic();
    script.describes = false;
    script.tell(Membership::join);
    let id = script.describing.unwrap();
    let twice = vec![("a".to_owned(), Bytes::new()), ("a".to_owned(), Bytes::new())];
    script.tell(|member, now| member.handle_described(now, id, Ok(twice)));
    assert!(matches!(script.member.ended(), Some(Ended::Inconsistent { .. })));
    assert_eq!(script.requests(), [""; 0]);
}
