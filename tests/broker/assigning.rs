//! Assigners of the application's on a real group: what they are told, what they may do wrong, how they change.

use std::time::Duration;

use kafka_group::assign::RoundRobinAssigner;
use kafka_group::types::Partitions;
use kafka_group::{Error, GroupMemberBuilder, OnAssignError};

use crate::assigners::{
    Barren, FirstRelease, Informed, LeastLoaded, Mood, Moody, Offsets, SecondRelease, Strings,
};
use crate::common::{Kafka, unique};
use crate::harness::{App, Said, by_role, done, member, offsets, plain, settled, undisturbed};

struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
}

impl Group {
    fn new(partitions: i32) -> Self {
        let group = Self { kafka: Kafka::shared(), id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, partitions, 1);
        group
    }

    fn member(&self) -> GroupMemberBuilder {
        plain(self.kafka.bootstrap(), &self.id, &[&self.topic])
    }

    /// Leader and follower with an assigner that is fine, so far.
    fn moody(&self) -> (App, App, Strings) {
        let (moody, strings) = Moody::new("moody");
        let member = || self.member().max_poll_interval(Duration::from_secs(4));
        let ann = App::start(member().assigner(moody.clone()));
        ann.holds(4);
        let (leader, follower) = by_role(ann, App::start(member().assigner(moody)), 4);
        (leader, follower, strings)
    }
}

fn protocol(app: &App) -> String {
    app.status().protocol.unwrap_or_default()
}

fn held(apps: [&App; 2]) -> [Partitions; 2] {
    apps.map(|app| app.now().unwrap().all)
}

#[test]
fn whoever_has_more_threads_gets_more_and_each_is_told_its_share() {
    let group = Group::new(14);
    let start = |threads| App::start(group.member().assigner(LeastLoaded { threads }));
    let (ann, bob, cid) = (start(1), start(2), start(4));
    settled(&[&ann, &bob, &cid], 14);
    for (app, threads) in [(&ann, 1), (&bob, 2), (&cid, 4)] {
        let got = app.now().unwrap();
        assert_eq!(got.all.len(), threads * 2);
        assert_eq!(got.told, Some(format!("{threads} of 7 threads")));
    }
    assert_eq!(protocol(&ann), "least-loaded");
}

#[test]
fn a_static_member_that_restarts_with_other_metadata_costs_one_round_and_one_for_what_moves() {
    let group = Group::new(12);
    let start = |instance: &str, threads| {
        App::start(group.member().group_instance_id(instance).assigner(LeastLoaded { threads }))
    };
    let (ann, bob) = (start("ann", 1), start("bob", 1));
    let before = settled(&[&ann, &bob], 12);
    bob.close();
    let bob = start("bob", 3);
    assert_eq!(bob.holds(9).generation.0, before.0 + 2);
    assert_eq!(settled(&[&ann, &bob], 12).0, before.0 + 2);
    undisturbed(&[&ann, &bob], || {});
}

#[test]
fn an_assigner_that_refuses_leaves_everyone_what_they_had() {
    keeps_and_recovers(Mood::Refuses, "not in the mood");
}

#[test]
fn an_assigner_that_panics_leaves_everyone_what_they_had() {
    keeps_and_recovers(Mood::Panics, "in a panic");
}

#[test]
fn a_plan_that_gives_a_partition_twice_is_not_published() {
    keeps_and_recovers(Mood::GivesTwice, "topic");
}

#[test]
fn a_plan_too_large_for_the_groups_record_is_not_published_and_says_who_makes_it_large() {
    let message = keeps_and_recovers(Mood::TellsTooMuch, "bytes");
    assert!(message.contains("kafka-group-"), "names the largest members: {message}");
}

fn keeps_and_recovers(mood: Mood, expected: &str) -> String {
    let group = Group::new(4);
    let (leader, follower, strings) = group.moody();
    let before = held([&leader, &follower]);
    strings.set(mood);
    done(leader.handle().rejoin("a test")).unwrap();

    let by = leader.status().member_id.to_string();
    let (said_by, message) = follower.assign_fails();
    assert_eq!(said_by, by);
    assert!(message.contains(expected), "{message}");
    assert_eq!(leader.assign_fails(), (by, message.clone()));
    settled(&[&leader, &follower], 4);
    assert_eq!(held([&leader, &follower]), before);

    strings.set(Mood::Fine);
    plans_again([&leader, &follower], &group);
    message
}

/// The group grows, and the growth is planned for.
fn plans_again(apps: [&App; 2], group: &Group) {
    group.kafka.admin().add_partitions(&group.topic, 6);
    settled(&apps, 6);
}

#[test]
fn an_assigner_that_hangs_costs_no_heartbeat_and_leaves_everyone_what_they_had() {
    let group = Group::new(4);
    let (leader, follower, mut strings) = group.moody();
    let before = held([&leader, &follower]);
    strings.set(Mood::Hangs);
    done(leader.handle().rejoin("a test")).unwrap();
    strings.hangs();
    leader.beats(3);
    let (_, message) = follower.assign_fails();
    assert_eq!(leader.assign_fails().1, message);
    settled(&[&leader, &follower], 4);
    assert_eq!(held([&leader, &follower]), before);

    strings.let_go();
    plans_again([&leader, &follower], &group);
}

