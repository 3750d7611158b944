//! Databases: open, close, and the transactions in between.

use std::path::Path;
use std::sync::Arc;

use crate::builder::Builder;
use crate::check::{self, CheckProgress, CheckReport};
use crate::checkpoint::Checkpoint;
use crate::counters::EngineCounters;
use crate::error::{DatabaseError, Result, StorageError, TransactionError};
use crate::table::{ReadTransaction, WriteTransaction};
use crate::txn::gate::Gate;
use crate::txn::snapshot::Snapshot;
use crate::txn::write::WriteTxn;

/// How full the page cache is and how well it serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    evictions: u64,
    read_hits: u64,
    read_misses: u64,
    used_bytes: usize,
}

impl CacheStats {
    /// Pages forgotten for want of room.
    pub fn evictions(&self) -> u64 {
        self.evictions
    }

    /// Page reads served from memory.
    pub fn read_hits(&self) -> u64 {
        self.read_hits
    }

    /// Page reads that went to the backend.
    pub fn read_misses(&self) -> u64 {
        self.read_misses
    }

    /// Always 0: pages are not written through the cache.
    pub fn write_hits(&self) -> u64 {
        0
    }

    /// Always 0, as [`CacheStats::write_hits`].
    pub fn write_misses(&self) -> u64 {
        0
    }

    /// Bytes of cached pages.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes
    }
}

/// What can be done with a database that is open for reading.
pub trait ReadableDatabase {
    /// Begins a read transaction on what was committed last. Never waits for a writer or a sync.
    ///
    /// # Errors
    /// `DatabaseClosed` if the database was closed.
    fn begin_read(&self) -> Result<ReadTransaction, TransactionError>;

    /// State of the page cache.
    fn cache_stats(&self) -> CacheStats;
}

/// An open database.
///
/// Dropping it closes it: readers then get `DatabaseClosed`; an active write transaction can still commit, and the file
/// closes behind it. [`Database::close`] does the same and reports errors.
#[derive(Debug)]
pub struct Database {
    checkpoint: Arc<Checkpoint>,
    gate: Arc<Gate>,
    closed: bool,
}

/// A database opened for reading alone. Several processes may have the same file open so, but none for writing.
#[derive(Debug)]
pub struct ReadOnlyDatabase {
    checkpoint: Arc<Checkpoint>,
}

impl Database {
    pub(crate) fn new(checkpoint: Checkpoint) -> Self {
        let checkpoint = Arc::new(checkpoint);
        let gate = Gate::new(Arc::clone(&checkpoint));
        Self {
            checkpoint,
            gate,
            closed: false,
        }
    }

