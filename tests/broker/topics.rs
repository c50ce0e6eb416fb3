//! Topics that grow, appear, vanish, and are subscribed to while the member runs.

use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::client::{Client, ClientOptions};
use kafka_group::{GroupMember, GroupMemberBuilder};

use crate::common::{Kafka, unique};
use crate::harness::{App, Said, done, member, settled, undisturbed};

const FAR: Duration = Duration::from_secs(600);

fn start(kafka: &Kafka, group: &str, topics: &[&str]) -> App {
    App::start(member(kafka.bootstrap(), group, topics))
}

fn by_pattern(kafka: &Kafka, group: &str, pattern: &str) -> GroupMemberBuilder {
    GroupMember::builder()
        .bootstrap_servers(kafka.bootstrap())
        .group_id(group)
        .subscribe_pattern(pattern)
        .metadata_max_age(Duration::from_millis(500))
        .assigner(RangeAssigner::default())
}

/// The lists of missing topics that a member was told.
fn missing(app: &App) -> Vec<Vec<String>> {
    let lists = app.said().into_iter().filter_map(|said| match said {
        Said::MissingTopics(topics) => Some(topics),
        _ => None,
    });
    lists.collect()
}

#[test]
fn new_partitions_are_shared_out() {
    let (kafka, group, topic) = (Kafka::shared(), unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);
    let (ann, bob) = (start(kafka, &group, &[&topic]), start(kafka, &group, &[&topic]));
    settled(&[&ann, &bob], 2);
    kafka.admin().add_partitions(&topic, 5);
    settled(&[&ann, &bob], 5);
}

