//! How much memory a plan takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator with a count of what is in use, for a command that says how much memory a plan takes.
///
/// ```no_run
/// #[global_allocator]
/// static ALLOCATOR: kafka_group::cli::CountingAllocator = kafka_group::cli::CountingAllocator;
/// ```
///
/// Without it `--format json` leaves `peak_mb` out. The trap: it is no allocator for a program that is meant to be
/// fast, as every allocation of every thread counts in one place.
#[derive(Clone, Copy, Debug)]
pub struct CountingAllocator;

static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// What a call holds at most at one time, its result included; none where nobody counts.
pub(super) fn peak_of<V>(call: impl FnOnce() -> V) -> (V, Option<u64>) {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let value = call();
    let peak = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    // This program holds something as long as it runs.
    (value, (before > 0).then_some(peak))
}

impl CountingAllocator {
    fn add(size: usize) {
        let live = LIVE.fetch_add(size as u64, Ordering::Relaxed) + size as u64;
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; it hands everything on")]
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: what our caller promises is what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
