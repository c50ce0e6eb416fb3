//! What brokers refuse, and what is no broker at all.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use kafka_group::assign::RoundRobinAssigner;
use kafka_group::{ApiKey, Error, GroupMemberBuilder, LossCause};

use crate::common::kafka::{Operation, Resource};
use crate::common::peers::JavaEvent;
use crate::common::{JavaMember, Kafka, Settings, own_cluster, unique};
use crate::foreign;
use crate::harness::{App, SOON, Said, done, member, offsets, plain, settled, undisturbed};

const SHORT: Duration = Duration::from_secs(2);

/// A group's name and a topic of two partitions.
fn names(kafka: &Kafka) -> (String, String) {
    let (group, topic) = (unique("group"), unique("topic"));
    kafka.admin().create_topic(&topic, 2, 1);
    (group, topic)
}

#[test]
fn a_group_of_another_type_is_refused_in_the_end() {
    let kafka = Kafka::shared();
    let (group, topic) = names(kafka);
    foreign::join_as(&kafka.addresses(), &group, "worker");
    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]).default_api_timeout(SHORT));
    ann.hears("no common protocol", |said| (*said == Said::NoCommonProtocol).then_some(()));
    let Error::NoCommonProtocol { group: of, protocol_type, ours, theirs } = ann.fails() else {
        panic!("{ann:?}")
    };
    assert_eq!((of, protocol_type, ours), (group, "consumer".into(), vec!["range".into()]));
    assert!(theirs.as_ref().is_some_and(|theirs| theirs.contains("worker")), "{theirs:?}");
}

#[test]
fn a_group_without_a_common_assigner_is_not_disturbed_and_let_in_later() {
    let kafka = Kafka::shared();
    let (group, topic) = names(kafka);
    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    ann.holds(2);
    let other =
        || plain(kafka.bootstrap(), &group, &[&topic]).assigner(RoundRobinAssigner::default());
    let (bob, cid) = undisturbed(&[&ann], || {
        let bob = App::start(other().default_api_timeout(SHORT));
        bob.hears("no common protocol", |said| (*said == Said::NoCommonProtocol).then_some(()));
        let error = bob.fails();
        assert!(matches!(error, Error::NoCommonProtocol { .. }), "{error}");
        let cid = App::start(other());
        cid.hears("no common protocol", |said| (*said == Said::NoCommonProtocol).then_some(()));
        (bob, cid)
    });
    assert_eq!(bob.said(), [Said::NoCommonProtocol]);
    ann.leave();
    cid.holds(2);
    assert_eq!(cid.said()[0], Said::NoCommonProtocol);
}

#[test]
fn a_group_that_the_broker_manages_has_no_use_for_us() {
    let kafka = Kafka::shared();
    if !kafka.admin().serves_new_protocol() {
        return;
    }
    let (group, topic) = names(kafka);
    let java = new_protocol(kafka, &group, &topic);
    java.wait_for_assignment(SOON, |owned| owned.len() == 2);
    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    assert_eq!(ann.fails(), Error::GroupManagedByBroker(group));
    assert!(!ann.said().iter().any(|said| matches!(said, Said::Assigned(_))), "{ann:?}");
}

#[test]
fn a_consumer_of_the_new_protocol_is_refused_by_our_live_group_which_notices_nothing() {
    let kafka = Kafka::shared();
    if !kafka.admin().serves_new_protocol() {
        return;
    }
    let (group, topic) = names(kafka);
    let (ann, bob) = two(kafka, &group, &topic, |builder| builder);
    undisturbed(&[&ann, &bob], || {
        let failure = new_protocol(kafka, &group, &topic).wait_for_event(SOON, failure);
        assert!(failure.contains("GroupIdNotFound"), "{failure}");
    });
    done(ann.handle().commit(offsets(&ann.now().unwrap().all, 1))).unwrap();
}

