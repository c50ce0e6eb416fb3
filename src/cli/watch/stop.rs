//! What breaks into a look: whoever wants an end, and a terminal that changes its size.

use std::future::pending;

/// Why somebody breaks in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stop {
    Interrupted,
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
}

impl Stops {
    /// Listens. Signals that cannot be listened to do what they always do.
    #[cfg(unix)]
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        let ends = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let listen = |kind| signal(kind).ok();
        Self { ends: ends.map(listen), sizes: listen(SignalKind::window_change()) }
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> Self {
        Self {}
    }

    /// The next that breaks in. Cancel safe.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Stop {
        let Self { ends: [interrupt, terminate, hangup], sizes } = self;
        tokio::select! {
            () = arrives(interrupt) => Stop::Interrupted,
            () = arrives(terminate) => Stop::Interrupted,
            () = arrives(hangup) => Stop::Interrupted,
            () = arrives(sizes) => Stop::Resized,
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Stop {
        if tokio::signal::ctrl_c().await.is_err() {
            pending::<()>().await;
        }
        Stop::Interrupted
    }

    /// Waits until somebody wants an end. Cancel safe.
    pub(super) async fn interrupted(&mut self) {
        while self.next().await != Stop::Interrupted {}
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