#[test]
fn a_topic_that_does_not_exist_is_missed_once_and_consumed_when_it_appears() {
    let (kafka, group) = (Kafka::shared(), unique("group"));
    let (topic, later) = (unique("topic"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);
    let ann = start(kafka, &group, &[&topic, &later]);
    ann.holds(2);
    undisturbed(&[&ann], || {
        ann.hears("what is missing", |_| (!missing(&ann).is_empty()).then_some(()))
    });
    assert_eq!(missing(&ann), [vec![later.clone()]]);
    kafka.admin().create_topic(&later, 3, 1);
    ann.holds(5);
    ann.waits("that nothing is missing any more", |ann| (missing(ann).len() > 1).then_some(()));
    assert_eq!(missing(&ann), [vec![later], vec![]]);
}

#[test]
fn a_member_of_nothing_but_missing_topics_waits_for_them() {
    let (kafka, group, later) = (Kafka::shared(), unique("group"), unique("topic"));
    let ann = start(kafka, &group, &[&later]);
    ann.holds(0);
    kafka.admin().create_topic(&later, 1, 1);
    ann.holds(1);
}

#[test]
fn a_pattern_takes_in_what_appears_and_nothing_else() {
    let (kafka, group, prefix) = (Kafka::shared(), unique("group"), unique("orders"));
    let topic = |name: &str| format!("{prefix}.{name}");
    kafka.admin().create_topic(&topic("first"), 2, 1);
    let pattern = format!("^{prefix}\\..*");
    let ann = App::start(by_pattern(kafka, &group, &pattern));
    let bob = App::start(by_pattern(kafka, &group, &pattern));
    settled(&[&ann, &bob], 2);
    kafka.admin().create_topic(&format!("not-{prefix}"), 7, 1);
    kafka.admin().create_topic(&topic("second"), 3, 1);
    settled(&[&ann, &bob], 5);
    kafka.admin().delete_topic(&topic("first"));
    settled(&[&ann, &bob], 3);
}

#[test]
fn a_pattern_never_takes_in_internal_topics() {
    let (kafka, group) = (Kafka::shared(), unique("group"));
    let ann = App::start(by_pattern(kafka, &group, "^__consumer_offsets$"));
    assert!(ann.holds(0).all.is_empty());
}

#[test]
fn a_deleted_topic_is_let_go_of_and_missed() {
    let (kafka, group) = (Kafka::shared(), unique("group"));
    let (topic, doomed) = (unique("topic"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);
    kafka.admin().create_topic(&doomed, 3, 1);
    let both: [&str; 2] = [&topic, &doomed];
    let (ann, bob) = (start(kafka, &group, &both), start(kafka, &group, &both));
    settled(&[&ann, &bob], 5);
    kafka.admin().delete_topic(&doomed);
    settled(&[&ann, &bob], 2);
    ann.waits("that it is missing", |ann| {
        missing(ann).contains(&vec![doomed.clone()]).then_some(())
    });
    kafka.admin().create_topic(&doomed, 4, 1);
    settled(&[&ann, &bob], 6);
}

#[test]
fn twenty_members_need_at_most_two_generations_when_a_topic_grows() {
    let (kafka, group, topic) = (Kafka::shared(), unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 20, 1);
    // Five processes of four members each: processes see the growth at different times.
    let clients: Vec<Client> = (0..5)
        .map(|_| ClientOptions::new(kafka.bootstrap()).metadata_max_age(Duration::from_millis(700)))
        .map(|options| Client::new(options).unwrap())
        .collect();
    let apps: Vec<App> = clients
        .iter()
        .cycle()
        .take(20)
        .map(|client| App::start(member("", &group, &[&topic]).client(client.clone())))
        .collect();
    let all: Vec<&App> = apps.iter().collect();
    let before = settled(&all, 20);
    kafka.admin().add_partitions(&topic, 40);
    let after = settled(&all, 40);
    assert!(after.0 <= before.0 + 2, "from {before} to {after}");
    undisturbed(&all, || {});
}

#[test]
fn twenty_members_by_pattern_need_at_most_two_generations_when_a_topic_appears() {
    let (kafka, group, prefix) = (Kafka::shared(), unique("group"), unique("orders"));
    kafka.admin().create_topic(&format!("{prefix}.first"), 20, 1);
    let pattern = format!("^{prefix}\\..*");
    let clients: Vec<Client> = (0..5)
        .map(|_| ClientOptions::new(kafka.bootstrap()).metadata_max_age(Duration::from_millis(700)))
        .map(|options| Client::new(options).unwrap())
        .collect();
    let apps: Vec<App> = clients
        .iter()
        .cycle()
        .take(20)
        .map(|client| App::start(by_pattern(kafka, &group, &pattern).client(client.clone())))
        .collect();
    let all: Vec<&App> = apps.iter().collect();
    let before = settled(&all, 20);
    kafka.admin().create_topic(&format!("{prefix}.second"), 20, 1);
    let after = settled(&all, 40);
    assert!(after.0 <= before.0 + 2, "from {before} to {after}");
    undisturbed(&all, || {});
}

#[test]
fn the_leader_looks_after_topics_that_only_others_subscribe_to() {
    let (kafka, group) = (Kafka::shared(), unique("group"));
    let (own, other) = (unique("topic"), unique("topic"));
    kafka.admin().create_topic(&own, 1, 1);
    kafka.admin().create_topic(&other, 1, 1);
    let leader = start(kafka, &group, &[&own]);
    leader.holds(1);
    let blind = App::start(member(kafka.bootstrap(), &group, &[&other]).metadata_max_age(FAR));
    settled(&[&leader, &blind], 2);
    assert!(leader.status().is_leader);
    kafka.admin().add_partitions(&other, 3);
    blind.holds(3);
}

#[test]
fn a_follower_notices_growth_where_the_leader_looks_too_seldom() {
    let (kafka, group, topic) = (Kafka::shared(), unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);
    let blind = App::start(member(kafka.bootstrap(), &group, &[&topic]).metadata_max_age(FAR));
    blind.holds(2);
    let follower = start(kafka, &group, &[&topic]);
    settled(&[&blind, &follower], 2);
    kafka.admin().add_partitions(&topic, 4);
    settled(&[&blind, &follower], 4);
}

#[test]
fn other_topics_are_subscribed_to_while_the_member_runs() {
    let (kafka, group) = (Kafka::shared(), unique("group"));
    let (first, second) = (unique("topic"), unique("topic"));
    kafka.admin().create_topic(&first, 2, 1);
    kafka.admin().create_topic(&second, 3, 1);
    let (ann, bob) = (start(kafka, &group, &[&first]), start(kafka, &group, &[&first]));
    settled(&[&ann, &bob], 2);
    let had = bob.now().unwrap().all;
    let so_far = bob.said().len();
    done(bob.handle().subscribe([second.clone()])).unwrap();
    settled(&[&ann, &bob], 5);
    assert_eq!((ann.now().unwrap().all.len(), bob.now().unwrap().all.len()), (2, 3));
    assert_eq!(bob.said()[so_far], Said::Revoked(had));
    done(bob.handle().subscribe_pattern(&format!("^({first}|{second})$"))).unwrap();
    settled(&[&ann, &bob], 5);
    bob.holds(4);
    undisturbed(&[&ann, &bob], || done(ann.handle().subscribe([first.clone()])).unwrap());
}
