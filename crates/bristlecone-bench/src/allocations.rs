//! The process's allocator, counting: how often memory was asked for, by the whole process and by each thread.
//!
//! A call that gets or moves memory counts as one, `realloc` included; giving memory back does not count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Requests of all threads. A counter, so Relaxed.
static PROCESS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Constant and without a destructor, so that touching it never allocates.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// Requests for memory by all threads since the process began.
pub(crate) fn of_process() -> u64 {
    PROCESS.load(Ordering::Relaxed)
}

/// Requests for memory by this thread since it began.
pub(crate) fn of_thread() -> u64 {
    THREAD.get()
}

struct Counting;

fn count() {
    PROCESS.fetch_add(1, Ordering::Relaxed);
    THREAD.set(THREAD.get() + 1);
}

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract; counting neither
// allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise about `layout` is the one that is needed.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: `old` came from the system's allocator with `layout`, because all memory here does.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(old, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_for_their_thread_and_for_the_process() {
        let (thread, process) = (of_thread(), of_process());
        let mut bytes: Vec<u8> = std::hint::black_box(Vec::with_capacity(10));
        bytes.reserve(100);
        drop(std::hint::black_box(bytes));
        assert_eq!(of_thread() - thread, 2);
        assert!(of_process() - process >= 2);
    }
}
