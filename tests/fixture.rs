//! The fixture itself: that the cluster the other tests lean on does what they believe.

mod common;

use std::time::Duration;

use common::{
    JavaMember, Kafka, Settings, eventually,
    kafka::{Operation, Resource, Secure},
    own_cluster,
    peers::{JavaEvent, Partitions, assignor},
    unique,
};
use kafka_protocol::{ResponseError, messages::ApiKey};

const SOON: Duration = Duration::from_secs(60);

#[test]
fn the_shared_cluster_answers_and_groups_find_their_coordinator() {
    let kafka = Kafka::shared();
    let admin = kafka.admin();

    assert!(!admin.metadata(&[]).expect("it answers").brokers.is_empty());
    assert!(admin.versions(ApiKey::JoinGroup).expect("it knows groups").1 >= 9);
    let coordinator = admin.find_coordinator(&unique("group"));
    assert!(
        admin
            .metadata(&[])
            .expect("it answers")
            .brokers
            .iter()
            .any(|broker| broker.node_id.0 == coordinator)
    );
}

/// Where there is no Docker engine, as on most machines that test, at least the file can be read.
#[test]
fn the_compose_file_can_be_read_with_every_profile() {
    let compose = |profile: &str| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docker-compose.yml");
        let arguments = ["-f", file, "--profile", profile, "config", "--quiet"];
        std::process::Command::new("docker-compose").args(arguments).output()
    };
    for profile in ["three", "secure"] {
        let Ok(read) = compose(profile) else { return };
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    }
}

#[test]
fn the_secure_node_has_the_users_and_certificates_of_the_compose_file() {
    let secure = own_cluster!(Secure::shared());
    assert!(!secure.admin().metadata(&[]).expect("it answers").brokers.is_empty());
    for file in ["ca.pem", "client.pem", "client-key.pem", "other-ca.pem", "stranger.pem"] {
        assert!(std::path::Path::new(&secure.file(file)).exists(), "{file}");
    }
}

#[test]
fn a_topic_is_created_grows_and_is_deleted() {
    let admin = Kafka::shared().admin();
    let topic = unique("topic");
    let count = || admin.metadata(&[&topic]).expect("it answers").topics[0].partitions.len();

    admin.create_topic(&topic, 3, 1);
    assert_eq!(count(), 3);
    assert_eq!(admin.end_offsets(&topic), [(0, 0), (1, 0), (2, 0)].into());
    admin.add_partitions(&topic, 5);
    assert_eq!(count(), 5);
    admin.delete_topic(&topic);
    assert_eq!(count(), 0);
}

#[test]
fn java_members_share_a_topic_and_hand_it_over_when_they_leave() {
    let kafka = Kafka::shared();
    let admin = kafka.admin();
    let (group, topic) = (unique("group"), unique("topic"));
    admin.create_topic(&topic, 4, 1);
    let start = |instance: &str| {
        let properties = [
            ("partition.assignment.strategy", assignor::COOPERATIVE_STICKY),
            ("group.instance.id", instance),
        ];
        JavaMember::start(kafka.bootstrap(), &group, &[&topic], &properties)
    };

    let ann = start("ann");
    let all = ann.wait_for_assignment(SOON, |owned| owned.len() == 4);
    assert_eq!(all, (0..4).map(|partition| (topic.clone(), partition)).collect::<Partitions>());
    let described = admin.describe_group(&group);
    assert_eq!(
        (described.group_state.as_str(), described.protocol_data.as_str()),
        ("Stable", "cooperative-sticky")
    );
    assert!(admin.list_groups().iter().any(|listed| listed.group_id.as_str() == group));

    let bob = start("bob");
    bob.wait_for_assignment(SOON, |owned| owned.len() == 2);
    ann.wait_for_assignment(SOON, |owned| owned.len() == 2);
    bob.leave(); // A static member: the group does not notice.
    assert_eq!(
        admin.leave_group(&group, &["bob", "eve"]),
        [("bob".into(), 0), ("eve".into(), ResponseError::UnknownMemberId.code())]
    );
    ann.wait_for_assignment(SOON, |owned| owned.len() == 4);

    ann.kill();
    assert_eq!(admin.leave_group(&group, &["ann"]), [("ann".into(), 0)]);
    assert_eq!(admin.committed(&group).values().copied().max().unwrap_or(0), 0);
    assert_eq!(admin.delete_group(&group), 0);
}

