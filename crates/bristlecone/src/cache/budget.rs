//! The memory budget of a database, and what is leased from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that a database may keep in memory: cached pages and leases together.
#[derive(Debug)]
pub(crate) struct Budget {
    total: usize,
    /// Bytes leased to write buffers. A counter, so Relaxed.
    leased: AtomicUsize,
    /// Bytes of cached pages. A counter, so Relaxed.
    cached: AtomicUsize,
}

impl Budget {
    /// A budget of `total` bytes; 0 works, with the smallest caches and buffers that do.
    pub(crate) fn new(total: usize) -> Arc<Budget> {
        Arc::new(Budget {
            total,
            leased: AtomicUsize::new(0),
            cached: AtomicUsize::new(0),
        })
    }

    /// All bytes.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Takes all leases for given back: those of a transaction that has ended, leaked handles included.
    pub(crate) fn end_leases(&self) {
        self.leased.store(0, Ordering::Relaxed);
    }

    /// Bytes leased.
    pub(crate) fn leased(&self) -> usize {
        self.leased.load(Ordering::Relaxed)
    }

    /// Whether leases, cached pages and `more` bytes together pass the budget.
    pub(super) fn is_passed_by(&self, more: usize) -> bool {
        let used = self
            .leased()
            .saturating_add(self.cached.load(Ordering::Relaxed));
        used.saturating_add(more) > self.total
    }

    /// Counts bytes that the cache took in.
    pub(super) fn add_cached(&self, bytes: usize) {
        self.cached.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that the cache gave up.
    pub(super) fn drop_cached(&self, bytes: usize) {
        self.cached.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes of cached pages.
    pub(crate) fn cached(&self) -> usize {
        self.cached.load(Ordering::Relaxed)
    }

    /// Bytes that the write buffers of one transaction may hold before they spill: a quarter of the budget, and
    /// enough to make progress under the smallest one.
    pub(crate) fn write_share(&self) -> usize {
        (self.total / 4).max(16 << 10)
    }
}

/// A changing number of bytes leased from a [`Budget`], given back when dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Lease {
    /// An empty lease.
    pub(crate) fn new(budget: &Arc<Budget>) -> Lease {
        Lease {
            budget: Arc::clone(budget),
            bytes: 0,
        }
    }

    /// Sets the lease to `bytes`.
    pub(crate) fn resize(&mut self, bytes: usize) {
        if bytes >= self.bytes {
            self.budget
                .leased
                .fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            self.budget
                .leased
                .fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.resize(0);
    }
}
