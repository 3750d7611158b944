//! The engine's own view of a backend: barriers that hand out proof, and the halt after a failed one.
//!
//! # Invariants
//! 1. After a failed sync, or a failed header write, every later write and sync is refused; reads go on.
//! 2. A [`WholeSync`] exists only if a whole-file sync returned `Ok`; it says which writes that sync covered.
//!
//! # Source
//! A failed sync is final because the kernel reports it once and may have dropped the pages (PostgreSQL, 2018).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::StorageBackend;
use crate::error::{Result, StorageError};

/// Proof that a whole-file sync returned: everything written before [`WholeSync::covers`] began is durable.
#[derive(Debug)]
#[must_use = "a barrier is needed for the header write that follows it"]
pub(crate) struct WholeSync {
    began: u64,
}

impl WholeSync {
    /// Whether the sync began after the write that got `stamp` had returned.
    pub(crate) fn covers(&self, stamp: WriteStamp) -> bool {
        self.began >= stamp.0
    }
}

/// Position of a write in the order of this disk's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WriteStamp(u64);

/// A backend with the engine's failure rules.
#[derive(Debug)]
pub(crate) struct Disk {
    backend: Box<dyn StorageBackend>,
    /// Set once by whoever meets the failure, read before each write. Relaxed: it guards no other memory.
    halted: AtomicBool,
    /// Set when the database is closed; reads then fail. Relaxed, as above.
    closed: AtomicBool,
    /// Counts stamped writes. Written and read under the header lock, so Relaxed.
    stamps: AtomicU64,
}

impl Disk {
    /// Wraps a backend.
    pub(crate) fn new(backend: Box<dyn StorageBackend>) -> Disk {
        Disk {
            backend,
            halted: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            stamps: AtomicU64::new(0),
        }
    }

    /// Length of the file in bytes.
    pub(crate) fn len(&self) -> Result<u64> {
        self.check_open()?;
        Ok(self.backend.len()?)
    }

    /// Reads exactly `out.len()` bytes.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> Result {
        self.check_open()?;
        Ok(self.backend.read(offset, out)?)
    }

    /// Fails once the database is closed.
    pub(crate) fn check_open(&self) -> Result {
        if self.closed.load(Ordering::Relaxed) {
            return Err(StorageError::DatabaseClosed);
        }
        Ok(())
    }

    /// Fails once a sync or header write has failed.
    pub(crate) fn check_writable(&self) -> Result {
        self.check_open()?;
        if self.is_halted() {
            return Err(StorageError::PreviousIo);
        }
        Ok(())
    }

    /// Whether writing has stopped for good.
    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// Stops writing for good.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
    }

    /// Writes bytes that no header names yet; a failure is survived.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> Result {
        self.check_writable()?;
        Ok(self.backend.write(offset, data)?)
    }

    /// Writes a header slot: a failure halts, because the slot's content is unknown from then on.
    pub(crate) fn write_header(&self, offset: u64, block: &[u8]) -> Result<WriteStamp> {
        self.check_writable()?;
        self.backend
            .write(offset, block)
            .inspect_err(|_| self.halt())?;
        Ok(WriteStamp(self.stamps.fetch_add(1, Ordering::Relaxed) + 1))
    }

    /// Makes everything written so far durable.
    pub(crate) fn sync_all(&self) -> Result<WholeSync> {
        self.check_writable()?;
        let began = self.stamps.load(Ordering::Relaxed);
        self.backend.sync_data().inspect_err(|_| self.halt())?;
        Ok(WholeSync { began })
    }

    /// Makes one byte range durable; it says nothing of any other byte and is no [`WholeSync`].
    pub(crate) fn sync_range(&self, offset: u64, len: u64) -> Result {
        self.check_writable()?;
        self.backend
            .sync_range(offset, len)
            .inspect_err(|_| self.halt())?;
        Ok(())
    }

    /// Reserves space so that the file is at least `offset + len` long; a failure is survived.
    pub(crate) fn allocate(&self, offset: u64, len: u64) -> Result {
        self.check_writable()?;
        Ok(self.backend.allocate(offset, len)?)
    }

    /// Cuts the file to `len` bytes; a failure is survived.
    pub(crate) fn truncate(&self, len: u64) -> Result {
        self.check_writable()?;
        Ok(self.backend.set_len(len)?)
    }

    /// Fills `out` with random bytes from the backend's source.
    pub(crate) fn random(&self, out: &mut [u8]) -> Result {
        Ok(self.backend.random(out)?)
    }

    /// Ends all use of the backend.
    pub(crate) fn close(&self) -> Result {
        if self.closed.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        Ok(self.backend.close()?)
    }
}
