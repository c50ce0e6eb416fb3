//! TLS, SASL and access rules: who gets in, and what is said to who does not.

use std::time::{Duration, Instant};

use kafka_group::security::{Sasl, Security, Tls};
use kafka_group::{ApiKey, Error, GroupMemberBuilder};

use crate::common::kafka::{Listener, Operation, Resource, Secure};
use crate::common::{own_cluster, unique};
use crate::harness::{App, Said, done, member};

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

fn secured(secure: &Secure, at: Listener, group: &str, topic: &str) -> GroupMemberBuilder {
    member(&secure.bootstrap(at), group, &[topic])
}

/// How it fails to join, and that it does so at once.
fn refused(builder: GroupMemberBuilder) -> String {
    let begun = Instant::now();
    let error = App::try_start(builder).err().expect("it is not let in");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}: {error}");
    assert!(matches!(error, Error::Authentication(_) | Error::Unreachable(_)), "{error:?}");
    let said = format!("{error} {error:?}");
    assert!(!said.contains("secret"), "{said}");
    said
}

#[test]
fn a_member_joins_over_tls_with_and_without_a_certificate() {
    let secure = own_cluster!(Secure::shared());
    for (listener, tls) in
        [(Listener::Ssl, trusting(secure)), (Listener::Mutual, identified(secure, "client"))]
    {
        let (group, topic) = names(secure);
        let ann =
            App::start(secured(secure, listener, &group, &topic).security(Security::ssl(tls)));
        ann.holds(2);
        ann.leave();
    }
}

#[test]
fn a_member_joins_by_every_mechanism_with_and_without_tls() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    for sasl in mechanisms() {
        let plain = Security::sasl_plaintext(sasl.clone());
        let inside = Security::sasl_ssl(trusting(secure), sasl);
        for (listener, security) in [(Listener::SaslPlaintext, plain), (Listener::SaslSsl, inside)]
        {
            let ann = App::start(secured(secure, listener, &group, &topic).security(security));
            ann.holds(2);
            ann.leave();
        }
    }
}

#[test]
fn what_is_wrong_with_either_side_is_said_at_once_with_the_property_to_look_at() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let said =
        |listener, security| refused(secured(secure, listener, &group, &topic).security(security));
    let ssl = |tls: Tls| Security::ssl(tls);
    let alice = || Sasl::plain("alice", "alice-secret");
    for (listener, security, expected) in [
        (
            Listener::SaslPlaintext,
            Security::sasl_plaintext(Sasl::plain("alice", "wrong-secret")),
            "sasl.password",
        ),
        (
            Listener::SaslSsl,
            Security::sasl_ssl(trusting(secure), Sasl::scram_sha_512("alice", "wrong-secret")),
            "sasl.password",
        ),
        (
            Listener::SaslPlaintext,
            Security::sasl_plaintext(Sasl::scram_sha_256("nobody", "a-secret")),
            "sasl.username",
        ),
        (
            Listener::PlainOnly,
            Security::sasl_plaintext(Sasl::scram_sha_512("alice", "alice-secret")),
            "it offers PLAIN",
        ),
        (Listener::Ssl, ssl(Tls::ca_file(secure.file("other-ca.pem"))), "ssl.ca.location"),
        (Listener::Ssl, ssl(Tls::system_roots()), "ssl.ca.location"),
        (Listener::Expired, ssl(trusting(secure)), "expired"),
        (Listener::Elsewhere, ssl(trusting(secure)), "elsewhere.test"),
        (Listener::Mutual, ssl(trusting(secure)), "ssl.certificate.location"),
        (Listener::Mutual, ssl(identified(secure, "stranger")), "ssl.certificate.location"),
        (Listener::Ssl, Security::plaintext(), "security.protocol"),
        (Listener::Ssl, Security::sasl_plaintext(alice()), "security.protocol"),
        (Listener::SaslPlaintext, ssl(trusting(secure)), "security.protocol"),
        (Listener::SaslPlaintext, Security::plaintext(), "security.protocol"),
        (Listener::SaslSsl, ssl(trusting(secure)), "sasl.mechanism"),
        (Listener::Ssl, Security::sasl_ssl(trusting(secure), alice()), "security.protocol"),
    ] {
        let shown = format!("{listener:?} {security:?}");
        let said = said(listener, security);
        println!("{shown}\n    {said}");
        assert!(said.contains(expected), "{shown}: {said}");
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
        // Sessions last three seconds there.
        let until = Instant::now() + Duration::from_secs(8);
        crate::common::eventually(Duration::from_secs(20), "three sessions are over", || {
            (Instant::now() > until).then_some(())
        });
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
    let _ = done(ann.handle().status().changed());
}
