//! One connection, against a scripted broker.

use std::time::Duration;

use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

use super::script::{Peer, VERSIONS, alive, heartbeat, soon, versions};
use crate::client::connection::{Connection, ConnectionOptions};
use crate::client::{ApiKey, ClientError, ConnectionError, FrameError};

pub(super) fn options() -> ConnectionOptions {
    ConnectionOptions {
        client_id: "test".into(),
        max_frame_size: 1 << 20,
        max_idle: Duration::from_secs(60),
        max_versions: [].into(),
        setup_timeout: Duration::from_secs(10),
        login: None,
    }
}

/// A connection whose broker follows `script` from the first byte on.
async fn opened<F, Fut>(pipe: usize, script: F) -> Result<Connection, ConnectionError>
where
    F: FnOnce(Peer) -> Fut,
    Fut: Future<Output = ()> + Send + 'static,
{
    let (ours, theirs) = duplex(pipe);
    tokio::spawn(script(Peer(theirs)));
    open(ours).await
}

async fn open(stream: DuplexStream) -> Result<Connection, ConnectionError> {
    let runtime = Handle::current();
    Connection::open(stream, "broker:9092".into(), &options(), &runtime, soon()).await
}

/// A connection that has agreed on versions, and the broker's end of it.
async fn connected(pipe: usize) -> (Connection, Peer) {
    let (ours, theirs) = duplex(pipe);
    let mut peer = Peer(theirs);
    let (connection, ()) = tokio::join!(open(ours), peer.tell_versions(VERSIONS));
    (connection.unwrap(), peer)
}