#[test]
fn the_new_protocol_is_spoken_where_the_broker_knows_it() {
    let kafka = Kafka::shared();
    if !kafka.admin().serves_new_protocol() {
        return;
    }
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);
    let member =
        JavaMember::start(kafka.bootstrap(), &group, &[&topic], &[("group.protocol", "consumer")]);
    member.wait_for_assignment(SOON, |owned| owned.len() == 2);
    member.leave();
}

#[test]
fn what_is_denied_is_refused_until_it_is_allowed_again() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let admin = kafka.admin();
    let (group, topic) = (unique("group"), unique("topic"));
    admin.create_topic(&topic, 1, 1);
    admin.deny(Resource::Group, &group, Operation::Read);

    let refused = JavaMember::start(kafka.bootstrap(), &group, &[&topic], &[]);
    let failure = refused.wait_for_event(SOON, |event| match event {
        JavaEvent::Failed(failure) => Some(failure.clone()),
        _ => None,
    });
    assert!(failure.contains("GroupAuthorizationException"), "{failure}");

    admin.allow(Resource::Group, &group);
    JavaMember::start(kafka.bootstrap(), &group, &[&topic], &[])
        .wait_for_assignment(SOON, |owned| owned.len() == 1);
}

#[test]
fn a_private_cluster_has_its_own_settings() {
    let kafka = own_cluster!(Kafka::private(&Settings::new(1).set("group.max.size", "1")));
    let admin = kafka.admin();
    let (group, topic) = (unique("group"), unique("topic"));
    admin.create_topic(&topic, 2, 1);

    let first = JavaMember::start(kafka.bootstrap(), &group, &[&topic], &[]);
    first.wait_for_assignment(SOON, |owned| owned.len() == 2);
    let second = JavaMember::start(kafka.bootstrap(), &group, &[&topic], &[]);
    let failure = second.wait_for_event(SOON, |event| match event {
        JavaEvent::Failed(failure) => Some(failure.clone()),
        _ => None,
    });
    assert!(failure.contains("GroupMaxSizeReached"), "{failure}");
}

#[test]
fn a_killed_coordinator_is_replaced_and_comes_back() {
    let kafka = own_cluster!(Kafka::three());
    let admin = kafka.admin();
    let group = unique("group");

    let before = admin.find_coordinator(&group);
    kafka.kill(before);
    let after = eventually(SOON, "another node coordinates", || {
        let after = admin.find_coordinator(&group);
        (after != before).then_some(after)
    });
    assert_eq!(
        admin.describe_group(&group).group_state.as_str(),
        "Dead",
        "no such group at node {after}"
    );

    kafka.restart(before);
    assert_eq!(admin.metadata(&[]).expect("it answers").brokers.len(), 3);
}

#[test]
fn a_node_stops_in_good_order_and_the_next_test_finds_all_three() {
    let kafka = own_cluster!(Kafka::three());
    assert_eq!(kafka.admin().metadata(&[]).expect("it answers").brokers.len(), 3);
    kafka.stop(2);
    eventually(SOON, "two are left", || {
        (kafka.admin().metadata(&[]).ok()?.brokers.len() == 2).then_some(())
    });
}

#[test]
fn a_paused_node_answers_nothing_until_it_is_resumed() {
    let kafka = own_cluster!(Kafka::three());
    let topic = unique("topic");
    kafka.admin().create_topic(&topic, 3, 3);
    kafka.pause(3);
    let alone = common::kafka::Admin::new(vec![kafka.address(3)]);
    assert!(alone.metadata(&[]).is_err());
    kafka.resume(3);
    eventually(SOON, "node 3 answers again", || alone.metadata(&[]).ok());
    kafka.pause(1); // Whoever comes next finds it resumed.
}
