//! Topics that grow, appear and vanish, and who starts the round.

use super::*;

fn in_group(members: &mut [Member]) {
    run(FIRST, members, &[]).unwrap();
}

fn seen(member: &mut Member, topics: &[(&str, i32)]) -> Option<Rejoin> {
    member.protocol.cluster_changed(&cluster(topics), 0.25).rejoin
}

fn after_jitter() -> Option<Rejoin> {
    Some(Rejoin { cause: Cause::MetadataChanged, after: Duration::from_millis(250) })
}

#[test]
fn the_leader_starts_a_round_at_once_and_followers_a_little_later() {
    let mut members = [on_range("m1"), on_range("m2")];
    in_group(&mut members);
    let grown = [("a", 5), ("b", 2)];
    assert_eq!(seen(&mut members[0], &grown), at_once(Cause::MetadataChanged));
    assert_eq!(seen(&mut members[1], &grown), after_jitter());
}

#[test]
fn no_jitter_makes_a_follower_wait_for_longer_than_a_second() {
    for (jitter, milliseconds) in [(7.0, 1000), (-1.0, 0), (f64::NAN, 0)] {
        let mut members = [on_range("m1"), on_range("m2")];
        in_group(&mut members);
        let after = Duration::from_millis(milliseconds);
        let reaction = members[1].protocol.cluster_changed(&cluster(&[("a", 5)]), jitter);
        assert_eq!(reaction.rejoin, Some(Rejoin { cause: Cause::MetadataChanged, after }));
    }
}

#[test]
fn a_round_is_asked_for_once() {
    let mut members = [on_range("m1")];
    in_group(&mut members);
    assert!(seen(&mut members[0], &[("a", 5)]).is_some());
    assert_eq!(seen(&mut members[0], &[("a", 6)]), None, "the round that is coming sees it");
    let ended = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!((ended.changes["m1"].add.len(), &ended.changes["m1"].rejoin), (6, &None));
}

#[test]
fn while_a_round_runs_no_other_is_asked_for_and_its_end_finds_out() {
    let mut members = [on_range("m1"), on_range("m2")];
    in_group(&mut members);
    let round = Round { generation: 2, ..FIRST };
    let led = led(round, &mut members, &[]);
    let facts = facts_of(&members[0]);
    let (_, job) = members[0].protocol.lead(led);
    let plan = job(facts).unwrap();
    assert_eq!(seen(&mut members[1], &[("a", 5)]), None);
    let ended = end(round, &mut members, plan);
    assert_eq!(ended.changes["m2"].rejoin, after_jitter());
    assert_eq!(ended.changes["m1"].rejoin, None);
}

