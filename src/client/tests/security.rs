//! Denials as a whole client meets them, and secrets wherever something is written.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Buf;
use kafka_protocol::messages::{
    SaslAuthenticateRequest as Says, SaslAuthenticateResponse, SaslHandshakeResponse,
};
use kafka_protocol::protocol::{Decodable, StrBytes};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing_subscriber::fmt::MakeWriter;

use super::script::{Received, Reply, Script, client_over, coordinator, encoded, metadata, soon};
use crate::client::connection::Connection;
use crate::client::pool::{Broker, Lane};
use crate::client::{ApiKey, Client, ClientError, ClientOptions, Topics};
use crate::security::{Sasl, Security, TlsError};
use crate::transport::{Address, Connect, ConnectError, Stream};

const SECRET: &str = "s3cret-word";

/// Brokers that ask who we are, and believe `believes`.
fn asking(believes: bool) -> Script {
    Script::new(move |_, asked| match asked.api {
        17 => encoded(&SaslHandshakeResponse::default(), 1),
        36 => believed(asked, believes),
        3 => metadata(asked, &[1], &[("books", 1)]),
        _ => coordinator(asked, 1),
    })
}

fn believed(asked: &Received, believes: bool) -> Reply {
    let mut body = asked.body.clone();
    body.advance(1); // No tags.
    let said = Says::decode(&mut body, asked.version).unwrap().auth_bytes;
    assert!(said.ends_with(SECRET.as_bytes()), "the password is said to the broker");
    let answer = SaslAuthenticateResponse::default();
    let answer = match believes {
        true => answer,
        false => answer
            .with_error_code(58)
            .with_error_message(Some(StrBytes::from_static_str("Invalid username or password"))),
    };
    encoded(&answer, 2)
}

fn options(bootstrap: &str) -> ClientOptions {
    ClientOptions::new(bootstrap).security(Security::sasl_plaintext(Sasl::plain("alice", SECRET)))
}

