//! A backend that keeps the database in a locked file.
//!
//! # Invariants
//! 1. While a backend lives and is not closed, its lock is held: exclusive for writers, shared for readers. The
//!    lock is advisory and tied to the open file, so a second open of the same file, by whatever path, thread
//!    or process, is refused.
//! 2. A read-only backend changes nothing, not even the length.
//! 3. Only the process that opened the file unlocks it: a forked child that drops its copy must not take the
//!    lock away from its parent.
//!
//! # Concurrency
//! Positioned calls share nothing. Where the system lacks them, a cursor serialises the transfers.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, IoSlice};

use super::backend::{StorageBackend, range_end};
use super::cursor::Cursor;
use super::native;
use super::transfer::{read_fully, uninterrupted, write_fully, write_parts};
use crate::error::{DatabaseError, StorageError};

/// A [`StorageBackend`] on a file, locked against every other opener.
#[derive(Debug)]
pub struct FileBackend {
    file: File,
    is_read_only: bool,
    /// Use nothing but what `std` has on every system.
    is_plain: bool,
    cursor: Cursor,
    /// The process that holds the lock; see invariant 3.
    owner: u32,
}

impl FileBackend {
    /// Takes `file`, which must be open for reading and writing, under an exclusive lock.
    ///
    /// Never waits.
    ///
    /// # Errors
    /// `DatabaseAlreadyOpen` if anyone holds a lock on the file. An I/O error of kind `Unsupported` if its file
    /// system has no locks; the file was then not touched.
    pub fn new(file: File) -> Result<Self, DatabaseError> {
        granted(uninterrupted_lock(|| file.try_lock()))?;
        Ok(Self::locked(file, false))
    }

    /// Takes `file` under a shared lock, so that other readers may have it too, but no writer.
    ///
    /// Every call that would change the file then fails with `PermissionDenied`.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn new_read_only(file: File) -> Result<Self, DatabaseError> {
        granted(uninterrupted_lock(|| file.try_lock_shared()))?;
        Ok(Self::locked(file, true))
    }

    /// Forces the portable code paths, so that they are tested on systems with better ones.
    #[doc(hidden)]
    #[must_use]
    pub fn force_plain(mut self) -> Self {
        self.is_plain = true;
        self
    }

    fn locked(file: File, is_read_only: bool) -> Self {
        Self {
            file,
            is_read_only,
            is_plain: !native::POSITIONED,
            cursor: Cursor::default(),
            owner: std::process::id(),
        }
    }

    fn writable(&self) -> io::Result<()> {
        if self.is_read_only {
            return Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "the database is open for reading only",
            ));
        }
        Ok(())
    }

    fn read_some(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        if self.is_plain {
            self.cursor.read_at(&self.file, out, offset)
        } else {
            native::read_at(&self.file, out, offset)
        }
    }

    fn write_some(&self, offset: u64, data: &[u8]) -> io::Result<usize> {
        if self.is_plain {
            self.cursor.write_at(&self.file, data, offset)
        } else {
            native::write_at(&self.file, data, offset)
        }
    }

    /// Reserves by length alone.
    fn grow(&self, end: u64) -> io::Result<()> {
        if self.len()? < end {
            uninterrupted(|| self.file.set_len(end))?;
        }
        Ok(())
    }
}

impl StorageBackend for FileBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_fully(offset, out, |offset, out| self.read_some(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.writable()?;
        uninterrupted(|| self.file.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.writable()?;
        // Not repeated when interrupted: an interrupted sync has failed, and a failed sync is final.
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.writable()?;
        write_fully(offset, data, |offset, data| self.write_some(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        if std::process::id() == self.owner {
            self.file.unlock()?;
        }
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.writable()?;
        let end = range_end(offset, len)?;
        if len == 0 || self.is_plain {
            return self.grow(end);
        }
        match uninterrupted(|| native::allocate(&self.file, offset, len)) {
            Err(error) if error.kind() == ErrorKind::Unsupported => self.grow(end),
            result => result,
        }
    }

    fn write_vectored(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.writable()?;
        write_parts(offset, parts, |offset, parts| match parts.first() {
            Some(first) if self.is_plain => self.write_some(offset, first),
            _ => native::write_parts_at(&self.file, parts, offset),
        })
    }
}

/// Asks for a lock again for as long as a signal interrupts the call.
fn uninterrupted_lock(
    mut lock: impl FnMut() -> Result<(), TryLockError>,
) -> Result<(), TryLockError> {
    loop {
        match lock() {
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Says what a refused lock means for the one who wants to open the database.
fn granted(outcome: Result<(), TryLockError>) -> Result<(), DatabaseError> {
    match outcome {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(DatabaseError::DatabaseAlreadyOpen),
        Err(TryLockError::Error(error)) => Err(DatabaseError::Storage(StorageError::Io(
            if native::is_lock_unsupported(&error) {
                without_locks(&error)
            } else {
                error
            },
        ))),
    }
}

#[cold]
fn without_locks(error: &io::Error) -> io::Error {
    io::Error::new(
        ErrorKind::Unsupported,
        format!(
            "the file system of the database has no file locks ({error}); \
             move the file to one that has, or bring a storage backend that guards it otherwise"
        ),
    )
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
