//! Databases: open, close, and the transactions in between.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::check::{self, CheckProgress, CheckReport};
use crate::checkpoint::{Checkpoint, OpenMode, Options, create_if_unwritten};
use crate::counters::EngineCounters;
use crate::error::{DatabaseError, Result, StorageError, TransactionError};
use crate::limits;
use crate::page::UNIT_BYTES;
use crate::table::{ReadTransaction, WriteTransaction};
use crate::txn::gate::Gate;
use crate::txn::snapshot::Snapshot;
use crate::txn::write::WriteTxn;
use crate::vfs::{Disk, FileBackend, StorageBackend};

/// Memory that a database may use unless its builder says otherwise: 1 GiB, as in redb.
const CACHE_BYTES_DEFAULT: usize = 1 << 30;

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

/// Settings for opening a database.
///
/// ```
/// # fn main() -> Result<(), bristlecone::Error> {
/// let db = bristlecone::Database::builder()
///     .set_cache_size(64 << 20)
///     .create_with_backend(bristlecone::backends::InMemoryBackend::new())?;
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    options: Options,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// The defaults: 1 GiB of memory, pages of 8 KiB.
    pub fn new() -> Self {
        let cache_bytes = CACHE_BYTES_DEFAULT;
        Self {
            options: Options {
                cache_bytes,
                page_bytes: limits::PAGE_BYTES_DEFAULT,
            },
        }
    }

    /// Bytes of memory for cached pages and write buffers together. Any number works; less is slower: a transaction
    /// spills its changes to the file once they take a quarter of it.
    pub fn set_cache_size(&mut self, bytes: usize) -> &mut Self {
        self.options.cache_bytes = bytes;
        self
    }

    /// Page size in bytes of a database that is created: a multiple of 4096 from 4 KiB to 64 KiB, 8 KiB by default.
    /// Larger pages read faster in order and make small changes dearer. An existing database keeps its own.
    ///
    /// # Panics
    /// If the size is not one of those.
    pub fn set_page_size(&mut self, bytes: usize) -> &mut Self {
        let allowed = limits::PAGE_BYTES_MIN..=limits::PAGE_BYTES_MAX;
        assert!(
            allowed.contains(&bytes) && bytes.is_multiple_of(UNIT_BYTES),
            "page size must be a multiple of 4096 from 4096 to 65536"
        );
        self.options.page_bytes = bytes;
        self
    }

    /// Opens a database for writing, creating it where there is none.
    ///
    /// # Errors
    /// `NotADatabase` if the file is neither empty nor a database, `UpgradeRequired` if it has another format version;
    /// the file is untouched in both cases. `DatabaseAlreadyOpen` while anybody has it open.
    ///
    /// # Durability
    /// On return a new database is durable, its directory entry included.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Database, DatabaseError> {
        let path = path.as_ref();
        refuse_special_path(path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io_error)?;
        refuse_special(&file)?;
        let db = self.create_with_backend(FileBackend::new(file)?)?;
        sync_directory(path)?;
        Ok(db)
    }

    /// Opens an existing database for writing.
    ///
    /// # Errors
    /// As [`Builder::create`]; a missing file is an I/O error, an empty one `NotADatabase`.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Database, DatabaseError> {
        refuse_special_path(path.as_ref())?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(io_error)?;
        refuse_special(&file)?;
        self.open_disk(Disk::new(Box::new(FileBackend::new(file)?)))
    }

    /// Opens an existing database for reading alone; nothing is written.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open_read_only(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<ReadOnlyDatabase, DatabaseError> {
        self.open_read_only_with_backend(open_file_read_only(path.as_ref())?)
    }

    /// Opens the database kept by `backend` for writing, creating it where there is none.
    ///
    /// # Errors
    /// As [`Builder::create`].
    pub fn create_with_backend(
        &self,
        backend: impl StorageBackend,
    ) -> Result<Database, DatabaseError> {
        let disk = Disk::new(Box::new(backend));
        create_if_unwritten(&disk, &self.options)?;
        self.open_disk(disk)
    }

    /// Opens the database kept by `backend` for reading alone.
    ///
    /// # Errors
    /// As [`Builder::open_read_only`].
    pub fn open_read_only_with_backend(
        &self,
        backend: impl StorageBackend,
    ) -> Result<ReadOnlyDatabase, DatabaseError> {
        let disk = Disk::new(Box::new(backend));
        let checkpoint = Checkpoint::open(disk, OpenMode::ReadOnly, &self.options)?;
        Ok(ReadOnlyDatabase {
            checkpoint: Arc::new(checkpoint),
        })
    }

    fn open_disk(&self, disk: Disk) -> Result<Database, DatabaseError> {
        let checkpoint = Arc::new(Checkpoint::open(disk, OpenMode::ReadWrite, &self.options)?);
        let gate = Gate::new(Arc::clone(&checkpoint));
        Ok(Database {
            checkpoint,
            gate,
            closed: false,
        })
    }
}

fn io_error(error: io::Error) -> DatabaseError {
    DatabaseError::Storage(StorageError::Io(error))
}

/// Opens a database file under a shared lock.
pub(crate) fn open_file_read_only(path: &Path) -> Result<FileBackend, DatabaseError> {
    refuse_special_path(path)?;
    let file = File::open(path).map_err(io_error)?;
    refuse_special(&file)?;
    FileBackend::new_read_only(file)
}

/// Refuses what is no regular file before opening it: opening a pipe waits for its other end.
fn refuse_special_path(path: &Path) -> Result<(), DatabaseError> {
    match std::fs::metadata(path) {
        Ok(found) => refuse_kind(found.file_type()),
        // The opening that follows says what is wrong, or makes the file.
        Err(_) => Ok(()),
    }
}

fn refuse_special(file: &File) -> Result<(), DatabaseError> {
    refuse_kind(file.metadata().map_err(io_error)?.file_type())
}

/// A database is a regular file: anything else cannot be cut, grown and locked as one.
fn refuse_kind(kind: FileType) -> Result<(), DatabaseError> {
    if kind.is_file() {
        return Ok(());
    }
    let (kind, what) = if kind.is_dir() {
        (
            io::ErrorKind::IsADirectory,
            "is a directory, not a database file",
        )
    } else {
        (io::ErrorKind::InvalidInput, "is not a regular file")
    };
    Err(io_error(io::Error::new(kind, what)))
}

/// Makes the file's directory entry durable, where directories can be synced.
fn sync_directory(path: &Path) -> Result<(), DatabaseError> {
    if cfg!(unix) {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        File::open(parent)
            .and_then(|directory| directory.sync_all())
            .map_err(io_error)?;
    }
    Ok(())
}

impl Database {
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
    /// `Corrupted` with the first finding; [`Database::check`] lists them all. `TransactionInProgress` while a write
    /// transaction is active.
    pub fn check_integrity(&mut self) -> Result<bool, DatabaseError> {
        let _pass = self
            .gate
            .try_enter()
            .ok_or(DatabaseError::TransactionInProgress)?;
        let report = check::check_checkpoint(&self.checkpoint, &mut |_| {})?;
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
        used_bytes: pager.cache().used_bytes(),
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
