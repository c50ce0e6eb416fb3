//! Records: rdkafka goes the same way as the membership.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kafka_group::assign::RangeAssigner;
use kafka_group::security::{Sasl, Security, Tls, Token, TokenProvider};
use kafka_group::{
    AutoOffsetReset, Consumer, ConsumerBuilder, Error, Event, MemberState, RebalanceListener,
};
use tokio::sync::mpsc;

use super::relay::Relay;
use super::{every_way, names, trusting};
use crate::common::kafka::{Listener, Operation, Resource, Secure};
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

/// PEM in one line, which is what lines that go on behind a backslash become, and single quotes.
#[tokio::test]
async fn what_properties_files_hold_serves_both_planes() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    produce(secure.plaintext(), &topic, 2, 10).await;
    let text = |name: &str| std::fs::read_to_string(secure.file(name)).unwrap().replace('\n', " ");
    let trusts = ("ssl.truststore.certificates", text("ca.pem"));
    let mutual = [
        ("security.protocol", "SSL".to_owned()),
        trusts.clone(),
        ("ssl.keystore.certificate.chain", text("client.pem")),
        ("ssl.keystore.key", text("client-key.pem")),
    ];
    reads(consumer(secure, Listener::Mutual, &group, &topic).from_properties(mutual), 10).await;
    let login = "org.apache.kafka.common.security.scram.ScramLoginModule Required username='alice' \
                 password='alice\\55secret';";
    let scram = [
        ("security.protocol", "SASL_SSL".to_owned()),
        trusts,
        ("sasl.mechanism", "SCRAM-SHA-512".to_owned()),
        ("sasl.jaas.config", login.to_owned()),
    ];
    let (group, _) = names(secure);
    reads(consumer(secure, Listener::SaslSsl, &group, &topic).from_properties(scram), 10).await;
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

/// Makes tokens that prove nothing, which the tests' broker takes, and counts how often it was asked.
struct Counted(Arc<AtomicUsize>);

#[async_trait::async_trait]
impl TokenProvider for Counted {
    async fn token(&self) -> Result<Token, Box<dyn std::error::Error + Send + Sync>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let now = wall_clock();
        let (begins, ends) = (now - Duration::from_secs(5), now + Duration::from_secs(600));
        let seconds = |at: SystemTime| at.duration_since(UNIX_EPOCH).map(|since| since.as_secs());
        let claims =
            format!(r#"{{"sub":"alice","iat":{},"exp":{}}}"#, seconds(begins)?, seconds(ends)?);
        let value = format!("{}.{}.", base64_url(r#"{"alg":"none"}"#), base64_url(&claims));
        Ok(Token::new(value, ends).principal("alice"))
    }
}

#[expect(clippy::disallowed_methods, reason = "tokens are dated by the clock on the wall")]
fn wall_clock() -> SystemTime {
    SystemTime::now()
}

fn base64_url(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits: String = text.bytes().map(|byte| format!("{byte:08b}")).collect();
    let digit = |six: &[u8]| {
        let six = format!("{:0<6}", std::str::from_utf8(six).unwrap());
        char::from(DIGITS[usize::from_str_radix(&six, 2).unwrap()])
    };
    bits.as_bytes().chunks(6).map(digit).collect()
}

#[tokio::test]
async fn both_planes_have_their_tokens_from_one_provider_which_is_asked_once() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    produce(secure.plaintext(), &topic, 2, 10).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let sasl = Sasl::oauth_bearer(Counted(Arc::clone(&asked)));
    let security = Security::sasl_ssl(trusting(secure), sasl);
    reads(consumer(secure, Listener::SaslSsl, &group, &topic).security(security), 10).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_consumer_whose_user_is_taken_away_ends_with_its_session() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    let admin = secure.admin();
    admin.grant("User:cid", Resource::Topic, &topic, &[Operation::Read]);
    admin.grant("User:cid", Resource::Group, &group, &[Operation::Read]);
    produce(secure.plaintext(), &topic, 2, 1).await;
    let cid = Security::sasl_plaintext(Sasl::scram_sha_256("cid", "cid-secret"));
    let consumer = consumer(secure, Listener::Brief, &group, &topic).security(cid);
    let mut consumer = consumer.session_timeout(Duration::from_secs(6)).join().await.unwrap();
    let first = tokio::time::timeout(SOON, consumer.recv()).await.expect("a record in time");
    assert!(matches!(first, Ok(Some(_))), "{first:?}");
    tokio::task::spawn_blocking(move || admin.forget_user("cid")).await.unwrap();
    let mut troubles = Vec::new();
    let end = loop {
        match tokio::time::timeout(SOON, consumer.recv()).await.expect("an end in time") {
            Err(error @ Error::DataPlane(_)) => troubles.push(error.to_string()),
            end => break end,
        }
    };
    assert!(matches!(end, Err(Error::Authentication(_))), "{end:?}");
    assert_eq!(troubles, Vec::<String>::new());
}

/// Passes on which denials the listener is told of.
struct Hears(mpsc::UnboundedSender<String>);

#[async_trait::async_trait]
impl RebalanceListener for Hears {
    async fn told(&self, event: &Event) {
        if let Event::Denied(why) = event {
            drop(self.0.send(why.to_string()));
        }
    }
}

/// As where one broker's certificate has expired: the membership has no need of that broker, and partitions are led by it.
#[tokio::test]
async fn a_broker_that_only_rdkafka_has_to_trust_and_does_not_is_named_and_then_an_error() {
    let secure = own_cluster!(Secure::shared());
    let (group, topic) = names(secure);
    produce(secure.plaintext(), &topic, 2, 1).await;
    let (good, bad) = (secure.bootstrap(Listener::Ssl), secure.bootstrap(Listener::Expired));
    let relay = Relay::but_for_openssl(good, bad);
    let (tell, mut told) = mpsc::unbounded_channel();
    let consumer = consumer(secure, Listener::Ssl, &group, &topic)
        .bootstrap_servers(relay.address())
        .security(Security::ssl(trusting(secure)))
        .session_timeout(Duration::from_secs(6))
        .set("reconnect.backoff.max.ms", "1000")
        .rebalance_listener(Hears(tell));
    let mut consumer = consumer.join().await.unwrap();

    let why = tokio::time::timeout(SOON, told.recv()).await.expect("it is told in time").unwrap();
    assert!(why.contains(&relay.address()) && why.contains("ssl.ca.location"), "{why}");
    // librdkafka repeats itself after half a minute, which is when it is seen that the denial lasts.
    let lasting = tokio::time::timeout(SOON, consumer.recv()).await.expect("an error in time");
    assert_eq!(lasting.err(), Some(Error::DataPlane(why)));
    assert!(told.try_recv().is_err(), "it is told once");

    relay.heals();
    let record = tokio::time::timeout(SOON, consumer.recv()).await.expect("a record in time");
    assert!(matches!(record, Ok(Some(_))), "{record:?}");
    assert_eq!(consumer.handle().status().borrow().state, MemberState::Stable);
}
