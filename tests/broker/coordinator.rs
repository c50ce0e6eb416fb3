//! The coordinator dies, moves, and hangs.

use std::time::Duration;

use kafka_group::types::Generation;
use kafka_group::{GroupMemberBuilder, LossCause, MemberState};

use crate::assigners::{Mood, Moody};
use crate::common::{Kafka, ThreeNodes, eventually, own_cluster, unique};
use crate::harness::{
    App, SOON, asking, assigned, by_role, done, loose, member, offsets, plain, settled,
};

/// A node that was killed is missed by the others after 9 s.
const LONG: Duration = Duration::from_secs(40);

struct Group {
    kafka: ThreeNodes,
    id: String,
    topic: String,
}

impl Group {
    fn new(kafka: ThreeNodes) -> Self {
        let group = Self { kafka, id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, 6, 3);
        group
    }

    fn member(&self) -> GroupMemberBuilder {
        member(self.kafka.bootstrap(), &self.id, &[&self.topic])
            .session_timeout(LONG)
            .max_poll_interval(LONG)
    }

    fn coordinator(&self) -> i32 {
        self.kafka.admin().find_coordinator(&self.id)
    }

    fn committed(&self) -> Vec<i64> {
        self.kafka.admin().committed(&self.id).into_values().collect()
    }
}

/// Has both commit `offset` for what they hold.
fn commit(apps: [&App; 2], offset: i64) {
    for app in apps {
        let held = app.status().assignment;
        done(app.handle().commit(offsets(&held, offset))).unwrap();
    }
}

fn same_as_before(apps: [&App; 2], generation: Generation) {
    for app in apps {
        app.beats(2);
        let now = app.now().unwrap_or_else(|| panic!("{app:?}"));
        assert_eq!((now.generation, now.all.len()), (generation, 3), "{app:?}");
    }
}

#[test]
fn a_group_at_rest_outlives_its_coordinator_and_its_commits_are_not_lost() {
    let group = Group::new(own_cluster!(Kafka::three()));
    let ann = App::start(group.member().group_instance_id("ann"));
    let bob = App::start(group.member());
    let before = settled(&[&ann, &bob], 6);
    commit([&ann, &bob], 1);
    let node = group.coordinator();
    group.kafka.kill(node);
    commit([&ann, &bob], 2); // Held until there is a coordinator.
    assert_ne!(group.coordinator(), node);
    assert_eq!(group.committed(), [2; 6]);
    group.kafka.restart(node);
    commit([&ann, &bob], 3);
    same_as_before([&ann, &bob], before);
    assert_eq!(group.committed(), [3; 6]);
}

#[test]
fn nodes_that_stop_one_after_the_other_cost_no_round() {
    let group = Group::new(own_cluster!(Kafka::three()));
    let (ann, bob) = (App::start(group.member()), App::start(group.member()));
    let before = settled(&[&ann, &bob], 6);
    for offset in [1, 2] {
        let node = group.coordinator();
        group.kafka.stop(node);
        commit([&ann, &bob], offset);
        group.kafka.restart(node);
    }
    same_as_before([&ann, &bob], before);
    assert_eq!(group.committed(), [2; 6]);
}

#[test]
fn a_coordinator_that_dies_while_join_group_is_parked_costs_another_try() {
    let group = Group::new(own_cluster!(Kafka::three()));
    let ann = App::start(group.member());
    ann.holds(6);
    let mut bob = loose(group.member());
    assigned(&mut bob, 3);
    settled(&[&ann], 3);
    let held = ann.now().unwrap().all;
    assert_eq!(ann.status().assignment, held);
    done(ann.handle().commit(offsets(&held, 1))).unwrap();
    done(ann.handle().rejoin("a test")).unwrap();
    ann.joins();
    let newcomer = App::start(group.member());
    newcomer.joins();
    eventually(SOON, "JoinGroup is parked", || {
        let described = group.kafka.admin().describe_group(&group.id);
        (described.group_state.as_str() == "PreparingRebalance" && described.members.len() == 3)
            .then_some(())
    });
    group.kafka.kill(group.coordinator());
    let bob = asking(bob);
    settled(&[&ann, &bob, &newcomer], 6);
    assert_eq!(group.committed(), [1; 3]);
}

#[test]
fn a_coordinator_that_dies_while_sync_group_is_parked_costs_another_round() {
    let group = Group::new(own_cluster!(Kafka::three()));
    let (moody, mut strings) = Moody::new("moody");
    let start = || {
        let builder = plain(group.kafka.bootstrap(), &group.id, &[&group.topic]);
        let builder = builder.session_timeout(LONG).max_poll_interval(LONG);
        App::start(builder.assigner(moody.clone()))
    };
    let ann = start();
    ann.holds(6);
    let (leader, follower) = by_role(ann, start(), 6);
    let before = settled(&[&leader, &follower], 6);
    commit([&leader, &follower], 1);
    strings.set(Mood::Hangs);
    done(leader.handle().rejoin("a test")).unwrap();
    strings.hangs();
    follower.is(MemberState::CompletingRebalance);
    group.kafka.kill(group.coordinator());
    strings.let_go();
    // Nothing has to be given up, so all is as before until the round that the new coordinator runs.
    for app in [&leader, &follower] {
        app.waits("another generation", |app| app.now().filter(|got| got.generation > before));
    }
    settled(&[&leader, &follower], 6);
    assert_eq!(group.committed(), [1; 6]);
}

#[test]
fn a_coordinator_that_hangs_for_longer_than_the_session_costs_what_was_held() {
    let group = Group::new(own_cluster!(Kafka::three()));
    let start = || App::start(group.member().session_timeout(Duration::from_secs(2)));
    let (ann, bob) = (start(), start());
    settled(&[&ann, &bob], 6);
    commit([&ann, &bob], 1);
    let node = group.coordinator();
    group.kafka.pause(node);
    assert_eq!(ann.loses(), LossCause::SessionExpired);
    assert_eq!(bob.loses(), LossCause::SessionExpired);
    group.kafka.resume(node);
    settled(&[&ann, &bob], 6);
    assert_eq!(group.committed(), [1; 6]);
}