#[test]
fn a_leader_that_may_not_fail_ends_and_another_plans() {
    let group = Group::new(4);
    let (bad, strings) = Moody::new("moody");
    let (good, _good) = Moody::new("moody");
    let bad = App::start(group.member().assigner(bad).on_assign_error(OnAssignError::Fail));
    bad.holds(4);
    let good = App::start(group.member().assigner(good));
    settled(&[&bad, &good], 4);
    strings.set(Mood::Refuses);
    done(bad.handle().rejoin("a test")).unwrap();

    assert_eq!(good.assign_fails().1, bad.assign_fails().1);
    let Error::AssignFailed(message) = bad.fails() else { panic!("{bad:?}") };
    assert!(message.contains("not in the mood"), "{message}");
    assert!(good.holds(4).leads);
}

#[test]
fn of_several_common_assigners_the_preferred_one_is_chosen() {
    let group = Group::new(4);
    let start = || {
        let builder = group.member().assigner(LeastLoaded { threads: 1 });
        App::start(builder.assigner(RoundRobinAssigner::default()))
    };
    let (ann, bob) = (start(), start());
    settled(&[&ann, &bob], 4);
    assert_eq!(protocol(&ann), "least-loaded");
    let cid = App::start(group.member().assigner(RoundRobinAssigner::default()));
    settled(&[&ann, &bob, &cid], 4);
    assert_eq!(protocol(&bob), "roundrobin");
}

#[test]
fn a_group_moves_from_one_assigner_to_another_member_by_member() {
    let group = Group::new(4);
    let old = || App::start(member(group.kafka.bootstrap(), &group.id, &[&group.topic]));
    let both = || {
        let builder = group.member().assigner(LeastLoaded { threads: 1 });
        App::start(builder.assigner(kafka_group::assign::RangeAssigner::default()))
    };
    let (ann, bob) = (old(), old());
    settled(&[&ann, &bob], 4);
    let cid = both();
    settled(&[&ann, &bob, &cid], 4);
    ann.leave();
    settled(&[&bob, &cid], 4);
    assert_eq!(protocol(&cid), "range");
    let dan = both();
    settled(&[&bob, &cid, &dan], 4);
    bob.leave();
    settled(&[&cid, &dan], 4);
    assert_eq!(protocol(&cid), "least-loaded");
    let eve = App::start(group.member().assigner(LeastLoaded { threads: 1 }));
    settled(&[&cid, &dan, &eve], 4);
    assert_eq!(protocol(&eve), "least-loaded");
}

#[test]
fn a_new_release_leads_members_whose_metadata_has_the_old_shape() {
    let group = Group::new(4);
    let second = App::start(group.member().assigner(SecondRelease { threads: 3 }));
    second.holds(4);
    let first = App::start(group.member().assigner(FirstRelease { threads: 1 }));
    settled(&[&second, &first], 4);
    assert!(second.status().is_leader);
    assert_eq!(second.now().unwrap().all.len(), 3);
}

#[test]
fn an_old_release_leads_members_whose_metadata_it_cannot_read() {
    let group = Group::new(4);
    let first = App::start(group.member().assigner(FirstRelease { threads: 1 }));
    first.holds(4);
    let second = App::start(group.member().assigner(SecondRelease { threads: 3 }));
    settled(&[&first, &second], 4);
    assert!(first.status().is_leader);
    assert_eq!(second.now().unwrap().all.len(), 2);
    first.leave();
    second.holds(4);
}

#[test]
fn a_leader_may_look_at_committed_and_end_offsets_before_it_plans() {
    let group = Group::new(2);
    let ann = App::start(group.member().assigner(Informed).gather(Offsets));
    let first = ann.holds(2);
    let topic = &group.topic;
    let words = format!(r#"[("{topic}-0", None, Some(0)), ("{topic}-1", None, Some(0))]"#);
    assert_eq!(first.told, Some(words));
    done(ann.handle().commit(offsets(&first.all, 5))).unwrap();
    let bob = App::start(group.member().assigner(Informed));
    settled(&[&ann, &bob], 2);
    let words = format!(r#"[("{topic}-0", Some(5), Some(0)), ("{topic}-1", Some(5), Some(0))]"#);
    assert_eq!(bob.now().unwrap().told, Some(words));
}

#[test]
fn a_gather_that_fails_is_told_and_the_plan_is_made_without_it() {
    let group = Group::new(2);
    let ann = App::start(group.member().assigner(Informed).gather(Barren));
    assert_eq!(ann.holds(2).told.as_deref(), Some("nothing"));
    ann.hears("that the hook failed", |said| match said {
        Said::Other(text) => text.contains("nothing to be found").then_some(()),
        _ => None,
    });
}
