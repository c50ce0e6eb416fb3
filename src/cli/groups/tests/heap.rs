//! What this thread has on the heap at most: other tests run on others.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static HEAP: Counting = Counting;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator cannot be written without; it hands everything on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends counts no more.
        let _ = LIVE.try_with(|live| {
            live.set(live.get().wrapping_add(layout.size()));
            let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
        });
        // SAFETY: what our caller promises is what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = LIVE.try_with(|live| live.set(live.get().wrapping_sub(layout.size())));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What a call returns, and what it holds at most at one time.
pub(super) fn peak_of<T>(call: impl FnOnce() -> T) -> (T, usize) {
    // From a round number, so that what others have allocated and this thread frees does not count below nothing.
    const GROUND: usize = 1 << 40;
    LIVE.set(GROUND);
    PEAK.set(GROUND);
    let value = call();
    (value, PEAK.get() - GROUND)
}
