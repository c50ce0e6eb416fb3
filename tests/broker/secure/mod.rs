//! TLS, SASL and access rules: who gets in, and what is said to who does not.

mod looking;
#[cfg(feature = "rdkafka-ssl")]
mod reading;
mod relay;

use std::time::Duration;

use kafka_group::security::{Sasl, Security, Tls};
use kafka_group::{ApiKey, Error, GroupMemberBuilder};
use tokio::time::Instant;

use self::relay::Relay;
use crate::common::kafka::{Listener, Operation, Resource, Secure};
use crate::common::{own_cluster, unique};
use crate::harness::{App, Said, asking, assigned, loose, member, revoked, settled};

/// A topic of two partitions, and a group; alice may read both.
fn names(secure: &Secure) -> (String, String) {
    let (group, topic) = (unique("group"), unique("topic"));
    let admin = secure.admin();
    admin.create_topic(&topic, 2, 1);
    for principal in ["User:alice", "User:CN=client"] {
        admin.grant(principal, Resource::Topic, &topic, &[Operation::Read]);
        admin.grant(principal, Resource::Group, &group, &[Operation::Read]);
    }
    (group, topic)
}

/// The tests' CA, and no other.
fn trusting(secure: &Secure) -> Tls {
    Tls::ca_file(secure.file("ca.pem"))
}

fn identified(secure: &Secure, who: &str) -> Tls {
    let key = secure.file(&format!("{who}-key.pem"));
    trusting(secure).client_certificate_files(secure.file(&format!("{who}.pem")), key)
}

/// Every mechanism, as alice.
fn mechanisms() -> [Sasl; 4] {
    [
        Sasl::plain("alice", "alice-secret"),
        Sasl::scram_sha_256("alice", "alice-secret"),
        Sasl::scram_sha_512("alice", "alice-secret"),
        Sasl::unsecured_token("alice"),
    ]
}

/// Every listener and mechanism that lets alice or her certificate in.
fn every_way(secure: &Secure) -> Vec<(Listener, Security)> {
    let mut ways = vec![
        (Listener::Ssl, Security::ssl(trusting(secure))),
        (Listener::Mutual, Security::ssl(identified(secure, "client"))),
    ];
    for sasl in mechanisms() {
        ways.push((Listener::SaslPlaintext, Security::sasl_plaintext(sasl.clone())));
        ways.push((Listener::SaslSsl, Security::sasl_ssl(trusting(secure), sasl)));
    }
    ways
}

fn secured(secure: &Secure, at: Listener, group: &str, topic: &str) -> GroupMemberBuilder {
    member(&secure.bootstrap(at), group, &[topic])
}

/// How it fails to join.
fn refused(builder: GroupMemberBuilder) -> String {
    let error = App::try_start(builder).expect_err("it is not let in");
    assert!(matches!(error, Error::Authentication(_) | Error::Unreachable(_)), "{error:?}");
    let said = format!("{error} {error:?}");
    assert!(!said.contains("secret"), "{said}");
    said
}

#[test]
fn a_member_joins_every_way_there_is() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    for (listener, security) in every_way(secure) {
        let ann = App::start(secured(secure, listener, &group, &topic).security(security));
        ann.holds(2);
        ann.leave();
    }
}

#[test]
fn kafkas_properties_say_the_same() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let properties = [
        ("security.protocol", "SASL_SSL"),
        ("ssl.truststore.type", "PEM"),
        ("ssl.truststore.location", &secure.file("ca.pem")),
        ("sasl.mechanism", "SCRAM-SHA-512"),
        (
            "sasl.jaas.config",
            "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"alice\" \
             password=\"alice-secret\";",
        ),
    ];
    let builder = secured(secure, Listener::SaslSsl, &group, &topic).from_properties(properties);
    let ann = App::start(builder);
    ann.holds(2);
    ann.leave();

    // A PEM keystore: key and certificate in one file.
    let keystore = secure.file("keystore.pem");
    let part = |name: &str| std::fs::read_to_string(secure.file(name)).unwrap();
    std::fs::write(&keystore, part("client-key.pem") + &part("client.pem")).unwrap();
    let properties = [
        ("security.protocol", "SSL"),
        ("ssl.truststore.type", "PEM"),
        ("ssl.truststore.location", &secure.file("ca.pem")),
        ("ssl.keystore.type", "PEM"),
        ("ssl.keystore.location", &keystore),
    ];
    let builder = secured(secure, Listener::Mutual, &group, &topic).from_properties(properties);
    App::start(builder).holds(2);
}

