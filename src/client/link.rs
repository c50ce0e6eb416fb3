//! One connection's frames: written one after the other, answers matched by correlation id.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWrite, ReadHalf, WriteHalf};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::ConnectionError;
use super::throttle::throttle;
use crate::transport::Stream;
use crate::wire::{ApiKey, Reader, correlation_id, next_frame};

/// Requests that wait for their turn to be written.
const QUEUED: usize = 256;
/// Requests that wait for their answer. The broker works on one at a time, so more would only queue there.
const IN_FLIGHT: usize = 128;
/// What an idle connection keeps for the next answer.
const IDLE_BUFFER: usize = 512;
/// What is read at once, at most, while a long answer arrives: its announced length reserves nothing.
const READ_AHEAD: usize = 64 * 1024;

/// A handle to the task that owns a stream. The task ends, and closes the stream, with the last handle.
#[derive(Clone, Debug)]
pub(super) struct Link(Arc<Ends>);

/// What link and task are told when it is made.
#[derive(Clone, Debug)]
pub(super) struct LinkOptions {
    pub(super) max_frame_size: usize,
    pub(super) max_idle: Duration,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The connection ended; whether the broker may have seen the request.
    Lost { cause: ConnectionError, sent: bool },
    /// The caller's deadline came first.
    TimedOut,
}

#[derive(Debug)]
struct Ends {
    queue: mpsc::Sender<Outgoing>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Rung to end the task.
    stop: Notify,
}

#[derive(Debug, Default)]
struct State {
    last_id: i32,
    /// Written, at least in part, and unanswered; oldest first.
    in_flight: VecDeque<Waiting>,
    /// Set once, when the task ends.
    ended: Option<ConnectionError>,
    /// How often the other side has answered.
    answered: u64,
}

/// A request that is to be written.
#[derive(Debug)]
struct Outgoing {
    frame: Bytes,
    waiting: Waiting,
}

/// Who waits for an answer.
#[derive(Debug)]
struct Waiting {
    id: i32,
    api: ApiKey,
    version: i16,
    deadline: Instant,
    answer: oneshot::Sender<Result<Reader, NoAnswer>>,
}

impl Link {
    /// Hands `stream` to a task on `runtime`.
    pub(super) fn spawn<S: Stream>(stream: S, options: LinkOptions, runtime: &Handle) -> Self {
        let (queue, requests) = mpsc::channel(QUEUED);
        let shared = Arc::new(Shared::default());
        let (reader, writer) = tokio::io::split(stream);
        let pump = Pump {
            reader,
            writer,
            incoming: BytesMut::new(),
            outgoing: Bytes::new(),
            must_flush: false,
            requests,
            shared: Arc::clone(&shared),
            held_until: None,
            used: Instant::now(),
            options,
        };
        runtime.spawn(pump.run());
        Self(Arc::new(Ends { queue, shared }))
    }

    /// A correlation id that no request in flight has.
    pub(super) fn next_id(&self) -> i32 {
        let mut state = self.0.shared.state();
        state.last_id = state.last_id.wrapping_add(1) & i32::MAX;
        state.last_id
    }

    /// Sends a whole frame and waits for the whole frame that answers it. `until_queued` is dropped when the frame has
    /// its place among those to be written.
    ///
    /// Cancel safe: a frame that has begun to be written is written to its end by the task, whoever waits for the
    /// answer; one that has not is not sent.
    pub(super) async fn exchange(
        &self,
        id: i32,
        (api, version): (ApiKey, i16),
        frame: Bytes,
        until_queued: impl Send,
        deadline: Instant,
    ) -> Result<Reader, NoAnswer> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { id, api, version, deadline, answer };
        let exchange = async {
            if self.0.queue.send(Outgoing { frame, waiting }).await.is_err() {
                return Err(NoAnswer::Lost { cause: self.0.shared.cause(), sent: false });
            }
            drop(until_queued);
            // Dropped without a word: the task was ended from outside, by the end of its runtime.
            let lost = |_| Err(NoAnswer::Lost { cause: self.0.shared.cause(), sent: true });
            answered.await.unwrap_or_else(lost)
        };
        timeout_at(deadline, exchange).await.unwrap_or(Err(NoAnswer::TimedOut))
    }

    /// Whether the task still runs.
    pub(super) fn is_open(&self) -> bool {
        !self.0.queue.is_closed()
    }

    /// Whether an answer is outstanding that should have come before `now`. What is sent behind it would wait, too.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.0.shared.state().in_flight.iter().any(|waiting| waiting.deadline <= now)
    }

    /// Whether an answer is outstanding for which nobody waits any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.0.shared.state().in_flight.iter().any(|waiting| waiting.answer.is_closed())
    }

    /// Ends the connection for all who wait on it.
    pub(super) fn close(&self) {
        self.0.shared.stop.notify_one();
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.shared.stop.notify_one();
    }
}

impl Shared {
    /// The lock is never held over anything that can panic or wait.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cause(&self) -> ConnectionError {
        self.state().ended.clone().unwrap_or(ConnectionError::Dropped)
    }
}

/// The task: reads, writes, and takes up requests, whichever can go on.
struct Pump<S> {
    reader: ReadHalf<S>,
    writer: WriteHalf<S>,
    /// The beginning of an answer.
    incoming: BytesMut,
    /// The rest of the request that is being written.
    outgoing: Bytes,
    must_flush: bool,
    requests: mpsc::Receiver<Outgoing>,
    shared: Arc<Shared>,
    /// Until when the broker asked us to hold back (`throttle_time_ms`).
    held_until: Option<Instant>,
    /// When something last happened.
    used: Instant,
    options: LinkOptions,
}

