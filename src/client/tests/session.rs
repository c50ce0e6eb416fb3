//! Who we are, said over one connection, against a scripted broker.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use kafka_protocol::messages::{
    SaslAuthenticateRequest as Says, SaslAuthenticateResponse, SaslHandshakeRequest as Wants,
    SaslHandshakeResponse,
};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use tokio::io::duplex;
use tokio::runtime::Handle;
use tokio::time::{Instant, advance, timeout};

use super::connection::options;
use super::script::{Peer, VERSIONS, alive, heartbeat, soon};
use crate::client::connection::{Connection, ConnectionOptions};
use crate::client::login::Login;
use crate::client::session::Authenticate;
use crate::client::{ApiKey, ClientError, ConnectionError};
use crate::security::{Sasl, SaslError};
use crate::transport::ConnectError;

const HOUR: Duration = Duration::from_secs(3600);

/// How long the broker believes us.
const LIFE: Duration = Duration::from_secs(100);

fn alice() -> Sasl {
    Sasl::plain("alice", "s3cret")
}

/// A connection that says who it is to a broker that follows `script` after ApiVersions.
async fn open<F, Fut, T>(sasl: Sasl, script: F) -> (Result<Connection, ConnectionError>, T)
where
    F: FnOnce(Peer) -> Fut,
    Fut: Future<Output = T>,
{
    let (ours, theirs) = duplex(4096);
    let login: Arc<dyn Authenticate> = Arc::new(Login::new(sasl));
    let options = ConnectionOptions { login: Some(login), max_idle: HOUR, ..options() };
    let runtime = Handle::current();
    let deadline = Instant::now() + HOUR;
    let opened = Connection::open(ours, "broker:9092".into(), &options, &runtime, deadline);
    let script = async {
        let mut peer = Peer(theirs);
        peer.tell_versions(VERSIONS).await;
        script(peer).await
    };
    tokio::join!(opened, script)
}

/// A connection that is believed for a [`LIFE`], and the broker at its other end.
async fn open_for_a_life() -> (Connection, Peer) {
    let (connection, peer) = open(alice(), |mut peer| async move {
        peer.lets_in(LIFE).await;
        peer
    })
    .await;
    (connection.unwrap(), peer)
}

impl Peer {
    /// What mechanism is asked for; it is there.
    async fn shakes_hands(&mut self) -> String {
        let asked = self.receive().await.unwrap();
        assert_eq!(asked.api, ApiKey::SaslHandshake.number());
        let wants = Wants::decode(&mut asked.body.clone(), asked.version).unwrap();
        self.answers(asked.id, &[], &SaslHandshakeResponse::default(), 1).await;
        wants.mechanism.to_string()
    }

    /// What the client says of itself, and how that is to be answered.
    async fn hears(&mut self) -> (i32, Bytes) {
        let asked = self.receive().await.unwrap();
        assert_eq!(asked.api, ApiKey::SaslAuthenticate.number());
        let mut body = asked.body.clone();
        body.advance(1); // No tags.
        (asked.id, Says::decode(&mut body, asked.version).unwrap().auth_bytes)
    }

    async fn says(&mut self, id: i32, answer: SaslAuthenticateResponse) {
        self.answers(id, &[0], &answer, 2).await;
    }

    async fn answers(&mut self, id: i32, tags: &[u8], answer: &impl Encodable, version: i16) {
        let mut body = BytesMut::from(tags);
        answer.encode(&mut body, version).unwrap();
        self.answer(id, &body).await;
    }

    /// Takes whatever is said, and believes it for so long.
    async fn lets_in(&mut self, life: Duration) -> Bytes {
        self.shakes_hands().await;
        let (id, said) = self.hears().await;
        self.says(id, believed(life)).await;
        said
    }

    /// Answers one heartbeat.
    async fn beats(&mut self) {
        let beat = self.receive().await.unwrap();
        assert_eq!(beat.api, ApiKey::Heartbeat.number());
        self.answer(beat.id, &alive()).await;
    }
}

fn believed(life: Duration) -> SaslAuthenticateResponse {
    let life = i64::try_from(life.as_millis()).unwrap();
    SaslAuthenticateResponse::default().with_session_lifetime_ms(life)
}

fn disbelieved() -> SaslAuthenticateResponse {
    let message = StrBytes::from_static_str("Authentication failed: Invalid username or password");
    SaslAuthenticateResponse::default().with_error_code(58).with_error_message(Some(message))
}

