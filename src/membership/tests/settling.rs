//! The leader that waits for more joiners.

use super::*;

const DELAY: Duration = Duration::from_secs(2);

fn waiting() -> Script {
    let mut script = Script::with(MembershipConfig { settle_delay: DELAY, ..config() });
    script.plans = false;
    script.beats = Some(ErrorCode::None);
    script
}

/// JoinGroup is answered: we lead these.
fn leading(script: &mut Script, generation: i32, others: &[&str]) {
    let mut joined = joined(generation, "me", "me");
    let other =
        |id: &&str| JoinedMember { member_id: MemberId::new(*id), ..joined.members[0].clone() };
    let others: Vec<JoinedMember> = others.iter().map(other).collect();
    joined.members.extend(others);
    script.leading = None;
    script.answer(Ok(GroupResponse::Join(joined)));
}

fn publish(script: &mut Script) {
    let id = script.leading.take().expect("it plans");
    let plan = Plan { assignments: vec![(MemberId::new("me"), Bytes::new())], again_after: None };
    script.tell(|member, now| member.handle_planned(now, id, Ok(plan)));
}

/// A leader whose first plan, for itself and `others`, was taken.
fn settled(others: &[&str]) -> Script {
    let mut script = waiting();
    script.tell(Membership::join);
    script.id_given("me");
    leading(&mut script, 1, others);
    script.pass(DELAY);
    publish(&mut script);
    script.synced(&[]);
    script
}

#[test]
fn a_plan_for_newcomers_is_put_off_for_the_delay() {
    let mut script = waiting();
    script.tell(Membership::join);
    script.id_given("me");
    leading(&mut script, 1, &["a"]);
    script.pass(DELAY - Duration::from_millis(1));
    assert_eq!(script.leading, None);
    script.pass(Duration::from_millis(1));
    assert!(script.leading.is_some());
}

#[test]
fn those_who_come_meanwhile_are_waited_for_again_but_not_for_ever() {
    let mut script = waiting();
    script.tell(Membership::join);
    script.id_given("me");
    let began = script.now;
    let come = ["a", "b", "c", "d", "e", "f"];
    for generation in 1..=5 {
        leading(&mut script, generation, &come[..generation as usize]);
        while script.leading.is_none() {
            script.pass(Duration::from_millis(100));
        }
        publish(&mut script);
        script.refused(ErrorCode::RebalanceInProgress);
    }
    assert_eq!(script.now - began, DELAY * 4, "the fifth plan is not put off");
}

#[test]
fn where_nobody_came_nothing_is_waited_for() {
    let mut script = settled(&["a", "b"]);
    for others in [&["a"][..], &["a"], &[]] {
        script.tell(|member, now| member.rejoin(now, Cause::FollowUp));
        let generation = script.member.generation().0 + 1;
        leading(&mut script, generation, others);
        publish(&mut script);
        script.synced(&[]);
    }
}

#[test]
fn a_static_member_that_comes_back_is_nobody_new() {
    let of_instance = |id: &str| JoinedMember {
        group_instance_id: Some("ann".to_owned()),
        member_id: MemberId::new(id),
        ..joined(1, "me", "me").members[0].clone()
    };
    let mut script = waiting();
    script.tell(Membership::join);
    script.id_given("me");
    for (generation, id, waits) in [(1, "ann-1", true), (2, "ann-2", false)] {
        let mut answer = joined(generation, "me", "me");
        answer.members.push(of_instance(id));
        script.answer(Ok(GroupResponse::Join(answer)));
        assert_eq!(script.leading.is_none(), waits, "{id}");
        script.pass(DELAY);
        publish(&mut script);
        script.synced(&[]);
        script.tell(|member, now| member.rejoin(now, Cause::FollowUp));
    }
}

#[test]
fn who_takes_over_from_a_leader_that_went_plans_at_once() {
    let mut script =
        Script::with(MembershipConfig { settle_delay: DELAY, ..config() }).settled(&[1]);
    script.plans = false;
    script.rebalance();
    script.release();
    leading(&mut script, 2, &["a"]);
    assert!(script.leading.is_some());
}

#[test]
fn a_leader_that_was_thrown_out_while_it_waited_plans_nothing() {
    let mut script = waiting();
    script.tell(Membership::join);
    script.id_given("me");
    leading(&mut script, 1, &["a"]);
    script.beats = Some(ErrorCode::UnknownMemberId);
    script.tell(|member, _| member.beat_now());
    script.tell(Membership::handle_timeout);
    script.pass(DELAY * 2);
    assert_eq!(script.leading, None);
}