impl<S: Stream> Pump<S> {
    async fn run(mut self) {
        let cause = self.until_lost().await;
        tracing::debug!(%cause, "connection ended");
        self.tell_all(&cause);
    }

    /// One cause for all: those whose requests are out, and those whose requests are not.
    fn tell_all(&mut self, cause: &ConnectionError) {
        let in_flight = {
            let mut state = self.shared.state();
            state.ended = Some(cause.clone());
            std::mem::take(&mut state.in_flight)
        };
        self.requests.close();
        for waiting in in_flight {
            waiting.answer.send(Err(NoAnswer::Lost { cause: cause.clone(), sent: true })).ok();
        }
        while let Ok(Outgoing { waiting, .. }) = self.requests.try_recv() {
            waiting.answer.send(Err(NoAnswer::Lost { cause: cause.clone(), sent: false })).ok();
        }
    }

    async fn until_lost(&mut self) -> ConnectionError {
        loop {
            if let Err(cause) = self.step().await {
                return cause;
            }
        }
    }

    /// Every arm is cancel safe: what has been read or written is in the buffers, whichever arm is taken.
    async fn step(&mut self) -> Result<(), ConnectionError> {
        let now = Instant::now();
        let in_flight = self.in_flight();
        let writes = self.outgoing.has_remaining();
        let held = self.held_until.is_some_and(|until| until > now);
        let takes = !writes && !self.must_flush && !held && in_flight < IN_FLIGHT;
        let idle = takes && in_flight == 0;
        let wake =
            if held { self.held_until } else { idle.then(|| self.used + self.options.max_idle) };
        self.make_room(in_flight);
        tokio::select! {
            read = self.reader.read_buf(&mut self.incoming) => self.on_read(read)?,
            wrote = write_out(&mut self.writer, &mut self.outgoing, &mut self.must_flush), if writes || self.must_flush => {
                wrote.map_err(|error| self.broken(&error))?;
            }
            request = self.requests.recv(), if takes => match request {
                Some(request) => self.begin(request),
                None => return Err(ConnectionError::Dropped),
            },
            () = self.shared.stop.notified() => return Err(ConnectionError::Dropped),
            () = sleep_until(wake.unwrap_or(now)), if wake.is_some() => {
                if idle && self.used + self.options.max_idle <= Instant::now() {
                    return Err(ConnectionError::Idle);
                }
            }
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.shared.state().in_flight.len()
    }

    /// Room for the next read; while nothing is expected, hardly any.
    fn make_room(&mut self, in_flight: usize) {
        if self.incoming.is_empty() && in_flight == 0 && self.incoming.capacity() > IDLE_BUFFER {
            self.incoming = BytesMut::new();
        }
        if self.incoming.capacity() == self.incoming.len() {
            self.incoming.reserve(self.incoming.len().clamp(IDLE_BUFFER, READ_AHEAD));
        }
    }

    /// Starts a request; from here on it is written to its end.
    fn begin(&mut self, Outgoing { frame, waiting }: Outgoing) {
        if waiting.answer.is_closed() {
            return;
        }
        self.shared.state().in_flight.push_back(waiting);
        self.outgoing = frame;
        self.used = Instant::now();
    }

    fn on_read(&mut self, read: io::Result<usize>) -> Result<(), ConnectionError> {
        match read {
            Ok(0) => return Err(self.closed()),
            Ok(_) => {}
            Err(error) => return Err(self.broken(&error)),
        }
        self.used = Instant::now();
        while let Some(frame) = next_frame(&mut self.incoming, self.options.max_frame_size)? {
            self.on_frame(frame)?;
        }
        Ok(())
    }

    /// Gives an answer to whoever waits for it. One that nobody asked for means that we have lost count.
    fn on_frame(&mut self, frame: Bytes) -> Result<(), ConnectionError> {
        let (id, answer) = correlation_id(frame).map_err(|_| ConnectionError::OutOfStep)?;
        let waiting = {
            let mut state = self.shared.state();
            let at = state.in_flight.iter().position(|waiting| waiting.id == id);
            state.answered += u64::from(at.is_some());
            at.and_then(|at| state.in_flight.remove(at))
        };
        let Some(waiting) = waiting else {
            return Err(ConnectionError::OutOfStep);
        };
        if let Some(throttle) = throttle(waiting.api, waiting.version, answer.clone()) {
            self.held_until = self.held_until.max(Some(Instant::now() + throttle));
        }
        waiting.answer.send(Ok(answer)).ok();
        Ok(())
    }

    /// An end is told apart by how far we had come: the first answer is to ApiVersions, which anybody may ask.
    fn closed(&self) -> ConnectionError {
        let state = self.shared.state();
        match (state.answered, state.in_flight.is_empty()) {
            (0, _) => ConnectionError::ClosedUnanswered,
            (1, false) => ConnectionError::ClosedAtFirstRequest,
            _ => ConnectionError::Closed,
        }
    }

    fn broken(&self, error: &io::Error) -> ConnectionError {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            // TLS that ends without a farewell.
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::WriteZero => self.closed(),
            _ => ConnectionError::io(error),
        }
    }
}

/// Writes the rest of the request, and flushes. Cancel safe: what was written has left `outgoing`, and what is to be
/// flushed is marked.
async fn write_out<W: AsyncWrite + Unpin>(
    writer: &mut W,
    outgoing: &mut Bytes,
    must_flush: &mut bool,
) -> io::Result<()> {
    poll_fn(|context| {
        let mut writer = Pin::new(&mut *writer);
        while outgoing.has_remaining() {
            let written = ready!(writer.as_mut().poll_write(context, outgoing))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            outgoing.advance(written);
            *must_flush = true;
        }
        ready!(writer.poll_flush(context))?;
        *must_flush = false;
        Poll::Ready(Ok(()))
    })
    .await
}
