//! Each error in each answer: what becomes of the id, of what is held, and of the member.

use super::*;

/// What must follow an error.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// JoinGroup with the id; what is held stays or is released in good order.
    Keeps,
    /// JoinGroup with the id; everything is lost.
    Loses,
    /// JoinGroup without an id; everything is lost.
    Resets,
    /// The end.
    Ends,
    /// Nothing: the member goes on.
    GoesOn,
}

fn check(script: &Script, then: Then, row: &str) {
    let join = script.sent.iter().rev().find_map(|(_, request, _)| match request {
        GroupRequest::Join(join) => Some(join.member_id.as_str()),
        _ => None,
    });
    let lost = script.lost().is_some();
    match then {
        Then::Keeps => assert_eq!((join, lost), (Some("me"), false), "{row}"),
        Then::Loses => assert_eq!((join, lost), (Some("me"), true), "{row}"),
        Then::Resets => assert_eq!((join, lost), (Some(""), true), "{row}"),
        Then::Ends => assert!(script.member.ended().is_some() && join.is_none(), "{row}"),
        Then::GoesOn => {
            assert_eq!((join, lost), (None, false), "{row}");
            assert_eq!(script.member.ended(), None, "{row}");
        }
    }
}

/// A cooperative member, which holds something in every state.
fn holding() -> Script {
    Script::dynamic().cooperative().settled(&[1])
}

#[test]
fn in_the_answer_to_join_group() {
    for (code, then) in [
        (25, Then::Resets),
        (22, Then::Keeps),
        (27, Then::Keeps),
        (14, Then::Keeps),
        (15, Then::Keeps),
        (16, Then::Keeps),
        (-1, Then::Keeps),
        (42, Then::Keeps),
        (23, Then::Keeps),
        (999, Then::Keeps),
        (69, Then::Resets),
        (110, Then::Resets),
        (24, Then::Ends),
        (26, Then::Ends),
        (30, Then::Ends),
        (35, Then::Ends),
        (81, Then::Ends),
    ] {
        let mut script = holding();
        script.rebalance();
        script.refused(ErrorCode::from(code));
        script.beats = Some(ErrorCode::None);
        script.pass(Duration::from_secs(2));
        check(&script, then, &format!("{code} in JoinGroup"));
    }
}

#[test]
fn in_the_answer_to_sync_group() {
    for (code, then) in [
        (25, Then::Resets),
        (22, Then::Loses),
        (27, Then::Keeps),
        (14, Then::Keeps),
        (15, Then::Keeps),
        (16, Then::Keeps),
        (-1, Then::Keeps),
        (42, Then::Keeps),
        (69, Then::Resets),
        (111, Then::Resets),
        (23, Then::Ends),
        (24, Then::Ends),
        (30, Then::Ends),
    ] {
        let mut script = holding();
        script.rebalance();
        script.beats = Some(ErrorCode::None);
        script.joined(2, "me", "other");
        script.refused(ErrorCode::from(code));
        script.pass(Duration::from_secs(2));
        check(&script, then, &format!("{code} in SyncGroup"));
    }
}

#[test]
fn in_the_answer_to_a_heartbeat() {
    for (code, then) in [
        (0, Then::GoesOn),
        (27, Then::Keeps),
        (25, Then::Resets),
        (22, Then::Loses),
        (14, Then::GoesOn),
        (15, Then::GoesOn),
        (16, Then::GoesOn),
        (24, Then::GoesOn),
        (30, Then::GoesOn),
        (-1, Then::GoesOn),
        (999, Then::GoesOn),
    ] {
        let mut script = holding();
        script.beats = None;
        script.pass(Duration::from_secs(4));
        script.refused(ErrorCode::from(code));
        script.beats = Some(ErrorCode::None);
        script.pass(Duration::from_secs(2));
        check(&script, then, &format!("{code} in Heartbeat"));
    }
}

