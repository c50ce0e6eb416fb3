//! What breaks into a look: whoever wants an end, a reader that has gone, and a terminal that changes its size.

use std::future::pending;
#[cfg(unix)]
use std::os::fd::AsFd as _;

#[cfg(unix)]
use tokio::{io::Interest, net::unix::pipe};

/// Why somebody breaks in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stop {
    Interrupted,
    /// Whoever read what is said has gone. The next line would find it out, and of a quiet group there may be none.
    Unread,
    Resized,
}

/// The signals that are listened to, all the while: none of them ends the process by itself any more, and one that comes
/// between two looks is not to be lost.
#[derive(Debug)]
pub(super) struct Stops {
    #[cfg(unix)]
    ends: [Option<tokio::signal::unix::Signal>; 3],
    #[cfg(unix)]
    sizes: Option<tokio::signal::unix::Signal>,
    /// The standard output, if it is something that can be closed at its other end.
    #[cfg(unix)]
    reader: Option<pipe::Sender>,
}

impl Stops {
    /// Listens. Signals that cannot be listened to do what they always do.
    #[cfg(unix)]
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        let ends = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let listen = |kind| signal(kind).ok();
        let output = std::io::stdout().as_fd().try_clone_to_owned();
        // Unchecked leaves it blocking, as whoever shares it expects. What cannot be listened to is no pipe.
        let reader = output.and_then(|output| pipe::Sender::from_file_unchecked(output.into()));
        Self {
            ends: ends.map(listen),
            sizes: listen(SignalKind::window_change()),
            reader: reader.ok(),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> Self {
        Self {}
    }

    /// The next that breaks in. Cancel safe.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Stop {
        let Self { ends: [interrupt, terminate, hangup], sizes, reader } = self;
        tokio::select! {
            () = arrives(interrupt) => Stop::Interrupted,
            () = arrives(terminate) => Stop::Interrupted,
            () = arrives(hangup) => Stop::Interrupted,
            () = arrives(sizes) => Stop::Resized,
            () = goes(reader) => Stop::Unread,
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Stop {
        if tokio::signal::ctrl_c().await.is_err() {
            pending::<()>().await;
        }
        Stop::Interrupted
    }

    /// Waits until somebody wants an end, or nobody reads. Cancel safe.
    pub(super) async fn ended(&mut self) -> Stop {
        loop {
            match self.next().await {
                Stop::Resized => {}
                end => return end,
            }
        }
    }
}

/// Waits until the other end of a pipe is closed.
#[cfg(unix)]
async fn goes(reader: &Option<pipe::Sender>) {
    let closed = match reader {
        Some(reader) => reader.ready(Interest::ERROR).await.is_ok(),
        None => false,
    };
    if !closed {
        pending().await
    }
}

#[cfg(unix)]
async fn arrives(signal: &mut Option<tokio::signal::unix::Signal>) {
    let arrived = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if arrived.is_none() {
        pending().await
    }
}