#[test]
fn what_is_wrong_with_either_side_is_said_at_once_with_the_property_to_look_at() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let said = |listener, security| {
        let relay = Relay::to(secure.bootstrap(listener));
        let said = refused(member(&relay.address(), &group, &[&topic]).security(security));
        (said, relay.connections())
    };
    let ssl = |tls: Tls| Security::ssl(tls);
    let alice = || Sasl::plain("alice", "alice-secret");
    for (listener, security, expected, tries) in [
        (
            Listener::SaslPlaintext,
            Security::sasl_plaintext(Sasl::plain("alice", "wrong-secret")),
            "sasl.password",
            1,
        ),
        (
            Listener::SaslSsl,
            Security::sasl_ssl(trusting(secure), Sasl::scram_sha_512("alice", "wrong-secret")),
            "sasl.password",
            1,
        ),
        (
            Listener::SaslPlaintext,
            Security::sasl_plaintext(Sasl::scram_sha_256("nobody", "a-secret")),
            "sasl.username",
            1,
        ),
        (
            Listener::PlainOnly,
            Security::sasl_plaintext(Sasl::scram_sha_512("alice", "alice-secret")),
            "it offers PLAIN",
            1,
        ),
        (Listener::Ssl, ssl(Tls::ca_file(secure.file("other-ca.pem"))), "ssl.ca.location", 1),
        (Listener::Ssl, ssl(Tls::system_roots()), "ssl.ca.location", 1),
        (Listener::Expired, ssl(trusting(secure)), "expired", 1),
        (Listener::Elsewhere, ssl(trusting(secure)), "elsewhere.test", 1),
        (Listener::Mutual, ssl(trusting(secure)), "ssl.certificate.location", 1),
        (Listener::Mutual, ssl(identified(secure, "stranger")), "ssl.certificate.location", 1),
        (Listener::Ssl, Security::plaintext(), "security.protocol", 1),
        (Listener::Ssl, Security::sasl_plaintext(alice()), "security.protocol", 1),
        (Listener::SaslPlaintext, ssl(trusting(secure)), "SASL_PLAINTEXT there", 2),
        (Listener::SaslPlaintext, Security::plaintext(), "by PLAIN, ", 2),
        (Listener::SaslSsl, ssl(trusting(secure)), "SASL_SSL there", 2),
        (Listener::Ssl, Security::sasl_ssl(trusting(secure), alice()), "security.protocol", 1),
    ] {
        let shown = format!("{listener:?} {security:?}");
        let (said, connections) = said(listener, security);
        println!("{shown}: {connections} connections\n    {said}");
        assert!(said.contains(expected), "{shown}: {said}");
        assert!(connections <= tries, "{shown}: {connections} connections");
    }
}

#[test]
fn a_certificate_of_another_host_passes_only_where_that_is_allowed() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let security = Security::ssl(trusting(secure).any_host_name());
    let ann = App::start(secured(secure, Listener::Elsewhere, &group, &topic).security(security));
    ann.holds(2);
    let security = Security::ssl(Tls::ca_file(secure.file("other-ca.pem")).any_host_name());
    let said = refused(secured(secure, Listener::Elsewhere, &group, &topic).security(security));
    assert!(said.contains("ssl.ca.location"), "{said}");
}

#[test]
fn a_member_outlives_its_session_with_the_broker() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    for sasl in [Sasl::scram_sha_256("alice", "alice-secret"), Sasl::unsecured_token("alice")] {
        let security = Security::sasl_plaintext(sasl);
        let ann = App::start(
            secured(secure, Listener::Brief, &group, &topic)
                .heartbeat_interval(Duration::from_millis(300))
                .security(security),
        );
        let first = ann.holds(2);
        // Sessions last three seconds there: in ten they are renewed at least twice.
        ann.beats(33);
        assert_eq!(ann.now().map(|now| now.generation), Some(first.generation));
        assert_eq!(ann.said().len(), 1, "{ann:?}");
        ann.leave();
    }
}

#[test]
fn an_acl_that_is_missing_is_named() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let alice = || Security::sasl_plaintext(Sasl::plain("alice", "alice-secret"));
    let start = |group: &str, topic: &str| {
        App::try_start(secured(secure, Listener::SaslPlaintext, group, topic).security(alice()))
    };
    let error = start("forbidden", &topic).err().unwrap();
    assert_eq!(
        error,
        Error::GroupAuthorization { group: "forbidden".into(), api: ApiKey::FindCoordinator }
    );
    let hidden = unique("hidden");
    secure.admin().create_topic(&hidden, 1, 1);
    let ann = start(&group, &hidden).unwrap();
    ann.hears("the topic may not be described", |said| {
        matches!(said, Said::UnauthorizedTopics(topics) if *topics == [hidden.clone()])
            .then_some(())
    });
}

#[test]
fn a_running_member_whose_user_is_taken_away_says_so_once_and_ends_with_its_session() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let admin = secure.admin();
    admin.grant("User:bob", Resource::Topic, &topic, &[Operation::Read]);
    admin.grant("User:bob", Resource::Group, &group, &[Operation::Read]);
    let bob = Security::sasl_plaintext(Sasl::scram_sha_256("bob", "bob-secret"));
    let ann = App::start(secured(secure, Listener::Brief, &group, &topic).security(bob));
    ann.holds(2);
    admin.forget_user("bob");
    let error = ann.fails();
    let Error::Authentication(why) = &error else { panic!("{error:?}") };
    assert!(why.contains("sasl.password"), "{why}");
    let denials = ann.said().iter().filter(|said| matches!(said, Said::Denied(_))).count();
    assert_eq!(denials, 1, "{ann:?}");
}

#[test]
fn a_join_that_is_parked_for_longer_than_the_brokers_session_ends_in_an_assignment() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let start = || {
        let alice = Security::sasl_plaintext(Sasl::scram_sha_256("alice", "alice-secret"));
        secured(secure, Listener::Brief, &group, &topic)
            .session_timeout(Duration::from_secs(10))
            .security(alice)
    };
    let mut ann = loose(start());
    assigned(&mut ann, 2);
    let bob = App::start(start());
    let asked = revoked(&mut ann);
    // Ann thinks it over; sessions last three seconds there, and Bob's JoinGroup is parked meanwhile.
    let hold = asked.hold();
    let begun = Instant::now();
    bob.waits("it is parked for five seconds", |_| {
        (begun.elapsed() > Duration::from_secs(5)).then_some(())
    });
    drop(hold);
    let ann = asking(ann);
    settled(&[&ann, &bob], 2);
    assert_eq!(bob.said().len(), 1, "{bob:?}");
}
