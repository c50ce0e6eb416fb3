//! Leaving, closing, dropping, stalling, and giving up what is revoked.

use std::time::Duration;

use kafka_group::types::Offsets;
use kafka_group::{
    Error, Event, GroupMember, GroupMemberBuilder, LeavePolicy, LossCause, MemberState,
};

use crate::assigners::{Mood, Moody};
use crate::common::{Kafka, eventually, unique};
use crate::harness::{
    App, SOON, Said, asking, assigned, by_role, done, loose, member, next, offsets, plain, revoked,
    settled,
};

/// No session ends in these tests but where they say so.
const LONG: Duration = Duration::from_secs(300);
const SHORT: Duration = Duration::from_secs(3);

struct Group {
    kafka: &'static Kafka,
    id: String,
    topic: String,
}

impl Group {
    fn new() -> Self {
        let group = Self { kafka: Kafka::shared(), id: unique("group"), topic: unique("topic") };
        group.kafka.admin().create_topic(&group.topic, 4, 1);
        group
    }

    fn member(&self) -> GroupMemberBuilder {
        member(self.kafka.bootstrap(), &self.id, &[&self.topic])
            .session_timeout(LONG)
            .max_poll_interval(Duration::from_secs(60))
    }

    fn state(&self) -> String {
        self.kafka.admin().describe_group(&self.id).group_state.as_str().to_owned()
    }

    fn waits_for_state(&self, state: &str) {
        eventually(SOON, &format!("the group is {state}"), || {
            (self.state() == state).then_some(())
        });
    }

    fn members(&self) -> usize {
        self.kafka.admin().describe_group(&self.id).members.len()
    }

    /// One that asks, and one that does not: a round that begins does not end.
    fn with_one_that_does_not_ask(&self) -> (App, GroupMember) {
        let ann = App::start(self.member());
        ann.holds(4);
        let mut bob = loose(self.member());
        assigned(&mut bob, 2);
        ann.holds(2);
        (ann, bob)
    }
}

#[test]
fn leaving_while_join_group_is_parked_waits_for_nobody() {
    let group = Group::new();
    let (ann, bob) = group.with_one_that_does_not_ask();
    done(ann.handle().rejoin("a test")).unwrap();
    ann.joins();
    group.waits_for_state("PreparingRebalance");
    ann.leave();
    assert_eq!(group.members(), 1);
    asking(bob).holds(4);
}

#[test]
fn leaving_at_the_very_first_join_leaves_nothing_behind() {
    let group = Group::new();
    let (ann, bob) = group.with_one_that_does_not_ask();
    for builder in [group.member(), group.member().group_instance_id("cid")] {
        let cid = App::start(builder);
        cid.joins();
        group.waits_for_state("PreparingRebalance");
        eventually(SOON, "three members", || (group.members() == 3).then_some(()));
        cid.leave();
        assert_eq!(group.members(), 2);
    }
    settled(&[&ann, &asking(bob)], 4);
}

#[test]
fn a_follower_leaves_while_its_leader_plans() {
    let group = Group::new();
    let (leader, follower, mut strings) = planning(&group);
    follower.leave();
    strings.let_go();
    leader.holds(4);
}

#[test]
fn a_leader_leaves_while_it_plans() {
    let group = Group::new();
    let (leader, follower, mut strings) = planning(&group);
    leader.leave();
    assert!(follower.holds(4).leads);
    strings.let_go();
}

/// Leader and follower in a round whose plan does not come.
fn planning(group: &Group) -> (App, App, crate::assigners::Strings) {
    let (moody, strings) = Moody::new("moody");
    let start = || {
        let builder = plain(group.kafka.bootstrap(), &group.id, &[&group.topic]);
        App::start(builder.session_timeout(LONG).assigner(moody.clone()))
    };
    let ann = start();
    ann.holds(4);
    let (leader, follower) = by_role(ann, start(), 4);
    strings.set(Mood::Hangs);
    done(leader.handle().rejoin("a test")).unwrap();
    strings.hangs();
    strings.set(Mood::Fine);
    follower.is(MemberState::CompletingRebalance);
    (leader, follower, strings)
}

#[test]
fn the_loop_of_a_member_that_leaves_by_its_handle_gives_up_what_it_has_and_then_ends() {
    let group = Group::new();
    let ann = App::start(group.member());
    let held = ann.holds(4).all;
    assert_eq!(done(ann.handle().leave()), Ok(Offsets::new()));
    assert_eq!(ann.said().last(), Some(&Said::Revoked(held)));
    assert_eq!(group.state(), "Empty");
    assert_eq!(done(ann.handle().leave()), Err(Error::Closed));
}