fn sasl_error(outcome: Result<Connection, ConnectionError>) -> SaslError {
    match outcome {
        Err(ConnectionError::Connect(ConnectError::Sasl(error))) => error,
        other => panic!("no SASL error: {other:?}"),
    }
}

#[tokio::test]
async fn who_we_are_is_said_before_anything_is_asked() {
    let (opened, (mechanism, said)) = open(alice(), |mut peer| async move {
        let mechanism = peer.shakes_hands().await;
        let (id, said) = peer.hears().await;
        peer.says(id, believed(Duration::ZERO)).await;
        (mechanism, said)
    })
    .await;
    opened.unwrap();
    assert_eq!((mechanism.as_str(), &said[..]), ("PLAIN", &b"\0alice\0s3cret"[..]));
}

#[tokio::test]
async fn wrong_credentials_are_said_in_the_brokers_words_and_not_in_ours() {
    let (opened, ()) = open(alice(), |mut peer| async move {
        peer.shakes_hands().await;
        let (id, _) = peer.hears().await;
        peer.says(id, disbelieved()).await;
    })
    .await;
    let error = sasl_error(opened);
    assert!(error.is_permanent());
    let said = format!("{error} {error:?}");
    assert!(
        said.contains("Invalid username or password") && said.contains("sasl.password"),
        "{said}"
    );
    assert!(!said.contains("s3cret"), "{said}");
}

