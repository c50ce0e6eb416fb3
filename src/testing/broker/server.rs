//! The tasks of a fake cluster: one for the coordinator's timers, one a broker, one a connection.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time;

use super::codec::{self, Decoded, Malformed, unsupported_api_versions};
use super::script::Verdict;
use super::state::{Arrived, Shared};
use crate::testing::coordinator::ConnectionId;
use crate::types::NodeId;
use crate::wire::ErrorCode;

/// A longer frame closes its connection, as in Kafka (`socket.request.max.bytes`).
const MAX_FRAME: usize = 100 * 1024 * 1024;

/// A broker's first listener, which was bound so that its port is known.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) node: NodeId,
    pub(super) listener: std::net::TcpListener,
    pub(super) life: watch::Receiver<u64>,
}

/// Runs the cluster until it is dropped.
pub(super) async fn run(shared: Arc<Shared>, brokers: Vec<Bound>) {
    let mut tasks = JoinSet::new();
    for bound in brokers {
        tasks.spawn(broker(Arc::clone(&shared), bound));
    }
    tasks.spawn(timers(shared));
    while tasks.join_next().await.is_some() {}
}

async fn timers(shared: Arc<Shared>) {
    loop {
        let due = shared.lock().coordinator.poll_timeout();
        let timeout = async {
            match due {
                Some(at) => time::sleep_until(at.into()).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = timeout => shared.with_coordinator(|state, now| state.coordinator.handle_timeout(now)),
            () = shared.timers_changed.notified() => {}
        }
    }
}

/// Accepts connections while the broker is up.
async fn broker(shared: Arc<Shared>, bound: Bound) {
    let Bound { node, listener, mut life } = bound;
    let Ok(address) = listener.local_addr() else { return };
    let mut first = Some(listener);
    loop {
        if life.wait_for(|life| life % 2 == 1).await.is_err() {
            return;
        }
        let Some(listener) = listen(first.take(), address).await else { return };
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let Ok((stream, _)) = accepted else { continue };
                    connections.spawn(connection(Arc::clone(&shared), node, stream));
                }
                Some(_) = connections.join_next() => {}
                changed = life.changed() => match changed {
                    // Killed, or only all its connections are.
                    Ok(()) if *life.borrow_and_update() % 2 == 0 => break,
                    Ok(()) => connections = JoinSet::new(),
                    Err(_) => return,
                },
            }
        }
    }
}

/// The port may be busy for a moment after a restart.
async fn listen(first: Option<std::net::TcpListener>, address: SocketAddr) -> Option<TcpListener> {
    if let Some(first) = first {
        return TcpListener::from_std(first).ok();
    }
    for _ in 0..100 {
        if let Ok(listener) = TcpListener::bind(address).await {
            return Some(listener);
        }
        time::sleep(time::Duration::from_millis(20)).await;
    }
    None
}

/// Serves a connection, one request after the other, and tells the coordinator when it is gone.
async fn connection(shared: Arc<Shared>, node: NodeId, stream: TcpStream) {
    let id = shared.lock().new_connection();
    // Also when this task is aborted, because its broker stops.
    let _guard = Disconnect { shared: Arc::clone(&shared), id };
    let _closed = serve(&shared, node, id, stream).await;
}

struct Disconnect {
    shared: Arc<Shared>,
    id: ConnectionId,
}

impl Drop for Disconnect {
    fn drop(&mut self) {
        self.shared.lock().disconnect(self.id);
    }
}

async fn serve(
    shared: &Shared,
    node: NodeId,
    id: ConnectionId,
    mut stream: TcpStream,
) -> Result<(), Closed> {
    stream.set_nodelay(true)?;
    loop {
        let frame = read_frame(&mut stream).await?;
        let arrived = shared.lock().decode(frame)?;
        // Before the request can be seen, so that a release that follows it is not missed.
        let mut released = shared.released.subscribe();
        let verdict = shared.lock().decide(shared.now(), node, id, &arrived);
        let body = match verdict {
            Verdict::Pass => answer(shared, node, id, &arrived, ErrorCode::None).await?,
            Verdict::Error(error) => answer(shared, node, id, &arrived, error).await?,
            Verdict::Close => return Err(Closed),
            Verdict::Garbage(bytes) => bytes,
            Verdict::Hold => {
                released.changed().await.map_err(|_| Closed)?;
                answer(shared, node, id, &arrived, ErrorCode::None).await?
            }
            Verdict::Delay(delay) => {
                time::sleep(delay).await;
                answer(shared, node, id, &arrived, ErrorCode::None).await?
            }
        };
        let frame = codec::frame(arrived.api, arrived.version, arrived.correlation_id, &body)?;
        stream.write_all(&frame).await?;
    }
}

async fn read_frame(stream: &mut TcpStream) -> Result<Bytes, Closed> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let length = usize::try_from(i32::from_be_bytes(length)).map_err(|_| Closed)?;
    if length > MAX_FRAME {
        return Err(Closed);
    }
    let mut frame = BytesMut::zeroed(length);
    stream.read_exact(&mut frame).await?;
    Ok(frame.freeze())
}

/// The body of the answer; `error` is what a test wants to be said instead of the truth.
async fn answer(
    shared: &Shared,
    node: NodeId,
    id: ConnectionId,
    arrived: &Arrived,
    error: ErrorCode,
) -> Result<Bytes, Closed> {
    let version = arrived.version;
    let (questions, error) = match &arrived.decoded {
        None => return Ok(unsupported_api_versions(&shared.lock().apis)?),
        Some(Decoded::Cluster(request)) => {
            let state = &mut *shared.lock();
            return Ok(request.answer(version, &state.apis, &mut state.topology, error)?);
        }
        Some(Decoded::Coordinator(questions)) => (questions.clone(), error),
        Some(Decoded::Refused(question, illegal)) => (vec![question.clone()], *illegal),
    };
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        let answer = match error.is_none() {
            true => shared.ask(node, id, arrived, question.clone()).await.ok_or(Closed)?,
            false => question.refused(error),
        };
        answers.push((question, shared.lock().as_seen_from(node, answer)));
    }
    Ok(codec::encode(version, &answers)?)
}

/// The connection is closed, by whoever.
#[derive(Debug)]
struct Closed;

impl From<io::Error> for Closed {
    fn from(_: io::Error) -> Self {
        Self
    }
}

impl From<Malformed> for Closed {
    fn from(_: Malformed) -> Self {
        Self
    }
}