#[test]
fn in_the_answer_to_a_commit() {
    for (code, then) in [
        (0, Then::GoesOn),
        (25, Then::Resets),
        (22, Then::Loses),
        (69, Then::Loses),
        (27, Then::Keeps),
        (14, Then::GoesOn),
        (15, Then::GoesOn),
        (16, Then::GoesOn),
        (7, Then::GoesOn),
        (3, Then::GoesOn),
        (12, Then::GoesOn),
        (28, Then::GoesOn),
        (29, Then::GoesOn),
        (30, Then::GoesOn),
    ] {
        let mut script = holding();
        script.tell(|member, now| member.commit(now, CommitId(1), [1].into()));
        script.committed(ErrorCode::from(code));
        script.pass(Duration::from_millis(50));
        if let Some((id, ..)) = script.commits.pop_front() {
            let done = Ok(GroupResponse::Commit(ErrorCode::None));
            script.tell(|member, now| member.handle_response(now, id, done));
        }
        script.pass(Duration::from_millis(200));
        if !script.commits.is_empty() {
            script.committed(ErrorCode::None);
        }
        script.pass(Duration::from_secs(1));
        check(&script, then, &format!("{code} in OffsetCommit"));
    }
}

#[test]
fn a_fence_in_any_answer_is_the_end_and_names_the_instance_and_the_request() {
    let fenced = ErrorCode::FencedInstanceId;
    let fence_of = |refused: ApiKey, script: &Script| {
        let group_instance_id = GroupInstanceId::new("a").unwrap();
        assert_eq!(script.member.ended(), Some(&Ended::Fenced { group_instance_id, refused }));
        assert_eq!(script.member.held(), &Pieces::default());
    };
    let held = || Script::of_instance("a").cooperative().settled(&[1]);

    let mut script = held();
    script.beats = Some(fenced);
    script.pass(Duration::from_secs(4));
    assert_eq!(script.lost(), Some((&[1].into(), &LossCause::Fenced)));
    fence_of(ApiKey::Heartbeat, &script);

    let mut script = held();
    script.rebalance();
    script.refused(fenced);
    fence_of(ApiKey::JoinGroup, &script);

    let mut script = held();
    script.rebalance();
    script.joined(2, "me", "other");
    script.refused(fenced);
    fence_of(ApiKey::SyncGroup, &script);

    let mut script = held();
    script.tell(|member, now| member.commit(now, CommitId(1), [1].into()));
    script.committed(fenced);
    assert_eq!(script.ended[0].2, CommitEnd::Refused(fenced));
    fence_of(ApiKey::OffsetCommit, &script);
    assert_eq!(script.requests(), [""; 0], "it is never fought for");
}

#[test]
fn a_fenced_member_that_may_come_back_joins_without_an_id_when_its_time_has_come() {
    let group_instance_id = Some(GroupInstanceId::new("a").unwrap());
    let wait = Duration::from_secs(90);
    let on_fenced = OnFenced::RetryAfter(wait);
    let config = MembershipConfig { group_instance_id, on_fenced, ..config() };
    let mut script = Script::with(config).cooperative().settled(&[1]);
    for _ in 0..2 {
        script.beats = Some(ErrorCode::FencedInstanceId);
        script.pass(Duration::from_secs(4));
        assert_eq!(script.lost(), Some((&[1].into(), &LossCause::Fenced)));
        assert_eq!(script.member.state(), MemberState::Unjoined);

        script.beats = Some(ErrorCode::None);
        script.tell(|member, now| member.rejoin(now, Cause::Unanswered));
        script.pass(wait - Duration::from_secs(5));
        assert_eq!(script.requests(), [""; 0], "the id is left alone until then");
        script.pass(Duration::from_secs(5));
        assert!(script.last_join().member_id.is_empty());
        assert!(script.last_join().group_instance_id.is_some());
        script.joined(7, "me again", "other");
        script.synced(&[1]);
        assert_eq!(script.member.held(), &[1].into());
        script.events.clear();
    }
}

#[test]
fn a_reset_waits_from_the_second_in_a_row_on() {
    let mut script = holding();
    script.rebalance();
    script.refused(ErrorCode::UnknownMemberId);
    assert!(script.last_join().member_id.is_empty(), "at once");
    script.id_given("again");
    script.refused(ErrorCode::UnknownMemberId);
    assert_eq!(script.requests(), [""; 0]);
    script.pass(Duration::from_millis(200));
    assert_eq!(script.requests(), ["JoinGroup"]);
}

#[test]
fn an_error_about_an_earlier_generation_is_about_an_earlier_life() {
    let mut script = Script::dynamic().settled(&[]);
    script.beats = None;
    script.pass(Duration::from_secs(4));
    let (old, ..) = script.sent.pop_front().unwrap();
    script.tell(|member, now| member.rejoin(now, Cause::MetadataChanged));
    script.joined(2, "me", "other");
    script.synced(&[1]);
    for error in [ErrorCode::UnknownMemberId, ErrorCode::IllegalGeneration] {
        let beat = HeartbeatResponse { error, ..HeartbeatResponse::default() };
        script.tell(|member, now| {
            member.handle_response(now, old, Ok(GroupResponse::Heartbeat(beat)));
        });
        assert_eq!(script.member.held(), &[1].into());
    }
}