#[test]
fn a_member_whose_view_is_older_than_the_plan_asks_for_nothing() {
    let mut members = [on_range("m1"), on_range("m2")];
    members[0].protocol.cluster_changed(&cluster(&[("a", 8)]), 0.0);
    let ended = run(FIRST, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m2"].add.len(), 4);
    assert_eq!(ended.changes["m2"].rejoin, None);
    assert_eq!(seen(&mut members[1], &[("a", 7)]), None, "still behind the leader");
    assert_eq!(seen(&mut members[1], &[("a", 8)]), None);
    assert!(seen(&mut members[1], &[("a", 9)]).is_some());
}

#[test]
fn a_topic_that_is_missing_is_said_once_and_a_round_follows_when_it_appears() {
    let waiting = |id| {
        let mut member = Member::new(id, options(topics(&["a", "later"]), range()));
        member.protocol.cluster_changed(&cluster(&[("a", 4), ("later", 0)]), 0.5);
        member
    };
    let mut members = [waiting("m1"), waiting("m2")];
    let ended = run(FIRST, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m1"].notices, [], "said when it was seen");
    let reaction = members[1].protocol.cluster_changed(&cluster(&[("a", 4), ("later", 2)]), 0.25);
    assert_eq!(reaction.rejoin, after_jitter());
    assert_eq!(reaction.notices, [ConsumerNotice::MissingTopics(vec![])]);
}

#[test]
fn a_topic_that_could_not_be_described_is_planned_when_it_can_be() {
    let unavailable = Topic::failed("b", TopicError::Unavailable(5));
    let known = cluster(&[("a", 4)]);
    let partly = Cluster::new(known.nodes().cloned(), known.topics().cloned().chain([unavailable]));
    let mut members = [on_range("m1")];
    members[0].protocol.cluster_changed(&Arc::new(partly), 0.5);
    // Another client's member reads it, and reports no count.
    let other = Subscription { topics: ["b".into()].into(), ..foreign(None) }.encode();
    run(FIRST, &mut members, &[("f", other)]).unwrap();
    assert_eq!(seen(&mut members[0], &[("a", 4), ("b", 2)]), at_once(Cause::MetadataChanged));
}

#[test]
fn a_leader_looks_again_where_a_member_has_seen_more() {
    let mut members = [on_range("m1"), on_range("m2")];
    for (seen_by_member, again) in [(4, false), (3, false), (5, true), (200_000, false)] {
        members[1].protocol.cluster_changed(&cluster(&[("a", seen_by_member)]), 0.0);
        let mut led = led(FIRST, &mut members[..1], &[]);
        led.members.push(members[1].says("range"));
        assert_eq!(members[0].protocol.lead(led).0.afresh, again, "{seen_by_member}");
    }
}

#[test]
fn only_the_leader_starts_a_round_for_a_topic_that_vanished() {
    let mut members = [on_range("m1"), on_range("m2")];
    in_group(&mut members);
    let gone = [("a", 0)];
    assert_eq!(seen(&mut members[1], &gone), None, "an old view looks the same");
    assert_eq!(seen(&mut members[0], &gone), at_once(Cause::MetadataChanged));
}

#[test]
fn a_pattern_takes_in_what_appears_and_never_kafkas_own() {
    let pattern = |id| {
        let selection = Selection::pattern("^[ab_]").unwrap();
        Member::new(id, options(selection, range()))
    };
    let mut members = [pattern("m1"), pattern("m2")];
    let ended = run(FIRST, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m1"].add.len() + ended.changes["m2"].add.len(), 6);
    assert!(members[1].protocol.watched().all);
    let own = Topic::new("__consumer_offsets", vec![]).internal(true);
    let known = cluster(&[("a", 4), ("b", 2)]);
    let with_own =
        Arc::new(Cluster::new(known.nodes().cloned(), known.topics().cloned().chain([own])));
    assert_eq!(members[1].protocol.cluster_changed(&with_own, 0.25).rejoin, None);
    assert_eq!(seen(&mut members[1], &[("a", 4), ("a2", 1), ("b", 2)]), after_jitter());
    let ended = run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(ended.changes["m2"].rejoin, None);
}

#[test]
fn twenty_members_that_see_one_new_partition_need_one_round() {
    const IDS: [&str; 20] = [
        "m1", "m10", "m11", "m12", "m13", "m14", "m15", "m16", "m17", "m18", "m19", "m2", "m20",
        "m3", "m4", "m5", "m6", "m7", "m8", "m9",
    ];
    let mut members: Vec<Member> = IDS.into_iter().map(on_range).collect();
    in_group(&mut members);
    // Half of them see it before the round, the leader among them; the rest after it.
    for member in &mut members[..10] {
        assert!(seen(member, &[("a", 5)]).is_some());
    }
    run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    for member in &mut members {
        assert_eq!(seen(member, &[("a", 5)]), None, "{}", member.id);
    }
}

#[test]
fn another_subscription_asks_for_a_round_and_is_told_apart_from_the_same_one() {
    let mut members = [on_range("m1")];
    assert_eq!(members[0].protocol.subscribe(topics(&["a"])), None);
    assert_eq!(members[0].protocol.subscribe(topics(&["b"])), None, "not joined yet");
    in_group(&mut members);
    assert_eq!(members[0].held.len(), 2);
    assert_eq!(
        members[0].protocol.subscribe(topics(&["a", "b"])),
        Some(Cause::SubscriptionChanged)
    );
    run(Round { generation: 2, ..FIRST }, &mut members, &[]).unwrap();
    assert_eq!(members[0].held.len(), 6);
}

#[test]
fn a_subscription_that_changes_during_a_round_takes_nothing_of_what_was_dropped() {
    let mut members = [Member::new("m1", options(topics(&["a", "b"]), range()))];
    let led = led(FIRST, &mut members, &[]);
    let facts = facts_of(&members[0]);
    let (_, job) = members[0].protocol.lead(led);
    let plan = job(facts).unwrap();
    assert_eq!(members[0].protocol.subscribe(topics(&["b"])), None, "the round's end finds out");
    let change = &end(FIRST, &mut members, plan).changes["m1"];
    assert_eq!(change.add, set(&[("b", 0), ("b", 1)]));
    assert_eq!(change.rejoin, at_once(Cause::SubscriptionChanged));
}