#[test]
fn offsets_are_committed_between_the_revocation_and_the_end() {
    let group = Group::new();
    let mut ann = loose(group.member());
    let held = assigned(&mut ann, 4).all().clone();
    let handle = ann.handle();
    let leaving = std::thread::spawn({
        let handle = ann.handle();
        move || done(handle.leave())
    });
    assert_eq!(revoked(&mut ann).partitions(), &held);
    done(handle.commit(offsets(&held, 9))).unwrap();
    assert!(done(ann.next()).unwrap().is_none());
    assert_eq!(leaving.join().unwrap(), Ok(Offsets::new()));
    assert!(group.kafka.admin().committed(&group.id).values().all(|offset| *offset == 9));
    assert_eq!(group.kafka.admin().committed(&group.id).len(), 4);
}

#[test]
fn closing_does_not_wait_longer_than_it_may_for_a_loop_that_does_not_ask() {
    let group = Group::new();
    let mut ann = loose(group.member().close_timeout(SHORT));
    assigned(&mut ann, 4);
    done(ann.handle().close()).unwrap();
    assert_eq!(group.state(), "Empty");
    assert!(matches!(next(&mut ann), Event::Lost(lost) if *lost.cause() == LossCause::NotReleased));
    assert!(done(ann.next()).unwrap().is_none());
}

#[test]
fn a_dropped_member_leaves_in_the_background() {
    let group = Group::new();
    let mut ann = loose(group.member());
    assigned(&mut ann, 4);
    drop(ann);
    group.waits_for_state("Empty");
}

#[test]
fn a_member_that_is_dropped_before_it_has_joined_leaves_nothing_behind() {
    let group = Group::new();
    let (ann, bob) = group.with_one_that_does_not_ask();
    let cid = loose(group.member());
    group.waits_for_state("PreparingRebalance");
    drop(cid);
    let bob = asking(bob);
    settled(&[&ann, &bob], 4);
    assert_eq!(group.members(), 2);
}

#[test]
fn the_leave_policy_decides_what_closing_means() {
    let group = Group::new();
    let stays = App::start(group.member().leave_policy(LeavePolicy::Remain));
    stays.holds(4);
    stays.close();
    assert_eq!(group.members(), 1);

    let group = Group::new();
    let leaves =
        App::start(group.member().group_instance_id("ann").leave_policy(LeavePolicy::Leave));
    leaves.holds(4);
    leaves.close();
    assert_eq!(group.state(), "Empty");
}

#[test]
fn a_hold_keeps_what_is_revoked_until_it_is_dropped() {
    let group = Group::new();
    let mut ann = loose(group.member());
    assigned(&mut ann, 4);
    let bob = App::start(group.member());
    let hold = revoked(&mut ann).hold();
    let ann = asking(ann);
    ann.beats(3);
    assert_eq!((group.state().as_str(), bob.now()), ("PreparingRebalance", None));
    drop(hold);
    settled(&[&ann, &bob], 4);
    assert!(ann.said().iter().all(|said| matches!(said, Said::Assigned(_))), "{ann:?}");
}

#[test]
fn what_is_held_past_the_deadline_is_lost_and_the_group_goes_on() {
    let group = Group::new();
    let mut ann = loose(group.member().max_poll_interval(SHORT));
    assigned(&mut ann, 4);
    let bob = App::start(group.member().max_poll_interval(SHORT));
    let hold = revoked(&mut ann).hold();
    let ann = asking(ann);
    assert_eq!(ann.loses(), LossCause::NotReleased);
    settled(&[&ann, &bob], 4);
    drop(hold); // Too late to matter.
    ann.beats(2);
    settled(&[&ann, &bob], 4);
}

#[test]
fn an_application_that_stops_asking_makes_room_and_comes_back() {
    let group = Group::new();
    let mut ann = loose(group.member().max_poll_interval(SHORT));
    assigned(&mut ann, 4);
    let bob = App::start(group.member().max_poll_interval(SHORT));
    bob.holds(4);
    let ann = asking(ann);
    ann.hears("that it had stalled", |said| (*said == Said::Stalled).then_some(()));
    settled(&[&ann, &bob], 4);
}

#[test]
fn having_nothing_to_ask_for_is_no_stall() {
    let group = Group::new();
    let mut ann = loose(group.member().max_poll_interval(Duration::from_secs(1)));
    assigned(&mut ann, 4);
    let (status, beats) =
        (ann.handle().status(), ann.handle().status().borrow().counters.heartbeats);
    eventually(SOON, "it beats for twice as long", || {
        (status.borrow().counters.heartbeats >= beats + 8).then_some(())
    });
    assert_eq!(status.borrow().state, MemberState::Stable);
    assert_eq!(group.state(), "Stable");
}
