//! Settings for opening a database, and the files it may be opened in.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use crate::checkpoint::{Checkpoint, OpenMode, Options, create_if_unwritten};
use crate::db::{Database, ReadOnlyDatabase};
use crate::error::{DatabaseError, StorageError};
use crate::limits::{self, UNIT_BYTES};
use crate::vfs::{Disk, FileBackend, StorageBackend, open_regular, sync_parent};

/// Memory that a database may use unless its builder says otherwise: 1 GiB, as in redb.
const CACHE_BYTES_DEFAULT: usize = 1 << 30;

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
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = open_regular(path, &options).map_err(io_error)?;
        let db = self.create_with_backend(FileBackend::new(file)?)?;
        sync_parent(path).map_err(io_error)?;
        Ok(db)
    }

    /// Opens an existing database for writing.
    ///
    /// # Errors
    /// As [`Builder::create`]; a missing file is an I/O error, an empty one `NotADatabase`.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Database, DatabaseError> {
        let path = path.as_ref();
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let file = open_regular(path, &options).map_err(io_error)?;
        let db = self.open_disk(Disk::new(Box::new(FileBackend::new(file)?)))?;
        // Whoever created the file may have been killed before its entry was durable.
        sync_parent(path).map_err(io_error)?;
        Ok(db)
    }

    /// Opens an existing database for reading alone; nothing is written.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open_read_only(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<ReadOnlyDatabase, DatabaseError> {
        let file = open_regular(path.as_ref(), OpenOptions::new().read(true)).map_err(io_error)?;
        self.open_read_only_with_backend(FileBackend::new_read_only(file)?)
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
        Ok(ReadOnlyDatabase::new(checkpoint))
    }

    fn open_disk(&self, disk: Disk) -> Result<Database, DatabaseError> {
        let checkpoint = Checkpoint::open(disk, OpenMode::ReadWrite, &self.options)?;
        Ok(Database::new(checkpoint))
    }
}

fn io_error(error: io::Error) -> DatabaseError {
    DatabaseError::Storage(StorageError::Io(error))
}
