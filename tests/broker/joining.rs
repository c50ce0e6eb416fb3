//! Joining, sharing, leaving.

use crate::common::{Kafka, unique};
use crate::harness::{App, assigned, done, loose, member, offsets, settled};

#[test]
fn dynamic_members_share_a_topic_and_one_takes_all_when_the_other_leaves() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 4, 1);

    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    ann.holds(4);
    let bob = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    settled(&[&ann, &bob], 4);
    bob.leave();
    ann.holds(4);
    ann.leave();
    assert_eq!(kafka.admin().describe_group(&group).group_state.as_str(), "Empty");
}

#[test]
fn what_one_member_commits_the_next_owner_finds() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);

    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    let held = ann.holds(2).all;
    done(ann.handle().commit(offsets(&held, 7))).unwrap();
    ann.leave();

    let bob = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    bob.holds(2);
    assert_eq!(done(bob.handle().committed(held.iter())).unwrap(), offsets(&held, 7));
}

#[test]
fn whoever_is_told_of_a_generation_finds_it_in_the_status() {
    let kafka = Kafka::shared();
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);
    let mut ann = loose(member(kafka.bootstrap(), &group, &[&topic]));
    for _ in 0..30 {
        let got = assigned(&mut ann, 2);
        assert_eq!(ann.handle().group_metadata().generation, got.generation());
        assert_eq!(&ann.handle().status().borrow().assignment, got.all());
        done(ann.handle().rejoin("a test")).unwrap();
    }
}
