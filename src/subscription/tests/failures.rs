//! Rounds without a plan.

use super::*;

const CUSTOM: Round<'static> = Round { generation: 1, leader: "m1", protocol: "custom" };

fn refusing() -> Custom {
    Custom { plan: |_| Err(AssignError::other("not today")), ..Custom::default() }
}

/// Two members that had a plan, whose assigner then changes to this one.
fn then(custom: &Custom, policy: OnAssignError) -> [Member; 2] {
    let mut members = [on_custom("m1", Custom::default()), on_custom("m2", Custom::default())];
    run(CUSTOM, &mut members, &[]).unwrap();
    for member in &mut members {
        let mut options = (*member.protocol.options).clone();
        options.assigners = vec![ErasedAssigner::new(custom.clone()).unwrap()];
        options.on_assign_error = policy;
        member.protocol.options = Arc::new(options);
    }
    members
}

fn failure(change: &Changed) -> Option<(&str, &str)> {
    change.notices.iter().find_map(|notice| match notice {
        ConsumerNotice::AssignFailed { by, message } => Some((&**by, &**message)),
        _ => None,
    })
}

#[test]
fn without_a_plan_everyone_keeps_what_they_had_and_hears_why() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    let ended = run(Round { generation: 2, ..CUSTOM }, &mut members, &[]).unwrap();
    for (member, kept) in members.iter().zip([[("a", 0), ("a", 2)], [("a", 1), ("a", 3)]]) {
        let change = &ended.changes[member.id];
        assert_eq!((&change.revoke, &member.held), (&Partitions::new(), &set(&kept)));
        assert_eq!(failure(change), Some(("m1", "not today")));
        assert_eq!(change.rejoin, None, "the plan itself says when to come back");
    }
}

#[test]
fn the_leader_comes_back_after_a_second_then_two_up_to_a_minute_and_success_forgets() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    let mut waits = Vec::new();
    for generation in 2..10 {
        let ended = run(Round { generation, ..CUSTOM }, &mut members, &[]).unwrap();
        waits.push(ended.plan.again_after.unwrap().as_secs());
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);

    let healthy = then(&Custom::default(), OnAssignError::Keep);
    for (member, healthy) in members.iter_mut().zip(healthy) {
        member.protocol.options = Arc::clone(&healthy.protocol.options);
    }
    let ended = run(Round { generation: 10, ..CUSTOM }, &mut members, &[]).unwrap();
    assert_eq!(ended.plan.again_after, None);
    for member in &mut members {
        member.protocol.options =
            Arc::clone(&then(&refusing(), OnAssignError::Keep)[0].protocol.options);
    }
    let ended = run(Round { generation: 11, ..CUSTOM }, &mut members, &[]).unwrap();
    assert_eq!(ended.plan.again_after, Some(Duration::from_secs(1)));
}

#[test]
fn failures_of_an_earlier_term_are_forgotten_when_somebody_else_leads() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    run(Round { generation: 2, ..CUSTOM }, &mut members, &[]).unwrap();
    run(Round { generation: 3, leader: "m2", ..CUSTOM }, &mut members, &[]).unwrap();
    let ended = run(Round { generation: 4, ..CUSTOM }, &mut members, &[]).unwrap();
    assert_eq!(ended.plan.again_after, Some(Duration::from_secs(1)));
}

#[test]
fn an_assigner_that_wants_to_wait_says_for_how_long() {
    let waiting = Custom {
        plan: |_| Err(AssignError::KeepCurrent { retry_after: Duration::from_secs(17) }),
        ..Custom::default()
    };
    let mut members = then(&waiting, OnAssignError::Keep);
    let ended = run(Round { generation: 2, ..CUSTOM }, &mut members, &[]).unwrap();
    assert_eq!(ended.plan.again_after, Some(Duration::from_secs(17)));
}

#[test]
fn with_fail_the_second_failure_in_a_row_ends_the_leader() {
    let mut members = then(&refusing(), OnAssignError::Fail);
    assert!(run(Round { generation: 2, ..CUSTOM }, &mut members, &[]).is_ok());
    let second = run(Round { generation: 3, ..CUSTOM }, &mut members, &[]);
    assert_eq!(second.err(), Some(JobError::Fail("not today".into())));
}

#[test]
fn a_panic_and_nonsense_are_failures_like_any_other() {
    let panicking = Custom { plan: |_| panic!("index 7"), ..Custom::default() };
    let nonsense = Custom {
        plan: |group| {
            let mut plan = deal(group);
            plan.give_by_name("nobody", "a", 0);
            Ok(plan)
        },
        ..Custom::default()
    };
    let incomplete = Custom { plan: |group| Ok(group.plan()), ..Custom::default() };
    for (custom, expected) in
        [(panicking, "index 7"), (nonsense, "nobody"), (incomplete, "goes to 0")]
    {
        let mut members = then(&custom, OnAssignError::Keep);
        let ended = run(Round { generation: 2, ..CUSTOM }, &mut members, &[]).unwrap();
        let (_, message) = failure(&ended.changes["m2"]).unwrap();
        assert!(message.contains(expected), "{message}");
        assert_eq!(members[1].held.len(), 2);
    }
}