#[tokio::test]
async fn a_mechanism_that_is_not_offered_is_named_beside_those_that_are() {
    for (code, expected) in [(33, "offers SCRAM-SHA-512"), (34, "security.protocol")] {
        let (opened, ()) = open(alice(), |mut peer| async move {
            let asked = peer.receive().await.unwrap();
            let answer = SaslHandshakeResponse::default()
                .with_error_code(code)
                .with_mechanisms(vec![StrBytes::from_static_str("SCRAM-SHA-512")]);
            peer.answers(asked.id, &[], &answer, 1).await;
        })
        .await;
        let said = sasl_error(opened).to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[tokio::test]
async fn a_broker_that_offers_no_mechanism_is_said_to_offer_none() {
    let (opened, ()) = open(alice(), |mut peer| async move {
        let asked = peer.receive().await.unwrap();
        let answer = SaslHandshakeResponse::default().with_error_code(33);
        peer.answers(asked.id, &[], &answer, 1).await;
    })
    .await;
    let said = sasl_error(opened).to_string();
    assert!(said.ends_with("offers none"), "{said}");
}

#[tokio::test]
async fn sessions_of_odd_lifetimes_are_not_renewed_before_time() {
    for life in [0, -1, i64::MIN, i64::MAX] {
        let (opened, mut peer) = open(alice(), |mut peer| async move {
            peer.shakes_hands().await;
            let (id, _) = peer.hears().await;
            peer.says(id, SaslAuthenticateResponse::default().with_session_lifetime_ms(life)).await;
            peer
        })
        .await;
        let (connection, beat) = (opened.unwrap(), heartbeat("g"));
        let (answer, ()) = tokio::join!(connection.call(&beat, soon()), peer.beats());
        answer.unwrap_or_else(|error| panic!("{life}: {error}"));
    }
}

#[tokio::test]
async fn a_scram_broker_that_asks_for_too_little_too_much_or_half_is_not_answered() {
    for challenge in ["s=c2FsdA==,i=1", "s=c2FsdA==,i=1000000000", "s=c2Fs", ""] {
        let sasl = Sasl::scram_sha_512("alice", "s3cret");
        let (opened, said_more) = open(sasl, |mut peer| async move {
            peer.shakes_hands().await;
            let (id, first) = peer.hears().await;
            let nonce = String::from_utf8(first.to_vec()).unwrap();
            let nonce = nonce.rsplit("r=").next().unwrap();
            let challenge = format!("r={nonce}more,{challenge}");
            let answer = SaslAuthenticateResponse::default().with_auth_bytes(challenge.into());
            peer.says(id, answer).await;
            peer.receive().await.is_some()
        })
        .await;
        let error = sasl_error(opened);
        assert!(matches!(error, SaslError::Iterations(_) | SaslError::Challenge(..)), "{error}");
        assert!(!said_more, "after `{challenge}`");
    }
}

#[tokio::test]
async fn a_broker_that_talks_for_ever_is_left() {
    let bearer = Sasl::unsecured_token("alice");
    let (opened, _) = open(bearer, |mut peer| async move {
        peer.shakes_hands().await;
        let (id, _) = peer.hears().await;
        let answer = SaslAuthenticateResponse::default().with_auth_bytes("no".into());
        peer.says(id, answer.clone()).await;
        let (id, _) = peer.hears().await;
        peer.says(id, answer).await;
    })
    .await;
    assert!(matches!(sasl_error(opened), SaslError::Refused { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_session_is_renewed_before_the_next_request_when_most_of_it_is_over() {
    let (connection, mut peer) = open_for_a_life().await;
    let beat = heartbeat("g");
    advance(LIFE.mul_f64(0.8)).await;
    let (answer, ()) = tokio::join!(connection.call(&beat, soon()), peer.beats());
    answer.unwrap();
    advance(LIFE.mul_f64(0.1)).await;
    let script = async {
        assert_eq!(&peer.lets_in(LIFE).await[..], b"\0alice\0s3cret");
        peer.beats().await;
    };
    let (answer, ()) = tokio::join!(connection.call(&beat, soon()), script);
    answer.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_parked_request_outlives_the_session_and_the_next_one_renews_it_first() {
    let (connection, mut peer) = open_for_a_life().await;
    let (parked, next) = (heartbeat("parked"), heartbeat("next"));
    let script = async {
        let parked = peer.receive().await.unwrap();
        advance(LIFE * 3).await;
        peer.answer(parked.id, &alive()).await;
        peer.lets_in(LIFE).await;
        peer.beats().await;
    };
    let requests = async {
        connection.call(&parked, Instant::now() + HOUR).await.unwrap();
        connection.call(&next, Instant::now() + HOUR).await.unwrap();
    };
    tokio::join!(requests, script);
}

#[tokio::test(start_paused = true)]
async fn while_a_session_is_renewed_nobody_speaks_and_who_gives_up_breaks_nothing() {
    let (connection, mut peer) = open_for_a_life().await;
    advance(LIFE).await;
    let beat = heartbeat("g");
    let impatient = timeout(Duration::from_secs(1), connection.call(&beat, soon()));
    let (outcome, _) = tokio::join!(impatient, peer.shakes_hands());
    assert!(outcome.is_err(), "it is not let in yet");
    let patient = connection.call(&beat, soon());
    let script = async {
        let (id, _) = peer.hears().await;
        peer.says(id, believed(LIFE)).await;
        peer.beats().await;
    };
    let (answer, ()) = tokio::join!(patient, script);
    answer.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_not_renewed_ends_the_connection_for_all() {
    let (connection, mut peer) = open_for_a_life().await;
    advance(LIFE).await;
    let script = async {
        peer.shakes_hands().await;
        let (id, _) = peer.hears().await;
        peer.says(id, disbelieved()).await;
        peer.receive().await.is_none()
    };
    let (one, two) = (heartbeat("one"), heartbeat("two"));
    let (one, two, closed) =
        tokio::join!(connection.call(&one, soon()), connection.call(&two, soon()), script);
    for outcome in [one.map(drop), two.map(drop)] {
        let Err(ClientError::Disconnected { cause, sent: false, .. }) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(cause.is_denial(), "{cause}");
    }
    assert!(closed && !connection.is_usable(Instant::now()));
}

#[tokio::test(start_paused = true)]
async fn a_session_shorter_than_kafka_lets_it_be_renewed_is_renewed_no_sooner() {
    let (connection, mut peer) = open_for_a_life().await;
    advance(LIFE).await;
    let script = async {
        let begun = Instant::now();
        for _ in 0..3 {
            peer.lets_in(Duration::from_millis(1)).await;
            peer.beats().await;
        }
        begun.elapsed()
    };
    let requests = async {
        for _ in 0..3 {
            connection.call(&heartbeat("g"), soon()).await.unwrap();
            advance(Duration::from_millis(1)).await;
        }
    };
    let (took, ()) = tokio::join!(script, requests);
    assert!(took > Duration::from_secs(2) && took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_not_heard_out_does_not_mean_that_there_is_no_sasl() {
    let (connection, mut peer) = open_for_a_life().await;
    advance(LIFE).await;
    let script = async {
        let asked = peer.receive().await.unwrap();
        let answer = SaslHandshakeResponse::default().with_error_code(34);
        peer.answers(asked.id, &[], &answer, 1).await;
    };
    let beat = heartbeat("g");
    let (outcome, ()) = tokio::join!(connection.call(&beat, soon()), script);
    let Err(ClientError::Disconnected { cause, sent: false, .. }) = outcome.map(drop) else {
        panic!("it is not renewed");
    };
    assert!(!cause.is_denial(), "{cause}");
}
