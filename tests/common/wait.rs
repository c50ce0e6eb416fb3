//! Waiting for what is needed, with a deadline, and names that no other test uses.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How often a condition is looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// What `look` finds, looking again and again; panics with `what` when nothing was found in time.
pub(crate) fn eventually<T>(within: Duration, what: &str, look: impl FnMut() -> Option<T>) -> T {
    poll(within, look).unwrap_or_else(|| panic!("not within {within:?}: {what}"))
}

/// As [`eventually`], but `None` where time is up.
pub(crate) fn poll<T>(within: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = now() + within;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if now() >= deadline {
            return None;
        }
        thread::park_timeout(INTERVAL);
    }
}

/// A name for a topic, a group or an instance that nobody else uses, on a cluster that outlives this run too.
pub(crate) fn unique(prefix: &str) -> String {
    static RUN: LazyLock<u32> = LazyLock::new(|| fastrand::u32(..));
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}-{:08x}-{}", *RUN, NEXT.fetch_add(1, Ordering::Relaxed))
}

#[expect(clippy::disallowed_methods, reason = "a real broker keeps real time")]
fn now() -> Instant {
    Instant::now()
}
