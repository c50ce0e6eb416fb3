//! Rounds that succeed: who gets what, and what is said with it.

use super::*;
use crate::wire::ReadError;

#[test]
fn every_member_gets_its_part_and_knows_the_groups_size_leader_and_plan() {
    let mut members = [on_range("m1"), on_range("m2")];
    let ended = run(FIRST, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m1"].add, set(&[("a", 0), ("a", 1)]));
    assert_eq!(ended.changes["m2"].add, set(&[("a", 2), ("a", 3)]));
    let seen = members.each_ref().map(|member| member.protocol.last_plan().unwrap().clone());
    assert_eq!(seen[0], seen[1]);
    assert_eq!((&*seen[0].leader, seen[0].group_size), ("m1", 2));
    assert!(ended.changes.values().all(|change| change.rejoin.is_none()));
}

#[test]
fn a_second_round_moves_only_what_a_newcomer_gets() {
    let mut members = vec![on_range("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members.push(on_range("m2"));
    let ended = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m1"].add, set(&[("a", 0), ("a", 1)]));
    assert_eq!(ended.changes["m2"].add, set(&[("a", 2), ("a", 3)]));
}

#[test]
fn the_leader_asks_for_the_topics_of_all_members() {
    let mut members = [on_range("m1"), Member::new("m2", options(topics(&["b"]), range()))];
    let illegal = Subscription { topics: ["no topic".into(), "".into()].into(), ..foreign(None) };
    let led = led(FIRST, &mut members, &[("f", illegal.encode())]);
    let (needs, _) = members[0].protocol.lead(led);
    assert_eq!(needs.topics.iter().map(|topic| &**topic).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn the_leader_plans_topics_that_it_does_not_read_itself() {
    let mut members = [on_range("m1"), Member::new("m2", options(topics(&["b"]), range()))];
    let ended = run(FIRST, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m2"].add, set(&[("b", 0), ("b", 1)]));
    let watched = members[0].protocol.watched().topics;
    assert!(watched.contains("b"), "a leader looks after the topics of all: {watched:?}");
}

#[test]
fn what_the_cluster_could_not_tell_the_members_counts_do() {
    let mut members = [on_range("m1")];
    let led = led(FIRST, &mut members, &[]);
    let (_, job) = members[0].protocol.lead(led);
    let plan = job(Facts { cluster: Arc::default(), gathered: None }).unwrap();
    assert_eq!(read(&plan, "m1").partitions.len(), 4);
}

#[test]
fn what_the_assigner_tells_arrives_typed() {
    let telling = Custom {
        plan: |group| {
            let mut plan = deal(group);
            for member in group.members() {
                plan.tell(member, &format!("you said {}", member.metadata().unwrap()));
            }
            Ok(plan)
        },
        ..Custom::default()
    };
    let mut members = [on_custom("m1", telling.clone()), on_custom("m2", telling)];
    let ended = run(Round { protocol: "custom", ..FIRST }, &mut members, &[]).unwrap();
    let told = ended.changes["m2"].notices.iter().find_map(|notice| match notice {
        ConsumerNotice::Told(told) => Some(told),
        _ => None,
    });
    let told = told.unwrap();
    assert_eq!(
        crate::assign::read_told::<String>(told.codec, &told.bytes),
        Ok("you said 7".into())
    );
}

#[test]
fn a_round_that_the_assigner_wants_is_asked_for_by_the_leader_alone() {
    let later = Custom {
        plan: |group| {
            let mut plan = deal(group);
            plan.rebalance_after(Duration::from_secs(60));
            Ok(plan)
        },
        ..Custom::default()
    };
    let mut members = [on_custom("m1", later.clone()), on_custom("m2", later)];
    let ended = run(Round { protocol: "custom", ..FIRST }, &mut members, &[]).unwrap();
    let scheduled = Rejoin { cause: Cause::Scheduled, after: Duration::from_secs(60) };
    assert_eq!(ended.changes["m1"].rejoin, Some(scheduled));
    assert_eq!(ended.changes["m2"].rejoin, None);
    assert_eq!(ended.plan.again_after, None, "said once");
}

#[test]
fn large_groups_beat_more_slowly() {
    for (size, expected) in [(1, 300), (60, 300), (100, 500), (600, 3000), (10_000, 3000)] {
        let mut member = on_range("m1");
        member.describe();
        let down = Down { generation: Generation(1), group_size: size, ..Down::default() };
        let assignment = Assignment { user_data: Some(down.encode()), ..Assignment::default() };
        let change = member.joined(&FIRST, assignment.encode());
        assert_eq!(change.heartbeat_interval, Some(Duration::from_millis(expected)), "{size}");
    }
}

#[test]
fn without_an_envelope_the_driver_keeps_its_own_pace() {
    let mut member = on_range("m1");
    member.describe();
    let change = member.joined(&FIRST, Assignment::default().encode());
    assert_eq!(change.heartbeat_interval, None);
}

#[test]
fn no_bytes_are_an_empty_assignment_and_the_claim_is_empty_from_then_on() {
    let mut members = [on_range("m1")];
    run(FIRST, &mut members, &[]).unwrap();
    members[0].describe();
    let change = members[0].joined(&Round { generation: 2, ..FIRST }, Bytes::new());
    assert_eq!((change.add, change.rejoin), (Partitions::new(), None));
}

#[test]
fn an_assignment_that_cannot_be_read_changes_nothing_and_is_told_of() {
    let mut member = on_range("m1");
    member.describe();
    let change = member.joined(&FIRST, Bytes::from_static(&[0xff, 0xff, 0, 0]));
    assert_eq!((&change.add, &change.revoke), (&Partitions::new(), &Partitions::new()));
    let message = ReadError::Version(-1).to_string();
    assert_eq!(change.notices, [ConsumerNotice::UnreadableAssignment(message.into())]);
}

#[test]
fn a_static_member_with_other_metadata_asks_for_one_round() {
    let mut members = [on_custom("m1", Custom::default()), on_custom("m2", Custom::default())];
    let round = Round { protocol: "custom", ..FIRST };
    let ended = run(round, &mut members, &[]).unwrap();

    // It restarts: the broker hands it the plan that was made for its predecessor.
    let mut restarted = on_custom("m2", Custom { says: || 8, ..Custom::default() });
    let assignment = assignment_of(&ended.plan, "m2");
    restarted.describe();
    let change = restarted.joined(&round, assignment.clone());
    assert_eq!(change.rejoin, at_once(Cause::PlannedOnOther));
    assert_eq!(change.add.len(), 2, "what it may read meanwhile it reads");

    restarted.describe();
    let change = restarted.joined(&round, assignment);
    assert_eq!(change.rejoin, None, "never twice for the same difference");

    members[1] = restarted;
    let ended = run(Round { generation: 2, ..round }, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m2"].rejoin, None);
}

#[test]
fn a_static_member_that_restarts_as_it_was_asks_for_nothing() {
    let mut members = [on_custom("m1", Custom::default()), on_custom("m2", Custom::default())];
    let round = Round { protocol: "custom", ..FIRST };
    let ended = run(round, &mut members, &[]).unwrap();
    let mut restarted = on_custom("m2", Custom::default());
    restarted.describe();
    let change = restarted.joined(&round, assignment_of(&ended.plan, "m2"));
    assert_eq!((change.rejoin, change.add.len()), (None, 2));
}

#[test]
fn a_restarted_leader_publishes_nothing_and_looks_after_the_groups_topics() {
    let b = || Member::new("m2", options(topics(&["b"]), range()));
    let mut members = [on_range("m1"), b()];
    let ended = run(FIRST, &mut members, &[]).unwrap();
    members[0] = on_range("m1");
    let led = Led { skip_assignment: true, ..led(FIRST, &mut members, &[]) };
    let facts = facts_of(&members[0]);
    let (needs, job) = members[0].protocol.lead(led);
    assert!(needs.topics.contains("b") && !needs.gather);
    assert_eq!(job(facts), Ok(Plan::default()));
    let change = members[0].joined(&FIRST, assignment_of(&ended.plan, "m1"));
    assert_eq!((change.rejoin, change.add.len()), (None, 4));

    let grown = cluster(&[("a", 4), ("b", 3)]);
    let reaction = members[0].protocol.cluster_changed(&grown, 0.9);
    assert_eq!(reaction.rejoin, at_once(Cause::MetadataChanged));
}

#[test]
fn members_without_work_are_named_where_there_is_work_enough() {
    let all_to_one = Custom {
        plan: |group| {
            let mut plan = group.plan();
            for (partition, member) in group.partitions().zip(group.members().take(1).cycle()) {
                plan.give(member, partition);
            }
            Ok(plan)
        },
        ..Custom::default()
    };
    let mut members = [on_custom("m1", all_to_one.clone()), on_custom("m2", all_to_one)];
    let ended = run(Round { protocol: "custom", ..FIRST }, &mut members, &[]).unwrap();
    let idle = ConsumerNotice::IdleMembers(vec![MemberId::new("m2")]);
    assert_eq!(ended.changes["m1"].notices, [idle]);
    assert_eq!(ended.changes["m2"].notices, []);
}