fn lost(outcome: Result<impl Sized, ClientError>) -> (ConnectionError, bool) {
    match outcome.err() {
        Some(ClientError::Disconnected { cause, sent, .. }) => (cause, sent),
        other => panic!("not lost: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn answers_reach_whoever_asked_in_whatever_order_they_come() {
    let (connection, mut peer) = connected(4096).await;
    let (one, two) = (heartbeat("one"), heartbeat("two"));
    let script = async {
        let first = peer.receive().await.unwrap();
        let second = peer.receive().await.unwrap();
        peer.answer(second.id, &[0, 0, 0, 0, 0, 27]).await;
        peer.answer(first.id, &alive()).await;
    };
    let (one, two, ()) =
        tokio::join!(connection.call(&one, soon()), connection.call(&two, soon()), script);
    assert_eq!((one.unwrap().error.number(), two.unwrap().error.number()), (0, 27));
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_nothing_is_told_to_all_who_wait_and_to_those_who_come() {
    let (connection, mut peer) = connected(4096).await;
    let (one, two) = (heartbeat("one"), heartbeat("two"));
    let script = async {
        peer.receive().await.unwrap();
        peer.receive().await.unwrap();
        peer.answer(4711, &alive()).await;
    };
    let (one, two, ()) =
        tokio::join!(connection.call(&one, soon()), connection.call(&two, soon()), script);
    assert_eq!(lost(one), (ConnectionError::OutOfStep, true));
    assert_eq!(lost(two), (ConnectionError::OutOfStep, true));
    let late = connection.call(&heartbeat("late"), soon()).await;
    assert_eq!(lost(late), (ConnectionError::OutOfStep, false));
    assert!(!connection.is_usable(Instant::now()));
}

#[tokio::test(start_paused = true)]
async fn half_an_answer_is_none() {
    let (connection, mut peer) = connected(4096).await;
    let request = heartbeat("group");
    let script = async {
        let asked = peer.receive().await.unwrap();
        peer.say(&[0, 0, 0, 10]).await;
        peer.say(&asked.id.to_be_bytes()).await;
        drop(peer);
    };
    let (outcome, ()) = tokio::join!(connection.call(&request, soon()), script);
    assert_eq!(lost(outcome), (ConnectionError::ClosedAtFirstRequest, true));
}

#[tokio::test(start_paused = true)]
async fn an_end_says_how_far_we_had_come() {
    let (connection, mut peer) = connected(4096).await;
    let request = heartbeat("group");
    let script = async {
        let asked = peer.receive().await.unwrap();
        peer.answer(asked.id, &alive()).await;
        peer.receive().await.unwrap();
        drop(peer);
    };
    let calls = async {
        connection.call(&request, soon()).await.unwrap();
        connection.call(&request, soon()).await
    };
    let (outcome, ()) = tokio::join!(calls, script);
    assert_eq!(lost(outcome), (ConnectionError::Closed, true));
}

#[tokio::test(start_paused = true)]
async fn a_gigabyte_that_is_announced_ends_the_connection_before_it_is_reserved() {
    let (connection, mut peer) = connected(4096).await;
    let request = heartbeat("group");
    let script = async {
        peer.receive().await.unwrap();
        peer.say(&(1_i32 << 30).to_be_bytes()).await;
    };
    let (outcome, ()) = tokio::join!(connection.call(&request, soon()), script);
    let expected = FrameError::TooLarge { length: 1 << 30, limit: 1 << 20 };
    assert_eq!(lost(outcome), (ConnectionError::Frame(expected), true));
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_gives_up_in_the_middle_of_a_write_leaves_no_half_frame() {
    let (connection, mut peer) = connected(64).await;
    let long = heartbeat(&"long".repeat(500));
    let given_up = timeout(Duration::from_millis(1), connection.call(&long, soon())).await;
    assert!(given_up.is_err());
    let request = heartbeat("next");
    let script = async {
        let whole = peer.receive().await.unwrap();
        assert!(whole.body.len() > 2000);
        let next = peer.receive().await.unwrap();
        peer.answer(whole.id, &[0, 0, 0, 0, 0, 25]).await;
        peer.answer(next.id, &alive()).await;
    };
    let (outcome, ()) = tokio::join!(connection.call(&request, soon()), script);
    assert!(outcome.unwrap().error.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_gives_up_before_the_write_has_asked_nothing() {
    let (connection, mut peer) = connected(64).await;
    let long = heartbeat(&"long".repeat(500));
    let blocking = tokio::spawn({
        let connection = connection.clone();
        async move { connection.call(&long, soon()).await }
    });
    sleep(Duration::from_millis(1)).await;
    let never = heartbeat("never");
    let given_up = timeout(Duration::from_millis(1), connection.call(&never, soon()));
    assert!(given_up.await.is_err());
    let request = heartbeat("next");
    let script = async {
        let whole = peer.receive().await.unwrap();
        peer.answer(whole.id, &alive()).await;
        let next = peer.receive().await.unwrap();
        assert!(next.body.windows(4).any(|bytes| bytes == b"next"));
        peer.answer(next.id, &alive()).await;
    };
    let (outcome, ()) = tokio::join!(connection.call(&request, soon()), script);
    outcome.unwrap();
    blocking.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_passes_is_a_timeout_and_nothing_new_is_sent_behind_it() {
    let (connection, mut peer) = connected(4096).await;
    let begun = Instant::now();
    let outcome = connection.call(&heartbeat("group"), begun + Duration::from_secs(3)).await;
    assert!(matches!(outcome, Err(ClientError::TimedOut { api: Some(ApiKey::Heartbeat), .. })));
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    assert!(!connection.is_usable(Instant::now()) && connection.is_abandoned());
    let asked = peer.receive().await.unwrap();
    peer.answer(asked.id, &alive()).await;
    sleep(Duration::from_millis(1)).await;
    assert!(connection.is_usable(Instant::now()), "the answer came after all");
}

#[tokio::test(start_paused = true)]
async fn a_throttled_connection_is_held_back_for_as_long_as_the_broker_says() {
    let (connection, mut peer) = connected(4096).await;
    let begun = Instant::now();
    let script = async {
        let first = peer.receive().await.unwrap();
        peer.answer(first.id, &[0, 0, 7, 208, 0, 0]).await;
        let second = peer.receive().await.unwrap();
        let waited = begun.elapsed();
        peer.answer(second.id, &alive()).await;
        waited
    };
    let calls = async {
        connection.call(&heartbeat("group"), soon()).await.unwrap();
        assert_eq!(begun.elapsed(), Duration::ZERO, "the answer itself is not held back");
        connection.call(&heartbeat("group"), soon()).await.unwrap();
    };
    let (waited, ()) = tokio::join!(script, calls);
    assert!(waited >= Duration::from_secs(2) && waited < Duration::from_millis(2010), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_no_answer_fail_the_request_and_keep_the_connection() {
    let (connection, mut peer) = connected(4096).await;
    let request = heartbeat("group");
    let script = async {
        let asked = peer.receive().await.unwrap();
        peer.answer(asked.id, &[0, 0]).await;
        let asked = peer.receive().await.unwrap();
        peer.answer(asked.id, &alive()).await;
    };
    let calls = async {
        let outcome = connection.call(&request, soon()).await;
        assert!(matches!(outcome, Err(ClientError::Undecodable { version: 3, .. })), "{outcome:?}");
        connection.call(&request, soon()).await.unwrap();
    };
    tokio::join!(script, calls);
}

#[tokio::test(start_paused = true)]
async fn an_api_that_the_broker_does_not_have_is_not_asked_for() {
    let (ours, theirs) = duplex(4096);
    let mut peer = Peer(theirs);
    let (connection, ()) = tokio::join!(open(ours), peer.tell_versions(&[]));
    let outcome = connection.unwrap().call(&heartbeat("group"), soon()).await;
    let expected =
        "broker:9092: no common version of Heartbeat: we speak versions 0 to 4, the broker none";
    assert_eq!(outcome.unwrap_err().to_string(), expected);
}

/// What a broker that does not know version 4 of ApiVersions answers, and in which versions it is asked after it.
async fn asked_in_versions(refusal: &'static [u8]) -> Vec<i16> {
    let (told, asked) = tokio::sync::oneshot::channel();
    let script = async move |mut peer: Peer| {
        let first = peer.receive().await.unwrap();
        peer.answer(first.id, refusal).await;
        let second = peer.receive().await.unwrap();
        peer.answer(second.id, &versions(&second, VERSIONS)).await;
        told.send(vec![first.version, second.version]).unwrap();
    };
    opened(4096, script).await.unwrap();
    asked.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_names_its_own_range_is_asked_in_it() {
    const RANGE_0_TO_3: &[u8] = &[0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 3];
    assert_eq!(asked_in_versions(RANGE_0_TO_3).await, [4, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_cannot_be_read_is_asked_again_in_version_0() {
    for refusal in [[0, 35, 0, 0, 0, 1, 0, 18].as_slice(), &[0, 35], &[0, 0, 99], &[]] {
        assert_eq!(asked_in_versions(refusal).await, [4, 0], "{refusal:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_refuses_every_version_is_given_up() {
    let script = async |mut peer: Peer| {
        while let Some(asked) = peer.receive().await {
            peer.answer(asked.id, &[0, 35, 0, 0, 0, 0]).await;
        }
    };
    let outcome = opened(4096, script).await.err();
    assert!(matches!(outcome, Some(ConnectionError::NoVersions(_))), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_kafka_is_named() {
    for (answer, expected) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(), ConnectionError::Frame(FrameError::Http)),
        (b"\x15\x03\x03\x00\x02\x02\x46", ConnectionError::Frame(FrameError::Tls)),
        (b"", ConnectionError::ClosedUnanswered),
        (b"\x00\x00", ConnectionError::ClosedUnanswered),
        (b"\x00\x00\x00\x02\x00\x00", ConnectionError::OutOfStep),
    ] {
        let script = async move |mut peer: Peer| {
            peer.receive().await;
            peer.say(answer).await;
            peer.0.shutdown().await.ok();
        };
        assert_eq!(opened(4096, script).await.err(), Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_accepts_and_says_nothing_is_told_apart() {
    let begun = Instant::now();
    let script = async |peer: Peer| {
        let _open = peer;
        std::future::pending().await
    };
    assert_eq!(opened(4096, script).await.err(), Some(ConnectionError::Silent));
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_uses_is_closed() {
    let (connection, mut peer) = connected(4096).await;
    let begun = Instant::now();
    assert!(peer.receive().await.is_none());
    assert_eq!(begun.elapsed().as_secs(), 60);
    assert!(!connection.is_usable(Instant::now()));
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_closes_the_connection() {
    let (connection, mut peer) = connected(4096).await;
    drop(connection.clone());
    assert!(connection.is_usable(Instant::now()));
    drop(connection);
    let begun = Instant::now();
    assert!(peer.receive().await.is_none());
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
