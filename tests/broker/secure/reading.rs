//! Records: rdkafka goes the same way as the membership.

use std::time::Duration;

use kafka_group::assign::RangeAssigner;
use kafka_group::security::{Sasl, Security, Tls};
use kafka_group::{AutoOffsetReset, Consumer, ConsumerBuilder, Error};

use super::{every_way, names, trusting};
use crate::common::kafka::{Listener, Secure};
use crate::common::own_cluster;
use crate::consuming::produce;
use crate::harness::SOON;

fn consumer(secure: &Secure, at: Listener, group: &str, topic: &str) -> ConsumerBuilder {
    Consumer::builder()
        .bootstrap_servers(secure.bootstrap(at))
        .group_id(group)
        .subscribe([topic])
        .assigner(RangeAssigner::default())
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .set("fetch.wait.max.ms", "50")
}

/// Reads so many records, marks them and commits them.
async fn reads(consumer: ConsumerBuilder, records: usize) {
    let mut consumer = consumer.join().await.expect("it joins");
    for _ in 0..records {
        let next = tokio::time::timeout(SOON, consumer.recv()).await;
        let record = next.expect("a record in time").expect("no error").expect("not the end");
        consumer.mark_processed(&record);
    }
    assert!(consumer.close().await.expect("it ends in good order").is_empty());
}

#[tokio::test]
async fn a_consumer_reads_every_way_there_is() {
    let secure = own_cluster!(Secure::shared());
    let (_, topic) = names(secure);
    produce(secure.plaintext(), &topic, 2, 10).await;
    for (listener, security) in every_way(secure) {
        // Each in a group of its own, from the first record on.
        let (group, _) = names(secure);
        reads(consumer(secure, listener, &group, &topic).security(security), 10).await;
    }
}

#[tokio::test]
async fn a_consumer_reads_on_when_sessions_are_over() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let security = Security::sasl_plaintext(Sasl::unsecured_token("alice"));
    let mut consumer =
        consumer(secure, Listener::Brief, &group, &topic).security(security).join().await.unwrap();
    // Sessions last three seconds there.
    for round in 0..4 {
        produce(secure.plaintext(), &topic, 2, 10).await;
        for _ in 0..10 {
            let next = tokio::time::timeout(SOON, consumer.recv()).await;
            next.expect("a record in time").expect("no error").expect("not the end");
        }
        if round < 3 {
            let quiet = tokio::time::timeout(Duration::from_secs(3), consumer.recv()).await;
            assert!(quiet.is_err(), "{quiet:?}");
        }
    }
}

#[tokio::test]
async fn what_the_membership_is_refused_rdkafka_does_not_even_try() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    for (security, expected) in [
        (Security::sasl_ssl(trusting(secure), Sasl::plain("alice", "wrong")), "sasl.password"),
        (
            Security::sasl_ssl(Tls::system_roots(), Sasl::plain("alice", "alice-secret")),
            "ssl.ca.location",
        ),
    ] {
        let joined =
            consumer(secure, Listener::SaslSsl, &group, &topic).security(security).join().await;
        let Err(Error::Authentication(why)) = joined else { panic!("{joined:?}") };
        assert!(why.contains(expected), "{why}");
    }
}
