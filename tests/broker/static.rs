//! Static members (KIP-345): restarts, a second process, removal.

use std::time::Duration;

use kafka_group::assign::{RangeAssigner, StickyAssigner};
use kafka_group::types::GroupInstanceId;
use kafka_group::{ApiKey, Error, GroupMemberBuilder, LossCause, OnFenced, TakeOver};
use kafka_protocol::ResponseError;

use crate::assigners::LeastLoaded;
use crate::common::{Kafka, eventually, unique};
use crate::harness::{
    App, SOON, Said, by_role, done, member, offsets, plain, settled, undisturbed,
};

/// How many partitions a group's topic has.
pub(crate) const PARTITIONS: usize = 4;

/// What happens to what is held when a round begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rounds {
    Eager,
    Cooperative,
}

/// A group of static members on one topic.
pub(crate) struct Group {
    pub(crate) kafka: &'static Kafka,
    pub(crate) id: String,
    pub(crate) topic: String,
    pub(crate) rounds: Rounds,
}

impl Group {
    pub(crate) fn new() -> Self {
        Self::with(Rounds::Eager)
    }

    fn with(rounds: Rounds) -> Self {
        let (kafka, id, topic) = (Kafka::shared(), unique("group"), unique("topic"));
        kafka.admin().create_topic(&topic, PARTITIONS as i32, 1);
        Self { kafka, id, topic, rounds }
    }

    pub(crate) fn dynamic(&self) -> GroupMemberBuilder {
        let builder = plain(self.kafka.bootstrap(), &self.id, &[&self.topic]);
        match self.rounds {
            Rounds::Eager => builder.assigner(RangeAssigner::default()),
            Rounds::Cooperative => builder.assigner(StickyAssigner::default()),
        }
    }

    fn member(&self, instance: &str) -> GroupMemberBuilder {
        self.dynamic().group_instance_id(instance)
    }

    /// The instance ids of the members that the coordinator has.
    pub(crate) fn members(&self) -> Vec<Option<String>> {
        let described = self.kafka.admin().describe_group(&self.id);
        let id = |id: &kafka_protocol::protocol::StrBytes| id.to_string();
        described.members.iter().map(|it| it.group_instance_id.as_ref().map(id)).collect()
    }

    fn leader_and_follower(&self) -> (App, App) {
        let ann = App::start(self.member("ann"));
        ann.holds(4);
        by_role(ann, App::start(self.member("bob")), 4)
    }
}

/// In an eager group and in a cooperative one.
pub(crate) fn in_both(test: impl Fn(Group)) {
    test(Group::with(Rounds::Eager));
    test(Group::with(Rounds::Cooperative));
}

fn instance(app: &App) -> String {
    app.status().group_instance_id.unwrap().as_str().to_owned()
}

#[test]
fn a_follower_that_restarts_within_its_session_finds_what_it_had_and_nobody_notices() {
    in_both(|group| {
        let (leader, follower) = group.leader_and_follower();
        let (id, before) = (instance(&follower), follower.now().unwrap());
        let old_id = follower.status().member_id;
        done(follower.handle().commit(offsets(&before.all, 3))).unwrap();

        let follower = undisturbed(&[&leader], || {
            follower.close();
            let follower = App::start(group.member(&id));
            follower.holds(2);
            follower
        });
        let after = follower.now().unwrap();
        assert_eq!((after.generation, &after.all), (before.generation, &before.all));
        assert_ne!(follower.status().member_id, old_id);
        let committed = done(follower.handle().committed(after.all.iter())).unwrap();
        assert_eq!(committed, offsets(&before.all, 3));
    });
}

#[test]
fn a_leader_that_restarts_within_its_session_leads_on_in_the_same_generation() {
    in_both(|group| {
        let (leader, follower) = group.leader_and_follower();
        let (id, before) = (instance(&leader), leader.now().unwrap());

        let leader = undisturbed(&[&follower], || {
            leader.close();
            let leader = App::start(group.member(&id));
            leader.holds(2);
            leader
        });
        let after = leader.now().unwrap();
        assert_eq!((after.generation, after.all), (before.generation, before.all));
        assert!(leader.status().is_leader);
    });
}

#[test]
fn a_leader_that_restarted_still_notices_growth() {
    in_both(|group| {
        let (leader, follower) = group.leader_and_follower();
        let id = instance(&leader);
        leader.close();
        let leader = App::start(group.member(&id));
        leader.holds(2);
        group.kafka.admin().add_partitions(&group.topic, 6);
        settled(&[&leader, &follower], 6);
    });
}

#[test]
fn of_two_followers_with_one_instance_id_the_older_ends_and_the_newer_goes_on() {
    let group = Group::new();
    let (leader, follower) = group.leader_and_follower();
    start_a_second_process(&group, &follower, &leader);
}

#[test]
fn of_two_leaders_with_one_instance_id_the_older_ends_and_the_newer_goes_on() {
    let group = Group::new();
    let (leader, follower) = group.leader_and_follower();
    start_a_second_process(&group, &leader, &follower);
}