#[test]
fn an_answer_of_the_wrong_kind_is_no_answer() {
    let mut script = Script::dynamic();
    script.tell(Membership::join);
    script.answer(Ok(GroupResponse::Heartbeat(HeartbeatResponse::default())));
    script.pass(Duration::from_secs(1));
    assert_eq!(script.requests(), ["JoinGroup"]);
    assert_eq!(script.count("DropRounds"), 1);
}

#[test]
fn a_broker_that_cannot_carry_a_request_is_named() {
    let mut script = Script::of_instance("a");
    script.tell(Membership::join);
    let message = "JoinGroup v4 knows no instance ids".to_owned();
    script.answer(Err(Failure::Unsupported(message.clone())));
    assert_eq!(script.member.ended(), Some(&Ended::Unsupported { message }));
}

/// Brings a member into one of the states in which it can be.
fn in_state(state: &str) -> Script {
    let mut script = match state {
        "first JoinGroup" | "JoinGroup with an id" => Script::dynamic(),
        _ => holding(),
    };
    match state {
        "first JoinGroup" => script.tell(Membership::join),
        "JoinGroup with an id" => {
            script.tell(Membership::join);
            script.id_given("me");
        }
        "Stable" => {}
        "Revoking" => {
            script = Script::dynamic().settled(&[1]);
            script.rebalance();
        }
        "JoinGroup parked" => script.rebalance(),
        "Planning" => {
            script.plans = false;
            script.rebalance();
            script.joined(2, "me", "me");
        }
        _ => {
            script.rebalance();
            script.joined(2, "me", "other");
        }
    }
    script
}

const STATES: [&str; 7] = [
    "first JoinGroup",
    "JoinGroup with an id",
    "Stable",
    "Revoking",
    "JoinGroup parked",
    "Planning",
    "SyncGroup parked",
];

#[test]
fn a_coordinator_that_is_killed_in_any_state_costs_neither_the_id_nor_what_is_held() {
    for state in STATES {
        let mut script = in_state(state);
        let held = script.member.held().clone();
        let id = script.member.member_id().clone();
        script.beats = None;
        script.finds = false;
        while !script.sent.is_empty() {
            script.answer(Err(Failure::Disconnected));
        }
        script.pass(Duration::from_secs(8));
        while !script.sent.is_empty() {
            script.answer(Err(Failure::Disconnected));
        }
        script.pass(Duration::from_millis(10));
        assert_eq!(script.member.held(), &held, "{state}");
        assert_eq!(script.member.member_id(), &id, "{state}");

        let id = script.lookups.pop_back();
        script.finds = true;
        if let Some(id) = id {
            script.tell(|member, now| member.handle_coordinator(now, id, Ok(())));
        }
        script.pass(Duration::from_secs(2));
        assert!(!script.requests().is_empty(), "{state}: asks the new one");
    }
}

#[test]
fn lookups_back_off_and_never_stop() {
    let mut script = Script::dynamic();
    script.finds = false;
    script.tell(Membership::join);
    for tries in 0..50 {
        let id = script.lookups.pop_front().expect("a lookup");
        let failure = match tries % 2 {
            0 => Failure::TimedOut,
            _ => Failure::Refused(ErrorCode::CoordinatorNotAvailable),
        };
        script.tell(|member, now| member.handle_coordinator(now, id, Err(failure)));
        assert_eq!(script.lookups.len(), 0, "not at once");
        script.pass(Duration::from_millis(1250));
    }
    assert_eq!(script.member.ended(), None);
}

#[test]
fn a_lookup_that_is_refused_for_good_ends_a_member_that_has_nothing_to_lose() {
    let mut script = Script::dynamic();
    script.finds = false;
    script.tell(Membership::join);
    let id = script.lookups.pop_front().unwrap();
    let code = ErrorCode::GroupAuthorizationFailed;
    script.tell(|member, now| member.handle_coordinator(now, id, Err(Failure::Refused(code))));
    let api = ApiKey::FindCoordinator;
    assert_eq!(script.member.ended(), Some(&Ended::Refused { api, code }));
}