#[tokio::test(start_paused = true)]
async fn credentials_that_one_broker_refuses_are_not_carried_to_the_next() {
    let script = asking(false);
    let all = ["a:1", "b:1", "c:1"];
    let client = script.client_with(options(&all.join(",")));
    let begun = Instant::now();
    let error = client.coordinator("g", soon()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert!(!error.is_retriable());
    assert!(error.denial().is_some_and(|why| why.contains("sasl.password")), "{error}");
    let tries: usize = all.iter().map(|address| script.tries(address).len()).sum();
    assert_eq!((tries, begun.elapsed()), (1, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_port_that_hangs_up_on_everything_is_believed_the_third_time() {
    let script = Script::new(|_, _| Reply::Close);
    let client = script.client("a:1");
    let error = client.coordinator("g", soon()).await.unwrap_err();
    assert!(error.to_string().contains("security.protocol"), "{error}");
    assert_eq!(script.tries("a:1").len(), 6, "each time with a look at it");
}

#[tokio::test(start_paused = true)]
async fn a_listener_with_sasl_that_hangs_up_on_who_says_no_name_is_known_by_one_look() {
    let script = Script::new(|_, asked| match asked.api {
        17 => {
            let answer = SaslHandshakeResponse::default().with_error_code(33);
            let offered = StrBytes::from_static_str("SCRAM-SHA-512");
            encoded(&answer.with_mechanisms(vec![offered]), 1)
        }
        _ => Reply::Close,
    });
    let client = script.client("a:1,b:1");
    let error = client.coordinator("g", soon()).await.unwrap_err();
    let denial = error.denial().unwrap();
    assert!(denial.contains("SCRAM-SHA-512") && denial.contains("sasl.mechanism"), "{denial}");
    assert_eq!(script.tries("a:1").len() + script.tries("b:1").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_listener_without_tls_that_hangs_up_on_a_handshake_is_known_by_one_look() {
    let script = Script::new(|_, _| Reply::Close);
    let client = client_over(HangsUpOnTls(script.clone()), ClientOptions::new("a:1"));
    let error = client.coordinator("g", soon()).await.unwrap_err();
    assert!(error.denial().is_some_and(|why| why.contains("does not speak TLS")), "{error}");
    assert_eq!(script.tries("a:1").len(), 1, "in plain text");
    assert_eq!(script.seen(), [], "nothing is asked but ApiVersions");
}

#[tokio::test(start_paused = true)]
async fn a_look_at_a_port_takes_no_longer_than_the_answer_was_waited_for() {
    let script = Script::new(|_, asked| match asked.api {
        17 => Reply::Silence,
        _ => Reply::Close,
    });
    let second = Duration::from_secs(1);
    let begun = Instant::now();
    let client = script.client("a:1");
    let error = client.coordinator("g", begun + second).await.unwrap_err();
    assert!(error.to_string().contains("security.protocol"), "{error}");
    assert!(begun.elapsed() <= second, "{:?}", begun.elapsed());
    let client = script.client("b:1");
    let begun = Instant::now();
    client.refresh_metadata(Topics::none(), begun + second).await.unwrap_err();
    assert!(begun.elapsed() <= second, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_goes_down_during_the_first_request_is_waited_for() {
    let asked = AtomicUsize::new(0);
    let script = Script::new(move |_, request| match request.api {
        10 if asked.fetch_add(1, Ordering::Relaxed) > 0 => coordinator(request, 1),
        _ => Reply::Close,
    });
    let found = script.client("a:1").coordinator("g", soon()).await;
    assert_eq!(found.unwrap().id.0, 1);
}

/// Brokers to which TLS cannot be spoken.
struct HangsUpOnTls(Script);

#[async_trait]
impl Connect for HangsUpOnTls {
    async fn connect(&self, _: &Address, _: Instant) -> Result<Box<dyn Stream>, ConnectError> {
        Err(TlsError::Closed.into())
    }

    fn in_plain_text(&self) -> Option<&dyn Connect> {
        Some(&self.0)
    }
}

/// What is written anywhere.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Written {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn no_secret_is_logged_or_shown_whether_it_is_believed_or_not() {
    let written = Written::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(written.clone())
        .finish();
    // The client's tasks run on the test's own thread.
    let _written_to = tracing::subscriber::set_default(subscriber);
    let mut shown = String::new();
    for believes in [true, false, true, false] {
        // Other tests of this process, which write nothing, may have come by first, or come by with us the first time.
        tracing::callsite::rebuild_interest_cache();
        let options = options("a:1");
        shown += &format!("{options:?} {:?}", options.protection());
        let script = asking(believes);
        let client = script.client_with(options);
        let outcome = client.coordinator("g", soon()).await;
        shown += &format!("{client:?} {outcome:?}");
        shown.extend(outcome.map_err(|error| error.to_string()).err());
        assert!(script.count(ApiKey::SaslAuthenticate) > 0);
    }
    let logged = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("found the coordinator"), "{logged}");
    assert!(shown.contains("alice") && shown.contains("Invalid username"), "{shown}");
    for text in [logged, shown] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn a_client_is_told_what_is_wrong_before_it_starts() {
    let mut options = ClientOptions::new("a:1");
    assert_eq!(options.set("sasl.mechanism", "PLAIN"), Ok(true));
    let error = options.protection().unwrap_err().to_string();
    assert!(error.contains("security.protocol is PLAINTEXT"), "{error}");
    let error = ClientOptions::new("a:1").set("ssl.protocols", "TLSv1.3").unwrap_err().to_string();
    assert!(error.contains("has no `ssl.protocols`"), "{error}");
    let both = options.security(Security::plaintext());
    assert!(both.protection().unwrap_err().to_string().contains("one of them"));
}

/// A connection of a member's own.
async fn lane(client: &Client, member: u64) -> Result<Connection, ClientError> {
    let address = Address::new("a", 1);
    let broker = Broker::Bootstrap(address.clone());
    client.0.brokers.pool.connection(&broker, &address, Lane::Member(member), soon()).await
}

#[tokio::test(start_paused = true)]
async fn credentials_that_are_refused_are_tried_by_one_member_of_a_client_at_a_time() {
    let believes = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&believes);
    let script = Script::new(move |_, request| match request.api {
        17 => encoded(&SaslHandshakeResponse::default(), 1),
        _ => believed(request, asked.load(Ordering::Relaxed)),
    });
    let client = script.client_with(options("a:1"));
    let minute = Instant::now() + Duration::from_secs(60);
    let members = (0..20).map(|member| {
        let client = client.clone();
        async move {
            while Instant::now() < minute {
                let denied = lane(&client, member).await.unwrap_err();
                assert!(denied.denial().is_some(), "{denied}");
                sleep(Duration::from_millis(500 + 20 * member)).await;
            }
        }
    });
    members.collect::<JoinSet<_>>().join_all().await;
    let tries = script.tries("a:1").len();
    // The first time all come at once.
    assert!((40..110).contains(&tries), "{tries} in a minute");
    believes.store(true, Ordering::Relaxed);
    sleep(Duration::from_secs(2)).await;
    for member in 0..20 {
        lane(&client, member).await.unwrap();
    }
}