fn start_a_second_process(group: &Group, older: &App, other: &App) {
    let (id, before) = (instance(older), older.now().unwrap());
    let newer = undisturbed(&[other], || {
        let newer = App::start(group.member(&id));
        newer.holds(2);
        let Error::FencedInstanceId { group: of, group_instance_id, .. } = older.fails() else {
            panic!("{older:?}")
        };
        assert_eq!(of, group.id);
        assert_eq!(group_instance_id, GroupInstanceId::new(id).unwrap());
        assert_eq!(older.loses(), LossCause::Fenced);
        newer
    });
    let after = newer.now().unwrap();
    assert_eq!((after.generation, after.all), (before.generation, before.all));
}

#[test]
fn a_process_that_is_fenced_while_it_commits_is_told_so() {
    let group = Group::new();
    let older = App::start(group.member("ann").heartbeat_interval(Duration::from_secs(2)));
    let held = older.holds(4).all;
    let newer = App::start(group.member("ann"));
    newer.holds(4);
    assert!(done(older.handle().commit(offsets(&held, 1))).is_err());
    let Error::FencedInstanceId { refused, .. } = older.fails() else { panic!("{older:?}") };
    assert!(matches!(refused, ApiKey::OffsetCommit | ApiKey::Heartbeat), "{refused:?}");
    newer.beats(2);
    assert_eq!(newer.now().unwrap().all, held);
}

#[test]
fn a_follower_that_restarts_with_other_topics_costs_one_round() {
    in_both(|group| {
        let (leader, follower) = group.leader_and_follower();
        restart_with_another_topic(&group, follower, &leader);
    });
}

#[test]
fn a_leader_that_restarts_with_other_topics_costs_one_round() {
    in_both(|group| {
        let (leader, follower) = group.leader_and_follower();
        restart_with_another_topic(&group, leader, &follower);
    });
}

/// The broker keeps the old plan (KAFKA-12759), so the member must see that it was made on something else.
fn restart_with_another_topic(group: &Group, restarted: App, other: &App) {
    let (id, before) = (instance(&restarted), restarted.now().unwrap().generation);
    let more = unique("topic");
    group.kafka.admin().create_topic(&more, 3, 1);
    restarted.close();
    let restarted = App::start(group.member(&id).subscribe([&more]));
    let after = settled(&[&restarted, other], 7);
    undisturbed(&[&restarted, other], || {});
    // What moves in a cooperative group moves in a second round.
    let (costs, holds) = match group.rounds {
        Rounds::Eager => (1, 5),
        Rounds::Cooperative => (2, 4),
    };
    assert!((1..=costs).contains(&(after.0 - before.0)), "{before:?}, {after:?}");
    assert_eq!(restarted.now().unwrap().all.len(), holds);
}

#[test]
fn a_member_that_restarts_without_a_topic_never_takes_it_and_costs_one_round() {
    let group = Group::new();
    let more = unique("topic");
    group.kafka.admin().create_topic(&more, 2, 1);
    let both = |instance: &str| {
        member(group.kafka.bootstrap(), &group.id, &[&group.topic, &more])
            .group_instance_id(instance)
    };
    let (ann, bob) = (App::start(both("ann")), App::start(both("bob")));
    let before = settled(&[&ann, &bob], 6);
    bob.close();
    let bob = App::start(group.member("bob"));
    assert_eq!(settled(&[&ann, &bob], 6).0, before.0 + 1);
    assert_eq!(ann.now().unwrap().all.len(), 4);
    let took = |said: &Said| matches!(said, Said::Assigned(got) if got.all.by_topic().any(|(topic, _)| **topic == *more));
    assert!(!bob.said().iter().any(took), "{bob:?}");
    undisturbed(&[&ann, &bob], || {});
}

#[test]
fn a_follower_that_restarts_with_other_metadata_costs_one_round() {
    restart_with_more_threads(|leader, follower| (follower, leader));
}

#[test]
fn a_leader_that_restarts_with_other_metadata_costs_one_round() {
    restart_with_more_threads(|leader, follower| (leader, follower));
}

fn restart_with_more_threads(choose: fn(App, App) -> (App, App)) {
    let group = Group::new();
    let start = |id: &str, threads| {
        let builder = plain(group.kafka.bootstrap(), &group.id, &[&group.topic]);
        let builder = builder.assigner(LeastLoaded { threads }).assigner(RangeAssigner::default());
        App::start(builder.group_instance_id(id))
    };
    let (leader, follower) = by_role(start("ann", 1), start("bob", 1), 4);
    let (restarted, other) = choose(leader, follower);
    let (id, before) = (instance(&restarted), restarted.now().unwrap().generation);
    restarted.close();
    let restarted = start(&id, 3);
    restarted.holds(3);
    assert_eq!(settled(&[&restarted, &other], 4).0, before.0 + 1);
    undisturbed(&[&restarted, &other], || {});
}