#[test]
fn a_hang_ends_in_the_same_plan_made_without_the_assigner() {
    let never =
        Custom { plan: |_| unreachable!("it hangs, and is not asked"), ..Custom::default() };
    let mut members = then(&never, OnAssignError::Keep);
    let round = Round { generation: 2, ..CUSTOM };
    let hanging = led(round, &mut members, &[]);
    let (_, _hangs) = members[0].protocol.lead(hanging);
    let led = led(round, &mut members, &[]);
    let facts = facts_of(&members[0]);
    let plan = members[0].protocol.keep_plan(led, &facts, JobError::TimedOut).unwrap();
    assert_eq!(plan.again_after, Some(Duration::from_secs(1)));
    let ended = end(round, &mut members, plan);
    let (by, message) = failure(&ended.changes["m2"]).unwrap();
    assert_eq!((by, message), ("m1", "the assigner did not end by its deadline"));
    assert_eq!(members[1].held.len(), 2);
}

#[test]
fn an_error_that_publishes_nothing_stays_one() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    let led = led(CUSTOM, &mut members, &[]);
    let facts = facts_of(&members[0]);
    let error = JobError::StepDown("gone".into());
    assert_eq!(members[0].protocol.keep_plan(led, &facts, error.clone()), Err(error));
}

#[test]
fn where_nothing_is_known_of_what_a_member_had_the_leader_steps_down() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    let silent = ("java", foreign(None).encode());
    let ended = run(Round { generation: 2, ..CUSTOM }, &mut members, &[silent]);
    let Err(JobError::StepDown(why)) = ended.map(|ended| ended.plan) else { panic!("published") };
    assert!(why.contains("not today") && why.contains("java"), "{why}");
}

#[test]
fn a_foreign_member_that_says_what_it_holds_keeps_it() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    let owned = set(&[("a", 3)]);
    let holds = Subscription { owned: (&owned).into(), generation: Generation(5), ..foreign(None) };
    let ended =
        run(Round { generation: 6, ..CUSTOM }, &mut members, &[("f", holds.encode())]).unwrap();
    assert_eq!(read(&ended.plan, "f").partitions, owned);
    assert_eq!(members[1].held, set(&[("a", 1)]), "the newer claim counts");
}

#[test]
fn a_member_that_cannot_be_read_loses_nothing_that_a_plan_would_give() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    let broken = ("broken", Bytes::from_static(&[0, 3, 0x7f, 0xff, 0xff, 0xff]));
    assert!(run(Round { generation: 2, ..CUSTOM }, &mut members, &[broken]).is_ok());
}

#[test]
fn a_record_that_the_broker_would_refuse_names_the_largest_before_it_is_sent() {
    let verbose = Custom {
        plan: |group| {
            let mut plan = deal(group);
            let last = group.members().last().unwrap();
            plan.tell(last, &"x".repeat(5000));
            Ok(plan)
        },
        ..Custom::default()
    };
    let mut members = then(&verbose, OnAssignError::Keep);
    for member in &mut members {
        let mut options = (*member.protocol.options).clone();
        options.record_limit = 2000;
        member.protocol.options = Arc::new(options);
    }
    let ended = run(Round { generation: 2, ..CUSTOM }, &mut members, &[]).unwrap();
    let (_, message) = failure(&ended.changes["m1"]).unwrap();
    assert!(message.contains("of 2000 bytes; the largest: `m2` 5"), "{message}");
    assert_eq!(members[0].held.len(), 2, "everyone keeps what they had");
}

#[test]
fn where_not_even_that_fits_the_leader_steps_down() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    for member in &mut members {
        let mut options = (*member.protocol.options).clone();
        options.record_limit = 100;
        member.protocol.options = Arc::new(options);
    }
    let ended = run(Round { generation: 2, ..CUSTOM }, &mut members, &[]);
    assert!(matches!(ended.map(|ended| ended.plan), Err(JobError::StepDown(_))));
}

#[test]
fn a_leader_that_restarts_after_a_failure_tries_again() {
    let mut members = then(&refusing(), OnAssignError::Keep);
    let round = Round { generation: 2, ..CUSTOM };
    let ended = run(round, &mut members, &[]).unwrap();
    members[0] = on_custom("m1", refusing());
    let led = Led { skip_assignment: true, ..led(round, &mut members, &[]) };
    let facts = facts_of(&members[0]);
    let (_, job) = members[0].protocol.lead(led);
    assert_eq!(job(facts), Ok(Plan::default()));
    let change = members[0].joined(&round, assignment_of(&ended.plan, "m1"));
    let again = Rejoin { cause: Cause::PlanFailed, after: Duration::from_secs(1) };
    assert_eq!(change.rejoin, Some(again));
}

#[test]
fn a_protocol_that_we_cannot_plan_is_for_another_leader() {
    let mut members = [on_range("m1")];
    let led = Led { protocol: "of a later list".into(), ..led(FIRST, &mut members, &[]) };
    let facts = facts_of(&members[0]);
    let (_, job) = members[0].protocol.lead(led);
    assert!(matches!(job(facts), Err(JobError::StepDown(_))));
}
