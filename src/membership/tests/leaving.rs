//! The end that was asked for, in every state.

use super::*;

const LIMIT: Duration = Duration::from_secs(30);

impl Script {
    fn leave(&mut self) {
        self.sent.clear();
        self.tell(|member, now| member.leave(now, Some("enough".to_owned()), now + LIMIT));
    }

    fn close(&mut self) {
        self.sent.clear();
        self.tell(|member, now| member.close(now, now + LIMIT));
    }
}

#[test]
fn a_stable_member_revokes_commits_and_then_leaves() {
    let mut script = Script::dynamic().settled(&[1]);
    script.leave();
    assert!(matches!(&script.events[..], [Event::Revoked { cause: Cause::Closing, .. }]));
    script.tell(|member, now| member.commit(now, CommitId(1), [1].into()));
    script.release();
    assert_eq!(script.requests(), [""; 0], "the commit first");
    script.committed(ErrorCode::None);
    let Some((_, GroupRequest::Leave(leave), _)) = script.sent.front() else {
        panic!("LeaveGroup")
    };
    assert_eq!(leave.members[0].reason.as_deref(), Some("enough"));
    script.refused(ErrorCode::None);
    assert_eq!(script.member.ended(), Some(&Ended::Closed { left: true }));
    assert_eq!(script.member.poll_timeout(), None);
}

#[test]
fn a_dynamic_member_that_closes_leaves_and_a_static_one_stays() {
    let mut script = Script::dynamic().settled(&[]);
    script.close();
    assert_eq!(script.requests(), ["LeaveGroup"]);

    let mut script = Script::of_instance("a").settled(&[]);
    script.close();
    assert_eq!(script.requests(), [""; 0]);
    assert_eq!(script.member.ended(), Some(&Ended::Closed { left: false }));
}

#[test]
fn the_policy_may_say_otherwise() {
    let group_instance_id = Some(GroupInstanceId::new("a").unwrap());
    let leave_policy = LeavePolicy::Leave;
    let config = MembershipConfig { group_instance_id, leave_policy, ..config() };
    let mut script = Script::with(config).settled(&[]);
    script.close();
    assert_eq!(script.requests(), ["LeaveGroup"]);
}

#[test]
fn an_id_that_was_given_is_given_back() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.id_given("me");
    script.leave();
    assert_eq!(script.log.last().map(String::as_str), Some("LeaveGroup"));
    assert_eq!(script.count("DropRounds"), 1);
}

#[test]
fn an_id_that_is_on_its_way_is_waited_for_and_given_back() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    let asked = script.sent.pop_front().unwrap();
    script.leave();
    assert_eq!(script.member.ended(), None);
    script.sent.push_back(asked);
    script.id_given("me");
    let Some((_, GroupRequest::Leave(leave), _)) = script.sent.front() else {
        panic!("LeaveGroup")
    };
    assert_eq!(leave.members[0].member_id.as_str(), "me");
}

#[test]
fn an_id_that_does_not_come_is_not_waited_for_long() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.leave();
    script.pass(Duration::from_secs(1));
    assert!(script.member.ended().is_some());
}

#[test]
fn a_static_member_that_waits_for_its_first_join_leaves_by_its_instance_id() {
    let mut script = Script::of_instance("a");
    script.tell(Membership::join);
    script.leave();
    let Some((_, GroupRequest::Leave(leave), _)) = script.sent.front() else {
        panic!("LeaveGroup")
    };
    assert!(leave.members[0].member_id.is_empty());
    assert_eq!(leave.members[0].group_instance_id, GroupInstanceId::new("a").ok());
}

#[test]
fn a_parked_request_is_broken_off_before_leave_group_is_sent() {
    for syncs in [false, true] {
        let mut script = Script::dynamic().settled(&[]);
        script.rebalance();
        if syncs {
            script.joined(2, "me", "other");
        }
        script.log.clear();
        script.leave();
        assert_eq!(script.log, ["DropRounds", "LeaveGroup"]);
    }
}