#[test]
fn members_that_allow_it_are_taken_over_by_the_new_protocol() {
    let kafka = Kafka::shared();
    if !kafka.admin().serves_new_protocol() {
        return;
    }
    let (group, topic) = names(kafka);
    let (ann, bob) = two(kafka, &group, &topic, |builder| builder.allow_migration(true));
    let java = new_protocol(kafka, &group, &topic);
    assert_eq!(ann.fails(), Error::GroupManagedByBroker(group.clone()));
    assert_eq!(bob.fails(), Error::GroupManagedByBroker(group));
    java.wait_for_assignment(SOON, |owned| owned.len() == 2);
}

fn two(
    kafka: &Kafka,
    group: &str,
    topic: &str,
    set: impl Fn(GroupMemberBuilder) -> GroupMemberBuilder,
) -> (App, App) {
    let start = || App::start(set(member(kafka.bootstrap(), group, &[topic])));
    let (ann, bob) = (start(), start());
    settled(&[&ann, &bob], 2);
    (ann, bob)
}

fn new_protocol(kafka: &Kafka, group: &str, topic: &str) -> JavaMember {
    JavaMember::start(kafka.bootstrap(), group, &[topic], &[("group.protocol", "consumer")])
}

fn failure(event: &JavaEvent) -> Option<String> {
    match event {
        JavaEvent::Failed(failure) => Some(failure.clone()),
        _ => None,
    }
}

#[test]
fn a_group_that_may_not_be_described_cannot_be_joined() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let (group, topic) = names(kafka);
    kafka.admin().deny(Resource::Group, &group, Operation::Describe);
    let refused = App::try_start(member(kafka.bootstrap(), &group, &[&topic])).unwrap_err();
    assert_eq!(refused, Error::GroupAuthorization { group, api: ApiKey::FindCoordinator });
}

#[test]
fn a_group_that_may_not_be_read_ends_the_member_at_its_first_join() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let (group, topic) = names(kafka);
    kafka.admin().deny(Resource::Group, &group, Operation::Read);
    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    assert_eq!(ann.fails(), Error::GroupAuthorization { group, api: ApiKey::JoinGroup });
}

#[test]
fn a_member_that_is_denied_its_group_says_so_and_loses_everything_after_a_session() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let (group, topic) = names(kafka);
    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]).session_timeout(SHORT));
    ann.holds(2);
    kafka.admin().deny(Resource::Group, &group, Operation::Read);
    ann.hears("that it is refused", |said| (*said == Said::Unauthorized).then_some(()));
    assert_eq!(ann.loses(), LossCause::SessionExpired);
    let error = ann.fails();
    assert_eq!(error, Error::GroupAuthorization { group, api: ApiKey::JoinGroup });
}

#[test]
fn a_member_that_is_denied_its_group_for_a_moment_goes_on() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let (group, topic) = names(kafka);
    let ann = App::start(
        member(kafka.bootstrap(), &group, &[&topic]).session_timeout(Duration::from_secs(30)),
    );
    let before = ann.holds(2);
    kafka.admin().deny(Resource::Group, &group, Operation::Read);
    ann.hears("that it is refused", |said| (*said == Said::Unauthorized).then_some(()));
    kafka.admin().allow(Resource::Group, &group);
    done(ann.handle().commit(offsets(&before.all, 1))).unwrap();
    ann.beats(3);
    assert_eq!(ann.now(), Some(before));
}

#[test]
fn a_topic_that_may_not_be_described_is_named_and_taken_up_once_it_may() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let (group, topic) = names(kafka);
    let secret = unique("topic");
    kafka.admin().create_topic(&secret, 1, 1);
    kafka.admin().deny(Resource::Topic, &secret, Operation::Describe);
    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic, &secret]));
    ann.holds(2);
    let named = Said::UnauthorizedTopics(vec![secret.clone()]);
    ann.hears("which topic it is", |said| (*said == named).then_some(()));
    kafka.admin().allow(Resource::Topic, &secret);
    ann.holds(3);
}