    /// Opens a database with the default settings, creating it where there is none: [`Builder::create`].
    ///
    /// # Errors
    /// As [`Builder::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Database, DatabaseError> {
        Builder::new().create(path)
    }

    /// Opens an existing database with the default settings: [`Builder::open`].
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Database, DatabaseError> {
        Builder::new().open(path)
    }

    /// Settings for opening.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Begins a write transaction, waiting for the active one to end.
    ///
    /// # Errors
    /// `PreviousIo` once writing has stopped after a failed sync or header write.
    pub fn begin_write(&self) -> Result<WriteTransaction, TransactionError> {
        self.checkpoint
            .pager()
            .disk()
            .check_writable()
            .map_err(TransactionError::Storage)?;
        let pass = self.gate.enter();
        let snapshot = Snapshot::take(&self.checkpoint);
        Ok(WriteTransaction::new(WriteTxn::new(snapshot, pass)))
    }

    /// Begins a write transaction if none is active.
    ///
    /// # Errors
    /// `WouldBlock` while one is active; otherwise as [`Database::begin_write`].
    pub fn try_begin_write(&self) -> Result<WriteTransaction, TransactionError> {
        self.checkpoint
            .pager()
            .disk()
            .check_writable()
            .map_err(TransactionError::Storage)?;
        let pass = self.gate.try_enter().ok_or(TransactionError::WouldBlock)?;
        let snapshot = Snapshot::take(&self.checkpoint);
        Ok(WriteTransaction::new(WriteTxn::new(snapshot, pass)))
    }

    /// Checks the whole database: `Ok(true)` if it is sound.
    ///
    /// # Errors
    /// `Corrupted` with the first finding, and writing stops; [`Database::check`] lists them all.
    /// `TransactionInProgress` while any transaction, table or range is alive.
    pub fn check_integrity(&mut self) -> Result<bool, DatabaseError> {
        let _pass = self
            .gate
            .try_enter()
            .ok_or(DatabaseError::TransactionInProgress)?;
        if self.checkpoint.has_readers() {
            return Err(DatabaseError::TransactionInProgress);
        }
        let report = check::check_checkpoint(&self.checkpoint, &mut |_| {})?;
        if !report.findings.is_empty() {
            self.checkpoint.pager().disk().halt();
        }
        match report.findings.into_iter().next() {
            None => Ok(true),
            Some(finding) => Err(StorageError::Corrupted(finding.into_corruption()).into()),
        }
    }

    /// Walks everything that the version committed last reaches and reports all that is wrong with it. Reads from the
    /// backend, whatever is cached.
    ///
    /// # Errors
    /// `DatabaseClosed`; damage is a finding, not an error.
    pub fn check(
        &self,
        progress: &mut dyn FnMut(CheckProgress),
    ) -> Result<CheckReport, DatabaseError> {
        Ok(check::check_checkpoint(&self.checkpoint, progress)?)
    }

    /// Closes the database: the file is trimmed and marked clean.
    ///
    /// # Errors
    /// `TransactionInProgress` if a write transaction is active; the file then closes behind it. Any I/O error; what
    /// was committed is durable all the same.
    pub fn close(mut self) -> Result<(), DatabaseError> {
        self.closed = true;
        match self.gate.close() {
            Ok(true) => Ok(()),
            Ok(false) => Err(DatabaseError::TransactionInProgress),
            Err(error) => Err(DatabaseError::Storage(error)),
        }
    }

    /// What the engine has done since the database was opened.
    #[doc(hidden)]
    pub fn engine_counters(&self) -> EngineCounters {
        self.checkpoint.counters().snapshot()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.closed {
            // `close` reports errors; a drop cannot. Every commit is durable either way.
            let _closed = self.gate.close();
        }
    }
}

fn begin_read(checkpoint: &Arc<Checkpoint>) -> Result<ReadTransaction, TransactionError> {
    checkpoint
        .pager()
        .disk()
        .check_open()
        .map_err(TransactionError::Storage)?;
    Ok(ReadTransaction::new(Snapshot::take(checkpoint)))
}

fn cache_stats(checkpoint: &Checkpoint) -> CacheStats {
    let pager = checkpoint.pager();
    let (read_hits, read_misses) = pager.hits_and_misses();
    CacheStats {
        evictions: pager.cache().evictions(),
        read_hits,
        read_misses,
        used_bytes: pager.budget().cached(),
    }
}

impl ReadableDatabase for Database {
    fn begin_read(&self) -> Result<ReadTransaction, TransactionError> {
        begin_read(&self.checkpoint)
    }

    fn cache_stats(&self) -> CacheStats {
        cache_stats(&self.checkpoint)
    }
}

impl ReadOnlyDatabase {
    pub(crate) fn new(checkpoint: Checkpoint) -> Self {
        Self {
            checkpoint: Arc::new(checkpoint),
        }
    }

    /// Opens an existing database for reading with the default settings: [`Builder::open_read_only`].
    ///
    /// # Errors
    /// As [`Builder::open_read_only`].
    pub fn open(path: impl AsRef<Path>) -> Result<ReadOnlyDatabase, DatabaseError> {
        Builder::new().open_read_only(path)
    }

    /// As [`Database::check`].
    ///
    /// # Errors
    /// As [`Database::check`].
    pub fn check(
        &self,
        progress: &mut dyn FnMut(CheckProgress),
    ) -> Result<CheckReport, DatabaseError> {
        Ok(check::check_checkpoint(&self.checkpoint, progress)?)
    }

    /// Closes the database; its readers get `DatabaseClosed`.
    ///
    /// # Errors
    /// Any error of the backend's close.
    pub fn close(self) -> Result<(), DatabaseError> {
        Ok(self.checkpoint.close()?)
    }
}

impl Drop for ReadOnlyDatabase {
    fn drop(&mut self) {
        // Nothing was written, so nothing can be lost.
        let _closed = self.checkpoint.close();
    }
}

impl ReadableDatabase for ReadOnlyDatabase {
    fn begin_read(&self) -> Result<ReadTransaction, TransactionError> {
        begin_read(&self.checkpoint)
    }

    fn cache_stats(&self) -> CacheStats {
        cache_stats(&self.checkpoint)
    }
}
