//! A bell for a thread.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Wakes the pump's thread: something is to be done, something can be read, or there is room again. Ringing it many
/// times is ringing it once.
#[derive(Debug, Default)]
pub(in crate::consumer) struct Signal {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    pub(in crate::consumer) fn set(&self) {
        *self.lock() = true;
        self.changed.notify_one();
    }

    /// Whether it was set; it is not afterwards.
    #[cfg(test)]
    pub(in crate::consumer) fn take(&self) -> bool {
        std::mem::take(&mut *self.lock())
    }

    pub(super) fn is_set(&self) -> bool {
        *self.lock()
    }

    /// Waits until it is set, or for as long as this. It is not set afterwards.
    pub(super) fn wait(&self, longest: Duration) {
        let waited = self.changed.wait_timeout_while(self.lock(), longest, |set| !*set);
        let (mut set, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *set = false;
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