#[test]
fn a_round_through_which_something_is_held_is_waited_for_so_that_it_can_be_committed() {
    let mut script = Script::dynamic().cooperative().settled(&[1, 2]);
    script.rebalance();
    script.tell(|member, now| member.leave(now, None, now + LIMIT));
    script.joined(2, "me", "other");
    script.beats = Some(ErrorCode::None);
    assert_eq!(script.events, []);
    script.synced(&[1]);
    assert!(
        matches!(&script.events[..], [Event::Revoked { revoked, .. }] if *revoked == [1, 2].into())
    );
    script.tell(|member, now| member.commit(now, CommitId(1), [1, 2].into()));
    script.release();
    assert_eq!(script.commits[0].3.generation, Generation(2));
    let (id, ..) = script.commits.pop_front().unwrap();
    let answer = Ok(GroupResponse::Commit(ErrorCode::None));
    script.tell(|member, now| member.handle_response(now, id, answer));
    assert_eq!(script.requests(), ["LeaveGroup"]);
}

#[test]
fn a_round_that_takes_too_long_is_broken_off_and_what_is_held_in_it_is_lost() {
    for syncs in [false, true] {
        let mut script = Script::dynamic().cooperative().settled(&[1]);
        script.rebalance();
        if syncs {
            script.joined(2, "me", "other");
        }
        script.leave();
        script.pass(Duration::from_secs(4));
        assert_eq!(script.lost(), None);
        script.pass(Duration::from_secs(1));
        assert_eq!(script.lost(), Some((&[1].into(), &LossCause::Closed)));
        assert_eq!(script.requests(), ["LeaveGroup"]);
    }
}

#[test]
fn a_revocation_that_is_under_way_is_finished_first() {
    let mut script = Script::dynamic().settled(&[1]);
    script.rebalance();
    script.leave();
    assert_eq!(script.requests(), [""; 0]);
    assert!(script.member.revocation_deadline().unwrap() < script.now + LIMIT);
    script.release();
    assert_eq!(script.requests(), ["LeaveGroup"]);
    assert_eq!(script.count("JoinGroup"), 0);
}

#[test]
fn an_application_that_does_not_release_is_not_waited_for_for_ever() {
    let mut script = Script::dynamic().settled(&[1]);
    script.leave();
    script.pass(LIMIT - Duration::from_secs(1));
    assert_eq!(script.lost(), Some((&[1].into(), &LossCause::NotReleased)));
    assert_eq!(script.requests(), ["LeaveGroup"]);
    script.pass(Duration::from_secs(1));
    assert!(script.member.ended().is_some());
}

#[test]
fn a_coordinator_that_is_gone_delays_the_end_until_its_deadline_at_most() {
    for held in [&[][..], &[1]] {
        let mut script = Script::dynamic().settled(held);
        script.finds = false;
        script.beats = None;
        script.pass(Duration::from_secs(4));
        script.answer(Err(Failure::Disconnected));
        script.leave();
        script.pass(LIMIT);
        assert_eq!(script.member.ended(), Some(&Ended::Closed { left: false }));
    }
}

#[test]
fn a_coordinator_that_moved_is_asked_a_second_time_and_not_a_third() {
    let mut script = Script::dynamic().settled(&[]);
    script.leave();
    script.refused(ErrorCode::NotCoordinator);
    script.pass(Duration::from_millis(500));
    assert_eq!(script.requests(), ["LeaveGroup"]);
    script.refused(ErrorCode::NotCoordinator);
    assert_eq!(script.member.ended(), Some(&Ended::Closed { left: false }));
}

#[test]
fn who_is_gone_already_has_left() {
    let mut script = Script::dynamic().settled(&[]);
    script.leave();
    script.refused(ErrorCode::UnknownMemberId);
    assert_eq!(script.member.ended(), Some(&Ended::Closed { left: true }));
}

#[test]
fn after_the_end_nothing_is_done_any_more() {
    let mut script = Script::dynamic().settled(&[1]);
    script.close();
    script.release();
    script.refused(ErrorCode::None);
    let said = script.events.len();
    script.tell(Membership::join);
    script.tell(|member, now| member.rejoin(now, Cause::SubscriptionChanged));
    script.tell(|member, now| member.commit(now, CommitId(9), [1].into()));
    script.tell(Membership::handle_timeout);
    script.pass(Duration::from_secs(600));
    assert_eq!(script.requests(), [""; 0]);
    assert_eq!(script.events.len(), said);
    assert_eq!(script.ended, [(CommitId(9), [1].into(), CommitEnd::Closed)]);
}