#[test]
fn a_topic_that_may_not_be_read_refuses_commits_and_nothing_else() {
    let kafka = own_cluster!(Kafka::shared().owned());
    let (group, topic) = names(kafka);
    kafka.admin().deny(Resource::Topic, &topic, Operation::Read);
    let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]));
    let held = ann.holds(2).all;
    let refused = done(ann.handle().commit(offsets(&held, 1))).unwrap_err();
    assert!(
        matches!(&refused, kafka_group::CommitError::Refused(all) if all.len() == 2),
        "{refused}"
    );
    ann.beats(2);
    assert!(ann.now().is_some());
}

#[test]
fn a_session_outside_the_brokers_bounds_is_refused() {
    let kafka = Kafka::shared();
    let (group, topic) = names(kafka);
    for session in [Duration::from_millis(500), Duration::from_secs(3600)] {
        let ann = App::start(member(kafka.bootstrap(), &group, &[&topic]).session_timeout(session));
        assert_eq!(ann.fails(), Error::SessionTimeoutRefused(session));
    }
}

#[test]
fn a_full_group_lets_nobody_in_and_a_restarted_static_member_when_its_old_entry_has_expired() {
    let kafka = own_cluster!(Kafka::private(&Settings::new(1).set("group.max.size", "1")));
    let (group, topic) = names(&kafka);
    let start = |instance: Option<&str>| {
        let builder = member(kafka.bootstrap(), &group, &[&topic]).session_timeout(SHORT);
        App::start(match instance {
            Some(instance) => builder.group_instance_id(instance),
            None => builder,
        })
    };
    let ann = start(Some("ann"));
    ann.holds(2);
    undisturbed(&[&ann], || {
        assert_eq!(
            start(None).fails(),
            Error::GroupFull { group: group.clone(), group_instance_id: None }
        );
    });
    ann.close();
    let again = start(Some("ann"));
    again.holds(2);
    again.close();
    kafka.admin().leave_group(&group, &["ann"]);
    start(Some("ann")).holds(2);
}

#[test]
fn brokers_that_nobody_is_at_are_unreachable_after_the_api_timeout() {
    for servers in
        ["127.0.0.1:1", "no-such-host.invalid:9092", "127.0.0.1:1,no-such-host.invalid:9092"]
    {
        let builder = member(servers, "group", &["topic"]).default_api_timeout(SHORT);
        let error = App::try_start(builder).unwrap_err();
        let text = error.to_string();
        assert!(error.is_retriable(), "{text}");
        assert!(text.contains(servers.split(':').next().unwrap()), "{text}");
    }
}

#[test]
fn one_broker_that_answers_is_enough() {
    let kafka = Kafka::shared();
    let (group, topic) = names(kafka);
    let servers = format!("no-such-host.invalid:9092,127.0.0.1:1,{}", kafka.bootstrap());
    App::start(member(&servers, &group, &[&topic])).holds(2);
}

#[test]
fn a_tls_port_is_told_from_a_broker_that_is_slow() {
    // An alert: a record of version 1.2 that says "unexpected message".
    let error = join_at_a_port_that_answers(&[0x15, 3, 3, 0, 2, 2, 10]);
    assert!(error.contains("TLS"), "{error}");
}

#[test]
fn an_http_port_is_told_from_a_broker_that_is_slow() {
    let error =
        join_at_a_port_that_answers(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    assert!(error.contains("HTTP"), "{error}");
}

fn join_at_a_port_that_answers(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 16];
            let _ = stream.read_exact(&mut asked).and_then(|()| stream.write_all(answer));
        }
    });
    // Nothing will change it, so it is said at once and not after the API timeout.
    let builder = member(&address, "group", &["topic"]).default_api_timeout(2 * SOON);
    App::try_start(builder).unwrap_err().to_string()
}