#[test]
fn static_and_dynamic_members_mix() {
    in_both(|group| {
        let ann = App::start(group.member("ann"));
        let (bob, cid) = (App::start(group.dynamic()), App::start(group.dynamic()));
        settled(&[&ann, &bob, &cid], 4);
        bob.leave();
        let before = settled(&[&ann, &cid], 4);
        let ann = undisturbed(&[&cid], || {
            ann.close();
            let ann = App::start(group.member("ann"));
            ann.holds(2);
            ann
        });
        assert_eq!(settled(&[&ann, &cid], 4), before);
        cid.close();
        ann.holds(4);
    });
}

#[test]
fn a_member_that_an_administrator_removes_loses_everything_and_comes_back() {
    let group = Group::new();
    let (ann, bob) = group.leader_and_follower();
    let id = instance(&bob);
    assert_eq!(
        group.kafka.admin().leave_group(&group.id, &[&id, "nobody"]),
        [(id.clone(), 0), ("nobody".into(), ResponseError::UnknownMemberId.code())]
    );
    assert_eq!(bob.loses(), LossCause::Expelled);
    settled(&[&ann, &bob], 4);
}

#[test]
fn a_static_member_that_leaves_makes_room_at_once() {
    let group = Group::new();
    let (ann, bob) = group.leader_and_follower();
    bob.leave();
    ann.holds(4);
}

#[test]
fn a_static_member_that_closes_keeps_its_place_until_its_session_ends() {
    let group = Group::new();
    let ann = App::start(group.member("ann"));
    let bob = App::start(group.member("bob").session_timeout(Duration::from_secs(3)));
    settled(&[&ann, &bob], 4);
    bob.close();
    assert_eq!(group.kafka.admin().describe_group(&group.id).members.len(), 2);
    ann.holds(4);
    eventually(SOON, "one is left", || {
        (group.kafka.admin().describe_group(&group.id).members.len() == 1).then_some(())
    });
}

/// Kafka shows the first process with an id for ever; what it shows of the holder itself is its member id, and what the
/// holder wrote.
#[test]
fn who_is_fenced_and_who_takes_over_are_told_of_each_other() {
    let group = Group::new();
    let first = App::start(group.member("ann").client_id("first"));
    first.holds(4);
    let second = App::start(group.member("ann").client_id("second"));
    second.holds(4);
    let old_id = second.status().member_id;
    first.fails();
    let third = App::start(group.member("ann").client_id("third"));
    let (client_id, host, former) = third.takes_over();
    assert_eq!((&*client_id, &*host, former), ("first", "127.0.0.1", old_id));

    let Error::FencedInstanceId { holder: Some(holder), .. } = second.fails() else {
        panic!("{second:?}")
    };
    assert_eq!((&*holder.client_id, &*holder.host), ("first", "127.0.0.1"));
    assert_eq!(holder.member_id, third.status().member_id);
    let process = holder.process.unwrap();
    assert!(process.ends_with(&format!("/{}", std::process::id())), "{process}");
}

/// An overlap of two processes, as a Deployment that surges makes it.
#[test]
fn who_may_come_back_has_its_place_again_when_the_other_has_gone() {
    let group = Group::new();
    let retry = OnFenced::RetryAfter(Duration::from_secs(3));
    let older = App::start(group.member("ann").on_fenced(retry));
    let before = older.holds(4);
    let newer = App::start(group.member("ann"));
    newer.holds(4);
    assert_eq!(older.loses(), LossCause::Fenced);
    newer.close();
    let after = older.holds(4);
    assert_eq!((after.generation, after.all), (before.generation, before.all));
}

#[test]
fn a_guarded_member_leaves_one_that_lives_alone_and_follows_one_that_is_gone() {
    let group = Group::new();
    let guarded = || group.member("ann").take_over(TakeOver::AfterSession);
    let first = App::start(guarded());
    first.holds(4);
    undisturbed(&[&first], || {
        let Err(Error::InstanceIdHeld { holder, .. }) = App::try_start(guarded()) else {
            panic!("it joined")
        };
        assert_eq!(holder.member_id, first.status().member_id);
    });
    first.close();
    App::start(guarded()).holds(4);
    let on_this_host = group.member("ann").take_over(TakeOver::SameHost);
    App::start(on_this_host).holds(4);
}

/// The shorter of session and rebalance timeout is what a restart may take while the group rebalances.
#[test]
fn a_member_that_is_away_while_the_group_rebalances_has_no_more_than_the_rebalance_timeout() {
    let group = Group::new();
    let long = |builder: GroupMemberBuilder| {
        let builder = builder.session_timeout(Duration::from_secs(50));
        builder.max_poll_interval(Duration::from_secs(4))
    };
    let (ann, bob) = (App::start(long(group.member("ann"))), App::start(long(group.member("bob"))));
    settled(&[&ann, &bob], 4);
    bob.close();
    let cid = App::start(long(group.dynamic()));
    eventually(Duration::from_secs(40), "bob is out", || {
        let members = group.members();
        (members.len() == 2 && !members.contains(&Some("bob".to_owned()))).then_some(())
    });
    settled(&[&ann, &cid], 4);
}
