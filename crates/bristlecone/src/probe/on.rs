//! Probes that count, each thread for itself.
//!
//! The thread-local state is constant at first and has no destructor, so that counting never allocates.

use std::cell::Cell;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::ProbeCounts;

const LINE_BYTES: usize = 64;

/// Lines told apart in one page: 64 KiB of them. In a larger page lines that far apart count as one.
const LINES: usize = 1024;

/// Which lines of a page were touched, one bit each.
type LineSet = [u64; LINES / 64];

thread_local! {
    static COUNTS: Cell<ProbeCounts> = const { Cell::new(ProbeCounts {
        scalar_compares: 0,
        vector_compares: 0,
        lines: 0,
        page_lookups: 0,
        shared_stores: 0,
        space_operations: 0,
    }) };
    /// Lines touched since the last [`visited_page`].
    static TOUCHED: Cell<LineSet> = const { Cell::new([0; LINES / 64]) };
}

fn count(add: impl FnOnce(&mut ProbeCounts)) {
    let mut counts = COUNTS.get();
    add(&mut counts);
    COUNTS.set(counts);
}

/// A key was compared with a stored one.
pub(crate) fn compared() {
    count(|counts| counts.scalar_compares += 1);
}

/// A search begins in a page, whose first `head` bytes it reads: header and common prefix.
pub(crate) fn visited_page(head: usize) {
    TOUCHED.set([0; LINES / 64]);
    touched(0..head);
}

/// A search reads `bytes` of the page visited last.
pub(crate) fn touched(bytes: Range<usize>) {
    if bytes.is_empty() {
        return;
    }
    let mut set = TOUCHED.get();
    let lines = bytes.start / LINE_BYTES..bytes.end.div_ceil(LINE_BYTES);
    let mut fresh = 0;
    for line in lines.map(|line| line % LINES) {
        let bit = 1 << (line % 64);
        fresh += u64::from(set[line / 64] & bit == 0);
        set[line / 64] |= bit;
    }
    TOUCHED.set(set);
    count(|counts| counts.lines += fresh);
}

/// The shared page table is asked for a page.
pub(crate) fn looked_up_page() {
    count(|counts| counts.page_lookups += 1);
}

/// Memory that other threads may read was written so many times.
pub(crate) fn stored_shared(stores: u64) {
    count(|counts| counts.shared_stores += stores);
}

/// The allocator's state was read or written so many times.
pub(crate) fn operated_on_space(operations: u64) {
    count(|counts| counts.space_operations += operations);
}

/// The counts of this thread since they were last taken.
pub fn take_counts() -> ProbeCounts {
    COUNTS.take()
}

/// An `Arc` that counts the stores to its count of references.
#[derive(Debug)]
pub(crate) struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// A first reference, which no other thread has seen.
    pub(crate) fn new(value: T) -> Shared<T> {
        Shared(Arc::new(value))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        stored_shared(1);
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        stored_shared(1);
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_once_for_each_visit() {
        take_counts();
        visited_page(32);
        touched(10..70);
        touched(64..128);
        touched(700..700);
        assert_eq!(take_counts().lines, 2);
        visited_page(32);
        touched(127..129);
        assert_eq!(take_counts().lines, 3);
    }

    #[test]
    fn references_count_when_taken_and_when_given_back() {
        let first = Shared::new(7);
        take_counts();
        let second = first.clone();
        drop(first);
        assert_eq!((*second, take_counts().shared_stores), (7, 2));
        let other = std::thread::spawn(|| take_counts().shared_stores);
        assert_eq!(other.join().expect("it does not panic"), 0);
    }
}
